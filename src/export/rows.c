/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a text report. Layer export; pure, any thread.
 *
 * Narrow pages lose columns rather than meaning: first the places, then what was on a CPU, then the times. The share
 * with its half width and the name stay at any width; 60 columns have all of it. */
#include "rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "module_name.h"

#define GAP 2
/* Page widths from which a column is shown. */
#define WIDTH_CPU   54
#define WIDTH_PLACE 50
#define WIDTH_TIME  46
/* From these shares on a row is hot or warm. */
#define HOT_SHARE  0.20
#define WARM_SHARE 0.05
/* A share of libraries that differs from that of its line by no more than this is not told. */
#define SAME_SHARE 0.005

void pl_rows_begin(struct pl_rows *rows, const struct plumb_profile *p, const struct pl_export_options *o, double scale,
		   bool cpu)
{
	rows->p = p;
	rows->o = o;
	rows->scale = scale;
	rows->cpu = cpu;
	rows->count = 0;
}

/* ---- what a row says --------------------------------------------------------------------------------------------- */

/* "52 % ±1.1" as two words. */
static void set_share(struct pl_row *row, const struct pl_share *s)
{
	struct pl_units both = pl_units_share(s->share, s->half_width, false);
	char *percent = strstr(both.s, " % +-");

	snprintf(row->error, sizeof row->error, "%.12s", percent + 5);
	*percent = '\0';
	snprintf(row->share, sizeof row->share, "%.12s", both.s);
}

static void set_figures(const struct pl_rows *rows, struct pl_row *row, const struct pl_share *s)
{
	int width = rows->o->width;

	set_share(row, s);
	if (width >= WIDTH_TIME)
		row->time = rows->p->meta.counted ? pl_units_count(s->samples)
						  : pl_units_time((double)s->weight_ns * rows->scale);
	if (rows->cpu && width >= WIDTH_CPU && s->weight_ns)
		snprintf(row->cpu, sizeof row->cpu, "%.0f%%", 100 * (double)s->on_cpu_ns / (double)s->weight_ns);
}

static struct pl_row_part *next_part(struct pl_row *row)
{
	return &row->parts[row->part_count < PL_ROW_PARTS ? row->part_count++ : PL_ROW_PARTS - 1];
}

static void add_text(struct pl_row *row, struct pl_text text)
{
	*next_part(row) = (struct pl_row_part){.text = text};
}

/* @p s lives as long as the row. */
static void add_ours(struct pl_row *row, const char *s)
{
	*next_part(row) = (struct pl_row_part){.text = {s, strlen(s)}, .ours = true};
}

static void add_number(struct pl_row *row, const char *fmt, unsigned value)
{
	struct pl_row_part *part = next_part(row);

	*part = (struct pl_row_part){.ours = true};
	snprintf(part->room, sizeof part->room, fmt, value);
}

/* What is ours is in the row itself where it is made for it: a row can be copied. */
static struct pl_text text_of(const struct pl_row_part *part)
{
	return part->room[0] ? (struct pl_text){part->room, strlen(part->room)} : part->text;
}

/* "main.<locals>.<listcomp>" is "main.<listcomp>", unless names are to be @p full. */
static void add_qualname(struct pl_row *row, struct pl_text name, bool full)
{
	static const char locals[] = ".<locals>";
	size_t len = sizeof locals - 1;
	const char *at;

	int parts = row->part_count;

	while (!full && row->part_count < parts + 2 && (at = memmem(name.s, name.len, locals, len))) {
		add_text(row, (struct pl_text){name.s, (size_t)(at - name.s)});
		name = (struct pl_text){at + len, name.len - (size_t)(at - name.s) - len};
	}
	add_text(row, name);
}

static void add_function_name(const struct pl_rows *rows, struct pl_row *row, uint32_t function)
{
	const struct pl_function *f = &rows->p->functions[function];
	struct pl_text name = pl_frame_qualname(rows->p, f);

	if (pl_frame_is_unresolved(rows->p, f))
		add_ours(row, "[not resolved]");
	else if (name.len == 0)
		add_ours(row, "?");
	else
		add_qualname(row, name, rows->o->full_names);
}

static void add_package(const struct pl_rows *rows, struct pl_row *row, uint32_t function)
{
	const struct pl_function *f = &rows->p->functions[function];
	struct pl_text package = pl_module_package(pl_text_of(rows->p, f->file));

	if (f->origin != PL_ORIGIN_PYTHON || !package.len)
		return;
	add_text(row, package);
	add_ours(row, ".");
}

/* "▸ json.loads … raw_decode"; of a thread that runs no own code at all, whose first function tells nothing,
 * "▸ threading.Condition.wait". */
static void add_library(const struct pl_rows *rows, struct pl_row *row, const struct pl_tree_row *t)
{
	const struct pl_function *last = &rows->p->functions[t->last];
	uint32_t first = t->depth == 0 ? t->last : t->function;

	add_ours(row, rows->o->unicode ? "\xe2\x96\xb8 " : "> ");
	add_package(rows, row, first);
	add_function_name(rows, row, first);
	if (t->last == first)
		return;
	add_ours(row, rows->o->unicode ? " \xe2\x80\xa6 " : " .. ");
	if (last->origin == PL_ORIGIN_PYTHON)
		add_text(row, pl_text_of(rows->p, last->name));
	else
		add_function_name(rows, row, t->last);
}

static void set_place(const struct pl_rows *rows, struct pl_row *row, uint32_t function, int32_t line)
{
	const struct pl_function *f = &rows->p->functions[function];

	row->file = pl_text_of(rows->p, line > 0 ? pl_function_source(f) : f->file);
	if (!rows->o->full_names)
		row->file = pl_text_short_path(row->file);
	row->line = line > 0 ? (uint32_t)line : f->firstline;
	row->bare =
		pl_frame_is_bare(rows->p, f, line > 0 ? line : (int32_t)f->firstline) || rows->o->width < WIDTH_PLACE;
}

static enum pl_tone tone_of(const struct pl_share *s)
{
	return s->share >= HOT_SHARE ? PL_TONE_HOT : s->share >= WARM_SHARE ? PL_TONE_WARM : PL_TONE_PLAIN;
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* True if a later row hangs on the same parent at @p depth: its branch line goes on. */
static bool goes_on(const pl_hot_rows *hot, size_t i, uint32_t depth)
{
	for (size_t j = i + 1; j < hot->len && hot->data[j].depth >= depth; j++) {
		if (hot->data[j].depth == depth)
			return true;
	}
	return false;
}

static void add_lead(struct pl_row *row, const char *s)
{
	size_t len = strlen(row->lead), extra = strlen(s);

	if (len + extra < sizeof row->lead)
		memcpy(row->lead + len, s, extra + 1);
}

static void draw_lead(const pl_hot_rows *hot, size_t i, bool unicode, struct pl_row *row)
{
	const struct pl_hot_row *h = &hot->data[i];
	char folded[32];

	for (uint32_t depth = 1; depth <= h->depth; depth++) {
		bool on = goes_on(hot, i, depth), here = depth == h->depth;

		if (unicode)
			add_lead(row, here ? (on ? "\xe2\x94\x9c " : "\xe2\x94\x94 ") : on ? "\xe2\x94\x82 " : "  ");
		else
			add_lead(row, here ? (on ? "|-" : "`-") : on ? "| " : "  ");
	}
	if (h->folded) {
		snprintf(folded, sizeof folded, "[+%" PRIu32 "] ", h->folded);
		add_lead(row, folded);
	}
}

static const char *leads_to(const struct pl_rows *rows)
{
	return rows->o->unicode ? " \xe2\x86\x92 " : " -> ";
}

/* "fib ×24" */
static void add_tree_function(const struct pl_rows *rows, struct pl_row *row, const struct pl_tree_row *t)
{
	add_function_name(rows, row, t->function);
	if (t->recursion)
		add_number(row, rows->o->unicode ? " \xc3\x97%u" : " x%u", t->recursion + 1);
}

/* "<module> → main → " */
static void add_callers(const struct pl_rows *rows, struct pl_row *row, const pl_tree_rows *tree,
			const struct pl_hot_row *hot)
{
	row->dropped = hot->above_more;
	for (int i = 0; i < hot->above_count; i++) {
		add_tree_function(rows, row, &tree->data[hot->above[i]]);
		add_ours(row, leads_to(rows));
		row->droppable[row->droppable_count++] = row->part_count;
	}
}

/* "fib ×24 ▸ json.loads … raw_decode 11%" */
static void name_tree_row(const struct pl_rows *rows, struct pl_row *row, const struct pl_tree_row *t,
			  const struct pl_tree_row *into)
{
	if (t->kind == PL_TREE_SELF)
		add_ours(row, "[self]");
	else if (t->kind == PL_TREE_LIBRARY)
		add_library(rows, row, t);
	else
		add_tree_function(rows, row, t);
	if (!into)
		return;
	add_ours(row, " ");
	add_library(rows, row, into);
	if (t->total.share - into->total.share > SAME_SHARE)
		add_number(row, " %u%%", (unsigned)lround(into->total.share * 100));
}

void pl_rows_add_tree(struct pl_rows *rows, const pl_tree_rows *tree, const pl_hot_rows *hot)
{
	for (size_t i = 0; i < hot->len && rows->count < PL_ROWS_MAX; i++) {
		const struct pl_tree_row *t = &tree->data[hot->data[i].row];
		size_t into = hot->data[i].into;
		struct pl_row *row = &rows->rows[rows->count++];

		memset(row, 0, sizeof *row);
		set_figures(rows, row, &t->total);
		add_callers(rows, row, tree, &hot->data[i]);
		name_tree_row(rows, row, t, into == PL_HOT_NO_ROW ? NULL : &tree->data[into]);
		set_place(rows, row, t->kind == PL_TREE_LIBRARY ? t->last : t->function,
			  t->kind == PL_TREE_LIBRARY ? 0 : t->line);
		row->bare |= t->kind == PL_TREE_SELF;
		draw_lead(hot, i, rows->o->unicode, row);
	}
}

/* ---- the functions ----------------------------------------------------------------------------------------------- */

static void add_function(struct pl_rows *rows, const struct pl_function_row *f)
{
	struct pl_row *row = &rows->rows[rows->count++];

	memset(row, 0, sizeof *row);
	set_figures(rows, row, &f->self);
	add_function_name(rows, row, f->function);
	set_place(rows, row, f->function, f->line);
	row->tone = tone_of(&f->self);
}

void pl_rows_add_functions(struct pl_rows *rows, const pl_function_rows *functions, int max)
{
	const struct pl_function_row *unresolved = NULL;
	int end = rows->count + max < PL_ROWS_MAX ? rows->count + max : PL_ROWS_MAX;

	for (size_t i = 0; i < functions->len && rows->count < end; i++) {
		const struct pl_function_row *f = &functions->data[i];

		if (f->self.samples == 0)
			break; /* sorted by self: only callers follow */
		if (pl_frame_is_unresolved(rows->p, &rows->p->functions[f->function])) {
			unresolved = f;
			end--;
			continue;
		}
		add_function(rows, f);
	}
	if (unresolved && rows->count < PL_ROWS_MAX)
		add_function(rows, unresolved);
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

struct layout {
	int share, error, time, cpu; /* columns, without the gap that follows; 0: not shown */
	int name, file;
};

static int wider(int a, int b)
{
	return a > b ? a : b;
}

static int digits(uint32_t v)
{
	return snprintf(NULL, 0, "%" PRIu32, v);
}

/* Columns of "file.py:123". */
static int file_columns(const struct pl_row *r, const struct pl_page *page)
{
	if (r->bare)
		return 0;
	return pl_glyph_columns(r->file.s, r->file.len, page->unicode, page->width) +
	       (r->line ? 1 + digits(r->line) : 0);
}

static int part_columns(const struct pl_row_part *part, const struct pl_page *page)
{
	struct pl_text t = text_of(part);

	return part->ours ? pl_line_columns(t.s) : pl_glyph_columns(t.s, t.len, page->unicode, page->width);
}

/* "… → ": callers that are not named */
static const char *more_callers(const struct pl_page *page)
{
	return page->unicode ? "\xe2\x80\xa6 \xe2\x86\x92 " : ".. -> ";
}

/* Of a name that begins with the part @p from. */
static int parts_columns(const struct pl_row *r, int from, const struct pl_page *page)
{
	int cols = pl_line_columns(r->lead) + (from || r->dropped ? pl_line_columns(more_callers(page)) : 0);

	for (int i = from; i < r->part_count; i++)
		cols += part_columns(&r->parts[i], page);
	return cols;
}

static int name_columns(const struct pl_row *r, const struct pl_page *page)
{
	return parts_columns(r, 0, page);
}

static int with_gap(int cols)
{
	return cols ? cols + GAP : 0;
}

static int figures_columns(const struct layout *l)
{
	return 1 + l->share + GAP + l->error + GAP + with_gap(l->time) + with_gap(l->cpu);
}

/* Share what the figures leave between name and file; the one that needs less gives the rest to the other. */
static struct layout lay_out(const struct pl_rows *rows, const struct pl_page *page)
{
	struct layout l = {.share = 4};
	int room, cols;

	for (int i = 0; i < rows->count; i++) {
		const struct pl_row *r = &rows->rows[i];

		l.share = wider(l.share, (int)strlen(r->share));
		l.error = wider(l.error, (int)strlen(r->error));
		l.time = wider(l.time, pl_line_columns(r->time.s));
		l.cpu = wider(l.cpu, (int)strlen(r->cpu));
		l.name = wider(l.name, name_columns(r, page));
		l.file = wider(l.file, file_columns(r, page));
	}
	room = page->width - figures_columns(&l) - (l.file ? GAP : 0);
	if (l.name + l.file > room) {
		cols = room * 2 / 5;
		if (l.file <= cols)
			l.name = room - l.file;
		else if (l.name <= room - cols)
			l.file = room - l.name;
		else
			l.name = room - (l.file = cols);
	}
	return l;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_cell(struct pl_line *line, const char *s, int cols)
{
	if (!cols)
		return;
	pl_line_right(line, s, cols);
	pl_line_pad(line, line->cols + GAP);
}

static void write_place(struct pl_line *line, const struct pl_row *r, int cols)
{
	char number[16] = "";

	if (r->bare)
		return;
	if (r->line)
		snprintf(number, sizeof number, ":%" PRIu32, r->line);
	pl_line_name(line, r->file.s, r->file.len, cols - (int)strlen(number), PL_CUT_START);
	pl_line_add(line, number);
}

/* Where a name begins that has @p cols columns: without as many callers as it takes. */
static int first_part(const struct pl_row *r, int cols, const struct pl_page *page)
{
	int from = 0;

	for (int i = 0; i < r->droppable_count && parts_columns(r, from, page) > cols; i++)
		from = r->droppable[i];
	return from;
}

/* What still does not fit is cut at the end, in the part where that is. */
static void write_name(struct pl_line *line, const struct pl_row *r, int cols)
{
	int end = line->cols + cols, from = first_part(r, cols, line->page);

	pl_line_add(line, r->lead);
	if (from || r->dropped)
		pl_line_add(line, more_callers(line->page));
	for (int i = from; i < r->part_count && line->cols < end; i++) {
		struct pl_text t = text_of(&r->parts[i]);
		int own = part_columns(&r->parts[i], line->page), room = end - line->cols;
		bool more = i + 1 < r->part_count && parts_columns(r, i + 1, line->page) > 0;

		pl_line_name(line, t.s, t.len, room - (more && own == room), PL_CUT_END);
		if (more && own == room) /* what is behind it is told by the mark */
			break;
	}
}

static void write_row(const struct pl_row *r, const struct layout *l, struct pl_page *page)
{
	int name_from = figures_columns(l);
	struct pl_line line;

	pl_line_start(&line, page);
	pl_line_pad(&line, 1);
	if (r->tone != PL_TONE_PLAIN)
		pl_line_tone(&line, r->tone);
	pl_line_right(&line, r->share, l->share);
	if (r->tone != PL_TONE_PLAIN)
		pl_line_tone(&line, PL_TONE_PLAIN);
	pl_line_pad(&line, line.cols + GAP);
	write_cell(&line, r->error, l->error);
	write_cell(&line, r->time.s, l->time);
	write_cell(&line, r->cpu, l->cpu);
	write_name(&line, r, l->name);
	if (l->file && !r->bare) {
		pl_line_pad(&line, name_from + l->name + GAP);
		write_place(&line, r, l->file);
	}
	pl_line_end(&line);
}

/* "where the time went (of 2.0 s of thread time; ▸ into libraries)", without as many of the notes in parentheses, from
 * the last, as it takes to fit. */
static void write_fitting(struct pl_line *line, const char *s)
{
	char kept[256], *note;

	snprintf(kept, sizeof kept, "%s", s);
	while (line->cols + pl_line_columns(kept) > line->page->width && (note = strchr(kept, '('))) {
		char *last = strrchr(note, ';');

		if (last)
			memcpy(last, ")", 2);
		else
			*note = '\0';
	}
	pl_line_add(line, kept);
}

static void write_heading(const struct pl_rows *rows, const char *share, const char *what, const struct layout *l,
			  struct pl_page *page)
{
	struct pl_line line;

	pl_line_start(&line, page);
	pl_line_pad(&line, 1);
	pl_line_tone(&line, PL_TONE_FAINT);
	write_cell(&line, share, l->share);
	write_cell(&line, page->unicode ? "\xc2\xb1" : "+-", l->error);
	write_cell(&line, rows->p->meta.counted ? "n" : "time", l->time);
	write_cell(&line, "cpu", l->cpu);
	write_fitting(&line, what);
	pl_line_tone(&line, PL_TONE_PLAIN);
	pl_line_end(&line);
}

void pl_rows_write(const struct pl_rows *rows, int from, int to, const char *share, const char *what,
		   struct pl_page *page)
{
	struct layout l = lay_out(rows, page);

	write_heading(rows, share, what, &l, page);
	for (int i = from; i < to; i++)
		write_row(&rows->rows[i], &l, page);
}
