/* SPDX-License-Identifier: Apache-2.0 */
/* Python str and bytes objects into UTF-8 and bytes. Layer: cpython. Pure over pl_mem; any thread.
 *
 * Lengths and kinds come from the target and are believed only within the caller's maximum. Text is copied through a
 * small local buffer, so a torn length costs neither memory nor time. Does not check that `obj` is of type str: the
 * kind bits and the caller's own proof (code objects are proved by their type) are what there is. */
#include "text.h"

#include "pick.h"
#include "utf8.h"

#define CHUNK_BYTES 1024
#define HEADER_MAX  128

struct str_view {
	pl_addr data;
	uint64_t length; /* characters */
	uint32_t width;	 /* bytes per character */
	bool ascii;
	bool pairs; /* two halves of a surrogate pair are one character */
};

/* The unicode of 2.7: a length and a pointer. */
static struct plumb_error *open_unicode(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, struct str_view *ret)
{
	struct plumb_error *err;

	if (!pl_pointer_ok(obj) || (py->unicode_bytes != 2 && py->unicode_bytes != 4))
		return &pl_err_corrupt;
	*ret = (struct str_view){.width = py->unicode_bytes, .pairs = py->unicode_bytes == 2};
	err = pl_mem_read_u64(mem, obj + py->layout.unicode.length, &ret->length);
	if (!err && ret->length > UINT32_MAX)
		err = &pl_err_corrupt;
	return err ? err : pl_mem_read_u64(mem, obj + py->layout.unicode.data, &ret->data);
}

static struct plumb_error *open_str(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, struct str_view *ret)
{
	const struct pl_layout *lay = &py->layout;
	uint8_t raw[HEADER_MAX];
	struct plumb_error *err;

	if (pl_layout_str_is_bytes(lay))
		return open_unicode(mem, py, obj, ret);
	if (!pl_pointer_ok(obj) || lay->unicode.ascii_size > sizeof raw ||
	    lay->unicode.length + 8 > lay->unicode.ascii_size || lay->unicode.state + 4 > lay->unicode.ascii_size)
		return &pl_err_corrupt;
	err = pl_mem_read(mem, obj, raw, lay->unicode.ascii_size);
	if (err)
		return err;
	uint32_t state = pl_pick_u32(raw, lay->unicode.state);
	bool compact = state >> lay->unicode.compact_bit & 1;
	ret->pairs = false;
	ret->ascii = state >> lay->unicode.ascii_bit & 1;
	ret->width = state >> lay->unicode.kind_shift & 7;
	ret->length = pl_pick_u64(raw, lay->unicode.length);
	if ((ret->width != 1 && ret->width != 2 && ret->width != 4) || ret->length > UINT32_MAX ||
	    (ret->ascii && ret->width != 1))
		return &pl_err_corrupt;
	/* Compact ASCII data follows PyASCIIObject (48 bytes, 40 from 3.12 on), other compact data
	 * PyCompactUnicodeObject, and the rest (<= 3.11, strings made by the old C interface) is somewhere else: a
	 * pointer. */
	if (!compact)
		return pl_mem_read_u64(mem, obj + lay->unicode.data, &ret->data);
	ret->data = obj + (ret->ascii ? lay->unicode.ascii_size : lay->unicode.compact_size);
	return NULL;
}

/* The str of 2.7. */
static struct plumb_error *open_byte_str(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, struct str_view *ret)
{
	struct plumb_error *err;

	if (!pl_pointer_ok(obj))
		return &pl_err_corrupt;
	*ret = (struct str_view){.data = obj + py->layout.bytes.sval, .width = 1};
	err = pl_mem_read_u64(mem, obj + py->layout.bytes.ob_size, &ret->length);
	return err || ret->length <= UINT32_MAX ? err : &pl_err_corrupt;
}

static uint32_t char_at(const uint8_t *data, uint32_t width)
{
	uint32_t c = 0;

	memcpy(&c, data, width); /* little endian */
	return c;
}

/* UTF-8 of one code point, surrogates included. Returns the length, 0 if there is no such code point. */
static size_t encode(uint32_t c, uint8_t out[static 4])
{
	if (c < 0x80) {
		out[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (uint8_t)(0xc0 | c >> 6);
		out[1] = (uint8_t)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (uint8_t)(0xe0 | c >> 12);
		out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		out[2] = (uint8_t)(0x80 | (c & 0x3f));
		return 3;
	}
	if (c > 0x10ffff)
		return 0;
	out[0] = (uint8_t)(0xf0 | c >> 18);
	out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
	out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	out[3] = (uint8_t)(0x80 | (c & 0x3f));
	return 4;
}

static bool is_high_half(uint32_t c)
{
	return c >= 0xd800 && c < 0xdc00;
}

/* The character at @p at, of which *units belong to it. */
static uint32_t whole_char(const struct str_view *s, const uint8_t *piece, size_t at, size_t chars, size_t *units)
{
	uint32_t c = char_at(piece + at * s->width, s->width), low;

	*units = 1;
	if (!s->pairs || !is_high_half(c) || at + 1 == chars)
		return c;
	low = char_at(piece + (at + 1) * s->width, s->width);
	if (low < 0xdc00 || low >= 0xe000)
		return c;
	*units = 2;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* Append the characters of one copied piece. *cut is set when @p ret would become longer than @p end. */
static struct plumb_error *add_piece(const struct str_view *s, const uint8_t *piece, size_t chars, size_t end,
				     struct pl_buf *ret, bool *cut)
{
	uint8_t out[CHUNK_BYTES * 2]; /* the worst case is one byte of Latin-1 becoming two */
	size_t n = 0;

	for (size_t i = 0, units; i < chars; i += units) {
		uint8_t utf8[4];
		uint32_t c = whole_char(s, piece, i, chars, &units);
		size_t len = s->ascii && c >= 0x80 ? 0 : encode(c, utf8);
		if (!len)
			return &pl_err_corrupt;
		if (ret->len + n + len > end) {
			*cut = true;
			break;
		}
		memcpy(out + n, utf8, len);
		n += len;
	}
	return pl_buf_add(ret, out, n);
}

static struct plumb_error *add_all(struct pl_mem *mem, const struct str_view *s, size_t max_bytes, struct pl_buf *ret,
				   bool *cut)
{
	uint8_t piece[CHUNK_BYTES];
	size_t start = ret->len;
	struct plumb_error *err = NULL;

	/* Each character is at least one byte of output, so the loop ends after max_bytes characters at the latest. */
	for (uint64_t done = 0; !err && !*cut && done < s->length;) {
		uint64_t chars = sizeof piece / s->width, room = max_bytes - (ret->len - start);
		if (chars > s->length - done)
			chars = s->length - done;
		if (chars > room + 1) /* one more tells whether it has to be cut */
			chars = room + 1;
		err = pl_mem_read(mem, s->data + done * s->width, piece, chars * s->width);
		if (!err && s->pairs && chars > 1 && done + chars < s->length &&
		    is_high_half(char_at(piece + (chars - 1) * s->width, s->width)))
			chars--; /* its other half is in the next piece */
		if (!err)
			err = add_piece(s, piece, chars, start + max_bytes, ret, cut);
		done += chars;
	}
	return err;
}

struct plumb_error *pl_text_read_start(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, size_t max_bytes,
				       struct pl_buf *ret, struct pl_text_start *start_ret)
{
	struct str_view s;
	size_t before = ret->len;
	bool cut = false;
	struct plumb_error *err = open_str(mem, py, obj, &s);

	if (!err)
		err = add_all(mem, &s, max_bytes, ret, &cut);
	if (err) {
		ret->len = before;
		return err;
	}
	*start_ret = (struct pl_text_start){.chars = s.length, .cut = cut};
	return NULL;
}

/* UTF-8 as it is; what is not UTF-8 as later Pythons decode file names: one lone surrogate for each such byte. */
static struct plumb_error *add_bytes(const struct pl_buf *bytes, size_t max_bytes, struct pl_buf *ret)
{
	size_t start = ret->len;
	struct plumb_error *err = NULL;

	for (size_t i = 0, n; !err && i < bytes->len; i += n) {
		uint8_t utf8[4];
		uint32_t c;
		n = pl_utf8_decode(bytes->data + i, bytes->len - i, &c);
		if (c == PL_UTF8_INVALID) {
			n = 1;
			c = 0xdc00 | bytes->data[i];
		}
		size_t len = encode(c, utf8);
		if (ret->len - start + len > max_bytes)
			return pl_buf_add_str(ret, "...");
		err = pl_buf_add(ret, utf8, len);
	}
	return err;
}

/* 2.7: bytes in whatever encoding the source file or the file system has. */
static struct plumb_error *read_byte_str(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, size_t max_bytes,
					 struct pl_buf *ret)
{
	struct pl_buf bytes = PL_BUF_INIT(max_bytes + 1);
	struct str_view s;
	struct plumb_error *err = open_byte_str(mem, py, obj, &s);

	if (err)
		return err;
	uint64_t len = s.length > max_bytes ? max_bytes + 1 : s.length; /* one more tells whether it has to be cut */
	err = pl_buf_reserve(&bytes, len);
	if (!err && len)
		err = pl_mem_read(mem, s.data, bytes.data, len);
	bytes.len = err ? 0 : len;
	if (!err)
		err = add_bytes(&bytes, max_bytes, ret);
	pl_buf_deinit(&bytes);
	return err;
}

struct plumb_error *pl_text_read_str(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, size_t max_bytes,
				     struct pl_buf *ret)
{
	struct pl_text_start start = {0};
	size_t before = ret->len;
	struct plumb_error *err;

	if (pl_layout_str_is_bytes(&py->layout))
		err = read_byte_str(mem, py, obj, max_bytes, ret);
	else
		err = pl_text_read_start(mem, py, obj, max_bytes, ret, &start);
	if (!err && start.cut)
		err = pl_buf_add_str(ret, "...");
	if (err)
		ret->len = before;
	return err;
}

struct plumb_error *pl_text_end(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, pl_addr *ret)
{
	bool is_bytes = pl_layout_str_is_bytes(&py->layout);
	struct str_view s;
	struct plumb_error *err = is_bytes ? open_byte_str(mem, py, obj, &s) : open_str(mem, py, obj, &s);

	*ret = 0;
	if (!err && s.length * s.width >= 8)
		*ret = s.data + s.length * s.width - 8;
	return err;
}

struct plumb_error *pl_text_read_bytes(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, size_t max_bytes,
				       struct pl_buf *ret)
{
	uint64_t len;
	struct plumb_error *err;

	if (!pl_pointer_ok(obj))
		return &pl_err_corrupt;
	err = pl_mem_read_u64(mem, obj + py->layout.bytes.ob_size, &len);
	if (err)
		return err;
	if (len > max_bytes)
		return &pl_err_limit;
	err = pl_buf_reserve(ret, len);
	if (!err && len)
		err = pl_mem_read(mem, obj + py->layout.bytes.sval, ret->data + ret->len, len);
	if (!err)
		ret->len += len;
	return err;
}
