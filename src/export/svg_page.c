/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as one SVG file: a picture by itself, and in a browser one that zooms, searches and turns over
 * (svg.js). Layer export; any thread.
 *
 * The names are the program's: they are made printable first (glyph.c), which leaves no character that XML forbids, and
 * then escaped. They are only ever text, never part of the script, which is the same in every file: a page that allows
 * scripts by their hash can allow this one. Nothing is loaded from anywhere. */
#include "svg_page.h"

#include <string.h>

#include "glyph.h"
#include "svg_script.h"
#include "units.h"

#define WIDTH	     (PL_SVG_INNER + 2 * PL_SVG_MARGIN)
#define ROW	     17.0 /* of a box, with the line around it */
#define LINE	     16.0 /* above the boxes */
#define HEADING	     24.0 /* where the first stands */
#define LEGEND	     24.0 /* its height, and a little */
#define BOTTOM	     28.0
#define CHAR	     7.25 /* of the text in boxes: 0.6 of its size, and a little */
#define NAME_COLUMNS 300
#define STRIP_FILL   "#8c8c8c"

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

void pl_svg_text(struct pl_text t, int columns, FILE *out)
{
	struct pl_glyph g;

	for (size_t i = 0; i < t.len && columns > 0; columns -= g.cols) {
		i += pl_glyph_next(t.s + i, t.len - i, true, &g);
		if (i < t.len && columns <= g.cols) {
			fputs("\xe2\x80\xa6", out);
			return;
		}
		put_glyph(&g, out);
	}
}

void pl_svg_string(const char *s, FILE *out)
{
	pl_svg_text((struct pl_text){s, strlen(s)}, NAME_COLUMNS, out);
}

void pl_svg_place(const struct plumb_profile *p, const struct pl_function *f, int32_t line, FILE *out)
{
	struct pl_text file = pl_text_of(p, f->file);

	if (pl_frame_is_bare(p, f, line) || file.len == 0)
		return;
	fputs(" (", out);
	pl_svg_text(file, NAME_COLUMNS, out);
	if (line > 0)
		fprintf(out, ":%d", (int)line);
	putc(')', out);
}

void pl_svg_legend(double *x, double y, const char *fill, const char *label, FILE *out)
{
	fprintf(out,
		"<rect x=\"%.0f\" y=\"%.0f\" width=\"11\" height=\"11\" fill=\"%s\"/>"
		"<text x=\"%.0f\" y=\"%.0f\">%s</text>\n",
		*x, y - 10, fill, *x + 15, y, label);
	*x += 34 + CHAR * pl_glyph_columns(label, strlen(label), true, NAME_COLUMNS);
}

void pl_svg_legend_strips(const struct pl_svg_boxes *b, double *x, double y, FILE *out)
{
	for (size_t i = 0; i < b->list.len; i++) {
		if (!b->list.data[i].frames)
			continue;
		pl_svg_legend(x, y, STRIP_FILL, "Too narrow to draw one by one", out);
		return;
	}
}

/* The first line of the title is what is searched and what is written into the box, as far as it fits. */
static void put_title(const struct pl_svg_page *page, const struct pl_svg_box *b, FILE *out)
{
	fputs("<title>", out);
	if (b->frames) {
		fprintf(out, "%s frame%s too narrow to draw", pl_units_count(b->frames).s, b->frames == 1 ? "" : "s");
	} else {
		pl_svg_text(page->name(page->ctx, b), NAME_COLUMNS, out);
		page->write_place(page->ctx, b, out);
	}
	putc('\n', out);
	page->write_figures(page->ctx, b, out);
	fputs("</title>", out);
}

static void put_label(const struct pl_svg_page *page, const struct pl_svg_box *b, double x, double y, FILE *out)
{
	int columns = (int)((b->width * PL_SVG_INNER - 6) / CHAR);

	fprintf(out, "<text x=\"%.1f\" y=\"%.0f\">", x + 3, y + 12);
	if (!b->frames && columns >= 3)
		pl_svg_text(page->name(page->ctx, b), columns, out);
	fputs("</text>", out);
}

static double top_of(const struct pl_svg_page *page)
{
	return HEADING + page->lines * LINE + LEGEND;
}

static void put_box(const struct pl_svg_page *page, const struct pl_svg_box *b, FILE *out)
{
	double x = PL_SVG_MARGIN + b->x * PL_SVG_INNER,
	       y = top_of(page) + (double)(page->boxes->depth - b->depth) * ROW;

	fprintf(out, "<g class=\"%s\">", b->frames ? "s" : "f");
	put_title(page, b, out);
	fprintf(out, "<rect x=\"%.3f\" y=\"%.0f\" width=\"%.3f\" height=\"%.0f\" fill=\"%s\"/>", x, y,
		b->width * PL_SVG_INNER, ROW - 1, b->frames ? STRIP_FILL : page->fill(page->ctx, b));
	put_label(page, b, x, y, out);
	fputs("</g>\n", out);
}

static void put_header(const struct pl_svg_page *page, FILE *out)
{
	for (int i = 0; i < page->lines; i++) {
		fprintf(out, "<text x=\"%.0f\" y=\"%.0f\"%s>", PL_SVG_MARGIN, HEADING + i * LINE + (i ? 2 : 0),
			i == 0		       ? " font-size=\"17\""
			: i == page->lines - 1 ? " fill=\"#555\""
					       : "");
		page->write_line(page->ctx, i, out);
		fputs("</text>\n", out);
	}
	page->write_legend(page->ctx, HEADING + page->lines * LINE + 6, out);
}

/* The script shows them: without it they could do nothing. */
static void put_controls(double height, FILE *out)
{
	static const char *const ids[] = {"reset", "flip", "search"};
	static const char *const words[] = {"Reset (Esc)", "Turn over (i)", "Search (Ctrl-F)"};

	for (int i = 0; i < 3; i++)
		fprintf(out,
			"<g id=\"%s\" role=\"button\" tabindex=\"0\" display=\"none\" cursor=\"pointer\"><text "
			"x=\"%.0f\" y=\"%.0f\" fill=\"#0b57a4\">%s</text></g>\n",
			ids[i], WIDTH - PL_SVG_MARGIN - 340 + 115 * i, HEADING, words[i]);
	fprintf(out, "<text id=\"details\" x=\"%.0f\" y=\"%.0f\"> </text>\n", PL_SVG_MARGIN, height - 9);
	fprintf(out, "<text id=\"matched\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\"> </text>\n", WIDTH - PL_SVG_MARGIN,
		height - 9);
}

void pl_svg_page_write(const struct pl_svg_page *page, FILE *out)
{
	double height = top_of(page) + (double)(page->boxes->depth + 1) * ROW + BOTTOM;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" font-family=\"monospace\" font-size=\"12\">\n",
		WIDTH, height, WIDTH, height);
	fprintf(out, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", WIDTH, height);
	put_header(page, out);
	put_controls(height, out);
	fputs("<g id=\"frames\">\n", out);
	for (size_t i = 0; i < page->boxes->list.len && !ferror(out); i++)
		put_box(page, &page->boxes->list.data[i], out);
	fputs("</g>\n<script><![CDATA[", out);
	fputs(pl_svg_script, out);
	fputs("]]></script>\n</svg>\n", out);
}
