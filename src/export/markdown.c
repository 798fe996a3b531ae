/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown for an issue or a pull request: what ran, the tree of its own functions as code, a table of the functions by
 * self time, how far that can be trusted. Layer export; any thread. GitHub's dialect.
 *
 * Every name stands inside a code span or block, where Markdown and HTML mean nothing; what could end one is replaced.
 */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "buf.h"
#include "formats.h"
#include "hot_path.h"
#include "markdown_span.h"
#include "rows.h"

#define TREE_ROWS  20
#define FUNCTIONS  10
#define CODE_WIDTH 110

static void write_text(struct pl_text t, uint32_t line, FILE *out)
{
	pl_markdown_span(t.s, t.len, line, out);
}

/* A name in it stands in a span. */
static void write_marked(const char *text, size_t name_at, size_t name_len, FILE *out)
{
	fprintf(out, "%.*s", name_len ? (int)name_at : -1, text);
	if (name_len) {
		pl_markdown_whole_span(text + name_at, name_len, out);
		fputs(text + name_at + name_len, out);
	}
}

static void write_items(const struct pl_summary_row *row, FILE *out)
{
	for (int i = 0; i < row->count; i++) {
		const struct pl_item *it = &row->items[i];
		const char *strong = it->tone == PL_TONE_PLAIN ? "" : "**";

		fprintf(out, "%s%s", i ? " \xc2\xb7 " : "", strong);
		write_marked(it->text, it->name_at, it->name_len, out);
		fputs(strong, out);
	}
}

static void write_fault(const struct pl_fault *fault, FILE *out)
{
	fputs("\n**", out);
	write_marked(fault->sentence, fault->name_at, fault->name_len, out);
	fputs("**\n", out);
}

static void write_header(const struct plumb_profile *p, const struct pl_summary *s, bool full_names, FILE *out)
{
	fputs("### plumb: ", out);
	write_text(pl_summary_program(p, full_names), 0, out);
	for (int i = 0; i < s->rows[PL_SUMMARY_TITLE].count; i++) {
		const struct pl_item *it = &s->rows[PL_SUMMARY_TITLE].items[i];

		fputs(" \xc2\xb7 ", out);
		write_marked(it->text, it->name_at, it->name_len, out);
	}
	fputs("\n", out);
	for (int i = 0; i < s->faults.count; i++)
		write_fault(&s->faults.list[i], out);
}

static void write_warning(const struct pl_item *warning, FILE *out)
{
	fputs("- **", out);
	write_marked(warning->text, warning->name_at, warning->name_len, out);
	fputs("**\n", out);
}

static void write_details(const struct pl_summary *s, FILE *out)
{
	fputc('\n', out);
	if (s->verdict.count) {
		fputs("- quality: ", out);
		write_items(&s->verdict, out);
		fputc('\n', out);
	}
	for (int i = 0; i < s->warning_count; i++)
		write_warning(&s->warnings[i], out);
	for (int row = PL_SUMMARY_PROCESSES; row < PL_SUMMARY_ROWS; row++) {
		if (s->rows[row].count == 0)
			continue;
		fprintf(out, "- %s: ", s->rows[row].label);
		write_items(&s->rows[row], out);
		fputc('\n', out);
	}
}

/* What a table is made of. */
struct report {
	const struct plumb_profile *p;
	struct pl_export_options o;
	struct pl_answer answer;
	FILE *out;
};

static void write_function(const struct report *r, const struct pl_function_row *row)
{
	const struct pl_function *f = &r->p->functions[row->function];
	struct pl_text file = pl_text_of(r->p, row->line > 0 ? pl_function_source(f) : f->file);
	int32_t line = row->line > 0 ? row->line : (int32_t)f->firstline;
	double scale = r->answer.summary.scale, total_ns = (double)r->answer.summary.totals.weight_ns * scale;

	fprintf(r->out, "| %s | %s | %s | ", pl_units_share(row->self.share, row->self.half_width, true).s,
		pl_units_time_pm((double)row->self.weight_ns * scale, row->self.half_width * total_ns, true).s,
		pl_units_share(row->total.share, row->total.half_width, true).s);
	write_text(pl_frame_is_unresolved(r->p, f) ? (struct pl_text){"[not resolved]", 14}
						   : pl_frame_qualname(r->p, f),
		   0, r->out);
	fputs(" | ", r->out);
	if (!pl_frame_is_bare(r->p, f, line))
		write_text(r->o.full_names ? file : pl_text_short_path(file), (uint32_t)line, r->out);
	fputs(" |\n", r->out);
}

static void write_functions(const struct report *r)
{
	const pl_function_rows *rows = &r->answer.functions;
	size_t all = pl_answer_with_self(&r->answer), most = r->o.top > 0 ? (size_t)r->o.top : FUNCTIONS;

	if (!all)
		return;
	fprintf(r->out, "\n| self | time | total | %s (%zu of %zu) | where |\n|--:|--:|--:|:--|:--|\n",
		r->o.filter.lines ? "line" : "function", all < most ? all : most, all);
	for (size_t i = 0; i < all && i < most; i++)
		write_function(r, &rows->data[i]);
}

/* Every line begins with a figure, so that no name can end the block. */
static struct plumb_error *write_tree(const struct report *r)
{
	struct pl_export_options wide = r->o;
	struct pl_page page = {.out = r->out, .width = CODE_WIDTH, .unicode = true};
	size_t most = r->o.top > 0 ? (size_t)r->o.top : TREE_ROWS;
	struct pl_rows *rows = malloc(sizeof *rows);
	pl_hot_rows hot = {0};
	double cut;
	struct plumb_error *err = &pl_err_no_memory;

	if (rows)
		err = pl_hot_path(r->p, &r->answer.tree, most < PL_ROWS_MAX ? most : PL_ROWS_MAX, r->o.top > 0, &hot,
				  &cut);
	if (!err && hot.len) {
		wide.width = CODE_WIDTH;
		wide.unicode = true;
		pl_rows_begin(rows, r->p, &wide, r->answer.summary.scale, r->p->meta.mode != PL_MODE_CPU);
		pl_rows_add_tree(rows, &r->answer.tree, &hot);
		fputs("\n```text\n", r->out);
		pl_rows_write(rows, 0, rows->count, "%",
			      "where the time went (\xe2\x96\xb8 into libraries; [+N] N left out)", &page);
		fputs("```\n", r->out);
	}
	pl_vec_deinit(&hot);
	free(rows);
	return err;
}

struct plumb_error *pl_markdown_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct report *r = calloc(1, sizeof *r); /* 80 kB: the stack of a program's thread can be smaller */

	if (!r)
		return &pl_err_no_memory;
	r->p = p;
	r->o = *o;
	r->out = out;
	struct plumb_error *err = pl_answer_make(&r->answer, p, &o->filter, true, PL_OWN_CODE_MIN_SHARE);
	if (!err) {
		write_header(p, &r->answer.summary, o->full_names, out);
		err = write_tree(r);
	}
	if (!err) {
		write_functions(r);
		write_details(&r->answer.summary, out);
	}
	pl_answer_deinit(&r->answer);
	free(r);
	return err;
}
