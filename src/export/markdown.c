/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown for an issue or a pull request: the header, a table of the top functions, the hot path as code. Layer
 * export; any thread. GitHub's dialect.
 *
 * Every name stands inside a code span or block, where Markdown and HTML mean nothing; what could end one is replaced.
 */
#include <string.h>

#include "buf.h"
#include "formats.h"
#include "hot_path.h"
#include "markdown_span.h"
#include "rows.h"
#include "summary.h"

#define TREE_MIN_SHARE 0.03
#define TREE_ROWS      20
#define FUNCTIONS      10
#define CODE_WIDTH     110

static void write_text(struct pl_text t, uint32_t line, FILE *out)
{
	pl_markdown_span(t.s, t.len, line, out);
}

static void write_header(const struct plumb_profile *p, const struct pl_summary *s, bool full_names, FILE *out)
{
	fputs("### plumb: ", out);
	write_text(pl_text_command(p, full_names), 0, out);
	for (int i = 0; i < s->rows[PL_SUMMARY_TITLE].count; i++)
		fprintf(out, " \xc2\xb7 %s", s->rows[PL_SUMMARY_TITLE].items[i].text);
	fputs("\n\n", out);
	for (int row = PL_SUMMARY_WHERE; row < PL_SUMMARY_ROWS; row++) {
		if (s->rows[row].count == 0)
			continue;
		fprintf(out, "- %s: ", s->rows[row].label);
		for (int i = 0; i < s->rows[row].count; i++) {
			const struct pl_item *it = &s->rows[row].items[i];
			const char *strong = it->tone == PL_TONE_PLAIN ? "" : "**";

			fprintf(out, "%s%s%s%s", i ? " \xc2\xb7 " : "", strong, it->text, strong);
		}
		fputc('\n', out);
	}
	for (int i = 0; i < s->warning_count; i++)
		fprintf(out, "- **%s**\n", s->warnings[i].text);
}

static void write_function(const struct plumb_profile *p, const struct pl_function_row *row, bool full_names,
			   double total_ns, FILE *out)
{
	const struct pl_function *f = &p->functions[row->function];
	struct pl_text file = pl_text_of(p, f->file);
	int32_t line = row->line > 0 ? row->line : (int32_t)f->firstline;

	fprintf(out, "| %s | %s | %s | ", pl_units_share(row->self.share, row->self.half_width, true).s,
		pl_units_time_pm((double)row->self.weight_ns, row->self.half_width * total_ns, true).s,
		pl_units_share(row->total.share, row->total.half_width, true).s);
	write_text(pl_frame_qualname(p, f), 0, out);
	fputs(" | ", out);
	if (!pl_frame_is_bare(p, f, line))
		write_text(full_names ? file : pl_text_short_path(file), (uint32_t)line, out);
	fputs(" |\n", out);
}

static struct plumb_error *write_functions(const struct plumb_profile *p, const struct pl_export_options *o,
					   double total_ns, FILE *out)
{
	pl_function_rows rows = {0};
	struct plumb_error *err = pl_view_functions(p, &o->filter, &rows);
	size_t all = 0;

	while (all < rows.len && rows.data[all].self.samples)
		all++;
	if (!err && all) {
		fprintf(out, "\n| self | time | total | %s (%zu of %zu) | where |\n|--:|--:|--:|:--|:--|\n",
			o->filter.lines ? "line" : "function", all < FUNCTIONS ? all : FUNCTIONS, all);
		for (size_t i = 0; i < all && i < FUNCTIONS; i++)
			write_function(p, &rows.data[i], o->full_names, total_ns, out);
	}
	pl_vec_deinit(&rows);
	return err;
}

/* Every line begins with a figure, so that no name can end the block. */
static struct plumb_error *write_tree(const struct plumb_profile *p, const struct pl_export_options *o, double total_ns,
				      FILE *out)
{
	struct pl_export_options wide = *o;
	struct pl_page page = {.out = out, .width = CODE_WIDTH, .unicode = true};
	pl_tree_rows tree = {0};
	pl_hot_rows hot = {0};
	double cut;
	struct plumb_error *err = pl_view_tree(p, &o->filter, TREE_MIN_SHARE, &tree);

	if (!err)
		err = pl_hot_path(p, &tree, TREE_ROWS, &hot, &cut);
	if (!err && hot.len) {
		struct pl_rows rows;

		wide.width = CODE_WIDTH;
		wide.unicode = true;
		pl_rows_of_tree(p, &tree, &hot, &wide, total_ns, &rows);
		fputs("\nHot path ([+N]: N frames not shown):\n\n```text\n", out);
		pl_rows_write(&rows, NULL, &page);
		fputs("```\n", out);
	}
	pl_vec_deinit(&tree);
	pl_vec_deinit(&hot);
	return err;
}

struct plumb_error *pl_markdown_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct pl_summary summary;
	struct plumb_error *err = pl_summary_make(p, &o->filter, true, &summary);
	double total_ns;

	if (err)
		return err;
	total_ns = (double)summary.totals.weight_ns;
	write_header(p, &summary, o->full_names, out);
	err = write_functions(p, o, total_ns, out);
	return err ? err : write_tree(p, o, total_ns, out);
}
