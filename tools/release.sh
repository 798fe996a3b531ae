#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# release.sh VENV DIR [PYTHON]: all that a release consists of, from a clean checkout into DIR: source, wheels (see wheel.sh), Debian
# package, archive of the program, bill of materials, checksums. DIR is made, or is there and empty.
set -eu
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
venv=$(CDPATH='' cd -- "$1" && pwd)
mkdir -p "$2"
out=$(CDPATH='' cd -- "$2" && pwd)
free_threaded=${3:-}
cd "$top"

refuse() { echo "release: $*" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || refuse "the checkout has changes that no commit has: commit or stash them"
[ -z "$(ls "$out")" ] || refuse "$out is not empty: name another directory"
version=$(sed -n "s/^[[:space:]]*version: '\(.*\)',/\1/p" meson.build)
grep -q "^## $version, [0-9]" CHANGELOG.md || refuse "CHANGELOG.md has no line '## $version, DATE': say what $version is, and when"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
meson setup "$work/build" -Dtests=false -Dpython=disabled -Dweb=enabled >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
meson dist -C "$work/build" --no-tests --formats xztar >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
mv "$work/build/meson-dist/plumb-$version.tar.xz" "$out"

# All that is built is built of that source, which has the page in it.
tar -xf "$out/plumb-$version.tar.xz" -C "$work"
"$work/plumb-$version/tools/wheel.sh" "$venv" "$out" "$free_threaded"
"$work/plumb-$version/tools/deb.sh" "$out"

# The program of the wheel runs anywhere; beside it what `meson install` puts beside it.
program=plumb-$version-linux-x86_64
mkdir -p "$work/$program/bin" "$work/$program/share"
(cd "$work" && python3 -m zipfile -e "$out"/plumb_profiler-*-abi3-*.whl wheel)
mv "$work"/wheel/*.data/scripts/plumb "$work/$program/bin"
chmod 755 "$work/$program/bin/plumb"
mv "$work"/wheel/*.data/data/man "$work"/wheel/*.data/data/doc "$work/$program/share"
for shell in bash zsh fish; do "$work/$program/bin/plumb" completion $shell >"$work/$program/share/completion.$shell"; done
cp LICENSE "$work/$program"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cJf "$out/$program.tar.xz" "$program"

tools/sbom.py >"$out/plumb-$version.cdx.json"
(cd "$out" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS && sha256sum --quiet -c SHA256SUMS)
ls "$out"
