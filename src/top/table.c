/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see table.h. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell_text.h"

#define FNV_START  0xcbf29ce484222325ull
#define FNV_PRIME  0x100000001b3ull
#define GAP	   1
#define PLUS_MINUS "\xc2\xb1"
#define LINE_BYTES 4096
#define NOTE_GAP   2
#define BAR_GAP	   2
#define NAME_LEAST 12  /* columns: a note leaves them to the name: "MainThread" is whole */
#define TAIL_FROM  30  /* columns: both have some room */
#define OWNER_FROM 100 /* columns of the screen: there is room for its name, too */
#define OWNER_NAME 16

uint64_t table_key(uint64_t seed, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint64_t hash = seed ^ FNV_START;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * FNV_PRIME;
	return hash | 1; /* 0 is none */
}

uint64_t table_function_key(uint64_t seed, const struct plumb_view_function *f)
{
	uint64_t key = table_key(seed, f->qualname, f->qualname_len);

	key = table_key(key, f->file, f->file_len);
	return table_key(key, &f->firstline, sizeof f->firstline);
}

void table_clear(struct table *t)
{
	t->count = 0;
}

struct row *table_add(struct table *t)
{
	size_t room = t->room ? t->room * 2 : 64;

	if (t->count == TABLE_MAX_ROWS)
		return NULL;
	if (t->count == t->room) {
		struct row *rows = realloc(t->rows, room * sizeof *rows);

		if (!rows)
			return NULL;
		t->rows = rows;
		t->room = room;
	}
	t->rows[t->count] = (struct row){.sign = "", .name = ""};
	return &t->rows[t->count++];
}

static int heavier(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->key > b->key) - (a->key < b->key);
}

void table_sort(struct table *t)
{
	if (t->count)
		qsort(t->rows, t->count, sizeof *t->rows, heavier);
}

void table_ready(struct table *t)
{
	if (t->cursor >= t->count)
		t->cursor = t->count ? t->count - 1 : 0;
	if (!t->key)
		t->cursor = t->from_end && t->count ? t->count - 1 : 0;
	for (size_t i = 0; t->key && i < t->count; i++)
		if (t->rows[i].key == t->key) {
			t->cursor = i;
			return;
		}
}

void table_free(struct table *t)
{
	free(t->rows);
	*t = (struct table){0};
}

static void choose(struct table *t, size_t i)
{
	t->cursor = i;
	t->key = i < t->count ? t->rows[i].key : 0;
}

void table_move(struct table *t, long by)
{
	if (!t->count)
		return;
	if (by < 0)
		choose(t, (size_t)-by > t->cursor ? 0 : t->cursor - (size_t)-by);
	else
		choose(t, (size_t)by >= t->count - t->cursor ? t->count - 1 : t->cursor + (size_t)by);
	if (t->cursor == (t->from_end ? t->count - 1 : 0))
		t->key = 0; /* who is at the top stays there */
}

void table_choose_line(struct table *t, int line)
{
	if (line > 0 && t->scroll + (size_t)line - 1 < t->count)
		table_move(t, (long)(t->scroll + (size_t)line - 1) - (long)t->cursor);
}

static bool row_has(const struct row *r, const char *text)
{
	char owner[16] = "";

	if (r->owner)
		snprintf(owner, sizeof owner, "%d", r->owner);
	return strstr(owner, text) || (r->owner_name && strcasestr(r->owner_name, text)) ||
	       (r->name && strcasestr(r->name, text)) || (r->note && strcasestr(r->note, text)) ||
	       strcasestr(r->tail, text);
}

bool table_search(struct table *t, const char *text)
{
	for (size_t i = 1; i <= t->count; i++) {
		size_t at = (t->cursor + i) % t->count;

		if (!row_has(&t->rows[at], text))
			continue;
		choose(t, at);
		return true;
	}
	return false;
}

const struct row *table_chosen(const struct table *t)
{
	return t->cursor < t->count ? &t->rows[t->cursor] : NULL;
}

static int figures_width(const struct table *t, int width)
{
	int all = 0;

	for (int i = 0; i < TABLE_COLUMNS; i++)
		if (t->columns[i].title && width >= t->columns[i].from_width)
			all += t->columns[i].width + GAP;
	return all;
}

static int put_figures(const struct table *t, const struct row *r, int width, char *buf, size_t size)
{
	int at = 0;

	buf[0] = '\0';
	for (int i = 0; i < TABLE_COLUMNS; i++) {
		const char *text = r ? r->figures[i] : t->columns[i].title;
		int bytes = t->columns[i].width + (text && strstr(text, PLUS_MINUS) ? 1 : 0); /* of one column */

		if (t->columns[i].title && width >= t->columns[i].from_width)
			at += snprintf(buf + at, size - (size_t)at, "%*s%*s", bytes, text, GAP, "");
	}
	return at;
}

static void draw_heading(const struct table *t, int at, int width)
{
	char text[LINE_BYTES];
	int len = put_figures(t, NULL, width, text, sizeof text), cells = bars_cells(width);

	for (int i = 0; t->bars && cells && i < TABLE_BARS; i++)
		len += snprintf(text + len, sizeof text - (size_t)len, " %-*s", cells + BAR_GAP - 1, t->bars[i]);
	snprintf(text + len, sizeof text - (size_t)len, " %s", t->title);
	text[width < LINE_BYTES ? width : LINE_BYTES - 1] = '\0';
	terminal_put(at, 0, TONE_FAINT, false, text);
}

/* With a note behind the name there is less to show of the tail. */
static int draw_tail(const struct row *r, int at, int from, int width, bool unicode)
{
	char text[LINE_BYTES];
	int name = r->name ? cell_fit(r->name, unicode, width - from, false, text, sizeof text) : 0;
	int note = r->note ? cell_fit(r->note, unicode, width - from, false, text, sizeof text) + NOTE_GAP : 0;
	int room = width - from - name - note - 2, least = (width - from) * (note ? 1 : 2) / (note ? 4 : 5);

	if (!r->name || !*r->tail || width - from < TAIL_FROM)
		return 0;
	int tail = cell_fit(r->tail, unicode, room > least ? room : least, true, text, sizeof text);
	terminal_put(at, width - tail, TONE_FAINT, false, text);
	return tail + 2;
}

/* A name that would leave it no room is cut. */
static void draw_name(const struct row *r, int at, int from, int room, bool unicode)
{
	char name[LINE_BYTES], note[LINE_BYTES];
	int wanted = r->note ? cell_fit(r->note, unicode, room, false, note, sizeof note) + NOTE_GAP : 0;
	int least = room / 2 > NAME_LEAST ? room / 2 : NAME_LEAST, left = room - wanted > least ? room - wanted : least;
	int x = cell_fit(r->name ? r->name : r->tail, unicode, wanted ? left : room, false, name, sizeof name);

	terminal_put(at, from, r->tone, false, name);
	if (!wanted)
		return;
	cell_fit(r->note, unicode, room - x - NOTE_GAP, false, note, sizeof note);
	terminal_put(at, from + x + NOTE_GAP, TONE_FAINT, false, note);
}

/* "4242 app.py ", on a narrow screen "4242 ". Returns how wide it is. */
static int draw_owner(const struct row *r, int at, int from, int width, bool unicode)
{
	char text[LINE_BYTES] = "", name[LINE_BYTES];
	int columns = r->owner ? snprintf(text, sizeof text, "%d ", r->owner) : 0;

	terminal_put(at, from, TONE_FAINT, false, text);
	if (!r->owner_name || width < OWNER_FROM)
		return columns;
	int more = cell_fit(r->owner_name, unicode, OWNER_NAME, false, name, sizeof name);
	terminal_put(at, from + columns, TONE_FAINT, false, name);
	return columns + more + 1;
}

/* Returns how wide they are. */
static int draw_bars(const struct table *t, const struct row *r, int at, int from, int width, bool unicode)
{
	int cells = t->bars ? bars_cells(width) : 0, x = from;
	char text[LINE_BYTES];

	for (int i = 0; cells && i < TABLE_BARS; i++, x += cells + BAR_GAP) {
		bars_text(&r->bars[i], cells, unicode, text, sizeof text);
		terminal_put(at, x, r->tone, false, text);
	}
	return x - from;
}

static void draw_row(const struct table *t, const struct row *r, int at, int width, bool unicode)
{
	char text[LINE_BYTES];
	int x = figures_width(t, width) + 1;
	int indent = r->indent < (width - x) / 2 ? r->indent : (width - x) / 2;

	put_figures(t, r, width, text, sizeof text);
	terminal_put(at, 0, r->tone, false, text);
	x += draw_bars(t, r, at, x, width, unicode);
	x += indent > 0 ? indent : 0;
	int sign = cell_fit(r->sign, unicode, width - x, false, text, sizeof text);
	terminal_put(at, x, TONE_PLAIN, false, text);
	x += sign;
	x += draw_owner(r, at, x, width, unicode);
	int tail = draw_tail(r, at, x, width, unicode);
	draw_name(r, at, x, width - x - tail, unicode);
}

void table_draw(struct table *t, int from, int to, int width, bool unicode)
{
	size_t shown = to - from - 1 > 0 ? (size_t)(to - from - 1) : 0;

	draw_heading(t, from, width);
	if (!shown)
		return;
	if (t->cursor < t->scroll)
		t->scroll = t->cursor;
	if (t->cursor >= t->scroll + shown)
		t->scroll = t->cursor - shown + 1;
	if (t->scroll + shown > t->count)
		t->scroll = t->count > shown ? t->count - shown : 0;
	for (size_t i = 0; i < shown && t->scroll + i < t->count; i++) {
		draw_row(t, &t->rows[t->scroll + i], from + 1 + (int)i, width, unicode);
		if (t->scroll + i == t->cursor)
			terminal_mark(from + 1 + (int)i);
	}
}
