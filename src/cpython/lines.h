/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables: from a byte offset in the bytecode to a source position. Pure; works on a copied table. */
#ifndef PL_LINES_H
#define PL_LINES_H

#include <stddef.h>

#include "layout.h"

struct pl_position {
	int32_t line, end_line;	    /* 0: the instruction has no line */
	int32_t column, end_column; /* from 0, in UTF-8 bytes, -1 unknown */
};

/** @p offset in bytes, as pl_code_offset gives; -1 answers @p firstlineno. A table that ends early answers with what
 * was known. */
struct pl_position pl_lines_find(enum pl_line_table kind, const uint8_t *table, size_t len, int32_t firstlineno,
				 int32_t offset);

#endif
