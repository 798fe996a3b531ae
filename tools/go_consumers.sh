#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build the Go programs that read what plumb writes: Go's pprof and an OpenTelemetry Collector with profiles.
#   tools/go_consumers.sh DIR    leaves DIR/pprof, DIR/profile.proto and DIR/otelcol; about two minutes the first time
# A program that cannot be had leaves DIR/NAME.because instead.
set -eu

mkdir -p "$1"
dir=$(CDPATH='' cd -- "$1" && pwd)
collector=v0.155.0 # of this series the parts that are needed resolve; others were tried and did not
work=$(mktemp -d "$dir/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Nothing is left behind in the user's own Go directories, and what is left in ours can be removed.
export GOPATH="$work/path" GOCACHE="$work/cache" GOBIN="$work/bin" GOFLAGS=-modcacherw CGO_ENABLED=0

# Debian's Go is too old for the newest, and its packages hold one that is ready.
debian_pprof() {
	cd "$work" || return 1
	apt-get -qq download golang-1.19-go || return 1
	dpkg-deb --fsys-tarfile golang-1.19-go_*.deb | tar -x || return 1
	cp usr/lib/go-1.19/pkg/tool/*/pprof "$dir/pprof"
}

build_pprof() {
	go install github.com/google/pprof@latest || { debian_pprof; return; }
	cp "$(find "$GOPATH/pkg/mod/github.com/google" -path '*/proto/profile.proto' | head -n 1)" "$dir/profile.proto" || return 1
	mv "$GOBIN/pprof" "$dir/pprof"
}

build_otelcol() {
	go install "go.opentelemetry.io/collector/cmd/builder@$collector" || return 1
	cat >"$work/manifest.yaml" <<MANIFEST
dist:
  name: otelcol
  description: receives and prints
  output_path: $work/otelcol
receivers:
  - gomod: go.opentelemetry.io/collector/receiver/otlpreceiver $collector
exporters:
  - gomod: go.opentelemetry.io/collector/exporter/debugexporter $collector
  - gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter $collector
MANIFEST
	"$GOBIN/builder" --config "$work/manifest.yaml" || return 1
	mv "$work/otelcol/otelcol" "$dir/otelcol"
}

one() { # NAME
	[ -x "$dir/$1" ] && return 0
	rm -f "$dir/$1.because"
	"build_$1" >"$dir/$1.log" 2>&1 || echo "it could not be built: $(tail -n 1 "$dir/$1.log")" >"$dir/$1.because"
}

one pprof
one otelcol
