#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh DIR: a package of this source for this release of Debian, into DIR. It is built in a copy that has the report page made.
set -eu
out=$(CDPATH='' cd -- "$1" && pwd)
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/plumb"
tar -C "$top" -c --exclude=./.git --exclude='./build*' --exclude=./dist --exclude=node_modules . | tar -C "$work/plumb" -x
MESON_PROJECT_SOURCE_ROOT=$top MESON_PROJECT_DIST_ROOT=$work/plumb python3 "$top/tools/dist_page.py"

cd "$work/plumb"
version=$(sed -n "s/^[[:space:]]*version: '\(.*\)',/\1/p" meson.build)
cp -r tools/debian debian
mkdir debian/source
echo '3.0 (native)' >debian/source/format
cat >debian/changelog <<END
plumb ($version) unstable; urgency=medium

  * Release $version: see upstream's changelog.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(date -R -u -r meson.build)
END
# What it takes was looked for by its effect; it need not come from packages.
dpkg-buildpackage --build=binary --no-sign --no-check-builddeps >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
for package in "$work"/plumb_*.deb; do
	mv "$package" "$out"
	echo "$out/${package##*/}"
done
