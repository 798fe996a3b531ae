#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A small CPython 3.9 on musl instead of glibc, for the tests: `tools/musl_python.sh DIR MIRROR`. 3.9 because that is a
# release which knows its threads by pthread_t alone. The source is Debian's, by this machine's apt but with lists of its
# own; a minute to build. What a module needs beyond the C library is left out.
set -eu

dir=${1:?a folder that is to be made}
mirror=${2:?the address of a mirror of Debian}
python=$dir/bin/python3.9
[ -x "$python" ] && exit 0
# What is there and is no such Python is somebody else's.
if [ -e "$dir" ] || [ -L "$dir" ]; then
	echo "$dir is there and has no bin/python3.9: remove it, or name another folder" >&2
	exit 1
fi

work=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" >"$work/sources.list"
apt() {
	apt-get -qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" "$@"
}
apt update
cd "$work"
apt source --download-only python3.9
tar xf python3.9_*.orig.tar.*z
cd Python-3.9.*
cat >Modules/Setup.local <<'END'
*static*
select selectmodule.c
mmap mmapmodule.c
_struct _struct.c
math mathmodule.c _math.c
fcntl fcntlmodule.c
array arraymodule.c
binascii binascii.c
_random _randommodule.c
END
# The kernel's headers are where glibc's are.
CC=musl-gcc CFLAGS="-O1 -idirafter /usr/include -idirafter /usr/include/$(gcc -print-multiarch)" ./configure -q --disable-ipv6
make -j "$(nproc)" python

mkdir -p "$work/root/bin" "$work/root/lib/python3.9/lib-dynload"
cp python "$work/root/bin/python3.9"
rm -rf Lib/test Lib/idlelib Lib/lib2to3
cp -R Lib/. "$work/root/lib/python3.9"
"$work/root/bin/python3.9" -c 'import json, mmap, select, threading'
mv -T "$work/root" "$dir" || [ -x "$python" ] # of two that build it at once, one comes first
