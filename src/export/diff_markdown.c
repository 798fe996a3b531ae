/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as Markdown, fit for a comment on a pull request. Layer export; any thread. GitHub's dialect.
 *
 * Every name stands inside a code span, where Markdown and HTML mean nothing; what could end one is replaced. What did
 * not change is folded away. */
#include <string.h>

#include "diff_words.h"
#include "markdown_span.h"

#define CHANGED_ROWS 30
#define SAME_ROWS    10

static void write_side(const struct pl_diff *d, const struct pl_diff_look *look, enum pl_diff_side side, FILE *out)
{
	const char *name = look->names[side] ? look->names[side] : "?";

	fprintf(out, "- %s: ", side == PL_DIFF_BEFORE ? "before" : "after");
	pl_markdown_span(name, strlen(name), 0, out);
	fprintf(out, " \xc2\xb7 %s\n", pl_diff_side_text(&d->sides[side]).s);
}

/* @p named: it has a name in it that is not ours. */
static void write_named(const char *label, const struct pl_diff_text *text, bool named, FILE *out)
{
	fputs(label, out);
	if (named)
		pl_markdown_span(text->s, strlen(text->s), 0, out);
	else
		fputs(text->s, out);
	fputc('\n', out);
}

/* Sentences that quote names of functions or units stand in a span as a whole. */
static struct plumb_error *write_header(const struct pl_diff *d, const struct pl_diff_look *look, FILE *out)
{
	struct pl_diff_text limit = pl_diff_limit_text(d, look), scale = pl_diff_scale_text(d, look), text;
	struct pl_diff_text growth = pl_diff_growth_text(d, look);
	struct plumb_error *err = pl_diff_detectable_text(d, look, &text);

	if (err)
		return err;
	fprintf(out, "### plumb diff: %s\n\n", pl_diff_found_text(d, true).s);
	if (limit.s[0])
		fprintf(out, "**%s**\n\n", limit.s);
	write_side(d, look, PL_DIFF_BEFORE, out);
	write_side(d, look, PL_DIFF_AFTER, out);
	if (growth.s[0])
		write_named("- total: ", &growth, d->per_unit, out);
	write_named("- per ", &scale, d->per_unit || d->scale == PL_DIFF_BY_FUNCTION, out);
	if (text.s[0]) {
		write_named("- changes that would not have been seen: ", &text, true, out);
	}
	for (int i = 0; pl_diff_note_at(d, i, &text); i++)
		fprintf(out, "- %s\n", text.s);
	return NULL;
}

static struct plumb_error *write_row(const struct pl_diff *d, const struct pl_diff_look *look, uint32_t row, FILE *out)
{
	bool total;
	const struct pl_diff_value *v = pl_diff_shown(&d->table[row], &total);
	struct pl_buf name = PL_BUF_INIT((size_t)1 << 30);
	struct plumb_error *err = pl_diff_row_name(d, row, true, &name);
	uint32_t line;
	struct pl_text file = pl_diff_row_file(d, row, look->full_names, &line);

	if (!err) {
		fprintf(out, "| %s | %s | %s | %s | %s | ", pl_diff_verdicts[v->verdict],
			pl_diff_took_text(d, v, PL_DIFF_BEFORE).s, pl_diff_took_text(d, v, PL_DIFF_AFTER).s,
			pl_diff_relative_text(d, v, true).s, pl_diff_change(v, true).s);
		pl_markdown_span(name.data ? (const char *)name.data : "", name.len, 0, out);
		fputs(total ? " (total) | " : " | ", out);
		if (line)
			pl_markdown_span(file.s, file.len, line, out);
		fputs(" |\n", out);
	}
	pl_buf_deinit(&name);
	return err;
}

/* @p changed: the rows that did, else those that did not. */
static struct plumb_error *write_rows(const struct pl_diff *d, const struct pl_diff_look *look, bool changed, int max,
				      FILE *out)
{
	struct plumb_error *err = NULL;
	int count = 0;

	for (uint32_t i = 0; i < d->row_count && count < max && !err; i++) {
		const struct pl_diff_row *r = &d->table[d->order[i]];
		bool is = r->self.verdict != PL_DIFF_SAME || r->total.verdict != PL_DIFF_SAME;

		if (is != changed)
			continue;
		if (count++ == 0)
			fputs("\n| | before | after | change | points | what | where |\n"
			      "|:--|--:|--:|--:|--:|:--|:--|\n",
			      out);
		err = write_row(d, look, d->order[i], out);
	}
	return err;
}

struct plumb_error *pl_diff_markdown_write(const struct pl_diff *d, const struct pl_diff_look *look, FILE *out)
{
	struct plumb_error *err = write_header(d, look, out);

	if (!err)
		err = write_rows(d, look, true, CHANGED_ROWS, out);
	if (err)
		return err;
	fputs("\n<details><summary>no change beyond chance</summary>\n", out);
	err = write_rows(d, look, false, SAME_ROWS, out);
	fputs("\n</details>\n", out);
	return err;
}
