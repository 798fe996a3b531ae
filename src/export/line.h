/* SPDX-License-Identifier: Apache-2.0 */
/* One line of a text report, built left to right and never wider than the page. Nothing here can fail: a line has a
 * fixed room, and what does not fit is cut with a mark. */
#ifndef PL_LINE_H
#define PL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PL_LINE_MAX_COLUMNS 400

enum pl_tone { PL_TONE_PLAIN, PL_TONE_WARN, PL_TONE_HOT, PL_TONE_WARM, PL_TONE_STRONG, PL_TONE_FAINT };
enum pl_cut { PL_CUT_END, PL_CUT_START };

struct pl_page {
	FILE *out; /* NULL: count lines only */
	int width; /* 20 to PL_LINE_MAX_COLUMNS */
	bool unicode, color;
	int lines;	/* ended so far */
	bool no_memory; /* something was left out */
};

struct pl_line {
	struct pl_page *page;
	size_t len;
	int cols;
	char text[6 * PL_LINE_MAX_COLUMNS];
};

void pl_line_start(struct pl_line *l, struct pl_page *page);
/** Text of our own: ASCII, or UTF-8 of one column a character that was chosen for page->unicode. */
void pl_line_add(struct pl_line *l, const char *s);
void pl_line_addf(struct pl_line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Text from the program, made printable; at most @p cols columns, cut at @p cut with a mark. */
void pl_line_name(struct pl_line *l, const char *s, size_t len, int cols, enum pl_cut cut);
/** Blanks up to column @p col. */
void pl_line_pad(struct pl_line *l, int col);
/** @p s at the right end of the next @p cols columns. */
void pl_line_right(struct pl_line *l, const char *s, int cols);
void pl_line_tone(struct pl_line *l, enum pl_tone tone);
/** Write the line without trailing blanks. */
void pl_line_end(struct pl_line *l);

void pl_page_blank(struct pl_page *page);
/** Columns of a text of our own. */
int pl_line_columns(const char *s);

#endif
