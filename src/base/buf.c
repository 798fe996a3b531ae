/* SPDX-License-Identifier: Apache-2.0 */
/* Growable bytes with a hard maximum (layer base). One thread at a time. Every call either does all of its work or
 * leaves the buffer as it was; errors are static. */
#include "buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 64

/* Capacity of at least @p need bytes; the maximum is the caller's business. */
static bool buf_grow(struct pl_buf *b, size_t need)
{
	if (need <= b->cap)
		return true;
	size_t cap = b->cap ? b->cap : FIRST_CAP;
	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	uint8_t *data = realloc(b->data, cap);
	if (!data)
		return false;
	b->data = data;
	b->cap = cap;
	return true;
}

void pl_buf_deinit(struct pl_buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
}

struct plumb_error *pl_buf_reserve(struct pl_buf *b, size_t extra)
{
	if (b->len > b->max || extra > b->max - b->len)
		return &pl_err_limit;
	return buf_grow(b, b->len + extra) ? NULL : &pl_err_no_memory;
}

struct plumb_error *pl_buf_add(struct pl_buf *b, const void *bytes, size_t len)
{
	if (len == 0)
		return NULL;
	struct plumb_error *err = pl_buf_reserve(b, len);
	if (err)
		return err;
	memcpy(b->data + b->len, bytes, len);
	b->len += len;
	return NULL;
}

struct plumb_error *pl_buf_add_str(struct pl_buf *b, const char *s)
{
	return pl_buf_add(b, s, strlen(s));
}

struct plumb_error *pl_buf_add_u8(struct pl_buf *b, uint8_t v)
{
	return pl_buf_add(b, &v, 1);
}

static struct plumb_error *buf_vprintf(struct pl_buf *b, const char *fmt, va_list args)
{
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		return &pl_err_corrupt; /* a wide character that the locale cannot write */
	struct plumb_error *err = pl_buf_reserve(b, (size_t)len);
	if (err)
		return err;
	/* vsnprintf writes a NUL behind the text: room for it may lie past the maximum. */
	if (!buf_grow(b, b->len + (size_t)len + 1))
		return &pl_err_no_memory;
	vsnprintf((char *)b->data + b->len, (size_t)len + 1, fmt, args);
	b->len += (size_t)len;
	return NULL;
}

struct plumb_error *pl_buf_printf(struct pl_buf *b, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct plumb_error *err = buf_vprintf(b, fmt, args);
	va_end(args);
	return err;
}

struct plumb_error *pl_buf_add_varint(struct pl_buf *b, uint64_t v)
{
	uint8_t bytes[10];
	size_t end = b->len + sizeof bytes, n = 0;
	bool room = end <= b->cap && end <= b->max;
	uint8_t *to = room ? b->data + b->len : bytes;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	if (!room)
		return pl_buf_add(b, bytes, n);
	b->len += n;
	return NULL;
}

struct plumb_error *pl_buf_add_svarint(struct pl_buf *b, int64_t v)
{
	return pl_buf_add_varint(b, ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0));
}

const char *pl_buf_str(struct pl_buf *b)
{
	if (!buf_grow(b, b->len + 1))
		return "";
	b->data[b->len] = '\0';
	return (const char *)b->data;
}
