/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers (layer base). One thread at a time. The length of a submessage is written when its end is known: one
 * byte is left free for it, and only where that is too little the submessage is moved. */
#include "protobuf.h"

#include <string.h>

#define MAX_BYTES    ((size_t)1 << 31) /* of a message in the buffer; readers refuse larger ones */
#define MUCH_BYTES   ((size_t)64 << 10)
#define MAX_NUMBER   ((1u << 29) - 1)
#define VARINT_BYTES 10

void pl_pb_init(struct pl_pb *w, FILE *out)
{
	*w = (struct pl_pb){.buf = PL_BUF_INIT(MAX_BYTES), .out = out};
}

void pl_pb_deinit(struct pl_pb *w)
{
	pl_buf_deinit(&w->buf);
}

void pl_pb_raw_u64(struct pl_pb *w, uint64_t v)
{
	if (!w->err)
		w->err = pl_buf_add_varint(&w->buf, v);
}

void pl_pb_raw_fixed64(struct pl_pb *w, uint64_t v)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
	if (!w->err)
		w->err = pl_buf_add(&w->buf, bytes, sizeof bytes);
}

static void write_tag(struct pl_pb *w, uint32_t field, enum pl_pb_wire wire)
{
	pl_pb_raw_u64(w, (uint64_t)field << 3 | wire);
}

void pl_pb_u64(struct pl_pb *w, uint32_t field, uint64_t v)
{
	if (v == 0)
		return;
	write_tag(w, field, PL_PB_VARINT);
	pl_pb_raw_u64(w, v);
}

void pl_pb_fixed64(struct pl_pb *w, uint32_t field, uint64_t v)
{
	if (v == 0)
		return;
	write_tag(w, field, PL_PB_FIXED64);
	pl_pb_raw_fixed64(w, v);
}

void pl_pb_header(struct pl_pb *w, uint32_t field, uint64_t len)
{
	write_tag(w, field, PL_PB_BYTES);
	pl_pb_raw_u64(w, len);
}

void pl_pb_item(struct pl_pb *w, uint32_t field, const void *bytes, size_t len)
{
	pl_pb_header(w, field, len);
	if (!w->err)
		w->err = pl_buf_add(&w->buf, bytes, len);
}

void pl_pb_bytes(struct pl_pb *w, uint32_t field, const void *bytes, size_t len)
{
	if (len)
		pl_pb_item(w, field, bytes, len);
}

size_t pl_pb_begin(struct pl_pb *w, uint32_t field)
{
	write_tag(w, field, PL_PB_BYTES);
	pl_pb_raw_u64(w, 0);
	return w->buf.len;
}

void pl_pb_end(struct pl_pb *w, size_t begin)
{
	size_t len = w->buf.len - begin, more = 0;
	uint8_t *at;

	if (w->err)
		return;
	for (size_t rest = len >> 7; rest; rest >>= 7)
		more++;
	w->err = pl_buf_reserve(&w->buf, more);
	if (w->err)
		return;
	at = w->buf.data + begin;
	if (more)
		memmove(at + more, at, len);
	w->buf.len += more;
	at--;
	for (size_t rest = len;; rest >>= 7) {
		*at++ = (uint8_t)(rest < 0x80 ? rest : rest | 0x80);
		if (rest < 0x80)
			break;
	}
}

struct plumb_error *pl_pb_flush(struct pl_pb *w)
{
	if (w->err)
		return w->err;
	w->before += w->buf.len;
	/* What goes wrong there shows in ferror(). */
	if (w->out && w->buf.len)
		(void)!fwrite(w->buf.data, 1, w->buf.len, w->out);
	pl_buf_clear(&w->buf);
	return NULL;
}

struct plumb_error *pl_pb_flush_some(struct pl_pb *w)
{
	return w->err || w->buf.len < MUCH_BYTES ? w->err : pl_pb_flush(w);
}

static bool read_value(struct pl_cursor *c, struct pl_pb_field *f)
{
	uint64_t len;
	uint32_t fixed;

	switch (f->wire) {
	case PL_PB_VARINT:
		return pl_cursor_varint(c, &f->value);
	case PL_PB_FIXED64:
		return pl_cursor_u64(c, &f->value);
	case PL_PB_FIXED32:
		if (!pl_cursor_u32(c, &fixed))
			return false;
		f->value = fixed;
		return true;
	case PL_PB_BYTES:
		if (!pl_cursor_varint(c, &len) || len > pl_cursor_left(c) ||
		    !pl_cursor_bytes(c, (size_t)len, &f->bytes.p))
			return false;
		f->bytes.end = c->p;
		return true;
	}
	return false;
}

enum pl_pb_status pl_pb_next(struct pl_cursor *c, struct pl_pb_field *ret)
{
	struct pl_cursor at = *c;
	struct pl_pb_field f = {0};
	uint64_t tag;

	if (at.p == at.end)
		return PL_PB_END;
	if (!pl_cursor_varint(&at, &tag) || tag >> 3 == 0 || tag >> 3 > MAX_NUMBER)
		return PL_PB_BROKEN;
	f.number = (uint32_t)(tag >> 3);
	f.wire = (enum pl_pb_wire)(tag & 7);
	if (!read_value(&at, &f))
		return PL_PB_BROKEN;
	*c = at;
	*ret = f;
	return PL_PB_FIELD;
}

struct plumb_error *pl_pb_add_numbers(const struct pl_pb_field *f, pl_pb_numbers *into)
{
	struct pl_cursor c = f->bytes;
	uint64_t v;

	if (f->wire == PL_PB_VARINT)
		return pl_vec_push(into, f->value) ? NULL : &pl_err_no_memory;
	if (f->wire != PL_PB_BYTES)
		return &pl_err_corrupt;
	while (pl_cursor_left(&c)) {
		if (!pl_cursor_varint(&c, &v))
			return &pl_err_corrupt;
		if (!pl_vec_push(into, v))
			return &pl_err_no_memory;
	}
	return NULL;
}
