/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers and texts that DWARF is made of. What goes beyond the end reads as 0, and says so. Pure. */
#ifndef PL_DWARF_READ_H
#define PL_DWARF_READ_H

#include <stdbool.h>
#include <stdint.h>

#define PL_DWARF_TEXT_MAX (64u << 10) /* bytes, with its end */

struct pl_dwarf_reader {
	const uint8_t *p, *end;
	bool bad; /* there was less than was asked for */
};

/** A number of @p size bytes, 8 at most; little endian. */
uint64_t pl_dwarf_uint(struct pl_dwarf_reader *r, unsigned size);
/** LEB128. What does not fit into 64 bits is cut. */
uint64_t pl_dwarf_uleb(struct pl_dwarf_reader *r);
int64_t pl_dwarf_sleb(struct pl_dwarf_reader *r);
/** Up to its NUL; "" if it has none, or is longer than texts are. */
const char *pl_dwarf_text(struct pl_dwarf_reader *r);
void pl_dwarf_skip(struct pl_dwarf_reader *r, uint64_t len);

#endif
