/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a line table: kind (1 byte), first line and offset (4 bytes each), the table. */
#include <string.h>

#include "lines.h"

static void check(const struct pl_lines *l, int32_t offset)
{
	struct pl_position p = pl_lines_find(l->kind, l->table, l->len, l->firstlineno, offset),
			   often = pl_lines_at(l, offset);

	if (p.line < 0 || memcmp(&p, &often, sizeof p) != 0)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int32_t firstlineno, offset;

	if (size < 9)
		return 0;
	memcpy(&firstlineno, data + 1, 4);
	memcpy(&offset, data + 5, 4);
	struct pl_lines l;
	struct plumb_error *err = pl_lines_open(data[0] & 3, data + 9, size - 9, firstlineno, &l);
	if (err) {
		plumb_error_destroy(err);
		return 0;
	}
	for (int32_t at = offset & 0xffff, end = at + 64; at < end; at++)
		check(&l, at);
	check(&l, offset);
	pl_lines_close(&l);
	return 0;
}
