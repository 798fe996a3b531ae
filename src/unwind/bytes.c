/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem; allocates nothing. */
#include "bytes.h"

#include <string.h>

#define LEB_BYTES 10

enum pointer_format {
	ABSOLUTE = 0x00,
	ULEB = 0x01,
	U2 = 0x02,
	U4 = 0x03,
	U8 = 0x04,
	SLEB = 0x09,
	S2 = 0x0a,
	S4 = 0x0b,
	S8 = 0x0c
};
enum pointer_base { PLAIN = 0x00, TO_ITSELF = 0x10, TO_DATA = 0x30 };
#define POINTER_BASE 0xf0 /* with the bit for "the address of the pointer", which nothing we read has */

void pl_bytes_init(struct pl_bytes *b, struct pl_mem *mem, pl_addr at, pl_addr end)
{
	b->mem = mem;
	b->at = at;
	b->end = end < at ? at : end;
	b->window = 0;
	b->window_len = 0;
}

static bool fill(struct pl_bytes *b)
{
	pl_addr left = b->end - b->at;
	uint32_t len = left < PL_BYTES_WINDOW ? (uint32_t)left : PL_BYTES_WINDOW;

	b->window_len = 0;
	struct plumb_error *err = pl_mem_read(b->mem, b->at, b->buf, len);
	if (err) {
		plumb_error_destroy(err);
		return false;
	}
	b->window = b->at;
	b->window_len = len;
	return true;
}

bool pl_bytes_get(struct pl_bytes *b, void *dst, size_t len)
{
	if (len > b->end - b->at || len > PL_BYTES_WINDOW)
		return false;
	bool inside = b->at >= b->window && b->at + len <= b->window + b->window_len;
	if (!inside && !fill(b))
		return false;
	memcpy(dst, b->buf + (b->at - b->window), len);
	b->at += len;
	return true;
}

bool pl_bytes_u8(struct pl_bytes *b, uint8_t *ret)
{
	return pl_bytes_get(b, ret, 1);
}

bool pl_bytes_uint(struct pl_bytes *b, unsigned len, uint64_t *ret)
{
	uint64_t v = 0;

	if (len > sizeof v || !pl_bytes_get(b, &v, len))
		return false;
	*ret = v;
	return true;
}

bool pl_bytes_int(struct pl_bytes *b, unsigned len, int64_t *ret)
{
	unsigned unused = 64 - 8 * len;
	uint64_t v;

	if (len == 0 || !pl_bytes_uint(b, len, &v))
		return false;
	*ret = (int64_t)(v << unused) >> unused;
	return true;
}

/* The bits, and how many there are. */
static bool leb(struct pl_bytes *b, uint64_t *ret, unsigned *bits, bool *minus)
{
	uint64_t v = 0;
	uint8_t byte;

	for (unsigned i = 0; i < LEB_BYTES; i++) {
		if (!pl_bytes_u8(b, &byte))
			return false;
		v |= 7 * i < 64 ? (uint64_t)(byte & 0x7f) << 7 * i : 0;
		if (byte & 0x80)
			continue;
		*ret = v;
		*bits = 7 * (i + 1);
		*minus = byte & 0x40;
		return true;
	}
	return false;
}

bool pl_bytes_uleb(struct pl_bytes *b, uint64_t *ret)
{
	unsigned bits;
	bool minus;

	return leb(b, ret, &bits, &minus);
}

bool pl_bytes_sleb(struct pl_bytes *b, int64_t *ret)
{
	unsigned bits;
	uint64_t v;
	bool minus;

	if (!leb(b, &v, &bits, &minus))
		return false;
	if (minus && bits < 64)
		v |= ~UINT64_C(0) << bits;
	*ret = (int64_t)v;
	return true;
}

bool pl_bytes_skip(struct pl_bytes *b, uint64_t len)
{
	if (len > b->end - b->at)
		return false;
	b->at += len;
	return true;
}

static bool pointer_value(struct pl_bytes *b, uint8_t format, uint64_t *ret)
{
	switch (format) {
	case ABSOLUTE:
	case U8:
	case S8:
		return pl_bytes_uint(b, 8, ret);
	case U2:
		return pl_bytes_uint(b, 2, ret);
	case U4:
		return pl_bytes_uint(b, 4, ret);
	case S2:
		return pl_bytes_int(b, 2, (int64_t *)ret);
	case S4:
		return pl_bytes_int(b, 4, (int64_t *)ret);
	case ULEB:
		return pl_bytes_uleb(b, ret);
	case SLEB:
		return pl_bytes_sleb(b, (int64_t *)ret);
	default:
		return false;
	}
}

bool pl_bytes_pointer(struct pl_bytes *b, uint8_t encoding, pl_addr data, pl_addr *ret)
{
	pl_addr here = b->at;
	uint64_t v;

	if (!pointer_value(b, encoding & PL_POINTER_FORMAT, &v))
		return false;
	switch (encoding & POINTER_BASE) {
	case PLAIN:
		*ret = v;
		return true;
	case TO_ITSELF:
		*ret = here + v;
		return true;
	case TO_DATA:
		*ret = data + v;
		return true;
	default:
		return false;
	}
}
