/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of numbers, and the sections made of them, of the report page. Inside the layer only.
 * What goes wrong stays in the columns, as in a stdio stream: it is asked for once, at the end. */
#ifndef PL_PAGE_COLUMNS_H
#define PL_PAGE_COLUMNS_H

#include <stdio.h>

#include "buf.h"

struct pl_page_columns {
	struct pl_buf bytes;
	struct plumb_error *err; /* the first; owned until pl_page_columns_end */
};

void pl_page_columns_init(struct pl_page_columns *c);
void pl_page_columns_deinit(struct pl_page_columns *c);
void pl_page_column_u64(struct pl_page_columns *c, uint64_t v);
void pl_page_column_i64(struct pl_page_columns *c, int64_t v);
/** The difference between @p v and @p *last, modulo 2^64, and remember @p v. */
void pl_page_column_delta(struct pl_page_columns *c, uint64_t *last, uint64_t v);
void pl_page_columns_bytes(struct pl_page_columns *c, const void *bytes, size_t len);
/** Append @p column, with what went wrong there, and release it. */
void pl_page_columns_join(struct pl_page_columns *c, struct pl_page_columns *column);
/** Write section @p tag with this content to @p out, unless something went wrong; release the content. What goes wrong
 * with @p out shows in ferror(). */
struct plumb_error *pl_page_columns_end(struct pl_page_columns *c, unsigned tag, FILE *out) PLUMB_MUST_CHECK;

#endif
