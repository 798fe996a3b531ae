/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and texts of the target, written as Python writes them. Layer: cpython. Pure over pl_mem; one thread. */
#include "value_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pick.h"
#include "text.h"

#define INT_DIGITS_MAX 64 /* of 30 bits: 1920 bits, 578 decimal digits */
#define PART	       1000000000u
#define TEXT_MAX       4096

static bool is_2_7(const struct pl_render *r)
{
	return pl_layout_str_is_bytes(&r->v->py->layout);
}

/* Sign, and how many digits of 30 bits. */
static struct plumb_error *int_shape(struct pl_render *r, pl_addr obj, bool *negative, uint64_t *count)
{
	const struct pl_layout *lay = &r->v->py->layout;
	uint64_t tag;
	struct plumb_error *err = pl_mem_read_u64(&r->mem, obj + lay->longobj.tag, &tag);

	if (err)
		return err;
	if (lay->longobj.tagged) {
		if ((tag & 3) == 3)
			return &pl_err_corrupt;
		*negative = (tag & 3) == 2;
		*count = (tag & 3) == 1 ? 0 : tag >> 3;
	} else {
		*negative = (int64_t)tag < 0;
		*count = *negative ? -tag : tag;
	}
	return *count > UINT32_MAX ? &pl_err_corrupt : NULL;
}

/* Digits to base 10^9 by repeated division; the caller's digits are used up. Returns the number of parts. */
static size_t to_decimal(uint32_t *digits, size_t count, uint32_t *parts)
{
	size_t n = 0;

	while (count) {
		uint64_t rest = 0;
		for (size_t i = count; i-- > 0;) {
			uint64_t value = rest << 30 | digits[i];
			digits[i] = (uint32_t)(value / PART);
			rest = value % PART;
		}
		parts[n++] = (uint32_t)rest;
		while (count && !digits[count - 1])
			count--;
	}
	return n;
}

static struct plumb_error *add_int_size(struct pl_render *r, uint64_t count, uint32_t top)
{
	uint64_t bits = (count - 1) * 30 + (32 - (uint64_t)__builtin_clz(top | 1));

	return pl_buf_printf(r->out, "<int, %llu bits>", (unsigned long long)bits);
}

static struct plumb_error *add_big_int(struct pl_render *r, pl_addr obj, uint64_t count)
{
	uint32_t top;
	struct plumb_error *err =
		pl_mem_read(&r->mem, obj + r->v->py->layout.longobj.digits + (count - 1) * 4, &top, sizeof top);

	return err ? pl_render_broken(r, err) : add_int_size(r, count, top);
}

struct plumb_error *pl_render_small_int(struct pl_render *r, pl_addr obj)
{
	const struct pl_layout *lay = &r->v->py->layout;
	uint64_t value;
	struct plumb_error *err = lay->longobj.small == PL_NONE
					  ? &pl_err_corrupt
					  : pl_mem_read_u64(&r->mem, obj + lay->longobj.small, &value);

	return err ? pl_render_broken(r, err) : pl_buf_printf(r->out, "%lld", (long long)value);
}

struct plumb_error *pl_render_int(struct pl_render *r, pl_addr obj)
{
	uint32_t digits[INT_DIGITS_MAX], parts[INT_DIGITS_MAX * 2];
	char text[sizeof parts / sizeof parts[0] * 9 + 3];
	uint64_t count = 0;
	bool negative = false;
	struct plumb_error *err = int_shape(r, obj, &negative, &count);

	if (!err && count > INT_DIGITS_MAX)
		return add_big_int(r, obj, count);
	if (!err && count)
		err = pl_mem_read(&r->mem, obj + r->v->py->layout.longobj.digits, digits, count * 4);
	for (size_t i = 0; !err && i < count; i++) {
		if (digits[i] >> 30)
			err = &pl_err_corrupt;
	}
	if (err)
		return pl_render_broken(r, err);
	uint32_t top = count ? digits[count - 1] : 0;
	size_t n = to_decimal(digits, count, parts);
	int len = snprintf(text, sizeof text, "%s%u", negative ? "-" : "", n ? parts[n - 1] : 0);
	for (size_t i = n; i-- > 1;)
		len += snprintf(text + len, sizeof text - (size_t)len, "%09u", parts[i - 1]);
	if ((size_t)len > r->v->limits.text_bytes)
		return add_int_size(r, count ? count : 1, top);
	if (is_2_7(r))
		text[len++] = 'L';
	return pl_buf_add(r->out, text, (size_t)len);
}

struct plumb_error *pl_render_bool(struct pl_render *r, pl_addr obj)
{
	bool negative;
	uint64_t count;
	struct plumb_error *err = int_shape(r, obj, &negative, &count);

	return err ? pl_render_broken(r, err) : pl_buf_add_str(r->out, count ? "True" : "False");
}

/* Digits and decimal exponent of the shortest text that is read back as @p d: "d.ddde+xx" cut into its parts. */
static int shortest_digits(double d, char digits[static 24])
{
	char text[48];
	int precision = 0;

	do
		snprintf(text, sizeof text, "%.*e", precision, d);
	while (strtod(text, NULL) != d && ++precision < 17);
	size_t n = 0;
	for (const char *c = text; *c && *c != 'e'; c++) {
		if (*c >= '0' && *c <= '9')
			digits[n++] = *c;
	}
	digits[n] = '\0';
	return atoi(strchr(text, 'e') + 1);
}

/* Positional from 0.0001 up to below 1e16, else with an exponent: as repr does. */
void pl_format_double(double d, char ret[static 48])
{
	const char *sign = signbit(d) ? "-" : "";
	char digits[24];

	if (isnan(d) || isinf(d)) {
		snprintf(ret, 48, "%s", isnan(d) ? "nan" : d < 0 ? "-inf" : "inf");
		return;
	}
	int exponent = shortest_digits(fabs(d), digits), n = (int)strlen(digits);
	if (exponent < -4 || exponent >= 16)
		snprintf(ret, 48, "%s%c%s%se%+03d", sign, digits[0], n > 1 ? "." : "", digits + 1, exponent);
	else if (exponent < 0)
		snprintf(ret, 48, "%s0.%.*s%s", sign, -exponent - 1, "000", digits);
	else if (n <= exponent + 1)
		snprintf(ret, 48, "%s%s%.*s.0", sign, digits, exponent + 1 - n, "0000000000000000");
	else
		snprintf(ret, 48, "%s%.*s.%s", sign, exponent + 1, digits, digits + exponent + 1);
}

struct plumb_error *pl_render_float(struct pl_render *r, pl_addr obj)
{
	double d;
	char text[48];
	struct plumb_error *err = pl_mem_read(&r->mem, obj + r->v->py->layout.object.size, &d, sizeof d);

	if (err)
		return pl_render_broken(r, err);
	pl_format_double(d, text);
	return pl_buf_add_str(r->out, text);
}

/* The parts of a complex number are written without ".0". */
static void format_part(double d, char ret[static 48])
{
	pl_format_double(d, ret);
	size_t n = strlen(ret);
	if (n > 2 && !strcmp(ret + n - 2, ".0"))
		ret[n - 2] = '\0';
}

struct plumb_error *pl_render_complex(struct pl_render *r, pl_addr obj)
{
	double part[2];
	char real[48], imag[48];
	struct plumb_error *err = pl_mem_read(&r->mem, obj + r->v->py->layout.object.size, part, sizeof part);

	if (err)
		return pl_render_broken(r, err);
	format_part(part[0], real);
	format_part(part[1], imag);
	if (part[0] == 0 && !signbit(part[0]))
		return pl_buf_printf(r->out, "%sj", imag);
	return pl_buf_printf(r->out, "(%s%s%sj)", real, imag[0] == '-' ? "" : "+", imag);
}

bool pl_char_is_hidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || (c >= 0xd800 && c < 0xe000) ||
	       c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

static struct plumb_error *add_escape(struct pl_buf *out, uint32_t c)
{
	if (c == '\n')
		return pl_buf_add_str(out, "\\n");
	if (c == '\r')
		return pl_buf_add_str(out, "\\r");
	if (c == '\t')
		return pl_buf_add_str(out, "\\t");
	return pl_buf_printf(out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

/* One character of UTF-8 that pl_text_read_str has made. */
static uint32_t decode(const uint8_t *s, size_t *len)
{
	uint32_t c = s[0];

	*len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	if (*len > 1)
		c &= 0x7fu >> *len;
	for (size_t i = 1; i < *len; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/* @p quote 0: no quotes around. */
static struct plumb_error *add_text(struct pl_render *r, const uint8_t *s, size_t len, char quote)
{
	struct plumb_error *err = NULL;
	size_t n;

	for (size_t i = 0; !err && i < len; i += n) {
		uint32_t c = decode(s + i, &n);
		if (pl_char_is_hidden(c))
			err = add_escape(r->out, c);
		else if (quote && (c == '\\' || c == (uint8_t)quote))
			err = pl_buf_printf(r->out, "\\%c", (char)c);
		else
			err = pl_buf_add(r->out, s + i, n);
	}
	return err;
}

static char quote_for(const void *s, size_t len)
{
	return memchr(s, '\'', len) && !memchr(s, '"', len) ? '"' : '\'';
}

static uint32_t text_max(const struct pl_render *r)
{
	return r->v->limits.text_bytes < TEXT_MAX ? r->v->limits.text_bytes : TEXT_MAX;
}

static struct plumb_error *render_str(struct pl_render *r, pl_addr obj, bool quoted)
{
	struct pl_buf text = PL_BUF_INIT(TEXT_MAX + 8);
	struct pl_text_start start = {0};
	struct plumb_error *err = pl_text_read_start(&r->mem, r->v->py, obj, text_max(r), &text, &start);

	if (err) {
		pl_buf_deinit(&text);
		return pl_render_broken(r, err);
	}
	char quote = text.len ? quote_for(text.data, text.len) : '\'';
	if (quoted)
		err = pl_buf_printf(r->out, "%s%c", is_2_7(r) ? "u" : "", quote);
	if (!err)
		err = add_text(r, text.data, text.len, quoted ? quote : 0);
	if (!err && quoted)
		err = pl_buf_add_u8(r->out, (uint8_t)quote);
	if (!err && start.cut)
		err = quoted ? pl_buf_printf(r->out, "... (%llu characters)", (unsigned long long)start.chars)
			     : pl_buf_add_str(r->out, "...");
	pl_buf_deinit(&text);
	return err;
}

struct plumb_error *pl_render_str(struct pl_render *r, pl_addr obj)
{
	return render_str(r, obj, true);
}

/* 2.7: names are bytes, and whatever else can be a key. */
static struct plumb_error *render_bare_of_2_7(struct pl_render *r, pl_addr obj)
{
	struct pl_buf text = PL_BUF_INIT(TEXT_MAX + 8);
	struct pl_value_type type;
	struct plumb_error *err = pl_type_of(r, obj, &type);

	if (!err && type.kind == PL_KIND_STR)
		return render_str(r, obj, false);
	if (!err && type.kind != PL_KIND_BYTES)
		return pl_buf_printf(r->out, "<%s>", type.name);
	if (!err)
		err = pl_text_read_str(&r->mem, r->v->py, obj, text_max(r), &text);
	err = err ? pl_render_broken(r, err) : add_text(r, text.data, text.len, 0);
	pl_buf_deinit(&text);
	return err;
}

struct plumb_error *pl_render_bare_str(struct pl_render *r, pl_addr obj)
{
	return is_2_7(r) ? render_bare_of_2_7(r, obj) : render_str(r, obj, false);
}

static struct plumb_error *add_bytes(struct pl_render *r, const char *prefix, const uint8_t *s, size_t len)
{
	char quote = len ? quote_for(s, len) : '\'';
	struct plumb_error *err = pl_buf_printf(r->out, "%s%c", prefix, quote);

	for (size_t i = 0; !err && i < len; i++) {
		if (s[i] < 0x20 || s[i] >= 0x7f)
			err = add_escape(r->out, s[i]);
		else
			err = pl_buf_printf(r->out, s[i] == '\\' || s[i] == (uint8_t)quote ? "\\%c" : "%c", s[i]);
	}
	return err ? err : pl_buf_add_u8(r->out, (uint8_t)quote);
}

/* @p len as the target says: believed only up to what is shown. */
static struct plumb_error *render_bytes(struct pl_render *r, const char *prefix, pl_addr data, uint64_t len)
{
	uint8_t bytes[TEXT_MAX];
	size_t shown = len < text_max(r) ? (size_t)len : text_max(r);
	struct plumb_error *err = NULL;

	if (len > INT64_MAX)
		err = &pl_err_corrupt;
	if (!err && shown)
		err = pl_mem_read(&r->mem, data, bytes, shown);
	if (err)
		return pl_render_broken(r, err);
	err = add_bytes(r, prefix, bytes, shown);
	if (!err && shown < len)
		err = pl_buf_printf(r->out, "... (%llu bytes)", (unsigned long long)len);
	return err;
}

struct plumb_error *pl_render_bytes(struct pl_render *r, pl_addr obj)
{
	const struct pl_layout *lay = &r->v->py->layout;
	uint64_t len;
	struct plumb_error *err = pl_mem_read_u64(&r->mem, obj + lay->bytes.ob_size, &len);

	return err ? pl_render_broken(r, err) : render_bytes(r, is_2_7(r) ? "" : "b", obj + lay->bytes.sval, len);
}

struct plumb_error *pl_render_bytearray(struct pl_render *r, pl_addr obj)
{
	const struct pl_layout *lay = &r->v->py->layout;
	uint64_t len;
	pl_addr start;
	struct plumb_error *err;

	if (lay->bytearray.start == PL_NONE)
		return pl_buf_add_str(r->out, "<bytearray>");
	err = pl_mem_read_u64(&r->mem, obj + lay->bytes.ob_size, &len);
	if (!err)
		err = pl_mem_read_u64(&r->mem, obj + lay->bytearray.start, &start);
	if (err)
		return pl_render_broken(r, err);
	err = pl_buf_add_str(r->out, "bytearray(");
	if (!err)
		err = render_bytes(r, "b", start, len);
	return err ? err : pl_buf_add_u8(r->out, ')');
}
