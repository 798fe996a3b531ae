/* SPDX-License-Identifier: Apache-2.0 */
/* A dump as text (layer export). Any thread. A page of lines that are never wider than the terminal; what comes from
 * the target is made printable. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dump_export.h"
#include "dump_words.h"
#include "glyph.h"
#include "line.h"
#include "units.h"

#define FRAME_INDENT  2
#define SOURCE_INDENT 6
#define MORE_INDENT   4
#define MIN_WIDTH     20
#define MIN_FILE_COLS 12

/* ---- sentences --------------------------------------------------------------------------------------------------- */

static int columns(const struct pl_page *page, const char *s, size_t len)
{
	return pl_glyph_columns(s, len, page->unicode, page->width + 1);
}

/* Words between blanks; what does not fit goes to the next line. A word that is wider than the page loses its start:
 * paths are told by their end. */
static void add_wrapped(struct pl_line *l, int indent, const char *s, size_t len)
{
	struct pl_page *page = l->page;

	for (size_t i = 0; i < len;) {
		const char *blank = memchr(s + i, ' ', len - i);
		size_t word = blank ? (size_t)(blank - (s + i)) : len - i;
		int cols = columns(page, s + i, word);
		bool fresh = l->cols <= indent;

		if (!fresh && l->cols + 1 + cols > page->width) {
			pl_line_end(l);
			pl_line_start(l, page);
			pl_line_pad(l, indent);
			fresh = true;
		}
		if (!fresh && i > 0)
			pl_line_add(l, " ");
		pl_line_name(l, s + i, word, page->width - l->cols, PL_CUT_START);
		i += word + 1;
	}
}

/* Text that is made by writing to a stream. */
struct sentence {
	char *text;
	size_t len;
	FILE *out;
};

static bool sentence_start(struct sentence *s)
{
	*s = (struct sentence){0};
	s->out = open_memstream(&s->text, &s->len);
	return s->out;
}

static void sentence_add(struct sentence *s, struct pl_line *l, int indent)
{
	if (fclose(s->out) == 0)
		add_wrapped(l, indent, s->text, s->len);
	free(s->text);
}

/* ---- source ------------------------------------------------------------------------------------------------------ */

/* The part of a source line that is shown, and what of it is marked; in bytes. */
struct excerpt {
	const char *s;
	size_t len, mark, mark_end; /* mark == mark_end: nothing */
	bool cut;		    /* something in front of it was left out */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f';
}

/* Columns are trusted as far as they lie inside the line, on character boundaries. */
static bool on_boundary(const struct pl_dump_text *t, size_t at)
{
	return at == t->len || ((unsigned char)t->s[at] & 0xc0) != 0x80;
}

static struct excerpt excerpt_of(const struct pl_dump_frame *f)
{
	const struct pl_dump_text *t = &f->source;
	size_t start = 0, end = t->len;
	struct excerpt e;

	while (start < end && is_blank(t->s[start]))
		start++;
	while (end > start && is_blank(t->s[end - 1]))
		end--;
	e = (struct excerpt){.s = t->s + start, .len = end - start};
	if (f->column < 0 || f->end_line < f->line)
		return e;
	size_t mark = (size_t)f->column, mark_end = f->end_line == f->line ? (size_t)f->end_column : end;
	mark_end = mark_end < end ? mark_end : end;
	if (f->end_column < 0 || mark < start || mark >= mark_end || !on_boundary(t, mark) || !on_boundary(t, mark_end))
		return e;
	e.mark = mark - start;
	e.mark_end = mark_end - start;
	return e;
}

/* Leave out so much at the front that the marked part can be seen. */
static void fit(struct excerpt *e, const struct pl_page *page, int room)
{
	struct pl_glyph g;

	while (e->mark > 0 && columns(page, e->s, e->mark_end) > room - 1) {
		size_t n = pl_glyph_next(e->s, e->len, page->unicode, &g);

		n = n < e->mark ? n : e->mark;
		e->s += n;
		e->len -= n;
		e->mark -= n;
		e->mark_end -= n;
		e->cut = true;
	}
}

static void put_source(struct pl_page *page, const struct pl_dump_frame *f)
{
	struct excerpt e = excerpt_of(f);
	struct pl_line l;
	int from, to;

	if (!e.len)
		return;
	fit(&e, page, page->width - SOURCE_INDENT);
	pl_line_start(&l, page);
	pl_line_pad(&l, SOURCE_INDENT);
	pl_line_tone(&l, PL_TONE_FAINT);
	if (e.cut)
		pl_line_add(&l, page->unicode ? "\xe2\x80\xa6" : "~");
	pl_line_name(&l, e.s, e.len, page->width, PL_CUT_END);
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
	if (e.mark == e.mark_end || (e.mark == 0 && e.mark_end == e.len && !e.cut))
		return; /* the whole line needs no mark */
	from = SOURCE_INDENT + e.cut + columns(page, e.s, e.mark);
	to = SOURCE_INDENT + e.cut + columns(page, e.s, e.mark_end);
	pl_line_start(&l, page);
	pl_line_pad(&l, from);
	pl_line_tone(&l, PL_TONE_WARM);
	while (l.cols < to && l.cols < page->width)
		pl_line_add(&l, "^");
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

/* ---- frames and threads ------------------------------------------------------------------------------------------ */

static void put_frame(struct pl_page *page, const struct pl_dump_frame *f)
{
	const struct pl_dump_text *name = f->qualname.len ? &f->qualname : &f->name;
	char line[16] = "";
	struct pl_line l;

	if (f->line > 0)
		snprintf(line, sizeof line, ":%" PRId32, f->line);
	int tail = (int)strlen(line) + 1, file = columns(page, f->file.s, f->file.len);
	pl_line_start(&l, page);
	pl_line_pad(&l, FRAME_INDENT);
	/* The file gives way first, down to its end. */
	int least = file < MIN_FILE_COLS ? file : MIN_FILE_COLS;
	pl_line_name(&l, name->s, name->len, page->width - FRAME_INDENT - least - tail - 2, PL_CUT_END);
	pl_line_add(&l, " (");
	pl_line_name(&l, f->file.s, f->file.len, page->width - l.cols - tail, PL_CUT_START);
	pl_line_addf(&l, "%s)", line);
	pl_line_end(&l);
	if (f->has_source)
		put_source(page, f);
}

static void put_thread(struct pl_page *page, const struct pl_dump_process *p, const struct pl_dump_thread *t)
{
	struct sentence s;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_tone(&l, PL_TONE_STRONG);
	pl_line_name(&l, t->name.s, t->name.len, page->width / 2, PL_CUT_END);
	pl_line_addf(&l, " (%" PRIu64 ")", t->tid);
	pl_line_tone(&l, PL_TONE_PLAIN);
	if (t->interpreter)
		pl_line_addf(&l, " in interpreter %" PRIu64, t->interpreter);
	if (!t->python)
		pl_line_add(&l, " without Python");
	pl_line_add(&l, ": ");
	pl_line_tone(&l, pl_dump_is_suspect(t) ? PL_TONE_WARN : PL_TONE_PLAIN);
	if (sentence_start(&s)) {
		pl_dump_words(p, t, s.out);
		sentence_add(&s, &l, MORE_INDENT);
	}
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
	for (size_t i = 0; i < t->frames.len; i++)
		put_frame(page, &t->frames.data[i]);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void words_of_process(const struct pl_dump_process *p, FILE *out)
{
	size_t python = 0;

	for (size_t i = 0; i < p->threads.len; i++)
		python += p->threads.data[i].python;
	fprintf(out, "Python %.*s", (int)p->python.len, p->python.s);
	if (p->age_ns)
		fprintf(out, ", up for %s", pl_units_time((double)p->age_ns).s);
	fprintf(out, ", %zu thread%s", python, python == 1 ? "" : "s");
	if (p->threads.len > python)
		fprintf(out, " and %zu without Python", p->threads.len - python);
	if (p->core.len)
		fprintf(out, ", from the core %.*s", (int)p->core.len, p->core.s);
	if (p->unread)
		fprintf(out, ", %" PRIu32 " that ended meanwhile", p->unread);
}

static void put_header(struct pl_page *page, const struct pl_dump_process *p)
{
	struct sentence s;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_tone(&l, PL_TONE_STRONG);
	pl_line_addf(&l, "process %" PRIu32, p->pid);
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_add(&l, ": ");
	pl_line_name(&l, p->command.s, p->command.len, page->width, PL_CUT_END);
	pl_line_end(&l);
	pl_line_start(&l, page);
	if (sentence_start(&s)) {
		words_of_process(p, s.out);
		sentence_add(&s, &l, 0);
	}
	pl_line_end(&l);
}

/* Texts are interned: equal text, equal pointer. */
static bool told_before(const struct pl_dump_process *p, size_t thread, size_t frame)
{
	const char *file = p->threads.data[thread].frames.data[frame].file.s;

	for (size_t t = 0; t <= thread; t++) {
		const struct pl_dump_thread *at = &p->threads.data[t];
		for (size_t i = 0; i < (t == thread ? frame : at->frames.len); i++)
			if (at->frames.data[i].source_changed && at->frames.data[i].file.s == file)
				return true;
	}
	return false;
}

static void put_changed(struct pl_page *page, const struct pl_dump_text *file)
{
	static const char rest[] = "was changed after the process had started: it may run other lines than are shown";
	struct pl_line l;

	pl_page_blank(page);
	pl_line_start(&l, page);
	pl_line_tone(&l, PL_TONE_WARN);
	pl_line_add(&l, "note: ");
	pl_line_name(&l, file->s, file->len, page->width - l.cols, PL_CUT_START);
	pl_line_add(&l, " ");
	add_wrapped(&l, 6, rest, sizeof rest - 1);
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

static void put_process(struct pl_page *page, const struct pl_dump_process *p)
{
	put_header(page, p);
	for (size_t i = 0; i < p->threads.len; i++) {
		/* Threads without Python have no stack: one line each, together. */
		if (i == 0 || p->threads.data[i].python || p->threads.data[i - 1].python)
			pl_page_blank(page);
		put_thread(page, p, &p->threads.data[i]);
	}
	for (size_t i = 0; i < p->threads.len; i++)
		for (size_t k = 0; k < p->threads.data[i].frames.len; k++) {
			const struct pl_dump_frame *f = &p->threads.data[i].frames.data[k];
			if (f->source_changed && !told_before(p, i, k))
				put_changed(page, &f->file);
		}
}

void pl_dump_write_text(const struct pl_dump *d, const struct pl_dump_look *look, FILE *out)
{
	struct pl_page page = {.out = out, .color = look->color, .unicode = look->unicode};

	page.width = look->width && look->width < PL_LINE_MAX_COLUMNS ? look->width : PL_LINE_MAX_COLUMNS;
	page.width = page.width > MIN_WIDTH ? page.width : MIN_WIDTH;
	for (size_t i = 0; i < d->processes.len; i++) {
		if (i)
			pl_page_blank(&page);
		put_process(&page, &d->processes.data[i]);
	}
}
