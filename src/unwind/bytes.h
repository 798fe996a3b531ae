/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded reader over a range of the target's memory, for tables that are read once from front to back. Every getter
 * returns false at the end, or where the memory cannot be read, and leaves *ret untouched. */
#ifndef PL_UNWIND_BYTES_H
#define PL_UNWIND_BYTES_H

#include "mem.h"

#define PL_BYTES_WINDOW 64

struct pl_bytes {
	struct pl_mem *mem;
	pl_addr at, end;
	pl_addr window; /* what `buf` has a copy of */
	uint32_t window_len;
	uint8_t buf[PL_BYTES_WINDOW];
};

/** An @p end below @p at is an empty range. */
void pl_bytes_init(struct pl_bytes *b, struct pl_mem *mem, pl_addr at, pl_addr end);
bool pl_bytes_get(struct pl_bytes *b, void *dst, size_t len); /* little endian */
bool pl_bytes_u8(struct pl_bytes *b, uint8_t *ret);
bool pl_bytes_uint(struct pl_bytes *b, unsigned len, uint64_t *ret); /* of 1, 2, 4 or 8 bytes */
bool pl_bytes_int(struct pl_bytes *b, unsigned len, int64_t *ret);   /* the same, with a sign */
bool pl_bytes_uleb(struct pl_bytes *b, uint64_t *ret);
bool pl_bytes_sleb(struct pl_bytes *b, int64_t *ret);
bool pl_bytes_skip(struct pl_bytes *b, uint64_t len);
/** A pointer in one of the encodings of .eh_frame (LSB, "DWARF extensions"). @p data: what it may be relative to. Those
 * that name the place of the pointer are refused. */
bool pl_bytes_pointer(struct pl_bytes *b, uint8_t encoding, pl_addr data, pl_addr *ret);

#define PL_POINTER_OMITTED 0xff
#define PL_POINTER_FORMAT  0x0f /* the part of an encoding that says how many bytes there are */

#endif
