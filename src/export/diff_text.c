/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a comparison: at most look.max_lines lines. Layer export; any thread.
 *
 * What changed stands first: rows by their own time, then those of which only the time with all they called changed;
 * what did not change is faint, and there to show that it was looked at. The header is written as often as it takes:
 * once into nothing, to learn how many lines it leaves for the rest. */
#include <math.h>
#include <string.h>

#include "diff_words.h"
#include "glyph.h"
#include "line.h"

#define MIN_WIDTH  20
#define LABELS	   12 /* columns of the header's labels */
#define GAP	   2
#define VERDICT	   4
#define SAME_ROWS  6
#define TOTAL_ROWS 4  /* lines kept for the second table if the first is long */
#define TABLES_MIN 12 /* lines that the tables should have, if they need so many */
#define MAX_NOTES  3
/* Page widths from which a column is shown. */
#define WIDTH_PLACE  78
#define WIDTH_BEFORE 60
#define WIDTH_POINTS 48

struct text {
	const struct pl_diff *d;
	const struct pl_diff_look *look;
	struct pl_diff_text detectable;
	int notes, changed, totals, same; /* lines of each, as many as there is room for */
};

static const char *dot(const struct pl_page *page)
{
	return page->unicode ? " \xc2\xb7 " : ", ";
}

/* A label and a sentence behind it, wrapped between words. */
static void write_words(const char *label, const char *text, enum pl_tone tone, struct pl_page *page)
{
	int indent = page->width >= 50 ? 1 + LABELS : 2;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_addf(&l, " %s ", label);
	pl_line_pad(&l, indent);
	pl_line_tone(&l, tone);
	for (const char *word = text; *word;) {
		struct pl_glyph g;
		size_t len = strcspn(word, " ");

		if (l.cols > indent &&
		    l.cols + 1 + pl_glyph_columns(word, len, page->unicode, page->width) > page->width) {
			pl_line_tone(&l, PL_TONE_PLAIN);
			pl_line_end(&l);
			pl_line_start(&l, page);
			pl_line_pad(&l, indent);
			pl_line_tone(&l, tone);
		} else if (word != text) {
			pl_line_add(&l, " ");
		}
		for (size_t i = 0; i < len;) { /* the plus-minus sign is ours, the rest may be a name */
			size_t step = pl_glyph_next(word + i, len - i, page->unicode, &g);

			pl_line_name(&l, word + i, step, page->width, PL_CUT_END);
			i += step;
		}
		word += len + (word[len] == ' ');
	}
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

static void write_side(const struct text *t, enum pl_diff_side side, struct pl_page *page)
{
	static const char *const labels[] = {[PL_DIFF_BEFORE] = "before", [PL_DIFF_AFTER] = "after"};
	const char *name = t->look->names[side] ? t->look->names[side] : "?";
	struct pl_diff_text facts = pl_diff_side_text(&t->d->sides[side]);
	int indent = page->width >= 50 ? 1 + LABELS : 2;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_addf(&l, " %s ", labels[side]);
	pl_line_pad(&l, indent);
	int room = page->width - l.cols - pl_line_columns(dot(page)) - pl_line_columns(facts.s);
	pl_line_name(&l, name, strlen(name), room >= 12 ? room : page->width, PL_CUT_START);
	if (room < 12) {
		pl_line_end(&l);
		pl_line_start(&l, page);
		pl_line_pad(&l, indent);
	} else {
		pl_line_add(&l, dot(page));
	}
	pl_line_add(&l, facts.s);
	pl_line_end(&l);
}

static void write_header(const struct text *t, struct pl_page *page)
{
	struct pl_diff_text scale = pl_diff_scale_text(t->d, t->look);
	struct pl_diff_text found = pl_diff_found_text(t->d, page->unicode);
	struct pl_diff_text limit = pl_diff_limit_text(t->d, t->look), growth = pl_diff_growth_text(t->d, t->look),
			    note;
	char unseen[sizeof t->detectable.s + 8];
	bool failed = strncmp(limit.s, "failed", 6) == 0;

	write_side(t, PL_DIFF_BEFORE, page);
	write_side(t, PL_DIFF_AFTER, page);
	if (growth.s[0])
		write_words("total", growth.s, PL_TONE_STRONG, page);
	write_words("per", scale.s, PL_TONE_PLAIN, page);
	write_words("found", found.s, PL_TONE_STRONG, page);
	if (limit.s[0])
		write_words("limit", limit.s, failed ? PL_TONE_HOT : PL_TONE_PLAIN, page);
	if (t->detectable.s[0]) {
		snprintf(unseen, sizeof unseen, "changes %s", t->detectable.s);
		write_words("unseen", unseen, PL_TONE_PLAIN, page);
	}
	for (int i = 0; i < t->notes && pl_diff_note_at(t->d, i, &note); i++)
		write_words(i ? "" : "note", note.s, PL_TONE_FAINT, page);
}

static enum pl_tone tone_of(const struct pl_diff_value *v)
{
	switch (v->verdict) {
	case PL_DIFF_SAME:
		return PL_TONE_FAINT;
	case PL_DIFF_NEW:
	case PL_DIFF_MORE:
		return PL_TONE_HOT;
	default:
		return PL_TONE_STRONG;
	}
}

static void write_cell(struct pl_line *l, const char *s, int cols)
{
	pl_line_right(l, s, cols);
	pl_line_pad(l, l->cols + GAP);
}

/* What stands in the columns. */
struct cells {
	const char *verdict, *before, *after, *change, *points;
};

static void write_cells(struct pl_line *l, const struct cells *c)
{
	int width = l->page->width;

	pl_line_pad(l, 1);
	pl_line_add(l, c->verdict);
	pl_line_pad(l, 1 + VERDICT + GAP);
	if (width >= WIDTH_BEFORE) {
		write_cell(l, c->before, 7);
		write_cell(l, c->after, 7);
	}
	write_cell(l, c->change, 11);
	if (width >= WIDTH_POINTS)
		write_cell(l, c->points, 11);
}

static void write_values(struct pl_line *l, const struct pl_diff *d, const struct pl_diff_value *v)
{
	bool unicode = l->page->unicode;
	struct pl_units before = pl_diff_took_text(d, v, PL_DIFF_BEFORE),
			after = pl_diff_took_text(d, v, PL_DIFF_AFTER);
	struct pl_units change = pl_diff_relative_text(d, v, unicode), points = pl_diff_change(v, unicode);

	write_cells(l, &(struct cells){pl_diff_verdicts[v->verdict], before.s, after.s, change.s, points.s});
}

static void write_heading(const char *what, struct pl_page *page)
{
	struct pl_line l;

	pl_line_start(&l, page);
	write_cells(&l, &(struct cells){"", "before", "after", "change", "points"});
	pl_line_add(&l, what);
	pl_line_end(&l);
}

static void write_place(const struct text *t, struct pl_line *l, uint32_t row, const char *name, size_t len)
{
	uint32_t line;
	struct pl_text file = pl_diff_row_file(t->d, row, t->look->full_names, &line);
	enum pl_cut cut = t->d->rows == PL_DIFF_PATHS ? PL_CUT_START : PL_CUT_END;
	int room = l->page->width - l->cols, cols;
	char number[16] = "";

	if (line)
		snprintf(number, sizeof number, ":%u", line);
	cols = pl_glyph_columns(file.s, file.len, l->page->unicode, l->page->width) + (int)strlen(number);
	cols = cols > room * 2 / 5 ? room * 2 / 5 : cols;
	if (!line || l->page->width < WIDTH_PLACE || t->d->rows == PL_DIFF_PATHS) {
		pl_line_name(l, name, len, room, cut);
		return;
	}
	pl_line_name(l, name, len, room - cols - GAP, cut);
	pl_line_pad(l, l->page->width - cols);
	pl_line_name(l, file.s, file.len, cols - (int)strlen(number), PL_CUT_START);
	pl_line_add(l, number);
}

static struct plumb_error *write_row(const struct text *t, uint32_t row, struct pl_page *page)
{
	bool total;
	const struct pl_diff_value *v = pl_diff_shown(&t->d->table[row], &total);
	struct pl_buf name = PL_BUF_INIT((size_t)1 << 30);
	struct plumb_error *err = pl_diff_row_name(t->d, row, page->unicode, &name);
	struct pl_line l;

	if (!err) {
		pl_line_start(&l, page);
		pl_line_tone(&l, tone_of(v));
		write_values(&l, t->d, v);
		if (v->verdict != PL_DIFF_SAME)
			pl_line_tone(&l, PL_TONE_PLAIN);
		write_place(t, &l, row, name.data ? (const char *)name.data : "", name.len);
		pl_line_tone(&l, PL_TONE_PLAIN);
		pl_line_end(&l);
	}
	pl_buf_deinit(&name);
	return err;
}

enum table { TABLE_SELF, TABLE_TOTAL, TABLE_SAME };

static enum table table_of(const struct pl_diff_row *r)
{
	if (r->self.verdict != PL_DIFF_SAME)
		return TABLE_SELF;
	return r->total.verdict != PL_DIFF_SAME ? TABLE_TOTAL : TABLE_SAME;
}

static int count_rows(const struct pl_diff *d, enum table table, int limit)
{
	int count = 0;

	for (uint32_t r = 0; r < d->row_count && count < limit; r++)
		count += table_of(&d->table[r]) == table &&
			 (table != TABLE_SAME || d->table[r].self.before_samples || d->table[r].self.after_samples);
	return count;
}

static struct plumb_error *write_table(const struct text *t, enum table table, int rows, const char *what,
				       struct pl_page *page)
{
	struct plumb_error *err = NULL;

	if (rows <= 0)
		return NULL;
	write_heading(what, page);
	for (uint32_t i = 0; i < t->d->row_count && rows > 0 && !err; i++) {
		uint32_t row = t->d->order[i];

		if (table_of(&t->d->table[row]) != table)
			continue;
		err = write_row(t, row, page);
		rows--;
	}
	return err;
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static void write_rest(const struct text *t, struct pl_page *page)
{
	uint32_t changed = 0, shown = (uint32_t)(t->changed + t->totals), same;
	char text[160] = "";

	for (uint32_t r = 0; r < t->d->row_count; r++)
		changed += table_of(&t->d->table[r]) != TABLE_SAME;
	same = t->d->row_count - changed - (uint32_t)t->same;
	if (changed > shown)
		snprintf(text, sizeof text, "%s more changes, ", pl_units_count(changed - shown).s);
	if (changed > shown || same)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s more without a change; --json has all",
			 pl_units_count(same).s);
	if (text[0])
		write_words("and", text, PL_TONE_FAINT, page);
}

/* Lines of everything but the tables. */
static int count_words(const struct text *t, const struct pl_page *page)
{
	struct pl_page count = *page;

	count.out = NULL;
	count.lines = 0;
	write_header(t, &count);
	pl_page_blank(&count);
	write_rest(t, &count);
	return count.lines;
}

/* On a narrow page, or if there is much to show, the notes go first and then what could have been seen. */
static int shorten(struct text *t, const struct pl_page *page, int tables)
{
	int least = tables < TABLES_MIN ? tables : TABLES_MIN, left;

	for (t->notes = MAX_NOTES;; t->notes--) {
		left = t->look->max_lines - count_words(t, page);
		if (left >= least || t->notes == 0)
			break;
	}
	if (left < least) {
		t->detectable.s[0] = '\0';
		left = t->look->max_lines - count_words(t, page);
	}
	return left;
}

/* The lines that are left go to the changes first. */
static void plan(struct text *t, const struct pl_page *page)
{
	int limit = t->look->max_lines, changed = count_rows(t->d, TABLE_SELF, limit);
	int totals = count_rows(t->d, TABLE_TOTAL, limit), same = count_rows(t->d, TABLE_SAME, SAME_ROWS);
	int left = shorten(t, page, (changed ? 1 + changed : 0) + (totals ? 1 + totals : 0) + (same ? 1 + same : 0));
	int kept = totals ? 1 + smaller(totals, TOTAL_ROWS) : 0;

	t->changed = changed ? smaller(changed, larger(left - kept - 1, 1)) : 0;
	left -= t->changed ? 1 + t->changed : 0;
	t->totals = totals && left > 1 ? smaller(totals, left - 1) : 0;
	left -= t->totals ? 1 + t->totals : 0;
	t->same = same && left > 1 ? smaller(same, left - 1) : 0;
}

static struct plumb_error *write_all(struct text *t, struct pl_page *page)
{
	struct plumb_error *err = pl_diff_detectable_text(t->d, t->look, &t->detectable);

	if (err)
		return err;
	plan(t, page);
	write_header(t, page);
	pl_page_blank(page);
	err = write_table(t, TABLE_SELF, t->changed, "changed (self)", page);
	if (!err)
		err = write_table(t, TABLE_TOTAL, t->totals, "changed (with its calls)", page);
	if (!err)
		err = write_table(t, TABLE_SAME, t->same, t->d->share_too ? "no change of its own" : "no change found",
				  page);
	if (!err)
		write_rest(t, page);
	return err;
}

struct plumb_error *pl_diff_text_write(const struct pl_diff *d, const struct pl_diff_look *look, FILE *out)
{
	struct text t = {.d = d, .look = look};
	struct pl_page page = {.out = out, .unicode = look->unicode, .color = look->color};

	page.width = look->width < MIN_WIDTH ? MIN_WIDTH : smaller(look->width, PL_LINE_MAX_COLUMNS);
	return write_all(&t, &page);
}
