/* SPDX-License-Identifier: Apache-2.0 */
/* The text report: at most options.max_lines lines that say where the time went. Layer export; any thread.
 *
 * The answer first: what ran and what is wrong, the tree of its own functions, the functions by self time. How far that
 * can be trusted is one line behind it, with what changes the conclusions; then what to do next. What is not a row of a
 * table is written as often as it takes: once into nothing, to learn how many lines it leaves for the rows. */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "buf.h"
#include "formats.h"
#include "hot_path.h"
#include "rows.h"
#include "waits_table.h"

#define TREE_MIN_SHARE_TOP 0.001 /* if a number of rows was asked for */
#define TREE_ROWS_MIN	   6
#define FUNCTIONS	   6
#define FUNCTIONS_MIN	   3
#define FUNCTIONS_FAIR	   4
#define WARNINGS_MIN	   2
#define WAITS		   5
#define WAITS_MIN	   2
#define COMMANDS	   2
#define FAULTS		   2
#define BODY_MIN	   10 /* two blank lines, two headings, three rows each */
#define MIN_WIDTH	   20
#define DETAIL_COLUMNS	   10
/* Narrower pages have labels, but no column of them. */
#define LABEL_FROM_WIDTH  50
#define COMMAND_MAX_BYTES (128u << 10)

struct report {
	const struct plumb_profile *p;
	struct pl_export_options o;
	struct pl_answer answer;
	pl_hot_rows hot;
	struct pl_rows *rows;
	double cut;				   /* share of the heaviest branch that found no line */
	int tree_rows;				   /* of `rows`, the rest is functions */
	int function_rows;			   /* as many as there is room for, */
	int warnings, commands, faults, wait_rows; /* likewise */
	struct pl_waits waits;
};

static const char *dot(const struct pl_page *page)
{
	return page->unicode ? " \xc2\xb7 " : ", ";
}

static void write_item(struct pl_line *l, const struct pl_item *it)
{
	if (it->tone != PL_TONE_PLAIN)
		pl_line_tone(l, it->tone);
	pl_line_add(l, it->text);
	if (it->tone != PL_TONE_PLAIN)
		pl_line_tone(l, PL_TONE_PLAIN);
}

/* Items from left to right, wrapped between items. */
static void write_items(struct pl_line *l, const struct pl_summary_row *row, int indent, bool continued)
{
	struct pl_page *page = l->page;

	for (int i = 0; i < row->count; i++) {
		const char *sep = i > 0 || continued ? dot(page) : "";
		int cols = pl_line_columns(sep) + pl_line_columns(row->items[i].text);

		if (l->cols > indent && l->cols + cols > page->width) {
			pl_line_end(l);
			pl_line_start(l, page);
			pl_line_pad(l, indent);
		} else {
			pl_line_add(l, sep);
		}
		write_item(l, &row->items[i]);
	}
}

static void write_title(const struct report *r, struct pl_page *page)
{
	const struct pl_summary_row *row = &r->answer.summary.rows[PL_SUMMARY_TITLE];
	struct pl_text program = pl_summary_program(r->p, r->o.full_names);
	struct pl_line l;
	int rest = 0, room;

	for (int i = 0; i < row->count; i++)
		rest += pl_line_columns(dot(page)) + pl_line_columns(row->items[i].text);
	pl_line_start(&l, page);
	/* A name that would be cut to a stump has the line for itself; files of other tools need not tell it. */
	room = page->width - rest;
	pl_line_tone(&l, PL_TONE_STRONG);
	pl_line_name(&l, program.s, program.len, room >= 24 ? room : page->width, PL_CUT_END);
	pl_line_tone(&l, PL_TONE_PLAIN);
	write_items(&l, row, 1, program.len > 0);
	pl_line_end(&l);
}

static void write_detail(const struct pl_summary_row *row, struct pl_page *page)
{
	bool labels = page->width >= LABEL_FROM_WIDTH;
	struct pl_line l;

	if (row->count == 0)
		return;
	pl_line_start(&l, page);
	pl_line_pad(&l, 1);
	pl_line_add(&l, row->label);
	pl_line_pad(&l, labels ? 1 + DETAIL_COLUMNS : l.cols + 1);
	write_items(&l, row, labels ? 1 + DETAIL_COLUMNS : 3, false);
	pl_line_end(&l);
}

/* A sentence, wrapped between words, behind @p mark. */
static void write_sentence(const char *mark, const char *sentence, enum pl_tone tone, struct pl_page *page)
{
	const char *word = sentence;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_tone(&l, tone);
	pl_line_add(&l, mark);
	while (*word) {
		int len = (int)strcspn(word, " ");

		if (l.cols > 2 && l.cols + 1 + len > page->width) {
			pl_line_tone(&l, PL_TONE_PLAIN);
			pl_line_end(&l);
			pl_line_start(&l, page);
			pl_line_tone(&l, tone);
			pl_line_add(&l, " ");
		}
		pl_line_addf(&l, " %.*s", len, word);
		word += len + (word[len] == ' ');
	}
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

static void write_header(const struct report *r, struct pl_page *page)
{
	write_title(r, page);
	write_detail(&r->answer.summary.rows[PL_SUMMARY_PROCESSES], page);
	write_detail(&r->answer.summary.rows[PL_SUMMARY_WAITS], page);
	write_detail(&r->answer.summary.rows[PL_SUMMARY_EVENTS], page);
	for (int i = 0; i < r->faults; i++)
		write_sentence("", r->answer.summary.faults.list[i].sentence, PL_TONE_STRONG, page);
}

/* How far the answer can be trusted. */
static void write_verdict(const struct report *r, struct pl_page *page)
{
	const struct pl_summary_row *row = &r->answer.summary.verdict;
	struct pl_line l;

	if (row->count) {
		pl_line_start(&l, page);
		pl_line_add(&l, row->label);
		pl_line_add(&l, " ");
		write_items(&l, row, 9, false);
		if (!r->o.quality && l.cols + 20 <= page->width)
			pl_line_add(&l, " (more: --quality)");
		pl_line_end(&l);
	}
	for (int i = PL_SUMMARY_DETAILS; i < PL_SUMMARY_ROWS && r->o.quality; i++)
		write_detail(&r->answer.summary.rows[i], page);
	for (int i = 0; i < r->warnings; i++)
		write_sentence("!", r->answer.summary.warnings[i].text, r->answer.summary.warnings[i].tone, page);
}

static bool is_shell_word(const char *s)
{
	return *s && s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-@%=:,")] == '\0';
}

/* Between single quotes fish, alone among shells, has escapes: a quote and a backslash stand between others. */
static struct plumb_error *quote_char(const char *c, struct pl_buf *ret)
{
	return *c == '\''   ? pl_buf_add_str(ret, "'\"'\"'")
	       : *c == '\\' ? pl_buf_add_str(ret, "'\"\\\\\"'")
			    : pl_buf_add(ret, c, 1);
}

static struct plumb_error *quote(const char *path, struct pl_buf *ret)
{
	struct plumb_error *err;

	if (is_shell_word(path))
		return pl_buf_add_str(ret, path);
	err = pl_buf_add_str(ret, "'");
	for (const char *s = path; *s && !err; s++)
		err = quote_char(s, ret);
	return err ? err : pl_buf_add_str(ret, "'");
}

/* One command. A file name is never cut, because somebody will copy the line: it wraps before the options, and a name
 * that is wider than the page makes the only line that is, too. */
static void write_command(const char *lead, const char *command, const char *options, struct pl_page *page)
{
	struct pl_page wide = *page;
	struct pl_line l;

	wide.width = PL_LINE_MAX_COLUMNS;
	pl_line_start(&l, &wide);
	pl_line_add(&l, lead);
	pl_line_name(&l, command, strlen(command), PL_LINE_MAX_COLUMNS, PL_CUT_END);
	if (l.cols + 1 + (int)strlen(options) > page->width) {
		pl_line_add(&l, " \\");
		pl_line_end(&l);
		pl_line_start(&l, &wide);
		pl_line_pad(&l, 8);
	} else {
		pl_line_add(&l, " ");
	}
	pl_line_add(&l, options);
	pl_line_end(&l);
	page->lines = wide.lines;
}

static struct plumb_error *write_next(const struct report *r, struct pl_page *page)
{
	struct pl_buf command = PL_BUF_INIT(COMMAND_MAX_BYTES);
	struct plumb_error *err;

	if (!r->o.recording)
		return NULL;
	err = quote(r->o.program ? r->o.program : "plumb", &command);
	if (!err)
		err = pl_buf_add_str(&command, " report ");
	if (!err)
		err = quote(r->o.recording, &command);
	if (!err) {
		bool labels = page->width >= LABEL_FROM_WIDTH;

		if (r->commands > 0)
			write_command(labels ? "next: " : " ", pl_buf_str(&command),
				      r->o.filter.lines ? "--markdown" : "--lines", page);
		if (r->commands > 1 && r->o.page_option)
			write_command(labels ? "      " : " ", pl_buf_str(&command), r->o.page_option, page);
	}
	pl_buf_deinit(&command);
	return err;
}

static bool has_folded(const pl_hot_rows *hot)
{
	for (size_t i = 0; i < hot->len; i++) {
		if (hot->data[i].folded)
			return true;
	}
	return false;
}

static bool has_library(const struct report *r)
{
	for (size_t i = 0; i < r->hot.len; i++) {
		const struct pl_hot_row *h = &r->hot.data[i];

		if (h->into != PL_HOT_NO_ROW || r->answer.tree.data[h->row].kind == PL_TREE_LIBRARY)
			return true;
	}
	return false;
}

/* Behind what a table is about, in parentheses. */
static void add_note(char *what, size_t size, const char *note)
{
	size_t len = strlen(what);

	snprintf(what + len, size - len, "%s%s", strchr(what, '(') ? "; " : " (", note);
}

/* "where the time went (of 12.3 s of thread time; ▸ into libraries; [+N] N left out)" */
static void write_tree(const struct report *r, struct pl_page *page)
{
	const struct pl_totals *t = &r->answer.summary.totals;
	bool cpu = r->p->meta.mode == PL_MODE_CPU, counted = r->p->meta.counted;
	char what[240], total[64];

	snprintf(what, sizeof what, "where the %s", counted ? "samples are" : "time went");
	if (counted || cpu || t->threads > 1) {
		double ns = (double)t->weight_ns * r->answer.summary.scale;
		const char *of = counted ? "samples" : cpu ? "CPU time" : "thread time";

		snprintf(total, sizeof total, counted ? "of %.30s %s" : "of %.30s of %s",
			 counted ? pl_units_count(t->samples).s : pl_units_time(ns).s, of);
		add_note(what, sizeof what, total);
	}
	if (r->cut > 0) {
		snprintf(total, sizeof total, "over %.2g %%", r->cut * 100);
		add_note(what, sizeof what, total);
	}
	if (has_library(r))
		add_note(what, sizeof what, page->unicode ? "\xe2\x96\xb8 into libraries" : "> into libraries");
	if (has_folded(&r->hot))
		add_note(what, sizeof what, "[+N] N left out");
	if (strchr(what, '('))
		snprintf(what + strlen(what), sizeof what - strlen(what), ")");
	pl_rows_write(r->rows, 0, r->tree_rows, "%", what, page);
}

static void write_functions(const struct report *r, struct pl_page *page)
{
	char what[120];

	snprintf(what, sizeof what, "most %s in the %s itself (%d of %s)", r->p->meta.counted ? "samples" : "time",
		 r->o.filter.lines ? "line" : "function", r->rows->count - r->tree_rows,
		 pl_units_count(pl_answer_with_self(&r->answer)).s);
	pl_rows_write(r->rows, r->tree_rows, r->rows->count, "self", what, page);
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* Take up to @p wanted of *left. */
static int take(int *left, int wanted)
{
	int got = wanted < *left ? wanted : *left;

	got = got > 0 ? got : 0;
	*left -= got;
	return got;
}

static void write_waits(const struct report *r, struct pl_page *page)
{
	pl_waits_write(&r->waits, r->wait_rows, r->answer.summary.scale, page);
}

/* What is no row: the answer in a line, the verdict, the commands; and what tasks waited for. */
static struct plumb_error *count_lines(const struct report *r, const struct pl_page *page, int *ret)
{
	struct pl_page count = *page;
	struct plumb_error *err;

	count.out = NULL;
	write_header(r, &count);
	write_waits(r, &count);
	write_verdict(r, &count);
	err = write_next(r, &count);
	*ret = count.lines;
	return err;
}

/* On a narrow page long sentences leave no room for the answer. What the warnings say is in the figures, too, so they
 * are the first to go (the gravest stand first), then the commands, then the second fault. */
static struct plumb_error *shorten(struct report *r, const struct pl_page *page, int *lines_ret)
{
	struct plumb_error *err;

	while (!(err = count_lines(r, page, lines_ret)) && *lines_ret > r->o.max_lines - BODY_MIN) {
		if (r->warnings > WARNINGS_MIN || (r->commands == 0 && r->warnings > 0))
			r->warnings--;
		else if (r->wait_rows > WAITS_MIN)
			r->wait_rows--;
		else if (r->commands > 0)
			r->commands--;
		else if (r->faults > 1)
			r->faults--;
		else
			break;
	}
	return err;
}

/* Lines are few: what is no row has its own; tree and functions share the rest, the most telling rows first. */
static struct plumb_error *share_lines(struct report *r, const struct pl_page *page, int *tree_ret)
{
	int tree = (int)(r->answer.tree.len < PL_ROWS_MAX / 2 ? r->answer.tree.len : PL_ROWS_MAX / 2);
	int table = smaller((int)pl_answer_with_self(&r->answer), FUNCTIONS), used, left, t, f;
	struct plumb_error *err = shorten(r, page, &used);

	left = r->o.max_lines - used - 4;  /* two blank lines, two headings */
	t = take(&left, smaller(tree, 1)); /* however little room there is */
	f = take(&left, smaller(table, FUNCTIONS_MIN));
	t += take(&left, smaller(tree, TREE_ROWS_MIN) - t);
	f += take(&left, smaller(table, FUNCTIONS_FAIR) - f);
	t += take(&left, tree - t);
	f += take(&left, table - f);
	r->function_rows = f;
	*tree_ret = t;
	return err;
}

/* Functions of which it is not sure that they took any time are no news. */
static int sure_functions(const struct report *r)
{
	int count = 0;

	for (size_t i = 0; i < r->answer.functions.len && count < r->function_rows; i++) {
		const struct pl_share *s = &r->answer.functions.data[i].self;

		if (s->samples && (i == 0 || s->share > s->half_width))
			count++;
	}
	return count;
}

static bool tells_cpu(const struct report *r)
{
	const struct pl_totals *t = &r->answer.summary.totals;

	return r->p->meta.mode != PL_MODE_CPU && t->unknown < t->samples / 2;
}

static struct plumb_error *plan(struct report *r, const struct pl_page *page)
{
	bool asked = r->o.top > 0;
	int tree = smaller(r->o.top, PL_ROWS_MAX / 2);
	struct plumb_error *err = NULL;

	r->warnings = r->answer.summary.warning_count;
	r->commands = COMMANDS;
	r->faults = smaller(r->answer.summary.faults.count, FAULTS);
	r->function_rows = tree;
	r->wait_rows = asked ? r->o.top : WAITS;
	if (!asked)
		err = share_lines(r, page, &tree);
	if (!err)
		err = pl_hot_path(r->p, &r->answer.tree, (size_t)tree, asked, &r->hot, &r->cut);
	if (err)
		return err;
	pl_rows_begin(r->rows, r->p, &r->o, r->answer.summary.scale, tells_cpu(r));
	pl_rows_add_tree(r->rows, &r->answer.tree, &r->hot);
	r->tree_rows = r->rows->count;
	pl_rows_add_functions(r->rows, &r->answer.functions, asked ? tree : sure_functions(r));
	return NULL;
}

static struct plumb_error *gather(struct report *r)
{
	double least = r->o.top > 0 ? TREE_MIN_SHARE_TOP : PL_OWN_CODE_MIN_SHARE;
	struct plumb_error *err = pl_answer_make(&r->answer, r->p, &r->o.filter, r->o.unicode, least);

	return err ? err : pl_waits_find(r->p, &r->o.filter, &r->waits);
}

static struct plumb_error *write_report(struct report *r, struct pl_page *page)
{
	struct plumb_error *err = plan(r, page);

	if (err)
		return err;
	write_header(r, page);
	if (r->tree_rows > 0) {
		pl_page_blank(page);
		write_tree(r, page);
	}
	if (r->rows->count > r->tree_rows) {
		pl_page_blank(page);
		write_functions(r, page);
	}
	write_waits(r, page);
	write_verdict(r, page);
	return write_next(r, page);
}

struct plumb_error *pl_text_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct pl_page page = {.out = out, .unicode = o->unicode, .color = o->color};
	struct report *r = calloc(1, sizeof *r); /* 80 kB: the stack of a program's thread can be smaller */

	if (!r)
		return &pl_err_no_memory;
	page.width = o->width < MIN_WIDTH ? MIN_WIDTH : smaller(o->width, PL_LINE_MAX_COLUMNS);
	r->p = p;
	r->o = *o;
	r->rows = malloc(sizeof *r->rows);
	r->o.width = page.width;
	struct plumb_error *err = r->rows ? gather(r) : &pl_err_no_memory;
	if (!err)
		err = write_report(r, &page);
	pl_answer_deinit(&r->answer);
	pl_vec_deinit(&r->hot);
	pl_waits_deinit(&r->waits);
	free(r->rows);
	free(r);
	return err;
}
