/* SPDX-License-Identifier: Apache-2.0 */
/* Strict decoding of UTF-8 that may be anything. */
#ifndef PL_UTF8_H
#define PL_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"

#define PL_UTF8_INVALID UINT32_MAX

/**
 * Decode the character at @p s, @p len > 0 bytes. Returns the bytes it takes, at least 1. Overlong forms, surrogates,
 * values past U+10FFFF and broken sequences yield PL_UTF8_INVALID once for all bytes that belong together.
 */
size_t pl_utf8_decode(const uint8_t *s, size_t len, uint32_t *ret);
/** Append text with U+FFFD for each thing that is not UTF-8. */
struct plumb_error *pl_utf8_add_valid(struct pl_buf *b, const void *text, size_t len) PLUMB_MUST_CHECK;

#endif
