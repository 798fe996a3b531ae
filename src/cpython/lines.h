/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables: from a byte offset in the bytecode to a source position. Pure; works on a copied table. */
#ifndef PL_LINES_H
#define PL_LINES_H

#include <stddef.h>

#include "error.h"
#include "layout.h"
#include "vec.h"

struct pl_position {
	int32_t line, end_line;	    /* 0: the instruction has no line */
	int32_t column, end_column; /* from 0, in UTF-8 bytes, -1 unknown */
};

/** How far a table has been read, and what it has said by then. */
struct pl_line_mark {
	uint32_t at;  /* bytes of the table */
	uint32_t end; /* bytes of the bytecode that they are about */
	uint32_t line;
	struct pl_position position; /* of the last of these */
};

/** A table that is asked often. Of one that is longer than it needs to be (4 MiB can say nothing at all) an answer
 * reads no more than of others: every few hundred bytes there is a mark from where to read on. */
struct pl_lines {
	enum pl_line_table kind;
	const uint8_t *table; /* the caller's */
	size_t len;
	int32_t firstlineno;
	PL_VEC(struct pl_line_mark) marks;
};

struct plumb_error *pl_lines_open(enum pl_line_table kind, const uint8_t *table, size_t len, int32_t firstlineno,
				  struct pl_lines *ret) PLUMB_MUST_CHECK;
void pl_lines_close(struct pl_lines *l);
/** As pl_lines_find. */
struct pl_position pl_lines_at(const struct pl_lines *l, int32_t offset);

/** @p offset in bytes, as pl_code_offset gives; -1 answers @p firstlineno. A table that ends early answers with what
 * was known. */
struct pl_position pl_lines_find(enum pl_line_table kind, const uint8_t *table, size_t len, int32_t firstlineno,
				 int32_t offset);

#endif
