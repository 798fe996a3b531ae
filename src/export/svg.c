/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a flame graph. Layer export; any thread. Memory follows the nodes of the call tree. What it looks like
 * is in svg_page.c. */
#include <inttypes.h>
#include <string.h>

#include "categories.h"
#include "formats.h"
#include "svg_layout.h"
#include "svg_page.h"
#include "units.h"
#include "words.h"

struct writer {
	const struct plumb_profile *p;
	const struct pl_export_options *o;
	struct pl_svg_layout l;
};

static const struct pl_tree_row *row_of(const struct writer *w, const struct pl_svg_box *b)
{
	return &w->l.rows.data[b->row];
}

/* The function as it is called. */
static struct pl_text name(const void *ctx, const struct pl_svg_box *b)
{
	const struct writer *w = ctx;
	struct pl_text text;

	if (b->depth == 0)
		return (struct pl_text){"all", 3};
	text = pl_frame_qualname(w->p, &w->p->functions[row_of(w, b)->function]);
	return text.len ? text : (struct pl_text){"?", 1};
}

static void write_place(const void *ctx, const struct pl_svg_box *b, FILE *out)
{
	const struct writer *w = ctx;
	const struct pl_function *f;

	if (b->depth == 0)
		return;
	f = &w->p->functions[row_of(w, b)->function];
	pl_svg_place(w->p, f, w->o->filter.lines ? row_of(w, b)->line : (int32_t)f->firstline, out);
}

static void write_figures(const void *ctx, const struct pl_svg_box *b, FILE *out)
{
	const struct writer *w = ctx;

	fprintf(out, "%s sample%s, ", pl_units_count(b->total.samples).s, b->total.samples == 1 ? "" : "s");
	if (w->l.totals.weight_ns && !w->p->meta.counted)
		fprintf(out, "%s, ", pl_units_time((double)b->total.weight_ns).s);
	/* A strip has no interval: its frames are not one thing. */
	pl_svg_string(b->depth == 0 || b->frames ? pl_units_percent(b->total.share).s
						 : pl_units_share(b->total.share, b->total.half_width, true).s,
		      out);
}

static const char *fill(const void *ctx, const struct pl_svg_box *b)
{
	const struct writer *w = ctx;

	return pl_categories[b->depth ? w->l.categories[b->row] : PL_CATEGORY_OTHER].fill;
}

static void write_legend(const void *ctx, double y, FILE *out)
{
	const struct writer *w = ctx;
	bool seen[PL_CATEGORIES] = {false};
	double x = PL_SVG_MARGIN;

	for (size_t i = 0; i < w->l.boxes.list.len; i++) {
		const struct pl_svg_box *b = &w->l.boxes.list.data[i];

		if (b->depth && !b->frames)
			seen[w->l.categories[b->row]] = true;
	}
	for (int i = 1; i <= PL_CATEGORIES; i++) {
		int c = i % PL_CATEGORIES; /* "Other" last */

		if (seen[c])
			pl_svg_legend(&x, y, pl_categories[c].fill, pl_categories[c].name, out);
	}
	pl_svg_legend_strips(&w->l.boxes, &x, y, out);
}

static void write_losses(const struct writer *w, FILE *out)
{
	for (int i = 0; i < PL_LOSSES; i++) {
		if (w->p->meta.losses[i])
			fprintf(out, " \xc2\xb7 %s %s", pl_units_count(w->p->meta.losses[i]).s, pl_losses[i].word);
	}
	if (!w->p->meta.complete)
		fputs(" \xc2\xb7 incomplete", out);
}

static void write_size(const struct writer *w, FILE *out)
{
	const struct pl_meta *m = &w->p->meta;

	fprintf(out, "%s samples", pl_units_count(w->l.totals.samples).s);
	if (!m->counted)
		fprintf(out, " \xc2\xb7 %s of %s", pl_units_time((double)w->l.totals.weight_ns).s,
			pl_mode_time(m->mode));
	if (m->duration_ns)
		fprintf(out, " \xc2\xb7 recorded for %s", pl_units_time((double)m->duration_ns).s);
	write_losses(w, out);
}

static void write_maker(const struct writer *w, FILE *out)
{
	if (w->o->made_by) {
		pl_svg_text((struct pl_text){w->o->made_by, strlen(w->o->made_by)}, PL_SVG_MAKER_COLUMNS, out);
	} else {
		fputs("plumb ", out);
		pl_svg_text(pl_text_of(w->p, w->p->meta.plumb_version), PL_SVG_MAKER_COLUMNS, out);
	}
	fprintf(out, " \xc2\xb7 by %s \xc2\xb7 width: share of the time; colour: kind of code",
		w->o->filter.lines ? "line" : "function");
}

static void write_line(const void *ctx, int line, FILE *out)
{
	const struct writer *w = ctx;

	if (line == 0)
		pl_svg_text(pl_text_command(w->p, w->o->full_names), PL_SVG_TITLE_COLUMNS, out);
	else if (line == 1)
		write_size(w, out);
	else
		write_maker(w, out);
}

struct plumb_error *pl_svg_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct writer w = {.p = p, .o = o};
	struct pl_svg_page page = {.ctx = &w,
				   .boxes = &w.l.boxes,
				   .lines = 3,
				   .write_line = write_line,
				   .write_legend = write_legend,
				   .name = name,
				   .write_place = write_place,
				   .write_figures = write_figures,
				   .fill = fill};
	struct plumb_error *err = pl_svg_layout_make(p, o->filter.lines, PL_SVG_NARROW, &w.l);

	if (err)
		return err;
	pl_svg_page_write(&page, out);
	pl_svg_layout_deinit(&w.l);
	return NULL;
}
