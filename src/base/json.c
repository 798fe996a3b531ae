/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming JSON writer (layer base). One thread at a time, which nobody shares the stream with: it is not locked.
 * Nothing is allocated. One pl_json writes one document, without a newline at its end. Write errors stay in the stream:
 * look at ferror() once, at the end. */
#include "json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "utf8.h"

#define MAX_DEPTH ((int)(sizeof((struct pl_json *)0)->first / sizeof(bool)))

static void put(struct pl_json *j, const char *bytes, size_t len)
{
	fwrite_unlocked(bytes, 1, len, j->out);
}

static void new_line(struct pl_json *j)
{
	if (!j->indent)
		return;
	putc_unlocked('\n', j->out);
	for (int i = 0; i < j->depth * j->indent; i++)
		putc_unlocked(' ', j->out);
}

/* Comma and line break before an item of the current container. */
static void before_item(struct pl_json *j)
{
	assert(j->depth > 0 || j->first[0]); /* a document is one value */
	if (!j->first[j->depth])
		putc_unlocked(',', j->out);
	j->first[j->depth] = false;
	if (j->depth > 0)
		new_line(j);
}

static void before_value(struct pl_json *j)
{
	assert(j->after_key == j->in_object[j->depth]); /* in an object every value follows a key */
	if (!j->after_key)
		before_item(j);
	j->after_key = false;
}

static void container(struct pl_json *j, char open, bool in_object)
{
	before_value(j);
	putc_unlocked(open, j->out);
	j->depth++;
	assert(j->depth < MAX_DEPTH);
	j->first[j->depth] = true;
	j->in_object[j->depth] = in_object;
}

static void container_end(struct pl_json *j, char close, bool in_object)
{
	assert(j->depth > 0 && j->in_object[j->depth] == in_object && !j->after_key);
	bool empty = j->first[j->depth];
	j->depth--;
	if (!empty)
		new_line(j);
	putc_unlocked(close, j->out);
}

void pl_json_init(struct pl_json *j, FILE *out, int indent)
{
	*j = (struct pl_json){.out = out, .indent = indent, .first = {true}};
}

void pl_json_object(struct pl_json *j)
{
	container(j, '{', true);
}

void pl_json_object_end(struct pl_json *j)
{
	container_end(j, '}', true);
}

void pl_json_array(struct pl_json *j)
{
	container(j, '[', false);
}

void pl_json_array_end(struct pl_json *j)
{
	container_end(j, ']', false);
}

/* Write what stands for an ASCII character that JSON, or a <script> element around it, cannot hold as it is. */
static void put_escape(struct pl_json *j, uint8_t c)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
	const char *at = c ? strchr(plain, c) : NULL;
	if (at)
		fprintf(j->out, "\\%c", letter[at - plain]);
	else
		fprintf(j->out, "\\u%04x", c);
}

static bool is_plain_ascii(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Write the character at @p s (at least one byte) that is not plain ASCII; returns the bytes used. */
static size_t put_character(struct pl_json *j, const uint8_t *s, size_t len)
{
	if (s[0] < 0x80) {
		put_escape(j, s[0]);
		return 1;
	}
	uint32_t code;
	size_t used = pl_utf8_decode(s, len, &code);
	if (code == PL_UTF8_INVALID)
		put(j, "\xef\xbf\xbd", 3);
	else if (code < 0xa0 || code == 0x2028 || code == 0x2029) /* controls; line ends in JavaScript before ES2019 */
		fprintf(j->out, "\\u%04x", code);
	else
		put(j, (const char *)s, used);
	return used;
}

static void put_string(struct pl_json *j, const char *text, size_t len)
{
	const uint8_t *s = (const uint8_t *)text, *end = s + len;
	putc_unlocked('"', j->out);
	while (s < end) {
		const uint8_t *run = s;
		while (s < end && is_plain_ascii(*s) && !(s > run && s[-1] == '<' && *s == '/'))
			s++;
		put(j, (const char *)run, (size_t)(s - run));
		if (s < end && *s == '/') {
			putc_unlocked('\\', j->out); /* "</" could end the script element that holds us */
			putc_unlocked(*s++, j->out);
		} else if (s < end) {
			s += put_character(j, s, (size_t)(end - s));
		}
	}
	putc_unlocked('"', j->out);
}

void pl_json_key(struct pl_json *j, const char *key)
{
	assert(j->in_object[j->depth] && !j->after_key);
	before_item(j);
	put_string(j, key, strlen(key));
	putc_unlocked(':', j->out);
	if (j->indent)
		putc_unlocked(' ', j->out);
	j->after_key = true;
}

void pl_json_str(struct pl_json *j, const char *s)
{
	pl_json_strn(j, s, strlen(s));
}

void pl_json_strn(struct pl_json *j, const char *s, size_t len)
{
	before_value(j);
	put_string(j, s, len);
}

/* A profile is millions of small numbers: printf would take most of the time of writing one. */
static void put_digits(struct pl_json *j, uint64_t v)
{
	char text[20]; /* UINT64_MAX has as many */
	size_t at = sizeof text;
	do
		text[--at] = (char)('0' + v % 10);
	while (v /= 10);
	put(j, text + at, sizeof text - at);
}

void pl_json_u64(struct pl_json *j, uint64_t v)
{
	before_value(j);
	put_digits(j, v);
}

void pl_json_i64(struct pl_json *j, int64_t v)
{
	before_value(j);
	if (v < 0)
		putc_unlocked('-', j->out);
	put_digits(j, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void pl_json_decimal(struct pl_json *j, uint64_t v, int decimals)
{
	char text[40];
	size_t at = sizeof text;
	assert(decimals >= 0 && decimals <= 17);
	before_value(j);
	for (int i = 0; v || i <= decimals; i++, v /= 10) {
		if (i == decimals && i > 0)
			text[--at] = '.';
		text[--at] = (char)('0' + v % 10);
	}
	put(j, text + at, sizeof text - at);
}

void pl_json_double(struct pl_json *j, double v, int decimals)
{
	char text[400]; /* DBL_MAX has 309 digits */
	assert(decimals >= 0 && decimals <= 17);
	if (!isfinite(v)) {
		pl_json_null(j);
		return;
	}
	before_value(j);
	int len = snprintf(text, sizeof text, "%.*f", decimals, v);
	const char *s = text;
	if (*s == '-' && !strpbrk(s, "123456789"))
		s++; /* minus zero */
	/* The caller's locale may have another decimal point, of several bytes even: digits count from the end. */
	const char *point = decimals ? text + len - decimals : text + len;
	for (; s < text + len; s++) {
		if (s == point)
			putc_unlocked('.', j->out);
		if (*s == '-' || (*s >= '0' && *s <= '9'))
			putc_unlocked(*s, j->out);
	}
}

void pl_json_number(struct pl_json *j, double v)
{
	char text[64];
	bool pointed = false;
	if (!isfinite(v)) {
		pl_json_null(j);
		return;
	}
	before_value(j);
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	/* The caller's locale may have another decimal point, of several bytes even. */
	for (const char *s = text; *s; s++) {
		if (strchr("0123456789+-e", *s))
			putc_unlocked(*s, j->out);
		else if (!pointed)
			putc_unlocked('.', j->out);
		pointed = pointed || !strchr("0123456789+-e", *s);
	}
}

void pl_json_bool(struct pl_json *j, bool v)
{
	before_value(j);
	fputs(v ? "true" : "false", j->out);
}

void pl_json_null(struct pl_json *j)
{
	before_value(j);
	fputs("null", j->out);
}

void pl_json_key_str(struct pl_json *j, const char *key, const char *s)
{
	pl_json_key(j, key);
	pl_json_str(j, s);
}

void pl_json_key_strn(struct pl_json *j, const char *key, const char *s, size_t len)
{
	pl_json_key(j, key);
	pl_json_strn(j, s, len);
}

void pl_json_key_u64(struct pl_json *j, const char *key, uint64_t v)
{
	pl_json_key(j, key);
	pl_json_u64(j, v);
}

void pl_json_key_i64(struct pl_json *j, const char *key, int64_t v)
{
	pl_json_key(j, key);
	pl_json_i64(j, v);
}

void pl_json_key_double(struct pl_json *j, const char *key, double v, int decimals)
{
	pl_json_key(j, key);
	pl_json_double(j, v, decimals);
}

void pl_json_key_bool(struct pl_json *j, const char *key, bool v)
{
	pl_json_key(j, key);
	pl_json_bool(j, v);
}

void pl_json_key_null(struct pl_json *j, const char *key)
{
	pl_json_key(j, key);
	pl_json_null(j);
}

void pl_json_key_u64_or_null(struct pl_json *j, const char *key, bool known, uint64_t v)
{
	if (known)
		pl_json_key_u64(j, key, v);
	else
		pl_json_key_null(j, key);
}

void pl_json_key_str_or_null(struct pl_json *j, const char *key, const char *s)
{
	if (s && *s)
		pl_json_key_str(j, key, s);
	else
		pl_json_key_null(j, key);
}

void pl_json_key_time(struct pl_json *j, const char *key, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / PL_NS_PER_S);
	char date[40], text[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm)) {
		pl_json_key_null(j, key);
		return;
	}
	snprintf(text, sizeof text, "%s.%06uZ", date, (unsigned)(real_ns % PL_NS_PER_S / 1000));
	pl_json_key_str(j, key, text);
}
