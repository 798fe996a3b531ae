/* SPDX-License-Identifier: Apache-2.0 */
/* The column writer of the report page (layer export). One thread at a time. */
#include "page_columns.h"

#define HEAD_MAX 20 /* two varints */

void pl_page_columns_init(struct pl_page_columns *c)
{
	*c = (struct pl_page_columns){.bytes = PL_BUF_INIT(SIZE_MAX / 2)};
}

void pl_page_columns_deinit(struct pl_page_columns *c)
{
	pl_buf_deinit(&c->bytes);
	plumb_error_destroy(c->err);
	c->err = NULL;
}

void pl_page_column_u64(struct pl_page_columns *c, uint64_t v)
{
	if (!c->err)
		c->err = pl_buf_add_varint(&c->bytes, v);
}

void pl_page_column_i64(struct pl_page_columns *c, int64_t v)
{
	if (!c->err)
		c->err = pl_buf_add_svarint(&c->bytes, v);
}

void pl_page_column_delta(struct pl_page_columns *c, uint64_t *last, uint64_t v)
{
	pl_page_column_i64(c, (int64_t)(v - *last));
	*last = v;
}

void pl_page_columns_bytes(struct pl_page_columns *c, const void *bytes, size_t len)
{
	if (!c->err && len)
		c->err = pl_buf_add(&c->bytes, bytes, len);
}

void pl_page_columns_join(struct pl_page_columns *c, struct pl_page_columns *column)
{
	if (!c->err) {
		c->err = column->err;
		column->err = NULL;
	}
	pl_page_columns_bytes(c, column->bytes.data, column->bytes.len);
	pl_page_columns_deinit(column);
}

struct plumb_error *pl_page_columns_end(struct pl_page_columns *c, unsigned tag, FILE *out)
{
	struct pl_buf head = PL_BUF_INIT(HEAD_MAX);
	struct plumb_error *err = c->err;

	c->err = NULL;
	if (!err)
		err = pl_buf_add_varint(&head, tag);
	if (!err)
		err = pl_buf_add_varint(&head, c->bytes.len);
	if (!err) {
		fwrite(head.data, 1, head.len, out);
		if (c->bytes.len) /* a profile without a sample has no data to point to */
			fwrite(c->bytes.data, 1, c->bytes.len, out);
	}
	pl_buf_deinit(&head);
	pl_page_columns_deinit(c);
	return err;
}
