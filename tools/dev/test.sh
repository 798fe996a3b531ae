# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Part of ../../dev. The tests, step by step, and what they came to.

failures=
begun= # by steps_begun
steps=$top/build/steps.txt # how long each step took, and the processors in it, for the closing lines
times_file=$cache/times.txt

# step NAME COMMAND...: run it, remember a failure and how long it took, go on.
step() {
	name=$1
	shift
	say "== $name"
	began=$(date +%s)
	processor_time
	processors_before=$processors_took
	outcome=0
	"$@" || outcome=1
	processor_time
	[ ! -d build ] || printf '%s\t%s\t%s\n' "$(($(date +%s) - began))" "$((processors_took - processors_before))" "$name" >>"$steps"
	[ $outcome -eq 0 ] || { failures="$failures$name, "; return 1; }
}

# processors_took: the seconds that all commands so far had a processor. Only the shell itself can ask for them.
processor_time() {
	mkdir -p "$cache"
	times >"$times_file"
	processors_took=$(awk -F '[ms ]+' 'NR == 2 { print int(60 * ($1 + $3) + $2 + $4) }' "$times_file")
}

# Steps that mostly wait, one after the other, beside those that follow. What they print, and which failed, comes with
# `steps_ended`.
steps_begun() { # COMMAND...
	(
		times_file=$cache/times-begun.txt
		failures=
		"$@" || :
		printf '%s' "$failures" >build/begun.failures
	) >build/begun.txt 2>&1 &
	begun=$!
}
steps_ended() {
	[ -n "$begun" ] || return 0
	wait "$begun" || :
	begun=
	cat build/begun.txt
	failures=$failures$(cat build/begun.failures)
}

sanitizer_env() {
	export ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:exitcode=99:detect_stack_use_after_return=0"
	export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1:exitcode=99"
}

unit_tests() { # BUILD_DIR [MESON_TEST_OPTIONS...]
	build_dir=$1
	shift
	rm -f "$build_dir/meson-logs/testlog.json"
	# A test that runs into its time limit hangs: the limit measures nothing, on no machine.
	meson test -C "$build_dir" --no-rebuild --print-errorlogs --quiet --timeout-multiplier 10 "$@"
}

# How work grows is the same with sanitizers.
unit_tests_asan() (
	sanitizer_env
	unit_tests build-asan --no-suite growth
)

# Playwright has an environment of its own; without it the tests in a browser say so themselves.
python_for() { # NAME
	if [ "$1" = browser ] && "$cache/venv-browser/bin/python" -c 'import playwright, xdist' 2>/dev/null; then
		echo "$cache/venv-browser/bin/python"
	else
		echo "$venv/bin/python"
	fi
}

python_tests() { # NAME BINARY PYTEST_ARGUMENTS...
	report=$top/build/pytest-$1.xml
	python=$(python_for "$1")
	binary=$top/$2
	shift 2
	rm -f "$report"
	# A shell has what it runs beside itself ignore Ctrl-C.
	env --default-signal=INT PLUMB_BIN="$binary" PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest -c tests/pytest.ini --rootdir tests -p no:cacheprovider \
		--junitxml="$report" "$@" || [ $? -eq 5 ] # 5: none of the tests that were asked for is among these; then there are no results
}

beside() { python_tests "$@" -n "$(nproc)" --dist worksteal; }
# Each fresh machine belongs to one worker (tests/fresh/conftest.py).
fresh_machines() { python_tests fresh "$@" -n 2 --dist loadscope; }
# Tests with a real interpreter wait for more than half of their time.
beside_waiting() { python_tests "$@" -n "$((2 * $(nproc)))" --dist worksteal; }

python_tests_asan() (
	sanitizer_env
	beside_waiting asan build-asan/plumb -m smoke tests/integration tests/python
)

# Of the steps that were run: what passed, failed, was skipped or could not be decided, and where the time went.
closing_lines() {
	set -- build/meson-logs/testlog.json build-asan/meson-logs/testlog.json \
		build/pytest-asan.xml build/pytest-beside.xml build/pytest-fresh.xml build/pytest-browser.xml build/pytest-processor.xml build/pytest-alone.xml build/pytest-matching.xml
	for results in "$@"; do
		shift
		[ ! -e "$results" ] || set -- "$@" "$results"
	done
	python3 tests/totals.py --steps-failed "${failures%, }" --notes build/notes.txt --steps "$steps" --began "$tests_began" "$@"
}

forget_results() {
	tests_began=$(date +%s)
	rm -f build/notes.txt build/steps.txt build/pytest-*.xml build/meson-logs/testlog.json build-asan/meson-logs/testlog.json
}

# The report page: `web_checks lint` types and rules, `web_checks test` its unit tests. What it is made with is there where
# the page is built.
web_checks() { # lint|test
	[ -d webui/node_modules ] || { say "no webui/node_modules (Node, npm ci): the report page is not checked"; return 0; }
	case $1 in
	lint) (cd webui && node_modules/.bin/tsc --noEmit && node_modules/.bin/eslint .) ;;
	test) found=$(cd webui && node test/run.mjs 2>&1) || { printf '%s\n' "$found"; return 1; } ;;
	esac
}

cmd_test() { # [--quick | PYTEST_ARGUMENTS...]
	case ${1:-} in
	'') test_all ;;
	--quick) test_quick ;;
	*) test_matching "$@" ;;
	esac
}

# Everything CI runs. Steps follow each other, but for those that mostly wait; the tests of a step run beside each other, but for
# those that measure finely.
test_all() {
	setup_test
	forget_results
	step "include paths" lint_includes || :
	if step "build with gcc" build_plain; then
		steps_begun waiting_steps
		# What fails an allocation is looked at with sanitizers.
		step "unit tests and fuzz corpora" unit_tests build --no-suite memory || :
	fi
	step "report page" web_checks test || :
	step "build with clang" build_clang || :
	if step "build with address and undefined-behaviour sanitizers" build_asan; then
		step "unit tests with sanitizers" unit_tests_asan || :
		[ ! -x build-asan/plumb ] || step "end to end with sanitizers" python_tests_asan || :
	fi
	if [ -x build/plumb ]; then
		# shellcheck disable=SC2086 # a list
		step "end to end" beside_waiting beside build/plumb -m "not alone and not processor and not repeated" $suites || :
		steps_ended
		# shellcheck disable=SC2086
		step "end to end with a processor each" beside processor build/plumb -m processor $suites || :
		# shellcheck disable=SC2086
		step "end to end one by one" python_tests alone build/plumb -m alone $suites || :
	fi
	closing_lines
}

# Fresh machines fetch packages for half of their time; a page is looked at for two thirds of it by nobody.
waiting_steps() {
	step "fresh machines beside the next" fresh_machines build/plumb tests/fresh || :
	step "the page in a browser beside the next" beside browser build/plumb tests/browser || :
}

suites="tests/integration tests/accuracy tests/python"

# The short cut through everything, for whoever changes something: one build, the unit tests, and of the rest what is marked
# `smoke`, on the oldest interpreter, the newest and one between.
test_quick() {
	setup_quick
	forget_results
	step "include paths" lint_includes || :
	if step "build with gcc" build_plain; then
		step "unit tests and fuzz corpora" unit_tests build || :
		step "report page" web_checks test || :
		# shellcheck disable=SC2086
		step "end to end" beside_waiting beside build/plumb --quick -m "smoke and not alone" $suites || :
	fi
	closing_lines
}

# What matches and nothing else. A word alone after -k is looked for in the names of the unit tests, too.
test_matching() { # PYTEST_ARGUMENTS...
	setup_test
	forget_results
	step "build with gcc" build_plain || { closing_lines; return; }
	if [ "$1" = -k ] && [ $# -eq 2 ]; then
		matching=$(meson test -C build --no-rebuild --list 2>/dev/null | sed 's/.* //' | grep -F -e "$2") || matching=
		# shellcheck disable=SC2086
		[ -z "$matching" ] || step "unit tests" unit_tests build $matching || :
	fi
	where="$suites tests/browser tests/fresh"
	for argument; do
		case $argument in tests/*) where= ;; esac
	done
	# shellcheck disable=SC2086
	step "end to end" python_tests matching build/plumb "$@" $where || :
	closing_lines
}

cmd_asan() {
	setup_test
	build_asan
	step "unit tests with sanitizers" unit_tests_asan || :
	step "end to end with sanitizers" python_tests_asan || :
	[ -z "$failures" ] || die "failed: ${failures%, }"
}

# What takes hours rather than minutes: the long form of the tests, and an hour of each fuzzer.
cmd_soak() { # [FUZZ_SECONDS]
	setup_test
	setup_dashboard
	build_plain
	step "end to end, long" python_tests soak build/plumb --soak tests/integration tests/accuracy tests/python || :
	step "the page in a browser, long" beside browser build/plumb --soak tests/browser || :
	cmd_fuzz "${1:-3600}"
}

cmd_fuzz() { # [SECONDS]
	seconds=${1:-30}
	setup_build
	# shellcheck disable=SC2046
	install_packages $(missing_test)
	build_fuzz
	sanitizer_env
	# What takes 5 s for 128 KB, sanitized, grows faster than its input.
	for fuzzer in build-fuzz/tests/fuzz/fuzz_*; do
		if [ ! -x "$fuzzer" ] || [ -d "$fuzzer" ]; then continue; fi
		name=${fuzzer##*/fuzz_}
		found=$cache/fuzz/$name
		mkdir -p "$found"
		set -- "$found" # what is found goes into the first one
		golden=build-fuzz/tests/fuzz/$name.seeds
		[ ! -e "$golden" ] || set -- "$@" "-seed_inputs=@$golden"
		[ ! -d "tests/fuzz/corpus/$name" ] || set -- "$@" "tests/fuzz/corpus/$name"
		step "$name, $seconds s" "$fuzzer" "$@" -entropic=0 -max_total_time="$seconds" -timeout=5 -max_len=131072 -rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 \
			-artifact_prefix="$found/" || :
	done
	[ -z "$failures" ] || die "failed: ${failures%, }"
}
