/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a line table: kind (1 byte), first line and offset (4 bytes each), the table. */
#include <string.h>

#include "lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int32_t firstlineno, offset;

	if (size < 9)
		return 0;
	memcpy(&firstlineno, data + 1, 4);
	memcpy(&offset, data + 5, 4);
	for (int32_t at = offset & 0xffff, end = at + 64; at < end; at++) {
		struct pl_position p = pl_lines_find(data[0] & 3, data + 9, size - 9, firstlineno, at);
		if (p.line < 0)
			__builtin_trap();
	}
	if (pl_lines_find(data[0] & 3, data + 9, size - 9, firstlineno, offset).line < 0)
		__builtin_trap();
	return 0;
}
