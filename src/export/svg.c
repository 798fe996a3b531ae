/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as one SVG file: a picture by itself, and in a browser one that zooms, searches and turns over
 * (svg.js). Layer export; any thread. Memory follows the nodes of the call tree.
 *
 * The names are the program's: they are made printable first (glyph.c), which leaves no character that XML forbids, and
 * then escaped. They are only ever text, never part of the script, which is the same in every file: a page that allows
 * scripts by their hash can allow this one. Nothing is loaded from anywhere. */
#include <inttypes.h>
#include <string.h>

#include "clock.h"
#include "formats.h"
#include "frame_name.h"
#include "glyph.h"
#include "svg_layout.h"
#include "svg_script.h"
#include "units.h"

#define WIDTH	     1200.0
#define MARGIN	     10.0
#define INNER	     (WIDTH - 2 * MARGIN)
#define ROW	     17.0 /* of a box, with the line around it */
#define TOP	     92.0 /* title, two lines, legend */
#define BOTTOM	     28.0
#define CHAR	     7.25 /* of the text in boxes: 0.6 of its size, and a little */
#define NARROW	     0.1  /* pixels: what is less is put together */
#define NAME_COLUMNS 300

/* Told apart by people who do not see all colours (after Okabe and Ito), with black text on all of them. */
static const struct {
	const char *fill, *label;
} kinds[PL_SVG_KINDS] = {
	[PL_SVG_APPLICATION] = {"#e69f00", "application"},
	[PL_SVG_LIBRARY] = {"#7cc4ec", "library"},
	[PL_SVG_STANDARD] = {"#66c2a4", "standard library"},
	[PL_SVG_NATIVE] = {"#d99bbf", "native"},
	[PL_SVG_KERNEL] = {"#e0713a", "kernel"},
	[PL_SVG_WAITING] = {"#aeb9c9", "waiting"},
	[PL_SVG_GC] = {"#f0e442", "garbage collector"},
	[PL_SVG_OTHER] = {"#dddddd", "other"},
	[PL_SVG_NARROW] = {"#8c8c8c", "too narrow to tell apart"},
};

struct writer {
	const struct plumb_profile *p;
	const struct pl_export_options *o;
	struct pl_svg_layout l;
	FILE *out;
};

static void put_glyph(const struct pl_glyph *g, FILE *out)
{
	for (int i = 0; i < g->len; i++) {
		switch (g->text[i]) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			putc(g->text[i], out);
		}
	}
}

/* At most *columns of @p t, which is lowered by what they took. */
static void put_text(struct pl_text t, int *columns, FILE *out)
{
	struct pl_glyph g;

	for (size_t i = 0; i<t.len && * columns> 0; *columns -= g.cols) {
		i += pl_glyph_next(t.s + i, t.len - i, true, &g);
		if (i < t.len && *columns <= g.cols) {
			fputs("\xe2\x80\xa6", out);
			*columns = 0;
			return;
		}
		put_glyph(&g, out);
	}
}

static void put_all_text(struct pl_text t, FILE *out)
{
	int columns = NAME_COLUMNS;

	put_text(t, &columns, out);
}

/* The function as it is called, and where it is. */
static void put_name(const struct writer *w, const struct pl_svg_box *b, bool whole, FILE *out)
{
	const struct pl_function *f = &w->p->functions[b->function];
	struct pl_text file = pl_text_of(w->p, f->file), name = pl_frame_qualname(w->p, f);
	int32_t line = w->o->filter.lines ? b->line : (int32_t)f->firstline;

	put_all_text(name.len ? name : (struct pl_text){"?", 1}, out);
	if (pl_frame_is_bare(w->p, f, b->line) || file.len == 0)
		return;
	fputs(" (", out);
	put_all_text(whole ? file : pl_text_short_path(file), out);
	if (line > 0)
		fprintf(out, ":%" PRId32, line);
	putc(')', out);
}

static void put_figures(const struct writer *w, const struct pl_svg_box *b)
{
	struct pl_units share;

	fprintf(w->out, "%s sample%s, ", pl_units_count(b->total.samples).s, b->total.samples == 1 ? "" : "s");
	if (w->l.totals.weight_ns && !w->p->meta.counted)
		fprintf(w->out, "%s, ", pl_units_time((double)b->total.weight_ns).s);
	/* "<0.01 %" is markup, too. A strip has no interval: its frames are not one thing. */
	share = b->depth == 0 || b->frames ? pl_units_percent(b->total.share)
					   : pl_units_share(b->total.share, b->total.half_width, true);
	put_all_text((struct pl_text){share.s, strlen(share.s)}, w->out);
}

/* The first line of the title is what is searched and what is written into the box, as far as it fits. */
static void put_title(const struct writer *w, const struct pl_svg_box *b)
{
	fputs("<title>", w->out);
	if (b->depth == 0)
		fputs("all", w->out);
	else if (b->frames)
		fprintf(w->out, "%s frame%s too narrow to draw", pl_units_count(b->frames).s,
			b->frames == 1 ? "" : "s");
	else
		put_name(w, b, true, w->out);
	putc('\n', w->out);
	put_figures(w, b);
	fputs("</title>", w->out);
}

static void put_label(const struct writer *w, const struct pl_svg_box *b, double x, double y, double width)
{
	int columns = (int)((width - 6) / CHAR);
	struct pl_text name;

	fprintf(w->out, "<text x=\"%.1f\" y=\"%.0f\">", x + 3, y + 12);
	if (b->depth == 0) {
		fputs("all", w->out);
	} else if (!b->frames && columns >= 3) {
		name = pl_frame_qualname(w->p, &w->p->functions[b->function]);
		put_text(name, &columns, w->out);
	}
	fputs("</text>", w->out);
}

static void put_box(const struct writer *w, const struct pl_svg_box *b)
{
	double x = MARGIN + b->x * INNER, width = b->width * INNER;
	double y = TOP + (double)(w->l.depth - b->depth) * ROW;

	fprintf(w->out, "<g class=\"%s\">", b->frames ? "s" : "f");
	put_title(w, b);
	fprintf(w->out, "<rect x=\"%.3f\" y=\"%.0f\" width=\"%.3f\" height=\"%.0f\" fill=\"%s\"/>", x, y, width,
		ROW - 1, kinds[b->kind].fill);
	put_label(w, b, x, y, width);
	fputs("</g>\n", w->out);
}

static void put_legend(const struct writer *w)
{
	bool seen[PL_SVG_KINDS] = {false};
	double x = MARGIN;

	for (size_t i = 1; i < w->l.boxes.len; i++)
		seen[w->l.boxes.data[i].kind] = true;
	for (int k = 0; k < PL_SVG_KINDS; k++) {
		if (!seen[k])
			continue;
		fprintf(w->out,
			"<rect x=\"%.0f\" y=\"68\" width=\"11\" height=\"11\" fill=\"%s\"/>"
			"<text x=\"%.0f\" y=\"78\">%s</text>\n",
			x, kinds[k].fill, x + 15, kinds[k].label);
		x += 34 + CHAR * (double)strlen(kinds[k].label);
	}
}

static void put_losses(const struct writer *w)
{
	static const char *const words[PL_LOSSES] = {"missed",	"unreadable",	    "dropped",
						     "damaged", "processes unseen", "not followed"};

	for (int i = 0; i < PL_LOSSES; i++) {
		if (w->p->meta.losses[i])
			fprintf(w->out, " \xc2\xb7 %s %s", pl_units_count(w->p->meta.losses[i]).s, words[i]);
	}
	if (!w->p->meta.complete)
		fputs(" \xc2\xb7 incomplete", w->out);
}

static void put_maker(const struct writer *w)
{
	int columns = 110;

	if (w->o->made_by) {
		put_text((struct pl_text){w->o->made_by, strlen(w->o->made_by)}, &columns, w->out);
		return;
	}
	fputs("plumb ", w->out);
	put_all_text(pl_text_of(w->p, w->p->meta.plumb_version), w->out);
}

static void put_header(const struct writer *w)
{
	static const char *const modes[] = {"wall time", "CPU time", "time with the GIL held"};
	const struct pl_meta *m = &w->p->meta;
	int columns = 110;

	fprintf(w->out, "<text x=\"%.0f\" y=\"24\" font-size=\"17\">", MARGIN);
	put_text(pl_text_command(w->p, w->o->full_names), &columns, w->out);
	fprintf(w->out, "</text>\n<text x=\"%.0f\" y=\"42\">%s samples", MARGIN, pl_units_count(w->l.totals.samples).s);
	if (!m->counted)
		fprintf(w->out, " \xc2\xb7 %s of %s", pl_units_time((double)w->l.totals.weight_ns).s,
			modes[m->mode <= PL_MODE_GIL ? m->mode : PL_MODE_WALL]);
	if (m->duration_ns)
		fprintf(w->out, " \xc2\xb7 recorded for %s", pl_units_time((double)m->duration_ns).s);
	put_losses(w);
	fprintf(w->out, "</text>\n<text x=\"%.0f\" y=\"58\" fill=\"#555\">", MARGIN);
	put_maker(w);
	fprintf(w->out, " \xc2\xb7 by %s \xc2\xb7 width: share of the time; colour: kind of code</text>\n",
		w->o->filter.lines ? "line" : "function");
	put_legend(w);
}

/* The script shows them: without it they could do nothing. */
static void put_controls(const struct writer *w, double height)
{
	static const char *const ids[] = {"reset", "flip", "search"};
	static const char *const words[] = {"Reset (Esc)", "Turn over (i)", "Search (Ctrl-F)"};

	for (int i = 0; i < 3; i++)
		fprintf(w->out,
			"<g id=\"%s\" role=\"button\" tabindex=\"0\" display=\"none\" cursor=\"pointer\"><text "
			"x=\"%.0f\" "
			"y=\"24\" fill=\"#0b57a4\">%s</text></g>\n",
			ids[i], WIDTH - MARGIN - 340 + 115 * i, words[i]);
	fprintf(w->out, "<text id=\"details\" x=\"%.0f\" y=\"%.0f\"> </text>\n", MARGIN, height - 9);
	fprintf(w->out, "<text id=\"matched\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\"> </text>\n", WIDTH - MARGIN,
		height - 9);
}

static void put_picture(const struct writer *w)
{
	double height = TOP + (double)(w->l.depth + 1) * ROW + BOTTOM;

	fprintf(w->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" font-family=\"monospace\" font-size=\"12\">\n",
		WIDTH, height, WIDTH, height);
	fprintf(w->out, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", WIDTH, height);
	put_header(w);
	put_controls(w, height);
	fputs("<g id=\"frames\">\n", w->out);
	for (size_t i = 0; i < w->l.boxes.len && !ferror(w->out); i++)
		put_box(w, &w->l.boxes.data[i]);
	fputs("</g>\n<script><![CDATA[", w->out);
	fputs(pl_svg_script, w->out);
	fputs("]]></script>\n</svg>\n", w->out);
}

struct plumb_error *pl_svg_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct writer w = {.p = p, .o = o, .out = out};
	struct plumb_error *err = pl_svg_layout_make(p, o->filter.lines, NARROW / INNER, &w.l);

	if (err)
		return err;
	put_picture(&w);
	pl_svg_layout_deinit(&w.l);
	return NULL;
}
