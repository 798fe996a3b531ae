/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as a differential flame graph. Layer export; any thread. Memory follows the paths.
 *
 * As flamegraph.pl does with stacks that have a count before and one after, and no --negate, it is the profile after
 * that is drawn; what only the profile before has stands beside it. A box has the colour of the change of what it
 * shows, the share of its path with everything it called, and only if the comparison calls that a change. */
#include <math.h>
#include <string.h>

#include "diff_svg_layout.h"
#include "diff_words.h"
#include "svg_page.h"

#define STEPS	     5
#define NAME_COLUMNS 38 /* of the recordings of a side, in the heading */
#define NEUTRAL	     "#efefef"
#define UNCHANGED    "#d4d4d4"

static const char *const more[STEPS] = {"#fbd9cc", "#f5b5a0", "#ee9077", "#e56b50", "#d9472f"};
static const char *const less[STEPS] = {"#d3e4f3", "#acccec", "#84b3e3", "#5c9ad9", "#3a80cc"};

struct writer {
	const struct pl_diff *d;
	const struct pl_diff_look *look;
	struct pl_diff_svg_layout l;
	double largest; /* change of a path, in shares */
	int notes;
};

static bool stands_in_gone(const struct writer *w, const struct pl_svg_box *b)
{
	return (size_t)(b - w->l.boxes.list.data) >= w->l.gone;
}

/* In the second tree stand callers that are still there. */
static bool is_caller_of_gone(const struct writer *w, const struct pl_svg_box *b)
{
	return stands_in_gone(w, b) && !pl_diff_svg_is_gone(&w->d->table[b->row]);
}

static const struct pl_function *function_of(const struct writer *w, const struct pl_svg_box *b,
					     const struct pl_diff_key **key_ret)
{
	const struct pl_diff_key *k = &w->d->keys[w->d->table[b->row].key];

	*key_ret = k;
	return &k->profile->functions[k->function];
}

static struct pl_text name(const void *ctx, const struct pl_svg_box *b)
{
	const struct writer *w = ctx;
	const struct pl_diff_key *key;
	struct pl_text text;

	if (b->depth == 0)
		return stands_in_gone(w, b) ? (struct pl_text){"only before", 11} : (struct pl_text){"after", 5};
	text = pl_frame_qualname(w->d->keys[w->d->table[b->row].key].profile, function_of(w, b, &key));
	return text.len ? text : (struct pl_text){"?", 1};
}

static void write_place(const void *ctx, const struct pl_svg_box *b, FILE *out)
{
	const struct pl_diff_key *key;
	const struct pl_function *f;

	if (b->depth == 0)
		return;
	f = function_of(ctx, b, &key);
	pl_svg_place(key->profile, f, (int32_t)f->firstline, out);
}

static void write_verdict(const struct pl_diff_value *v, double rate, FILE *out)
{
	char q[40];

	snprintf(q, sizeof q, v->q < 0.0001 ? "q < 0.0001" : "q = %.2g", v->q);
	if (v->verdict != PL_DIFF_SAME)
		pl_svg_string(pl_diff_verdicts[v->verdict], out);
	else if (v->q > rate)
		fputs("no change beyond chance", out);
	else
		fputs("too small a change for one recording a side", out);
	fputs(", ", out);
	pl_svg_string(q, out);
}

static void write_value(const struct pl_diff *d, const struct pl_diff_value *v, double rate, FILE *out)
{
	struct pl_units relative = pl_diff_relative_text(d, v, true);

	pl_svg_string(pl_diff_took_text(d, v, PL_DIFF_BEFORE).s, out);
	fputs(" before, ", out);
	pl_svg_string(pl_diff_took_text(d, v, PL_DIFF_AFTER).s, out);
	fprintf(out, " after, %s%s%s points: ", relative.s, relative.s[0] ? ", " : "", pl_diff_change(v, true).s);
	write_verdict(v, rate, out);
}

static void write_sum(const struct writer *w, const struct pl_svg_box *b, FILE *out)
{
	fprintf(out, "%s sample%s %s, ", pl_units_count(b->total.samples).s, b->total.samples == 1 ? "" : "s",
		stands_in_gone(w, b) ? "before" : "after");
	pl_svg_string(pl_units_percent(b->total.share).s, out);
	if (b->depth == 0 && stands_in_gone(w, b))
		fputs(": paths without a sample after", out);
}

static void write_figures(const void *ctx, const struct pl_svg_box *b, FILE *out)
{
	const struct writer *w = ctx;
	const struct pl_diff_row *r = &w->d->table[b->row];

	if (b->depth == 0 || b->frames) {
		write_sum(w, b, out);
		return;
	}
	if (is_caller_of_gone(w, b)) {
		fputs("called what is there only before: ", out);
		write_sum(w, b, out);
		return;
	}
	write_value(w->d, &r->total, PL_DIFF_TOTAL_RATE, out);
	fputs("\nitself ", out);
	write_value(w->d, &r->self, PL_DIFF_SELF_RATE, out);
}

static double change_of(const struct pl_diff_row *r)
{
	return r->total.verdict == PL_DIFF_SAME ? 0 : r->total.after - r->total.before;
}

static const char *fill(const void *ctx, const struct pl_svg_box *b)
{
	const struct writer *w = ctx;
	double change;
	int step;

	if (b->depth == 0 || is_caller_of_gone(w, b))
		return NEUTRAL;
	change = change_of(&w->d->table[b->row]);
	if (change == 0)
		return UNCHANGED;
	step = (int)fmin(fabs(change) / w->largest * STEPS, STEPS - 1);
	return change > 0 ? more[step] : less[step];
}

static double largest_change(const struct pl_diff *d)
{
	double largest = 0;

	for (uint32_t r = 0; r < d->row_count; r++)
		largest = fmax(largest, fabs(change_of(&d->table[r])));
	return largest;
}

static void write_legend(const void *ctx, double y, FILE *out)
{
	const struct writer *w = ctx;
	double x = PL_SVG_MARGIN;
	char points[40];

	if (w->largest > 0) {
		snprintf(points, sizeof points, "-%.1f points", w->largest * 100);
		pl_svg_legend(&x, y, less[STEPS - 1], points, out);
		pl_svg_legend(&x, y, less[0], "Less", out);
	}
	pl_svg_legend(&x, y, UNCHANGED, "No change beyond chance", out);
	if (w->largest > 0) {
		pl_svg_legend(&x, y, more[0], "More", out);
		snprintf(points, sizeof points, "+%.1f points", w->largest * 100);
		pl_svg_legend(&x, y, more[STEPS - 1], points, out);
	}
	pl_svg_legend_strips(&w->l.boxes, &x, y, out);
}

static void write_names(const struct writer *w, FILE *out)
{
	for (int side = 0; side < PL_DIFF_SIDES; side++) {
		const char *s = w->look->names[side] ? w->look->names[side] : "?";

		fputs(side == PL_DIFF_AFTER ? " \xe2\x86\x92 " : "", out);
		pl_svg_text((struct pl_text){s, strlen(s)}, NAME_COLUMNS, out);
	}
}

static void write_found(const struct writer *w, FILE *out)
{
	struct pl_diff_text limit = pl_diff_limit_text(w->d, w->look);

	fputs(pl_diff_found_text(w->d, true).s, out);
	if (limit.s[0])
		fprintf(out, " \xc2\xb7 %s", limit.s);
}

static void write_maker(const struct writer *w, FILE *out)
{
	const char *made_by = w->look->made_by ? w->look->made_by : "plumb diff";

	pl_svg_text((struct pl_text){made_by, strlen(made_by)}, PL_SVG_MAKER_COLUMNS, out);
	fputs(" \xc2\xb7 width: share after; colour: its change", out);
}

/* The heading, what was compared, what was found, in what measure, the notes, the command. */
static void write_line(const void *ctx, int line, FILE *out)
{
	const struct writer *w = ctx;
	struct pl_diff_text note;

	if (line == 0)
		write_names(w, out);
	else if (line == 1)
		fprintf(out, "before: %s \xc2\xb7 after: %s", pl_diff_side_text(&w->d->sides[PL_DIFF_BEFORE]).s,
			pl_diff_side_text(&w->d->sides[PL_DIFF_AFTER]).s);
	else if (line == 2)
		write_found(w, out);
	else if (line == 3)
		pl_svg_string(pl_diff_scale_text(w->d, w->look).s, out);
	else if (pl_diff_note_at(w->d, line - 4, &note))
		pl_svg_string(note.s, out);
	else
		write_maker(w, out);
}

static int count_notes(const struct pl_diff *d)
{
	struct pl_diff_text note;
	int count = 0;

	while (pl_diff_note_at(d, count, &note))
		count++;
	return count;
}

struct plumb_error *pl_diff_svg_write(const struct pl_diff *d, const struct pl_diff_look *look, FILE *out)
{
	struct writer w = {.d = d, .look = look, .largest = largest_change(d)};
	struct pl_svg_page page = {.ctx = &w,
				   .boxes = &w.l.boxes,
				   .lines = 5 + count_notes(d),
				   .write_line = write_line,
				   .write_legend = write_legend,
				   .name = name,
				   .write_place = write_place,
				   .write_figures = write_figures,
				   .fill = fill};
	struct plumb_error *err = pl_diff_svg_layout_make(d, PL_SVG_NARROW, &w.l);

	if (err)
		return err;
	pl_svg_page_write(&page, out);
	pl_diff_svg_layout_deinit(&w.l);
	return NULL;
}
