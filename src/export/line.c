/* SPDX-License-Identifier: Apache-2.0 */
/* One line of a text report. Layer export; no state of its own, any thread. It decides nothing about what is shown. */
#include "line.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "glyph.h"

static const char *const tone_codes[] = {
	[PL_TONE_PLAIN] = "\033[0m", [PL_TONE_WARN] = "\033[1;33m", [PL_TONE_HOT] = "\033[1;31m",
	[PL_TONE_WARM] = "\033[33m", [PL_TONE_STRONG] = "\033[1m",  [PL_TONE_FAINT] = "\033[2m",
};
#define TONE_ROOM 16 /* kept free, so that a full line can still switch the colour off */

void pl_line_start(struct pl_line *l, struct pl_page *page)
{
	l->page = page;
	l->len = 0;
	l->cols = 0;
}

static bool put(struct pl_line *l, const char *bytes, size_t len, int cols)
{
	if (l->cols + cols > l->page->width || l->len + len > sizeof l->text - TONE_ROOM)
		return false;
	memcpy(l->text + l->len, bytes, len);
	l->len += len;
	l->cols += cols;
	return true;
}

void pl_line_add(struct pl_line *l, const char *s)
{
	size_t len;

	for (; *s; s += len) {
		len = 1;
		while (((unsigned char)s[len] & 0xc0) == 0x80)
			len++;
		if (!put(l, s, len, 1))
			return;
	}
}

void pl_line_addf(struct pl_line *l, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pl_line_add(l, text);
}

int pl_line_columns(const char *s)
{
	int cols = 0;

	for (; *s; s++)
		cols += ((unsigned char)*s & 0xc0) != 0x80;
	return cols;
}

static void mark(struct pl_line *l)
{
	pl_line_add(l, l->page->unicode ? "\xe2\x80\xa6" : "~");
}

/* Where the last @p cols columns of @p s begin. Names can be long: only the end is looked at. */
static size_t tail(const char *s, size_t len, int cols, bool unicode)
{
	size_t window = (size_t)cols * 4, start = len > window ? len - window : 0;
	struct pl_glyph g;

	while (start < len && ((unsigned char)s[start] & 0xc0) == 0x80)
		start++;
	for (int left = pl_glyph_columns(s + start, len - start, unicode, INT_MAX); left > cols; left -= g.cols)
		start += pl_glyph_next(s + start, len - start, unicode, &g);
	return start;
}

void pl_line_name(struct pl_line *l, const char *s, size_t len, int cols, enum pl_cut cut)
{
	bool unicode = l->page->unicode;
	int left = l->page->width - l->cols, end;
	struct pl_glyph g;
	size_t i = 0, taken;

	cols = cols < left ? cols : left;
	if (cols <= 0)
		return;
	end = l->cols + cols;
	if (pl_glyph_columns(s, len, unicode, cols + 1) > cols) {
		end -= cut == PL_CUT_END;
		if (cut == PL_CUT_START) {
			i = tail(s, len, cols - 1, unicode);
			mark(l);
		}
	} else {
		cut = PL_CUT_START; /* no mark at the end */
	}
	for (; i < len; i += taken) {
		taken = pl_glyph_next(s + i, len - i, unicode, &g);
		if (l->cols + g.cols > end || !put(l, g.text, g.len, g.cols))
			break;
	}
	if (cut == PL_CUT_END)
		mark(l);
}

void pl_line_pad(struct pl_line *l, int col)
{
	while (l->cols < col && put(l, " ", 1, 1))
		;
}

void pl_line_right(struct pl_line *l, const char *s, int cols)
{
	pl_line_pad(l, l->cols + cols - pl_line_columns(s));
	pl_line_add(l, s);
}

void pl_line_tone(struct pl_line *l, enum pl_tone tone)
{
	size_t len = strlen(tone_codes[tone]);

	if (!l->page->color || l->len + len + (tone == PL_TONE_PLAIN ? 0 : TONE_ROOM) > sizeof l->text)
		return;
	memcpy(l->text + l->len, tone_codes[tone], len);
	l->len += len;
}

void pl_line_end(struct pl_line *l)
{
	while (l->len > 0 && l->text[l->len - 1] == ' ')
		l->len--;
	l->page->lines++;
	if (!l->page->out)
		return;
	fwrite(l->text, 1, l->len, l->page->out);
	fputc('\n', l->page->out);
}

void pl_page_blank(struct pl_page *page)
{
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_end(&l);
}
