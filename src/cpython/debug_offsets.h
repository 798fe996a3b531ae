/* SPDX-License-Identifier: Apache-2.0 */
/* _Py_DebugOffsets (3.13+): the interpreter describes itself at the start of _PyRuntime. Only detect.c needs this. */
#ifndef PL_DEBUG_OFFSETS_H
#define PL_DEBUG_OFFSETS_H

#include "layout.h"
#include "mem.h"

#define PL_DEBUG_OFFSETS_MAX 1024 /* bytes to read; the largest known table is 888 */

/** True if @p bytes begins with the cookie "xdebugpy". */
bool pl_debug_offsets_cookie(const uint8_t *bytes, size_t len);
/** Turn the words into a layout; every offset + width must lie inside its struct, sizes inside sane bounds. */
struct plumb_error *pl_debug_offsets_parse(const uint8_t *bytes, size_t len, struct pl_layout *ret) PLUMB_MUST_CHECK;

#endif
