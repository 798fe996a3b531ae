# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Part of ../../dev. Python environments and programs of others that the tests use: readers of formats, web applications, viewers.

# One environment for the tests, a second one with the peers for `./dev bench` only.
make_venv() { # DIR REQUIREMENTS
	stamp=$1/$(cksum <"$2" | tr ' ' '-').ok
	[ -e "$stamp" ] && "$1/bin/python" -c pass 2>/dev/null && return 0
	say "making the Python environment $(basename "$1")"
	python=/usr/bin/python3
	[ -x "$python" ] || python=python3
	mkdir -p "$cache"
	if [ ! -x "$1/bin/python" ]; then "$python" -m venv "$1" || return 1; fi
	"$1/bin/python" -m pip install -q --disable-pip-version-check -r "$2" >&2 || return 1
	: >"$stamp"
}

# Where the package index cannot be reached: Debian's own pytest, an older one.
debian_venv() {
	have apt-get || return 1
	say "no pytest from the package index; taking Debian's"
	[ -e /usr/lib/python3/dist-packages/xdist ] || install_packages python3-pytest python3-pytest-xdist python3-pytest-rerunfailures
	rm -rf "$venv"
	/usr/bin/python3 -m venv --system-site-packages "$venv"
}

# Playwright drives Debian's chromium; it has browsers of its own, which are not fetched.
setup_browser() { make_venv "$cache/venv-browser" tests/requirements-browser.txt; }

# Dask with the dashboard that it has where there is Bokeh.
setup_dashboard() { make_venv "$cache/venv-dashboard" tests/requirements-dashboard.txt || say "no bokeh: Dask's dashboard is not tried"; }

# A real kernel for notebooks with %plumb in them.
setup_notebook() { make_venv "$cache/venv-notebook" tests/requirements-notebook.txt; }

# Readers of pprof and OTLP: Go's programs, and OpenTelemetry's own definitions. What could not be had says so itself, in the tests.
setup_consumers() {
	tools/go_consumers.sh "$cache/go" || say "no Go programs: the tests with them are not run"
	make_venv "$cache/venv-otlp" tests/requirements-otlp.txt || say "no opentelemetry-proto: the tests with it are not run"
}

# Packages in a directory of their own, for the oldest Python they run on: a newer one takes the same files.
setup_packages() { # NAME PYTHON PACKAGE...
	dir=$cache/$1
	[ -e "$dir" ] && return 0
	rm -rf "$dir.new"
	python=$2
	shift 2
	"$venv/bin/python" -m pip install -q --disable-pip-version-check --target "$dir.new" --python-version "$python" \
		--only-binary :all: "$@" >"$dir.log" 2>&1 && mv "$dir.new" "$dir"
}

# A free-threaded Python loads what was built for the limited API, and crashes: a copy without it. psutil has to be there.
setup_free_threaded_original() { # DIR
	if [ -e "$1-free-threaded" ] || ! free_threaded_complete; then return 0; fi
	rm -rf "$1-free-threaded.new"
	cp -r "$1" "$1-free-threaded.new"
	find "$1-free-threaded.new" -name '*.abi3.so' -delete
	rm -rf "$1-free-threaded.new"/psutil*
	"$venv/bin/python" -m pip install -q --disable-pip-version-check --target "$1-free-threaded.new" --no-deps --python-version 3.13 \
		--abi cp313t --only-binary :all: psutil==7.2.2 >"$1-free-threaded.log" 2>&1 && mv "$1-free-threaded.new" "$1-free-threaded"
}

# What plumb.profile is compared with.
setup_originals() {
	for original in "2022.12.1 3.8" "2026.8.0 3.10"; do
		name=dask-${original% *}
		if ! setup_packages "$name" "${original#* }" "distributed==${original% *}" || ! setup_free_threaded_original "$cache/$name"; then
			say "no distributed ${original% *}: plumb.profile is not compared with it"
		fi
	done
}

# A pool whose workers show what they work on.
setup_joblib() { setup_packages joblib 3.8 joblib==1.4.2 || say "no joblib: its pools are not tried"; }

# Real applications for plumb.web. What older Pythons need besides is named, as pip asks for what its own Python needs.
setup_web_applications() {
	setup_packages flask-2 3.8 flask==2.2.5 werkzeug==2.2.3 importlib-metadata==8.5.0 || say "no Flask 2: plumb.web is not tried with it"
	setup_packages flask-3 3.8 flask==3.0.3 werkzeug==3.0.6 importlib-metadata==8.5.0 || say "no Flask 3: plumb.web is not tried with it"
	setup_packages django 3.8 django==4.2.30 asgiref==3.8.1 sqlparse==0.5.3 typing-extensions==4.12.2 backports.zoneinfo==0.2.1 ||
		say "no Django: plumb.web is not tried with it"
	setup_packages asgi 3.8 uvicorn==0.33.0 starlette==0.44.0 typing-extensions==4.12.2 exceptiongroup==1.2.2 ||
		say "no uvicorn: plumb.web is not tried with it"
}

# Readers of what plumb writes for viewers: speedscope, Mozilla's profiler-cli, a JSON schema validator and a checker of pages from
# npm, inferno from crates.io. DIR.because says why one is not there.
viewers_npm="speedscope@1.25.0 @firefox-devtools/profiler-cli@0.10.0 ajv@8.17.1 axe-core@4.14.1"
inferno_version=0.12.3

setup_viewers_npm() { # DIR
	stamp=$1/$(printf '%s' "$viewers_npm" | cksum | tr ' ' '-').ok
	[ -e "$stamp" ] && return 0
	have npm || { echo "there is no npm (Debian: npm)" >"$1.because"; return 1; }
	say "fetching speedscope and profiler-cli"
	mkdir -p "$1"
	# shellcheck disable=SC2086 # a list of names
	if ! npm install --no-audit --no-fund --ignore-scripts --loglevel=error --prefix "$1" $viewers_npm >"$1.log" 2>&1; then
		echo "npm could not fetch $viewers_npm" >"$1.because"
		return 1
	fi
	rm -f "$1.because"
	: >"$stamp"
}

setup_inferno() { # DIR
	[ -x "$1/bin/inferno-collapse-perf" ] && return 0
	have cargo || { echo "there is no cargo (Debian: cargo) to build inferno" >"$1.because"; return 1; }
	say "building inferno (one minute)"
	mkdir -p "$cache"
	if ! cargo install --quiet --locked --root "$1" --version "$inferno_version" inferno >"$1.log" 2>&1; then
		echo "cargo could not build inferno $inferno_version" >"$1.because"
		return 1
	fi
	rm -f "$1.because"
}

setup_viewers() {
	mkdir -p "$cache"
	setup_viewers_npm "$cache/npm" || say "$(cat "$cache/npm.because"): the tests with speedscope and profiler-cli are not run"
	setup_inferno "$cache/inferno" || say "$(cat "$cache/inferno.because"): the tests with it are not run"
}
