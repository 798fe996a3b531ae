# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Part of ../../dev. Debian's packages: what is missing of what a build, the tests and the linters need, and how it is installed.

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif have sudo; then
		sudo "$@"
	else
		return 1
	fi
}

# Packages whose effect is missing. What counts is the tool or the header, not dpkg's word: another system, or a
# tool from elsewhere, is as good.
missing_build() {
	if ! have gcc || ! have make || [ ! -e /usr/include/stdio.h ]; then echo build-essential; fi
	have meson || echo meson
	have ninja || echo ninja-build
	have pkg-config || echo pkg-config
	[ -e /usr/include/zlib.h ] || pkg-config --exists zlib 2>/dev/null || echo zlib1g-dev
	[ -e /usr/include/zstd.h ] || pkg-config --exists libzstd 2>/dev/null || echo libzstd-dev
	[ -e /usr/include/cmocka.h ] || pkg-config --exists cmocka 2>/dev/null || echo libcmocka-dev
	have python3 || echo python3
}

# Without these plumb is built without its Python package, its report page, its live view, names of C++ and Rust as people write
# them, or names that files have packed.
missing_parts() {
	header libiberty/demangle.h || header demangle.h || echo libiberty-dev
	[ -e /usr/include/lzma.h ] || pkg-config --exists liblzma 2>/dev/null || echo liblzma-dev
	[ -e /usr/include/ncursesw/curses.h ] || pkg-config --exists ncursesw 2>/dev/null || echo libncurses-dev
	python_headers || echo python3-dev
	have node || echo nodejs
	have npm || echo npm
}

# Of the Python that meson builds for: that of the system, where there is one.
python_headers() {
	python=/usr/bin/python3
	[ -x "$python" ] || python=python3
	"$python" -c 'import os, sysconfig; os.stat(sysconfig.get_config_var("INCLUDEPY") + "/Python.h")' 2>/dev/null
}

missing_deb() {
	have dh || echo debhelper
	have dh_python3 || echo dh-python
}

missing_test() {
	have clang || echo clang
	have ccache || echo ccache
	fuzzer_runtime || echo libclang-rt-dev
	have llvm-symbolizer || echo llvm
	python3 -c 'import ensurepip' 2>/dev/null || echo python3-venv
	have debootstrap || [ -x /usr/sbin/debootstrap ] || sid_complete || echo debootstrap
	have unshare || echo util-linux
	shared_python || echo libpython3-dev
	have musl-gcc || echo musl-tools
	have gdb || echo gdb
	have eu-stack || echo elfutils
	have dwz || echo dwz
	have protoc || echo protobuf-compiler
	[ -e /usr/share/perl5/Devel/NYTProf/flamegraph.pl ] || have flamegraph.pl || echo libdevel-nytprof-perl
	have callgrind_annotate || echo valgrind
	have chromium || echo chromium
	have strace || echo strace
	have ps || echo procps
	have jq || echo jq
	have wrk || echo wrk
	have zsh || echo zsh
	have fish || echo fish
	have mandoc || echo mandoc
	if ! free_threaded_complete; then
		header openssl/ssl.h || echo libssl-dev
		header ffi.h || echo libffi-dev
	fi
}

header() { [ -n "$(find /usr/include -path "*/$1" 2>/dev/null | head -n 1)" ]; }

missing_lint() {
	have clang-format || echo clang-format
	have clang-tidy || echo clang-tidy
	have shellcheck || echo shellcheck
}

# The directory that holds clang's sanitizer and fuzzer libraries is a package of its own.
fuzzer_runtime() {
	have clang || return 1
	for lib in "$(clang -print-resource-dir)"/lib/*/libclang_rt.fuzzer*; do
		[ -e "$lib" ] && return 0
	done
	return 1
}

# Debian's Python as a library, for the tests of programs that embed it. Elsewhere those tests are not run.
shared_python() {
	have apt-get || return 0
	for lib in /usr/lib/*/libpython3.*.so.1.0; do
		[ -e "$lib" ] && return 0
	done
	return 1
}

# Whether packages can be installed; where not, says which are missing and what to do.
can_install() { # PACKAGE...
	if ! have apt-get; then
		say "missing: $* (install them with this system's package manager; the names are Debian's)"
	elif ! as_root true; then
		say "packages are missing that only root can install: apt-get update && apt-get install --no-install-recommends $*"
	else
		return 0
	fi
	return 1
}

# On a machine that has just started, somebody else may be installing: apt-get waits for that.
apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" >>"$cache/apt.log" 2>&1; }

apt_install() { # PACKAGE...
	say "installing $*"
	mkdir -p "$cache"
	if [ -z "${apt_updated:-}" ]; then
		rm -f "$cache/apt.log"
		apt update -qq || :
		apt_updated=yes
	fi
	apt install -y --no-install-recommends "$@" && return 0
	tail -n 5 "$cache/apt.log" >&2
	say "apt-get could not install $* (all it said is in $cache/apt.log)"
	return 1
}

install_packages() { # [PACKAGE...]
	[ $# -eq 0 ] || { can_install "$@" && apt_install "$@"; } || exit 1
}

# What cannot be had of the parts is told, and the part left out. A build that was configured without it looks again.
setup_build() {
	needed=$(missing_build)
	parts=$(missing_parts)
	# shellcheck disable=SC2086 # lists of names
	if [ -n "$needed$parts" ] && can_install $needed $parts; then
		install_packages $needed
		for part in $parts; do
			# Some nodejs bring npm, and cannot be beside Debian's.
			! missing_parts | grep -qx "$part" || apt_install "$part" || :
		done
		reconfigure "$cache/meson.log"
	elif [ -n "$needed" ]; then
		exit 1
	fi
	python_headers || say "no Python.h (Debian: python3-dev): plumb is built without its Python package"
	setup_web
}

# What the report page is made with: npm's packages of webui/package-lock.json. Half of them would be worse than none.
setup_web() {
	if ! have node || ! have npm; then
		say "no Node with npm (Debian: nodejs, npm): plumb is built without the report page"
		return 0
	fi
	if ! node -e 'const [major, minor] = process.versions.node.split("."); process.exit(major > 18 || (major == 18 && minor >= 18) ? 0 : 1)'; then
		say "Node $(node --version) is older than 18.18: plumb is built without the report page"
		return 0
	fi
	stamp=webui/node_modules/.$(cksum <webui/package-lock.json | tr ' ' '-').ok
	[ ! -e "$stamp" ] || return 0
	say "fetching what the report page is made with"
	mkdir -p "$cache"
	if ! (cd webui && npm ci --no-audit --no-fund --ignore-scripts --prefer-offline --loglevel=error) >"$cache/webui.log" 2>&1; then
		rm -rf webui/node_modules
		say "npm could not fetch it ($cache/webui.log): plumb is built without the report page"
		return 0
	fi
	: >"$stamp"
	reconfigure "$cache/webui.log"
}

# What has been configured looks again at what there is.
reconfigure() { # LOG
	for dir in build build-clang build-asan build-fuzz; do
		[ ! -e "$dir/build.ninja" ] || meson setup --reconfigure "$dir" >"$1" 2>&1 || die "$dir cannot be configured: $1"
	done
}
