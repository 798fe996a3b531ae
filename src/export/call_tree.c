/* SPDX-License-Identifier: Apache-2.0 */
/* The whole call tree as text: a line for each function below the one that called it, the heaviest first. Layer export;
 * any thread.
 *
 * A line has the columns of the page whatever its depth: of deep rows only the innermost branches are drawn, behind the
 * number of those that are not. So what is written follows the rows, not rows times depth. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "frame_name.h"
#include "glyph.h"
#include "line.h"
#include "summary.h"
#include "units.h"
#include "vec.h"

#define MIN_WIDTH	 40
#define SHARE_COLUMNS	 6
#define TIME_COLUMNS	 11
#define FIGURES_COLUMNS	 (SHARE_COLUMNS + TIME_COLUMNS + 2)
#define BRANCH_COLUMNS	 2
#define PLACE_FROM_WIDTH 50
#define HOT_SHARE	 0.20 /* of its own */

struct call_tree {
	const struct plumb_profile *p;
	const struct pl_export_options *o;
	struct pl_page page;
	struct pl_summary summary;
	pl_tree_rows rows;
	bool *goes_on; /* of rows: a sibling follows */
	bool *open;    /* of depths: so it is where we are */
};

/* From the last row to the first: what is at a depth has a sibling if one was seen since there was something less deep.
 */
static struct plumb_error *find_siblings(struct call_tree *t)
{
	uint32_t deepest = 0;

	for (size_t i = 0; i < t->rows.len; i++)
		deepest = t->rows.data[i].depth > deepest ? t->rows.data[i].depth : deepest;
	t->goes_on = calloc(t->rows.len + 1, sizeof *t->goes_on);
	t->open = calloc((size_t)deepest + 2, sizeof *t->open);
	if (!t->goes_on || !t->open)
		return &pl_err_no_memory;
	for (size_t i = t->rows.len; i-- > 0;) {
		uint32_t depth = t->rows.data[i].depth;

		t->goes_on[i] = t->open[depth];
		t->open[depth] = true;
		t->open[depth + 1] = false; /* what is deeper was closed by this one's children already */
	}
	return NULL;
}

static void add_branches(const struct call_tree *t, struct pl_line *l, size_t i)
{
	uint32_t depth = t->rows.data[i].depth, most = (uint32_t)(t->page.width - FIGURES_COLUMNS) / 3 / BRANCH_COLUMNS;
	bool unicode = t->page.unicode;

	if (depth > most)
		pl_line_addf(l, "[%" PRIu32 "] ", depth - most);
	for (uint32_t d = depth > most ? depth - most + 1 : 1; d <= depth; d++) {
		bool on = t->open[d];

		if (d < depth)
			pl_line_add(l, !on ? "  " : unicode ? "\xe2\x94\x82 " : "| ");
		else if (unicode)
			pl_line_add(l, on ? "\xe2\x94\x9c " : "\xe2\x94\x94 ");
		else
			pl_line_add(l, on ? "|-" : "`-");
	}
}

static struct pl_text name_of(const struct call_tree *t, const struct pl_function *f)
{
	static const struct pl_text nameless = {"?", 1};
	struct pl_text name = pl_frame_qualname(t->p, f);

	return name.len ? name : nameless;
}

/* "file.py:12" */
struct place {
	struct pl_text file;
	char number[16];
	int cols; /* with the gap before it; 0: none is shown */
};

static struct place place_of(const struct call_tree *t, const struct pl_tree_row *row)
{
	const struct pl_function *f = &t->p->functions[row->function];
	struct pl_text file = pl_text_of(t->p, row->line > 0 ? pl_function_source(f) : f->file);
	struct place place = {.file = t->o->full_names ? file : pl_text_short_path(file)};
	int32_t line = row->line > 0 ? row->line : (int32_t)f->firstline;
	int most = t->page.width * 2 / 5;

	if (pl_frame_is_bare(t->p, f, line) || t->page.width < PLACE_FROM_WIDTH)
		return place;
	if (line > 0)
		snprintf(place.number, sizeof place.number, ":%" PRId32, line);
	place.cols =
		2 + pl_glyph_columns(place.file.s, place.file.len, t->page.unicode, most) + (int)strlen(place.number);
	if (place.cols > most)
		place.cols = most;
	return place;
}

static void add_place(struct pl_line *l, const struct place *place)
{
	if (!place->cols)
		return;
	pl_line_add(l, "  ");
	pl_line_name(l, place->file.s, place->file.len, place->cols - 2 - (int)strlen(place->number), PL_CUT_START);
	pl_line_add(l, place->number);
}

static void add_figures(const struct call_tree *t, struct pl_line *l, const struct pl_share *s)
{
	char share[16];

	snprintf(share, sizeof share, "%.1f", 100 * s->share);
	pl_line_right(l, share, SHARE_COLUMNS);
	pl_line_right(l,
		      t->p->meta.counted ? pl_units_count(s->samples).s
					 : pl_units_time((double)s->weight_ns * t->summary.scale).s,
		      TIME_COLUMNS);
	pl_line_pad(l, FIGURES_COLUMNS);
}

static void write_row(struct call_tree *t, size_t i)
{
	const struct pl_tree_row *row = &t->rows.data[i];
	struct pl_text name = name_of(t, &t->p->functions[row->function]);
	struct place place = place_of(t, row);
	struct pl_line l;

	t->open[row->depth] = t->goes_on[i];
	pl_line_start(&l, &t->page);
	add_figures(t, &l, &row->total);
	add_branches(t, &l, i);
	pl_line_tone(&l, row->self.share >= HOT_SHARE ? PL_TONE_HOT : PL_TONE_PLAIN);
	pl_line_name(&l, name.s, name.len, t->page.width - l.cols - place.cols, PL_CUT_END);
	pl_line_tone(&l, PL_TONE_PLAIN);
	add_place(&l, &place);
	pl_line_end(&l);
}

static void write_heading(struct call_tree *t)
{
	const struct pl_totals *all = &t->summary.totals;
	double ns = (double)all->weight_ns * t->summary.scale;
	bool counted = t->p->meta.counted;
	struct pl_line l;

	pl_line_start(&l, &t->page);
	pl_line_tone(&l, PL_TONE_FAINT);
	pl_line_right(&l, "%", SHARE_COLUMNS);
	pl_line_right(&l, counted ? "samples" : "time", TIME_COLUMNS);
	pl_line_pad(&l, FIGURES_COLUMNS);
	pl_line_addf(&l, "all calls (of %s%s)", counted ? pl_units_count(all->samples).s : pl_units_time(ns).s,
		     counted			      ? " samples"
		     : t->p->meta.mode == PL_MODE_CPU ? " of CPU time"
						      : " of thread time");
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

/* What the report says of it, which is the same profile. */
static void write_warnings(struct call_tree *t)
{
	for (int i = 0; i < t->summary.warning_count; i++) {
		struct pl_line l;

		pl_line_start(&l, &t->page);
		pl_line_addf(&l, "! %s", t->summary.warnings[i].text);
		pl_line_end(&l);
	}
}

static struct plumb_error *write_all(struct call_tree *t)
{
	struct plumb_error *err = find_siblings(t);

	if (err)
		return err;
	write_heading(t);
	for (size_t i = 0; i < t->rows.len; i++)
		write_row(t, i);
	write_warnings(t);
	return t->page.no_memory ? &pl_err_no_memory : NULL;
}

struct plumb_error *pl_call_tree_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct call_tree *t = calloc(1, sizeof *t); /* 80 kB: the stack of a program's thread can be smaller */

	if (!t)
		return &pl_err_no_memory;
	t->p = p;
	t->o = o;
	t->page = (struct pl_page){.out = out, .unicode = o->unicode, .color = o->color};
	t->page.width = o->width < MIN_WIDTH ? MIN_WIDTH : o->width;
	if (t->page.width > PL_LINE_MAX_COLUMNS)
		t->page.width = PL_LINE_MAX_COLUMNS;
	struct plumb_error *err = pl_summary_make(p, &o->filter, o->unicode, &t->summary);
	if (!err)
		err = pl_view_tree(p, &o->filter, 0, &t->rows);
	if (!err)
		err = write_all(t);
	pl_vec_deinit(&t->rows);
	free(t->goes_on);
	free(t->open);
	free(t);
	return err;
}
