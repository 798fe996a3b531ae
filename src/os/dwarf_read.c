/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; pure. */
#include "dwarf_read.h"

#include <string.h>

#define LEB_MAX 16 /* bytes; some compilers write more than it takes */

static uint64_t left(const struct pl_dwarf_reader *r)
{
	return (uint64_t)(r->end - r->p);
}

static bool has(struct pl_dwarf_reader *r, uint64_t len)
{
	if (len <= left(r))
		return true;
	r->bad = true;
	r->p = r->end;
	return false;
}

uint64_t pl_dwarf_uint(struct pl_dwarf_reader *r, unsigned size)
{
	uint64_t ret = 0;

	if (size > sizeof ret || !has(r, size))
		return 0;
	memcpy(&ret, r->p, size);
	r->p += size;
	return ret;
}

/* *shift_ret: bits that were read; *last_ret: the last byte. */
static uint64_t leb(struct pl_dwarf_reader *r, unsigned *shift_ret, uint8_t *last_ret)
{
	uint64_t ret = 0;

	for (unsigned i = 0; i < LEB_MAX && has(r, 1); i++) {
		const uint8_t byte = *r->p++;

		if (7 * i < 64)
			ret |= (uint64_t)(byte & 0x7f) << (7 * i);
		*shift_ret = 7 * (i + 1);
		*last_ret = byte;
		if (!(byte & 0x80))
			return ret;
	}
	r->bad = true;
	r->p = r->end;
	*shift_ret = 64;
	*last_ret = 0;
	return 0;
}

uint64_t pl_dwarf_uleb(struct pl_dwarf_reader *r)
{
	unsigned shift;
	uint8_t last;

	return leb(r, &shift, &last);
}

int64_t pl_dwarf_sleb(struct pl_dwarf_reader *r)
{
	unsigned shift;
	uint8_t last;
	uint64_t ret = leb(r, &shift, &last);

	if (shift < 64 && last & 0x40)
		ret |= UINT64_MAX << shift;
	return (int64_t)ret;
}

const char *pl_dwarf_text(struct pl_dwarf_reader *r)
{
	const char *text = (const char *)r->p;
	const uint64_t most = left(r) < PL_DWARF_TEXT_MAX ? left(r) : PL_DWARF_TEXT_MAX;
	const uint8_t *end = most ? memchr(r->p, '\0', most) : NULL;

	if (!end) {
		(void)has(r, left(r) + 1);
		return "";
	}
	r->p = end + 1;
	return text;
}

void pl_dwarf_skip(struct pl_dwarf_reader *r, uint64_t len)
{
	if (has(r, len))
		r->p += len;
}
