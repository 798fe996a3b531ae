/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see flame.h. */
#include "flame.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "cell_text.h"

#define ESCAPE	   27
#define LINE_BYTES 2048

/* What of all is as wide as the screen. */
struct span {
	double left, width;
};

static const struct row *row_of(const struct table *t, uint64_t key)
{
	for (size_t i = 0; key && i < t->count; i++)
		if (t->rows[i].key == key)
			return &t->rows[i];
	return NULL;
}

static struct span span_of(const struct table *t, const struct choice *c)
{
	const struct row *zoom = row_of(t, c->zoom);

	return zoom && zoom->weight > 0 ? (struct span){zoom->left, zoom->weight} : (struct span){0, 1};
}

static int column_of(double at, struct span s, int width)
{
	double part = (at - s.left) / s.width;

	return (int)((part < 0 ? 0 : part > 1 ? 1 : part) * width + 0.5);
}

/* Which columns it takes; false: none. */
static bool columns_of(const struct row *r, struct span s, int width, int *from, int *to)
{
	*from = column_of(r->left, s, width);
	*to = column_of(r->left + r->weight, s, width);
	return *from < *to;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void draw_box(const struct row *r, int at, int from, int to, bool chosen, bool unicode)
{
	char text[2 * LINE_BYTES], name[LINE_BYTES];
	int columns = cell_fit(r->name, unicode, to - from - 1, false, name, sizeof name),
	    blanks = to - from - 1 - columns;

	if (blanks > LINE_BYTES / 2)
		blanks = LINE_BYTES / 2;
	snprintf(text, sizeof text, "%s%s%*s", unicode ? "\xe2\x96\x8f" : "|", name, blanks, "");
	terminal_put(at, from, r->tone, chosen, text);
}

/* "43.0 % ±1.2  5 s: 40.1 %  self: 3.0 %  work  app.py:12" */
static void draw_chosen(const struct row *r, int at, int width, bool unicode)
{
	char raw[LINE_BYTES], text[LINE_BYTES], now[32] = "", self[32] = "";

	if (*r->figures[0])
		snprintf(now, sizeof now, "  5 s: %s %%", r->figures[0]);
	if (*r->figures[3])
		snprintf(self, sizeof self, "  self: %s %%", r->figures[3]);
	snprintf(raw, sizeof raw, "%s %% %s%s%s  %.900s  %s", r->figures[1], r->figures[2], now, self, r->name,
		 r->tail);
	cell_fit(raw, unicode, width, false, text, sizeof text);
	terminal_put(at, 0, TONE_STRONG, false, text);
}

/* The depth of the one that is chosen is among those shown. */
static void scroll_to(struct table *t, const struct row *chosen, size_t shown)
{
	size_t depth = chosen ? chosen->depth : 0;

	if (depth < t->scroll)
		t->scroll = depth;
	if (shown && depth >= t->scroll + shown)
		t->scroll = depth - shown + 1;
}

void flame_draw(struct table *t, const struct choice *c, int from, int to, int width, bool unicode)
{
	const struct row *chosen = table_chosen(t);
	struct span span = span_of(t, c);
	int lines = to - from - 1;

	scroll_to(t, chosen, lines > 0 ? (size_t)lines : 0);
	for (size_t i = 0; i < t->count; i++) {
		const struct row *r = &t->rows[i];
		int left, right;

		if (r->depth < t->scroll || r->depth - t->scroll >= (size_t)(lines > 0 ? lines : 0))
			continue;
		if (columns_of(r, span, width, &left, &right))
			draw_box(r, from + (int)(r->depth - t->scroll), left, right, r == chosen, unicode);
	}
	if (chosen && lines >= 0)
		draw_chosen(chosen, to - 1, width, unicode);
	else if (!t->count)
		terminal_put(from, 0, TONE_FAINT, false, "no calls yet");
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

static bool is_in(const struct row *r, struct span s)
{
	const double unsure = 1e-9; /* of sums */

	return r->weight > 0 && r->left + r->weight > s.left + unsure && r->left < s.left + s.width - unsure;
}

static void go_to(struct table *t, const struct row *to)
{
	if (to)
		table_move(t, (long)(to - t->rows) - (long)t->cursor);
}

/* The nearest one of that depth, before or behind the row @p from. */
static const struct row *next_of_depth(const struct table *t, size_t from, int step, uint32_t depth, struct span s)
{
	for (size_t i = from + (size_t)step; i < t->count; i += (size_t)step) /* below 0 it is huge */
		if (t->rows[i].depth == depth && is_in(&t->rows[i], s))
			return &t->rows[i];
	return NULL;
}

static const struct row *first_below(const struct table *t, const struct row *r, struct span s)
{
	for (size_t i = (size_t)(r - t->rows) + 1; i < t->count && t->rows[i].depth > r->depth; i++)
		if (t->rows[i].depth == r->depth + 1 && is_in(&t->rows[i], s))
			return &t->rows[i];
	return NULL;
}

static const struct row *parent_of(const struct table *t, const struct row *r)
{
	for (size_t i = (size_t)(r - t->rows); r->depth && i-- > 0;)
		if (t->rows[i].depth + 1 == r->depth)
			return &t->rows[i];
	return NULL;
}

/* Also what is no longer within the span can be chosen: by a search. Then all is shown again. */
static void keep_in_sight(const struct table *t, struct choice *c)
{
	const struct row *r = table_chosen(t);

	if (r && !is_in(r, span_of(t, c)))
		c->zoom = 0;
}

bool flame_key(struct table *t, struct choice *c, int key)
{
	keep_in_sight(t, c);
	const struct row *r = table_chosen(t);
	struct span s = span_of(t, c);

	if (!r)
		return false;
	switch (key) {
	case KEY_UP:
	case 'k':
		go_to(t, parent_of(t, r));
		return true;
	case KEY_DOWN:
	case 'j':
		go_to(t, first_below(t, r, s));
		return true;
	case KEY_LEFT:
		go_to(t, next_of_depth(t, t->cursor, -1, r->depth, s));
		return true;
	case KEY_RIGHT:
		go_to(t, next_of_depth(t, t->cursor, 1, r->depth, s));
		return true;
	case '\r':
	case '\n':
	case KEY_ENTER:
		c->zoom = c->zoom == r->key ? 0 : r->key;
		return true;
	case ESCAPE:
		c->zoom = 0;
		return true;
	default:
		return false;
	}
}

void flame_choose_at(struct table *t, const struct choice *c, int line, int column, int width)
{
	struct span s = span_of(t, c);

	for (size_t i = 0; line >= 0 && i < t->count; i++) {
		const struct row *r = &t->rows[i];
		int from, to;

		if (r->depth == t->scroll + (size_t)line && columns_of(r, s, width, &from, &to) && column >= from &&
		    column < to) {
			go_to(t, r);
			return;
		}
	}
}
