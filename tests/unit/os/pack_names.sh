#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pack_names.sh OBJCOPY XZ LIBRARY OUT: LIBRARY without its symbols, which are packed in a section.
set -eu
"$1" --only-keep-debug "$3" "$4.debug"
"$2" -kf "$4.debug"
"$1" --strip-all --add-section ".gnu_debugdata=$4.debug.xz" "$3" "$4"
