/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded reading of hostile bytes (layer base). Pure: a getter that fails moves nothing. */
#include "cursor.h"

bool pl_cursor_bytes(struct pl_cursor *c, size_t len, const uint8_t **ret)
{
	if (len > pl_cursor_left(c))
		return false;
	*ret = c->p;
	c->p += len;
	return true;
}

bool pl_cursor_u8(struct pl_cursor *c, uint8_t *ret)
{
	if (c->p == c->end)
		return false;
	*ret = *c->p++;
	return true;
}

static bool get_le(struct pl_cursor *c, size_t width, uint64_t *ret)
{
	const uint8_t *p;
	if (!pl_cursor_bytes(c, width, &p))
		return false;
	uint64_t v = 0;
	for (size_t i = width; i > 0; i--)
		v = v << 8 | p[i - 1];
	*ret = v;
	return true;
}

bool pl_cursor_u32(struct pl_cursor *c, uint32_t *ret)
{
	uint64_t v;
	if (!get_le(c, 4, &v))
		return false;
	*ret = (uint32_t)v;
	return true;
}

bool pl_cursor_u64(struct pl_cursor *c, uint64_t *ret)
{
	return get_le(c, 8, ret);
}

bool pl_cursor_varint(struct pl_cursor *c, uint64_t *ret)
{
	const uint8_t *p = c->p;
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 70 && p < c->end; shift += 7) {
		uint8_t byte = *p++;
		if (shift == 63 && byte > 1)
			return false; /* does not fit into 64 bits, or an eleventh byte follows */
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		c->p = p;
		*ret = v;
		return true;
	}
	return false;
}

bool pl_cursor_svarint(struct pl_cursor *c, int64_t *ret)
{
	uint64_t v;
	if (!pl_cursor_varint(c, &v))
		return false;
	*ret = (int64_t)(v >> 1 ^ (0 - (v & 1)));
	return true;
}
