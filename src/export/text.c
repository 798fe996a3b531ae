/* SPDX-License-Identifier: Apache-2.0 */
/* The text report: at most options.max_lines lines that say where the time went. Layer export; any thread.
 *
 * Header first, then the hot path, the top functions and what to do next. The header is written as often as it takes:
 * once into nothing, to learn how many lines it leaves for the rest. */
#include <string.h>

#include "buf.h"
#include "formats.h"
#include "hot_path.h"
#include "rows.h"
#include "summary.h"

#define TREE_MIN_SHARE 0.03
#define TREE_ROWS      9
#define TREE_ROWS_MIN  6
#define FUNCTIONS      6
#define FUNCTIONS_MIN  3
#define FUNCTIONS_FAIR 4
#define WARNINGS_MIN   2
#define COMMANDS       2
#define BODY_MIN       10 /* two blank lines, two headings, three rows each */
#define LABEL_COLUMNS  10
#define MIN_WIDTH      20
/* Narrower pages have labels, but no column of them. */
#define LABEL_FROM_WIDTH  50
#define COMMAND_MAX_BYTES (128u << 10)

struct report {
	const struct plumb_profile *p;
	struct pl_export_options o;
	struct pl_summary summary;
	pl_tree_rows tree;
	pl_function_rows functions;
	pl_hot_rows hot;
	double cut;					     /* share of the heaviest branch that found no line */
	int function_rows, summary_rows, warnings, commands; /* as many as there is room for */
	bool whole;					     /* the header has its half widths */
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
	const struct pl_summary_row *row = &r->summary.rows[PL_SUMMARY_TITLE];
	struct pl_text command = pl_text_command(r->p, r->o.full_names);
	struct pl_text version = pl_text_of(r->p, r->p->meta.plumb_version);
	struct pl_line l;
	int rest = 0, room;

	for (int i = 0; i < row->count; i++)
		rest += pl_line_columns(dot(page)) + pl_line_columns(row->items[i].text);
	pl_line_start(&l, page);
	pl_line_add(&l, "plumb");
	if (version.len)
		pl_line_add(&l, " ");
	pl_line_name(&l, version.s, version.len, 16, PL_CUT_END);
	if (command.len) /* files of other tools need not tell it */
		pl_line_add(&l, dot(page));
	/* A command that would be cut to a stump has the line for itself. */
	room = page->width - l.cols - rest;
	pl_line_name(&l, command.s, command.len, room >= 24 ? room : page->width, PL_CUT_END);
	write_items(&l, row, 1, true);
	pl_line_end(&l);
}

static void write_summary_row(const struct pl_summary_row *row, struct pl_page *page)
{
	bool labels = page->width >= LABEL_FROM_WIDTH;
	struct pl_line l;

	if (row->count == 0)
		return;
	pl_line_start(&l, page);
	pl_line_pad(&l, 1);
	pl_line_add(&l, row->label);
	pl_line_pad(&l, labels ? 1 + LABEL_COLUMNS : l.cols + 1);
	write_items(&l, row, labels ? 1 + LABEL_COLUMNS : 3, false);
	pl_line_end(&l);
}

/* A sentence, wrapped between words. */
static void write_warning(const struct pl_item *warning, struct pl_page *page)
{
	const char *word = warning->text;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_tone(&l, PL_TONE_WARN);
	pl_line_add(&l, "!");
	while (*word) {
		int len = (int)strcspn(word, " ");

		if (l.cols > 2 && l.cols + 1 + len > page->width) {
			pl_line_tone(&l, PL_TONE_PLAIN);
			pl_line_end(&l);
			pl_line_start(&l, page);
			pl_line_tone(&l, PL_TONE_WARN);
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
	for (int i = PL_SUMMARY_WHERE; i < r->summary_rows; i++)
		write_summary_row(&r->summary.rows[i], page);
	for (int i = 0; i < r->warnings; i++)
		write_warning(&r->summary.warnings[i], page);
}

static bool is_shell_word(const char *s)
{
	return *s && s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-@%=:,")] == '\0';
}

static struct plumb_error *quote(const char *path, struct pl_buf *ret)
{
	struct plumb_error *err;

	if (is_shell_word(path))
		return pl_buf_add_str(ret, path);
	err = pl_buf_add_str(ret, "'");
	for (const char *s = path; *s && !err; s++)
		err = *s == '\'' ? pl_buf_add_str(ret, "'\\''") : pl_buf_add(ret, s, 1);
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

static void write_tree(const struct report *r, struct pl_page *page)
{
	const char *what = r->p->meta.mode == PL_MODE_CPU ? "CPU time" : "thread time";
	static const char legend[] = " ([+N]: N frames not shown)";
	double total = (double)r->summary.totals.weight_ns;
	struct pl_rows rows;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_addf(&l, "hot path, branches over %.2g %%", (r->cut > 0 ? r->cut : TREE_MIN_SHARE) * 100);
	if (r->p->meta.counted)
		pl_line_addf(&l, " of %s samples", pl_units_count(r->summary.totals.samples).s);
	else if (r->summary.totals.threads > 1 || r->p->meta.mode == PL_MODE_CPU)
		pl_line_addf(&l, " of %s %s", pl_units_time(total).s, what);
	if (has_folded(&r->hot) && page->width - l.cols >= (int)sizeof legend)
		pl_line_add(&l, legend);
	pl_line_end(&l);
	pl_rows_of_tree(r->p, &r->tree, &r->hot, &r->o, total, &rows);
	pl_rows_write(&rows, NULL, page);
}

static size_t with_self(const pl_function_rows *rows)
{
	size_t count = 0;

	while (count < rows->len && rows->data[count].self.samples)
		count++;
	return count;
}

static void write_functions(const struct report *r, struct pl_page *page)
{
	size_t all = with_self(&r->functions);
	struct pl_rows rows;
	char heading[64];

	pl_rows_of_functions(r->p, &r->functions, r->function_rows, &r->o, (double)r->summary.totals.weight_ns, &rows);
	snprintf(heading, sizeof heading, "%s (%d of %s)", r->o.filter.lines ? "line" : "function", rows.count,
		 pl_units_count(all).s);
	pl_rows_write(&rows, heading, page);
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

static struct plumb_error *count_lines(const struct report *r, const struct pl_page *page, int *ret)
{
	struct pl_page count = *page;
	struct plumb_error *err;

	count.out = NULL;
	write_header(r, &count);
	err = write_next(r, &count);
	*ret = count.lines;
	return err;
}

/* "on CPU 52 % +-1.1" is told without the half width. */
static void drop_half_widths(struct pl_summary_row *row)
{
	for (int i = 0; i < row->count; i++) {
		char *blank = strrchr(row->items[i].text, ' ');

		if (blank && (strncmp(blank + 1, "+-", 2) == 0 || strncmp(blank + 1, "\xc2\xb1", 2) == 0))
			*blank = '\0';
	}
}

/* What is left when there are neither warnings nor commands: the half widths of the header, then the cost, which is the
 * last row. False if both are gone. */
static bool shorten_rows(struct report *r)
{
	if (r->summary_rows < PL_SUMMARY_ROWS)
		return false;
	if (r->whole) {
		drop_half_widths(&r->summary.rows[PL_SUMMARY_WHERE]);
		drop_half_widths(&r->summary.rows[PL_SUMMARY_PROCESSES]);
		r->whole = false;
		return true;
	}
	r->summary_rows = PL_SUMMARY_OVERHEAD;
	return true;
}

/* On a narrow page a long header leaves no room for the answer. What the warnings say is in the figures, too, so they
 * are the first to go (the gravest stand first), then the commands. */
static struct plumb_error *shorten(struct report *r, const struct pl_page *page, int *lines_ret)
{
	struct plumb_error *err;

	r->summary_rows = PL_SUMMARY_ROWS;
	r->whole = true;
	r->warnings = r->summary.warning_count;
	r->commands = COMMANDS;
	while (!(err = count_lines(r, page, lines_ret)) && *lines_ret > r->o.max_lines - BODY_MIN) {
		if (r->warnings > WARNINGS_MIN || (r->commands == 0 && r->warnings > 0))
			r->warnings--;
		else if (r->commands > 0)
			r->commands--;
		else if (!shorten_rows(r))
			break;
	}
	return err;
}

/* Lines are few: the header and the commands have theirs; tree and table share the rest, the most telling rows first.
 */
static struct plumb_error *plan(struct report *r, const struct pl_page *page)
{
	int tree = r->tree.len < TREE_ROWS ? (int)r->tree.len : TREE_ROWS;
	int table = smaller((int)with_self(&r->functions), FUNCTIONS), used, left, t, f;
	struct plumb_error *err = shorten(r, page, &used);

	if (err)
		return err;
	left = r->o.max_lines - used - 4;  /* two blank lines, two headings */
	t = take(&left, smaller(tree, 1)); /* however little room there is */
	f = take(&left, smaller(table, FUNCTIONS_MIN));
	t += take(&left, smaller(tree, TREE_ROWS_MIN) - t);
	f += take(&left, smaller(table, FUNCTIONS_FAIR) - f);
	t += take(&left, tree - t);
	f += take(&left, table - f);
	r->function_rows = f;
	return pl_hot_path(r->p, &r->tree, (size_t)t, &r->hot, &r->cut);
}

/* The least certain of the shares that will be shown decides whether there are enough samples. */
static void judge(struct report *r)
{
	double half = 0;

	for (size_t i = 0; i < r->tree.len; i++)
		half = r->tree.data[i].total.half_width > half ? r->tree.data[i].total.half_width : half;
	pl_summary_judge(&r->summary, r->p, half);
}

static struct plumb_error *gather(struct report *r)
{
	struct plumb_error *err = pl_summary_make(r->p, &r->o.filter, r->o.unicode, &r->summary);

	if (!err)
		err = pl_view_tree(r->p, &r->o.filter, TREE_MIN_SHARE, &r->tree);
	if (!err)
		err = pl_view_functions(r->p, &r->o.filter, &r->functions);
	if (!err)
		judge(r);
	return err;
}

static struct plumb_error *write_report(struct report *r, struct pl_page *page)
{
	struct plumb_error *err = plan(r, page);

	if (err)
		return err;
	write_header(r, page);
	if (r->hot.len) {
		pl_page_blank(page);
		write_tree(r, page);
	}
	if (r->function_rows > 0) {
		pl_page_blank(page);
		write_functions(r, page);
	}
	return write_next(r, page);
}

struct plumb_error *pl_text_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct report r = {.p = p, .o = *o};
	struct pl_page page = {.out = out, .unicode = o->unicode, .color = o->color};
	struct plumb_error *err;

	page.width = o->width < MIN_WIDTH ? MIN_WIDTH : smaller(o->width, PL_LINE_MAX_COLUMNS);
	r.o.width = page.width;
	err = gather(&r);
	if (!err)
		err = write_report(&r, &page);
	pl_vec_deinit(&r.tree);
	pl_vec_deinit(&r.functions);
	pl_vec_deinit(&r.hot);
	return err;
}
