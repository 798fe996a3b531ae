/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a text report. Layer export; pure, any thread.
 *
 * Narrow pages lose columns rather than meaning: first the half widths of totals and of times, then the totals, the
 * places, the times. The share with its half width and the name stay at any width; 80 columns have all of it. */
#include "rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GAP 2
/* Page widths from which a column is shown. */
#define WIDTH_TOTAL_ERROR 72
#define WIDTH_TIME_ERROR  64
#define WIDTH_TOTAL	  58
#define WIDTH_PLACE	  50
#define WIDTH_TIME	  46
/* From these self shares on a row of the table is hot or warm. */
#define HOT_SHARE  0.20
#define WARM_SHARE 0.05

/* Where nothing is known of time: samples. */
static struct pl_units time_cell(const struct plumb_profile *p, const struct pl_share *s, double total_ns,
				 const struct pl_export_options *o)
{
	if (o->width < WIDTH_TIME)
		return (struct pl_units){""};
	if (p->meta.counted)
		return pl_units_count(s->samples);
	if (o->width < WIDTH_TIME_ERROR)
		return pl_units_time((double)s->weight_ns);
	return pl_units_time_pm((double)s->weight_ns, s->half_width * total_ns, o->unicode);
}

static struct pl_units total_cell(const struct pl_share *s, const struct pl_export_options *o)
{
	if (o->width < WIDTH_TOTAL)
		return (struct pl_units){""};
	if (o->width < WIDTH_TOTAL_ERROR)
		return pl_units_percent(s->share);
	return pl_units_share(s->share, s->half_width, o->unicode);
}

static void place(const struct plumb_profile *p, uint32_t function, int32_t line, const struct pl_export_options *o,
		  struct pl_row *ret)
{
	const struct pl_function *f = &p->functions[function];

	ret->name = pl_frame_qualname(p, f);
	if (ret->name.len == 0)
		ret->name = (struct pl_text){"?", 1};
	ret->file = pl_text_of(p, f->file);
	if (!o->full_names)
		ret->file = pl_text_short_path(ret->file);
	ret->line = line > 0 ? (uint32_t)line : f->firstline;
	ret->bare = pl_frame_is_bare(p, f, line > 0 ? line : (int32_t)f->firstline) || o->width < WIDTH_PLACE;
}

/* True if a later row hangs on the same parent at @p depth: its branch line goes on. */
static bool goes_on(const pl_hot_rows *hot, size_t i, uint32_t depth)
{
	for (size_t j = i + 1; j < hot->len && hot->data[j].depth >= depth; j++) {
		if (hot->data[j].depth == depth)
			return true;
	}
	return false;
}

static void add_lead(struct pl_row *row, const char *s)
{
	size_t len = strlen(row->lead), extra = strlen(s);

	if (len + extra < sizeof row->lead)
		memcpy(row->lead + len, s, extra + 1);
}

static void draw_lead(const pl_hot_rows *hot, size_t i, bool unicode, struct pl_row *row)
{
	const struct pl_hot_row *h = &hot->data[i];
	char folded[32];

	for (uint32_t depth = 1; depth <= h->depth; depth++) {
		bool on = goes_on(hot, i, depth), here = depth == h->depth;

		if (unicode)
			add_lead(row, here ? (on ? "\xe2\x94\x9c " : "\xe2\x94\x94 ") : on ? "\xe2\x94\x82 " : "  ");
		else
			add_lead(row, here ? (on ? "|-" : "`-") : on ? "| " : "  ");
	}
	if (h->folded) {
		snprintf(folded, sizeof folded, "[+%" PRIu32 "] ", h->folded);
		add_lead(row, folded);
	}
}

void pl_rows_of_tree(const struct plumb_profile *p, const pl_tree_rows *tree, const pl_hot_rows *hot,
		     const struct pl_export_options *o, double total_ns, struct pl_rows *ret)
{
	memset(ret, 0, sizeof *ret);
	for (size_t i = 0; i < hot->len && i < PL_ROWS_MAX; i++) {
		const struct pl_tree_row *t = &tree->data[hot->data[i].row];
		struct pl_row *row = &ret->rows[ret->count++];

		row->share = pl_units_share(t->total.share, t->total.half_width, o->unicode);
		row->time = time_cell(p, &t->total, total_ns, o);
		place(p, t->function, t->line, o, row);
		draw_lead(hot, i, o->unicode, row);
	}
}

void pl_rows_of_functions(const struct plumb_profile *p, const pl_function_rows *rows, int max,
			  const struct pl_export_options *o, double total_ns, struct pl_rows *ret)
{
	memset(ret, 0, sizeof *ret);
	for (size_t i = 0; i < rows->len && ret->count < max && ret->count < PL_ROWS_MAX; i++) {
		const struct pl_function_row *f = &rows->data[i];
		struct pl_row *row = &ret->rows[ret->count];

		if (f->self.samples == 0)
			break; /* sorted by self: only callers follow */
		ret->count++;
		row->share = pl_units_share(f->self.share, f->self.half_width, o->unicode);
		row->time = time_cell(p, &f->self, total_ns, o);
		row->total = total_cell(&f->total, o);
		row->tone = f->self.share >= HOT_SHARE	  ? PL_TONE_HOT
			    : f->self.share >= WARM_SHARE ? PL_TONE_WARM
							  : PL_TONE_PLAIN;
		place(p, f->function, f->line, o, row);
	}
}

/* A column of figures, "52 % ±1.1": the values end and the half widths begin in one line. */
struct figures {
	int value, half_width;
};

struct layout {
	struct figures share, time, total;
	int name, file; /* columns, 0: not shown */
};

/* Where the half width of @p s begins, its blank included; the end if it has none. */
static const char *half_width_of(const char *s)
{
	const char *blank = strrchr(s, ' ');

	return blank && (blank[1] == '+' || blank[1] == '\xc2') ? blank : s + strlen(s);
}

static void widen(struct figures *f, const char *s)
{
	int half_width = pl_line_columns(half_width_of(s)), value = pl_line_columns(s) - half_width;

	f->value = value > f->value ? value : f->value;
	f->half_width = half_width > f->half_width ? half_width : f->half_width;
}

static int columns_of(const struct figures *f)
{
	return f->value ? f->value + f->half_width + GAP : 0;
}

/* @p s in its column, with the gap that follows. */
static void write_figures(struct pl_line *line, const struct figures *f, const char *s)
{
	int from = line->cols, half_width = pl_line_columns(half_width_of(s));

	pl_line_pad(line, from + f->value - (pl_line_columns(s) - half_width));
	pl_line_add(line, s);
	pl_line_pad(line, from + columns_of(f));
}

static int digits(uint32_t v)
{
	return snprintf(NULL, 0, "%" PRIu32, v);
}

/* Columns of "file.py:123". */
static int file_columns(const struct pl_row *r, const struct pl_page *page)
{
	if (r->bare)
		return 0;
	return pl_glyph_columns(r->file.s, r->file.len, page->unicode, page->width) +
	       (r->line ? 1 + digits(r->line) : 0);
}

static int figures_columns(const struct layout *l)
{
	return 1 + columns_of(&l->share) + columns_of(&l->time) + columns_of(&l->total);
}

/* Share what the figures leave between name and file; the one that needs less gives the rest to the other. */
static struct layout lay_out(const struct pl_rows *rows, const struct pl_page *page)
{
	struct layout l = {0};
	int room, cols;

	for (int i = 0; i < rows->count; i++) {
		const struct pl_row *r = &rows->rows[i];

		widen(&l.share, r->share.s);
		widen(&l.time, r->time.s);
		widen(&l.total, r->total.s);
		cols = pl_line_columns(r->lead) + pl_glyph_columns(r->name.s, r->name.len, page->unicode, page->width);
		l.name = cols > l.name ? cols : l.name;
		cols = file_columns(r, page);
		l.file = cols > l.file ? cols : l.file;
	}
	room = page->width - figures_columns(&l) - (l.file ? GAP : 0);
	if (l.name + l.file > room) {
		cols = room * 2 / 5;
		if (l.file <= cols)
			l.name = room - l.file;
		else if (l.name <= room - cols)
			l.file = room - l.name;
		else
			l.name = room - (l.file = cols);
	}
	return l;
}

static void write_place(struct pl_line *line, const struct pl_row *r, int cols)
{
	char number[16] = "";

	if (r->bare)
		return;
	if (r->line)
		snprintf(number, sizeof number, ":%" PRIu32, r->line);
	pl_line_name(line, r->file.s, r->file.len, cols - (int)strlen(number), PL_CUT_START);
	pl_line_add(line, number);
}

static void write_row(const struct pl_row *r, const struct layout *l, struct pl_page *page)
{
	int name_from = figures_columns(l);
	struct pl_line line;

	pl_line_start(&line, page);
	pl_line_pad(&line, 1);
	if (r->tone != PL_TONE_PLAIN)
		pl_line_tone(&line, r->tone);
	write_figures(&line, &l->share, r->share.s);
	if (r->tone != PL_TONE_PLAIN)
		pl_line_tone(&line, PL_TONE_PLAIN);
	write_figures(&line, &l->time, r->time.s);
	write_figures(&line, &l->total, r->total.s);
	pl_line_add(&line, r->lead);
	pl_line_name(&line, r->name.s, r->name.len, l->name - (line.cols - name_from), PL_CUT_END);
	if (l->file && !r->bare) {
		pl_line_pad(&line, name_from + l->name + GAP);
		write_place(&line, r, l->file);
	}
	pl_line_end(&line);
}

static void write_title(struct pl_line *line, const struct figures *f, const char *title)
{
	if (!f->value)
		return;
	pl_line_right(line, title, f->value);
	pl_line_pad(line, line->cols + f->half_width + GAP);
}

static void write_heading(const char *heading, const struct layout *l, struct pl_page *page)
{
	struct pl_line line;

	pl_line_start(&line, page);
	pl_line_pad(&line, 1);
	write_title(&line, &l->share, "self");
	write_title(&line, &l->time, "time");
	write_title(&line, &l->total, "total");
	pl_line_add(&line, heading);
	pl_line_end(&line);
}

void pl_rows_write(const struct pl_rows *rows, const char *heading, struct pl_page *page)
{
	struct layout l = lay_out(rows, page);

	if (heading)
		write_heading(heading, &l, page);
	for (int i = 0; i < rows->count; i++)
		write_row(&rows->rows[i], &l, page);
}
