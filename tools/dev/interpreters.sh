# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Part of ../../dev. CPythons that the machine has not: Debian unstable's, one on musl, a free-threaded and a debug build.

sid_complete() {
	for python in $sid_pythons; do [ -x "$sid/usr/bin/$python" ] || return 1; done
}

# CPython 3.13, 3.14 and 3.15 come from Debian unstable, in a directory of their own.
setup_sid() {
	sid_complete && return 0
	mirror=$(tools/debian_mirror.sh) || mirror=
	[ -n "$mirror" ] || { say "no Debian mirror among this machine's package sources"; return 1; }
	say "making a directory with Debian unstable's Pythons (about a minute)"
	mkdir -p "$cache"
	include=python3.15,python3.15-dev,python3.15-venv,python3.14,python3.13
	if ! as_root env PATH="$PATH:/usr/sbin:/sbin" debootstrap --variant=minbase --include="$include" sid "$sid.new" "$mirror" >"$cache/debootstrap.log" 2>&1; then
		tail -n 3 "$cache/debootstrap.log" >&2
		as_root rm -rf "$sid.new"
		return 1
	fi
	as_root mv "$sid.new" "$sid"
}

setup_musl() {
	[ -x "$cache/musl/bin/python3.9" ] && return 0
	mirror=$(tools/debian_mirror.sh) || mirror=
	[ -n "$mirror" ] || { say "no Debian mirror among this machine's package sources"; return 1; }
	say "building a CPython 3.9 on musl (about a minute)"
	mkdir -p "$cache"
	if ! tools/musl_python.sh "$cache/musl" "$mirror" >"$cache/musl.log" 2>&1; then
		tail -n 3 "$cache/musl.log" >&2
		return 1
	fi
}

free_threaded_complete() { [ -x "$free_threaded/bin/python3.13t" ]; }

# The source of Debian stable's python3.13, by this machine's apt and mirror but with lists of its own, so that the
# machine's package sources stay as they are. Leaves Python-3.13.N in $1.
fetch_python_source() { # DIR
	mirror=$(tools/debian_mirror.sh) || mirror=
	[ -n "$mirror" ] || { say "no Debian mirror among this machine's package sources"; return 1; }
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$1/sources.list"
	set -- "$1" -qq -o "Dir::Etc::SourceList=$1/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o "Dir::State::Lists=$1/lists" -o "Dir::Cache=$1/cache"
	dir=$1
	shift
	apt-get "$@" update && (cd "$dir" && apt-get "$@" source --download-only python3.13) || return 1
	tar -C "$dir" -xf "$dir"/python3.13_*.orig.tar.*z
}

# No Debian has the free-threaded build as a package. Installed aside first, so that half a build is never taken for one.
build_free_threaded() { # DIR
	fetch_python_source "$1" || return 1
	mkdir "$1/build" && cd "$1/build" || return 1
	sh ../Python-3.13.*/configure --disable-gil --prefix="$free_threaded" --without-ensurepip --disable-test-modules || return 1
	make -j "$(nproc)" && make install DESTDIR="$1/root" || return 1
	rm -rf "$free_threaded"
	mv "$1/root$free_threaded" "$free_threaded"
}

setup_free_threaded() {
	free_threaded_complete && return 0
	have apt-get || { say "the source of CPython 3.13 comes from Debian"; return 1; }
	say "building the free-threaded CPython 3.13 (three to five minutes)"
	mkdir -p "$cache"
	dir=$(mktemp -d "$cache/free-threaded.XXXXXX")
	status=0
	(build_free_threaded "$dir") >"$cache/free-threaded.log" 2>&1 || status=1
	[ $status -eq 0 ] || tail -n 3 "$cache/free-threaded.log" >&2
	rm -rf "$dir"
	[ $status -ne 0 ] || reconfigure "$cache/meson.log"
	return $status
}

# Debian's build with Py_DEBUG, taken out of its package: it uses the library of the Python that is installed, whose patch
# release may be another, so it is not installed itself.
setup_debug() {
	[ -x "$cache/debug/usr/bin/python3.11d" ] && return 0
	have apt-get || { say "the debug build of CPython 3.11 comes from Debian"; return 1; }
	mkdir -p "$cache"
	dir=$(mktemp -d "$cache/debug.XXXXXX")
	status=0
	(cd "$dir" && apt-get -qq download python3.11-dbg && dpkg-deb -x python3.11-dbg_*.deb root) >"$cache/debug.log" 2>&1 || status=1
	if [ $status -eq 0 ]; then
		rm -rf "$cache/debug"
		mv "$dir/root" "$cache/debug"
	fi
	rm -rf "$dir"
	return $status
}
