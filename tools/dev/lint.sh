# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Part of ../../dev. Formatting, static analysis, shell, the layer rule.

c_files() { find include src python tests bench examples -name '*.c' -o -name '*.h'; }
shell_files() { echo dev .ci/run tools/*.sh; }

lint_includes() {
	# The include path is the layer rule. A path with ".." in it walks around the rule, one with a folder reaches behind
	# the headers that a layer shows to others.
	! grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*(<[^>]*\.\.|"[^"]*/)' include src python tests bench examples --include='*.[ch]' &&
		# What is pure has words of its own: of the public ones errors, and what is generated from tables.
		! grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<plumb/' src/base src/cpython src/unwind src/model --include='*.[ch]' |
			grep -vE '<plumb/(error\.h|errors\.def|words\.def)>'
}

lint_licence() {
	unmarked=$(find include src python tests bench examples tools webui meson.build meson_options.txt dev .ci \
		-name node_modules -prune -o -type f \
		\( -name '*.[ch]' -o -name '*.py' -o -name '*.sh' -o -name 'meson*' -o -name dev -o -name run \
		-o -name '*.ts' -o -name '*.tsx' -o -name '*.css' -o -name '*.mjs' -o -name '*.js' \) \
		-size +0 -exec grep -L 'SPDX-License-Identifier: Apache-2.0' {} +)
	[ -z "$unmarked" ] || { say "no licence line in: $unmarked"; return 1; }
}

lint_python() {
	PYTHONPYCACHEPREFIX=$(mktemp -d) && export PYTHONPYCACHEPREFIX
	# *27.py is written for 2.7 alone.
	python3 -m compileall -q -x '27\.py$' python tests bench examples tools
	status=$?
	rm -rf "$PYTHONPYCACHEPREFIX"
	return $status
}

lint_format() {
	# shellcheck disable=SC2046
	clang-format --dry-run -Werror $(c_files)
}

lint_tidy() {
	# clang reads the compile commands, so they must be clang's.
	find src python -name '*.c' -print0 | xargs -0 -P 2 -n 4 clang-tidy -p build-clang --quiet --warnings-as-errors='*' 2>/dev/null
}

cmd_lint() {
	setup_build
	# shellcheck disable=SC2046
	install_packages $(missing_test) $(missing_lint)
	build_clang
	step "formatting" lint_format || :
	step "include paths" lint_includes || :
	step "names of files, guards and tags" tools/check_names.py || :
	step "numbers of parameters" tools/check_parameters.py || :
	step "licence lines" lint_licence || :
	# shellcheck disable=SC2046
	step "shell" shellcheck -x $(shell_files) || :
	step "python" lint_python || :
	step "report page" web_checks lint || :
	step "clang-tidy" lint_tidy || :
	[ -z "$failures" ] || die "lint failed: ${failures%, }"
	say "lint: all clean"
}
