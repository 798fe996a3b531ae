#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel.sh VENV DIR [PYTHON]: wheels of this source into DIR, made by the pip of VENV: one for all Pythons with a GIL, and one for the
# free-threaded PYTHON. They run with glibc 2.28 or later, which Zig's C compiler builds for wherever it runs, and have libzstd,
# zlib, liblzma and libiberty in them.
set -eu
venv=$(CDPATH='' cd -- "$1" && pwd)
out=$(CDPATH='' cd -- "$2" && pwd)
free_threaded=${3:-}
cd "$(dirname -- "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Zig has headers of the C library of its target, and sees no others of this machine.
mkdir -p "$work/include/x86_64-linux-gnu" "$work/lib" "$work/wheels"
header() { echo "#include <$1>" | cc -E -x c - | sed -n "s,^# 1 \"\(/.*/$1\)\".*,\1,p" | head -n 1; }
for header in zlib.h zconf.h zstd.h zstd_errors.h lzma.h; do
	ln -s "$(header $header)" "$work/include/$header"
done
ln -s "$(dirname "$(header lzma.h)")/lzma" "$(dirname "$(header libiberty/demangle.h)")" "$work/include"
ln -s "$(cc -print-file-name=libiberty.a)" "$work/lib"
# Those of Debian's Python name one of their own as it lies below /usr/include.
for headers in /usr/include/x86_64-linux-gnu/python3*; do
	[ ! -d "$headers" ] || ln -s "$headers" "$work/include/x86_64-linux-gnu"
done
# Isolated: pip hides what is installed from the Pythons that it starts.
export CC="$venv/bin/python -I -m ziglang cc -target x86_64-linux-gnu.2.28"
export CFLAGS="-isystem $work/include -fno-sanitize=undefined"
export LDFLAGS="-s -L$work/lib"
export ZIG_GLOBAL_CACHE_DIR="$work/zig" ZIG_LOCAL_CACHE_DIR="$work/zig"

make_wheel() { # PIP_ARGUMENTS...
	"$venv/bin/python" -m pip "$@" -q --disable-pip-version-check --no-deps -w "$work/wheels" -Csetup-args=-Dprefer_static=true -Csetup-args=-Ddebug=false .
}

# The extension keeps to the limited API of 3.8, but meson-python names the Python that builds.
make_wheel wheel -Csetup-args=-Dpython.allow_limited_api=true
"$venv/bin/python" -m wheel tags --remove --python-tag cp38 "$work"/wheels/*.whl >/dev/null
[ -z "$free_threaded" ] || make_wheel --python "$free_threaded" wheel
for wheel in "$work"/wheels/*.whl; do
	name=$("$venv/bin/python" -m wheel tags --remove --platform-tag manylinux_2_28_x86_64 "$wheel")
	mv "$work/wheels/$name" "$out"
	echo "$out/$name"
done
