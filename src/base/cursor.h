/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded reader over copied bytes. Every getter returns false at the end and leaves *ret untouched. */
#ifndef PL_CURSOR_H
#define PL_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pl_cursor {
	const uint8_t *p, *end;
};

static inline size_t pl_cursor_left(const struct pl_cursor *c)
{
	return (size_t)(c->end - c->p);
}
bool pl_cursor_u8(struct pl_cursor *c, uint8_t *ret);
bool pl_cursor_u32(struct pl_cursor *c, uint32_t *ret); /* little endian */
bool pl_cursor_u64(struct pl_cursor *c, uint64_t *ret);
bool pl_cursor_varint(struct pl_cursor *c, uint64_t *ret); /* LEB128, at most 10 bytes */
bool pl_cursor_svarint(struct pl_cursor *c, int64_t *ret); /* zigzag */
bool pl_cursor_bytes(struct pl_cursor *c, size_t len, const uint8_t **ret);

#endif
