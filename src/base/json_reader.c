/* SPDX-License-Identifier: Apache-2.0 */
/* Pull parser for JSON (layer base). One thread at a time. The document stays the caller's bytes: a string without an
 * escape is told as a part of them; the others are unescaped into a buffer that is never longer than the document.
 * Each byte is looked at once, and depth is a number, so that time and memory follow the length whatever it says.
 * Numbers: json_number.c. */
#include "json_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the next token can be. */
enum {
	EXPECTS_VALUE,
	EXPECTS_FIRST, /* of a container: an item, or its end */
	EXPECTS_NEXT,  /* of a container: a comma and an item, or its end */
	EXPECTS_END,   /* of the document */
};

void pl_json_reader_init(struct pl_json_reader *r, const void *bytes, size_t len)
{
	static const uint8_t mark[] = {0xef, 0xbb, 0xbf};

	*r = (struct pl_json_reader){
		.bytes = bytes, .len = len, .text = PL_BUF_INIT(len + 8), .expects = EXPECTS_VALUE};
	if (len >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0)
		r->at = r->offset = sizeof mark;
}

void pl_json_reader_deinit(struct pl_json_reader *r)
{
	pl_buf_deinit(&r->text);
}

/* Lines and columns (bytes) from 1, counted only now that somebody asks. */
static struct plumb_error *fail_at(const struct pl_json_reader *r, size_t at, const char *what)
{
	size_t line = 1, start = 0;

	for (size_t i = 0; i < at; i++) {
		if (r->bytes[i] == '\n') {
			line++;
			start = i + 1;
		}
	}
	return pl_error(PLUMB_ERR_CORRUPT, "line %zu, column %zu: %s", line, at - start + 1, what);
}

struct plumb_error *pl_json_reader_fail(const struct pl_json_reader *r, const char *fmt, ...)
{
	char what[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	return fail_at(r, r->offset, what);
}

static bool in_object(const struct pl_json_reader *r)
{
	int i = r->depth - 1;

	return i >= 0 && (r->in_object[i / 8] >> (i % 8) & 1);
}

static int peek(const struct pl_json_reader *r)
{
	return r->at < r->len ? r->bytes[r->at] : -1;
}

static bool is_blank(uint8_t c)
{
	return c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t');
}

static void skip_blanks(struct pl_json_reader *r)
{
	while (r->at < r->len && is_blank(r->bytes[r->at]))
		r->at++;
}

static void value_is_over(struct pl_json_reader *r)
{
	r->expects = r->depth ? EXPECTS_NEXT : EXPECTS_END;
}

static struct plumb_error *open_container(struct pl_json_reader *r, bool object)
{
	int i = r->depth;

	if (r->depth == PL_JSON_DEPTH_MAX)
		return pl_error(PLUMB_ERR_LIMIT, "offset %zu: more than %d containers in each other", r->at,
				PL_JSON_DEPTH_MAX);
	r->depth++;
	r->in_object[i / 8] &= (uint8_t) ~(1u << (i % 8));
	r->in_object[i / 8] |= (uint8_t)((unsigned)object << (i % 8));
	r->token = object ? PL_JSON_OBJECT : PL_JSON_ARRAY;
	r->expects = EXPECTS_FIRST;
	r->at++;
	return NULL;
}

static void close_container(struct pl_json_reader *r)
{
	r->token = in_object(r) ? PL_JSON_OBJECT_END : PL_JSON_ARRAY_END;
	r->depth--;
	r->at++;
	value_is_over(r);
}

/* Four hexadecimal digits at @p at; -1: they are not. */
static int32_t hex4(const struct pl_json_reader *r, size_t at)
{
	int32_t v = 0;

	if (r->len - at < 4)
		return -1;
	for (size_t i = at; i < at + 4; i++) {
		uint8_t c = r->bytes[i], low = c | 0x20;

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if (low >= 'a' && low <= 'f')
			v = v << 4 | (low - 'a' + 10);
		else
			return -1;
	}
	return v;
}

/* A lone surrogate becomes its three bytes: so it came from a Python str, and so it is told again. */
static void put_utf8(struct pl_buf *b, uint32_t c)
{
	uint8_t *s = b->data + b->len;

	if (c < 0x80) {
		s[0] = (uint8_t)c;
		b->len += 1;
	} else if (c < 0x800) {
		s[0] = (uint8_t)(0xc0 | c >> 6);
		s[1] = (uint8_t)(0x80 | (c & 0x3f));
		b->len += 2;
	} else if (c < 0x10000) {
		s[0] = (uint8_t)(0xe0 | c >> 12);
		s[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		s[2] = (uint8_t)(0x80 | (c & 0x3f));
		b->len += 3;
	} else {
		s[0] = (uint8_t)(0xf0 | c >> 18);
		s[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
		s[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		s[3] = (uint8_t)(0x80 | (c & 0x3f));
		b->len += 4;
	}
}

/* At a backslash; the buffer has room for what it stands for, which is never longer. */
static struct plumb_error *unescape(struct pl_json_reader *r)
{
	static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	size_t start = r->at++;
	int c = peek(r);
	const char *letter = c > 0 ? strchr(letters, c) : NULL;
	int32_t code, low;

	r->at++;
	if (letter) {
		r->text.data[r->text.len++] = (uint8_t)means[letter - letters];
		return NULL;
	}
	code = c == 'u' ? hex4(r, r->at) : -1;
	if (code < 0)
		return fail_at(r, start, "a backslash with nothing JSON knows behind it");
	r->at += 4;
	if (code >= 0xd800 && code <= 0xdbff && r->len - r->at >= 6 && r->bytes[r->at] == '\\' &&
	    r->bytes[r->at + 1] == 'u') {
		low = hex4(r, r->at + 2);
		if (low >= 0xdc00 && low <= 0xdfff) {
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
			r->at += 6;
		}
	}
	put_utf8(&r->text, (uint32_t)code);
	return NULL;
}

static bool is_plain(uint8_t c)
{
	return c >= 0x20 && c != '"' && c != '\\';
}

/* The rest of a string, of which the first escape comes at r->at. */
static struct plumb_error *read_escaped(struct pl_json_reader *r, size_t start)
{
	struct plumb_error *err;

	pl_buf_clear(&r->text);
	err = pl_buf_add(&r->text, r->bytes + start, r->at - start);
	while (!err && peek(r) != '"') {
		size_t run = r->at;

		while (r->at < r->len && is_plain(r->bytes[r->at]))
			r->at++;
		err = pl_buf_add(&r->text, r->bytes + run, r->at - run);
		if (!err && peek(r) == '\\') {
			err = pl_buf_reserve(&r->text, 4);
			if (!err)
				err = unescape(r);
		} else if (!err && peek(r) != '"') {
			err = fail_at(r, r->at,
				      peek(r) < 0 ? "the file ends within a string"
						  : "a control character within a string");
		}
	}
	if (err)
		return err;
	r->str = (const char *)r->text.data;
	r->str_len = r->text.len;
	return NULL;
}

static struct plumb_error *read_string(struct pl_json_reader *r)
{
	size_t start = ++r->at, at = start;
	struct plumb_error *err = NULL;

	while (at < r->len && is_plain(r->bytes[at]))
		at++;
	r->at = at;
	r->str = (const char *)r->bytes + start;
	r->str_len = r->at - start;
	if (peek(r) != '"')
		err = read_escaped(r, start);
	r->at++;
	return err;
}

static struct plumb_error *read_key(struct pl_json_reader *r)
{
	struct plumb_error *err;

	if (peek(r) != '"')
		return fail_at(r, r->at, peek(r) < 0 ? "the file ends within an object" : "a key was expected");
	err = read_string(r);
	if (err)
		return err;
	skip_blanks(r);
	if (peek(r) != ':')
		return fail_at(r, r->at, "a colon was expected");
	r->at++;
	r->token = PL_JSON_KEY;
	r->expects = EXPECTS_VALUE;
	return NULL;
}

static size_t skip_digits(struct pl_json_reader *r)
{
	size_t start = r->at, at = start;

	while (at < r->len && r->bytes[at] >= '0' && r->bytes[at] <= '9')
		at++;
	r->at = at;
	return at - start;
}

static struct plumb_error *read_number(struct pl_json_reader *r)
{
	size_t start = r->at, digits;
	bool ok, zero;

	r->at += peek(r) == '-';
	zero = peek(r) == '0';
	digits = skip_digits(r);
	ok = digits > 0 && !(zero && digits > 1);
	if (ok && peek(r) == '.') {
		r->at++;
		ok = skip_digits(r) > 0;
	}
	if (ok && (peek(r) == 'e' || peek(r) == 'E')) {
		r->at++;
		r->at += peek(r) == '+' || peek(r) == '-';
		ok = skip_digits(r) > 0;
	}
	if (!ok)
		return fail_at(r, start, "this is no number of JSON");
	r->str = (const char *)r->bytes + start;
	r->str_len = r->at - start;
	r->token = PL_JSON_NUMBER;
	value_is_over(r);
	return NULL;
}

static bool take_word(struct pl_json_reader *r, const char *word)
{
	size_t len = strlen(word);

	if (r->len - r->at < len || memcmp(r->bytes + r->at, word, len) != 0)
		return false;
	r->at += len;
	value_is_over(r);
	return true;
}

static struct plumb_error *read_word(struct pl_json_reader *r)
{
	r->boolean = peek(r) == 't';
	if (take_word(r, "true") || take_word(r, "false"))
		r->token = PL_JSON_BOOL;
	else if (take_word(r, "null"))
		r->token = PL_JSON_NULL;
	else
		return fail_at(r, r->at, "a value was expected");
	return NULL;
}

static struct plumb_error *read_value(struct pl_json_reader *r)
{
	struct plumb_error *err;
	int c = peek(r);

	if (c < 0)
		return fail_at(r, r->at, "the file ends where a value was expected");
	if (c == '{' || c == '[')
		return open_container(r, c == '{');
	if (c == '-' || (c >= '0' && c <= '9'))
		return read_number(r);
	if (c != '"')
		return read_word(r);
	err = read_string(r);
	r->token = PL_JSON_STRING;
	value_is_over(r);
	return err;
}

/* An item of a container, or its end. */
static struct plumb_error *read_item(struct pl_json_reader *r)
{
	if (peek(r) == (in_object(r) ? '}' : ']')) {
		close_container(r);
		return NULL;
	}
	if (r->expects == EXPECTS_NEXT) {
		if (peek(r) != ',')
			return fail_at(r, r->at,
				       peek(r) < 0 ? "the file ends within a container"
						   : "a comma or the end of the container was expected");
		r->at++;
		skip_blanks(r);
		r->offset = r->at;
	}
	return in_object(r) ? read_key(r) : read_value(r);
}

struct plumb_error *pl_json_reader_next(struct pl_json_reader *r)
{
	skip_blanks(r);
	r->offset = r->at;
	if (r->expects == EXPECTS_VALUE)
		return read_value(r);
	if (r->expects != EXPECTS_END)
		return read_item(r);
	r->token = PL_JSON_END;
	return r->at < r->len ? fail_at(r, r->at, "something follows the end of the document") : NULL;
}

/* Read on until only @p depth containers are open. */
static struct plumb_error *skip_to(struct pl_json_reader *r, int depth)
{
	struct plumb_error *err = NULL;

	while (!err && r->depth > depth)
		err = pl_json_reader_next(r);
	return err;
}

struct plumb_error *pl_json_reader_skip(struct pl_json_reader *r)
{
	bool opens = r->token == PL_JSON_OBJECT || r->token == PL_JSON_ARRAY;

	return opens ? skip_to(r, r->depth - 1) : NULL;
}

/* Behind an odd number of backslashes. */
static bool is_escaped(const uint8_t *quote, const uint8_t *begin)
{
	const uint8_t *at = quote;

	while (at > begin && at[-1] == '\\')
		at--;
	return (quote - at) & 1;
}

/* r->at behind the string that begins there. */
static void pass_string(struct pl_json_reader *r)
{
	const uint8_t *begin = r->bytes + r->at + 1, *end = r->bytes + r->len, *at = begin, *quote;

	while ((quote = memchr(at, '"', (size_t)(end - at))) && is_escaped(quote, begin))
		at = quote + 1;
	r->at = quote ? (size_t)(quote + 1 - r->bytes) : r->len;
}

#define BLOCK 16

/* Whether of BLOCK bytes none is a quote or a bracket. The compiler makes a few instructions of it, without branches.
 * 0x20 is what the two kinds of brackets differ by. */
static bool is_dull(const uint8_t *bytes)
{
	uint8_t found = 0;

	for (int i = 0; i < BLOCK; i++) {
		uint8_t c = bytes[i] | 0x20;

		found |= (c == '{') | (c == '}') | (c == '"');
	}
	return !found;
}

/* r->at behind the blocks from there on that are dull. */
static void pass_dull(struct pl_json_reader *r)
{
	size_t at = r->at;

	while (r->len - at >= BLOCK && is_dull(r->bytes + at))
		at += BLOCK;
	r->at = at;
}

/* On to @p until, or to the bracket that ends the container; a string may end behind it. */
static void pass_bytes(struct pl_json_reader *r, size_t until, size_t *open)
{
	static const uint8_t means[256] = {['"'] = 1, ['['] = 2, ['{'] = 2, [']'] = 3, ['}'] = 3};

	while (r->at < until) {
		size_t at = r->at;

		while (at < until && !means[r->bytes[at]])
			at++;
		r->at = at;
		if (at == until)
			return;
		switch (means[r->bytes[at]]) {
		case 1:
			pass_string(r);
			continue;
		case 2:
			++*open;
			break;
		case 3:
			if (--*open == 0)
				return;
			break;
		}
		r->at++;
	}
}

/* On to the bracket that ends the container; false: there is none. */
static bool pass_to_end(struct pl_json_reader *r)
{
	size_t open = 1;

	while (open && r->at < r->len) {
		pass_dull(r);
		pass_bytes(r, r->len - r->at < BLOCK ? r->len : r->at + BLOCK, &open);
	}
	return open == 0;
}

struct plumb_error *pl_json_reader_pass(struct pl_json_reader *r)
{
	if (r->token != PL_JSON_OBJECT && r->token != PL_JSON_ARRAY)
		return NULL;
	if (pass_to_end(r)) {
		close_container(r);
		return NULL;
	}
	r->at = r->len;
	return fail_at(r, r->at, "the file ends within a container");
}

bool pl_json_reader_text(const struct pl_json_reader *r, const char **text, size_t *len)
{
	const uint8_t *begin = r->bytes + r->at;
	const uint8_t *end =
		r->token == PL_JSON_ARRAY && r->expects == EXPECTS_FIRST ? memchr(begin, ']', r->len - r->at) : NULL;

	if (!end)
		return false;
	*text = (const char *)begin;
	*len = (size_t)(end - begin);
	return true;
}

bool pl_json_reader_whole_text(struct pl_json_reader *r, const char **text, size_t *len)
{
	size_t begin = r->at;
	bool found = r->token == PL_JSON_ARRAY && r->expects == EXPECTS_FIRST && pass_to_end(r);

	*text = (const char *)r->bytes + begin;
	*len = found ? r->at - begin : 0;
	r->at = begin;
	return found;
}

void pl_json_reader_end(struct pl_json_reader *r, size_t len)
{
	r->at += len;
	close_container(r);
}

static pl_json_value_fn *reader_of(const struct pl_json_reader *r, const struct pl_json_field *fields)
{
	for (; fields->key; fields++) {
		if (pl_json_reader_is(r, fields->key))
			return fields->read;
	}
	return NULL;
}

struct plumb_error *pl_json_reader_object(struct pl_json_reader *r, const struct pl_json_field *fields, void *ctx)
{
	int depth = r->depth;
	struct plumb_error *err = NULL;

	if (r->token != PL_JSON_OBJECT)
		return pl_json_reader_fail(r, "an object was expected");
	while (!err) {
		pl_json_value_fn *read;

		err = pl_json_reader_next(r);
		if (err || r->token == PL_JSON_OBJECT_END)
			break;
		read = reader_of(r, fields);
		err = pl_json_reader_next(r);
		if (!err && read)
			err = read(r, ctx);
		if (!err)
			err = skip_to(r, depth);
	}
	return err;
}

struct plumb_error *pl_json_reader_array(struct pl_json_reader *r, pl_json_value_fn *fn, void *ctx)
{
	int depth = r->depth;
	struct plumb_error *err = NULL;

	if (r->token != PL_JSON_ARRAY)
		return pl_json_reader_fail(r, "an array was expected");
	while (!err) {
		err = pl_json_reader_next(r);
		if (err || r->token == PL_JSON_ARRAY_END)
			break;
		err = fn(r, ctx);
		if (!err)
			err = skip_to(r, depth);
	}
	return err;
}

bool pl_json_reader_is(const struct pl_json_reader *r, const char *s)
{
	return (r->token == PL_JSON_KEY || r->token == PL_JSON_STRING) && r->str_len == strlen(s) &&
	       memcmp(r->str, s, r->str_len) == 0;
}
