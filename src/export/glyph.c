/* SPDX-License-Identifier: Apache-2.0 */
/* Names as they can be shown in a terminal. Layer export; pure, any thread.
 *
 * Names come from the profiled program: anybody who can name a function or a file could otherwise clear the screen or
 * turn the text around. The table of wide characters is the block structure of Unicode, not its full data: where it is
 * wrong a column is out of line, nothing more. It does not ask the C library's locale. */
#include "glyph.h"

#include <stdio.h>
#include <string.h>

#include "utf8.h"

struct span {
	uint32_t first, last;
};

static const struct span wide[] = {
	{0x1100, 0x115f},   {0x231a, 0x231b},	{0x2329, 0x232a},   {0x23e9, 0x23ec},	{0x23f0, 0x23f0},
	{0x23f3, 0x23f3},   {0x25fd, 0x25fe},	{0x2614, 0x2615},   {0x2648, 0x2653},	{0x267f, 0x267f},
	{0x2693, 0x2693},   {0x26a1, 0x26a1},	{0x26aa, 0x26ab},   {0x26bd, 0x26be},	{0x26c4, 0x26c5},
	{0x26ce, 0x26ce},   {0x26d4, 0x26d4},	{0x26ea, 0x26ea},   {0x26f2, 0x26f3},	{0x26f5, 0x26f5},
	{0x26fa, 0x26fa},   {0x26fd, 0x26fd},	{0x2705, 0x2705},   {0x270a, 0x270b},	{0x2728, 0x2728},
	{0x274c, 0x274c},   {0x274e, 0x274e},	{0x2753, 0x2755},   {0x2757, 0x2757},	{0x2795, 0x2797},
	{0x27b0, 0x27b0},   {0x27bf, 0x27bf},	{0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},	{0x2b55, 0x2b55},
	{0x2e80, 0x303e},   {0x3041, 0x4dbf},	{0x4e00, 0xa4cf},   {0xa960, 0xa97c},	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},   {0xfe10, 0xfe19},	{0xfe30, 0xfe6b},   {0xff01, 0xff60},	{0xffe0, 0xffe6},
	{0x16fe0, 0x18cff}, {0x1aff0, 0x1b2fb}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e},
	{0x1f191, 0x1f19a}, {0x1f200, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7f0}, {0x1f90c, 0x1f9ff},
	{0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};
static const struct span combining[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},   {0x1ab0, 0x1aff},
	{0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};
/* Controls, invisible characters, line separators, and those that change the direction of what follows. */
static const struct span unprintable[] = {
	{0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad},	{0x061c, 0x061c},    {0x180e, 0x180e},
	{0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},	{0xd800, 0xf8ff},    {0xfeff, 0xfeff},
	{0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe00ff}, {0xf0000, 0x10ffff},
};

static bool in_spans(const struct span *spans, size_t count, uint32_t c)
{
	for (size_t i = 0; i < count && spans[i].first <= c; i++) {
		if (c <= spans[i].last)
			return true;
	}
	return false;
}

#define IN(table, c) in_spans((table), sizeof(table) / sizeof(table)[0], (c))

static void escape(uint32_t c, struct pl_glyph *ret)
{
	char text[16];

	if (c == '\n' || c == '\r' || c == '\t')
		snprintf(text, sizeof text, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
	else
		snprintf(text, sizeof text, c > 0xffff ? "\\U%08x" : c > 0xff ? "\\u%04x" : "\\x%02x", c);
	ret->len = ret->cols = (uint8_t)strlen(text);
	memcpy(ret->text, text, ret->len);
}

/* A lone surrogate is how Python keeps a byte that is not UTF-8 in a file name; show which one. */
static void undecodable(const uint8_t *s, size_t len, bool unicode, struct pl_glyph *ret)
{
	if (len == 3 && s[0] == 0xed && s[1] >= 0xa0 && (s[2] & 0xc0) == 0x80) {
		escape(0xd000u | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu), ret);
		return;
	}
	ret->cols = 1;
	ret->len = unicode ? 3 : 1;
	memcpy(ret->text, unicode ? "\xef\xbf\xbd" : "?", ret->len);
}

size_t pl_glyph_next(const char *s, size_t len, bool unicode, struct pl_glyph *ret)
{
	uint32_t c;
	size_t taken = pl_utf8_decode((const uint8_t *)s, len, &c);

	if (c == PL_UTF8_INVALID) {
		undecodable((const uint8_t *)s, taken, unicode, ret);
	} else if (IN(unprintable, c) || (c > 0x7f && !unicode)) {
		escape(c, ret);
	} else {
		ret->len = (uint8_t)taken;
		ret->cols = c < 0x300 ? 1 : IN(combining, c) ? 0 : IN(wide, c) ? 2 : 1;
		memcpy(ret->text, s, taken);
	}
	return taken;
}

int pl_glyph_columns(const char *s, size_t len, bool unicode, int limit)
{
	struct pl_glyph g;
	int cols = 0;

	for (size_t i = 0; i < len && cols < limit; cols += g.cols)
		i += pl_glyph_next(s + i, len - i, unicode, &g);
	return cols < limit ? cols : limit;
}

void pl_glyph_add(char *buf, size_t size, struct pl_text text, bool unicode)
{
	size_t len = strlen(buf);
	struct pl_glyph g;

	for (size_t at = 0; at < text.len; len += g.len) {
		at += pl_glyph_next(text.s + at, text.len - at, unicode, &g);
		if (len + g.len >= size)
			break;
		memcpy(buf + len, g.text, g.len);
		buf[len + g.len] = '\0';
	}
}
