/* SPDX-License-Identifier: Apache-2.0 */
/* Growable bytes with a hard maximum. After a failed call the buffer is still valid and unchanged. */
#ifndef PL_BUF_H
#define PL_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct pl_buf {
	uint8_t *data; /* never NULL-terminated by itself; see pl_buf_str */
	size_t len, cap, max;
};

#define PL_BUF_INIT(max_bytes)                                                                                         \
	{                                                                                                              \
		.data = NULL, .len = 0, .cap = 0, .max = (max_bytes)                                                   \
	}

void pl_buf_deinit(struct pl_buf *b);
static inline void pl_buf_clear(struct pl_buf *b)
{
	b->len = 0;
}
/** Make room for @p extra more bytes. Errors: PLUMB_ERR_LIMIT past max, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_buf_reserve(struct pl_buf *b, size_t extra) PLUMB_MUST_CHECK;
struct plumb_error *pl_buf_add(struct pl_buf *b, const void *bytes, size_t len) PLUMB_MUST_CHECK;
struct plumb_error *pl_buf_add_str(struct pl_buf *b, const char *s) PLUMB_MUST_CHECK;
struct plumb_error *pl_buf_add_u8(struct pl_buf *b, uint8_t v) PLUMB_MUST_CHECK;
struct plumb_error *pl_buf_printf(struct pl_buf *b, const char *fmt, ...) PL_PRINTF(2, 3) PLUMB_MUST_CHECK;
/** LEB128; signed values zigzag. */
struct plumb_error *pl_buf_add_varint(struct pl_buf *b, uint64_t v) PLUMB_MUST_CHECK;
struct plumb_error *pl_buf_add_svarint(struct pl_buf *b, int64_t v) PLUMB_MUST_CHECK;
/** The bytes as a C string (appends a NUL that is not counted in len); "" if there is no memory for it. */
const char *pl_buf_str(struct pl_buf *b);

#endif
