/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a dump's text (layer export): wrapped sentences, frames with their source lines and variables. Any
 * thread. No line is wider than the page; what comes from the target is made printable. */
#include "dump_page.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "glyph.h"
#include "profile.h"

#define SOURCE_INDENT 4 /* from the frame */
#define MIN_FILE_COLS 12
#define MIN_NAME_COLS 24 /* of a native function */
#define LINE_COLS     8	 /* of " (" and ":1843)" */

/* ---- sentences --------------------------------------------------------------------------------------------------- */

static int columns(const struct pl_page *page, const char *s, size_t len)
{
	return pl_glyph_columns(s, len, page->unicode, page->width + 1);
}

void pl_dump_add_wrapped(struct pl_line *l, int indent, const char *s, size_t len)
{
	struct pl_page *page = l->page;

	for (size_t i = 0; i < len;) {
		const char *blank = memchr(s + i, ' ', len - i);
		size_t word = blank ? (size_t)(blank - (s + i)) : len - i;
		int cols = columns(page, s + i, word);
		bool fresh = i == 0 && l->cols <= indent;

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

bool pl_sentence_start(struct pl_sentence *s, struct pl_page *page)
{
	*s = (struct pl_sentence){0};
	s->out = open_memstream(&s->text, &s->len);
	page->no_memory |= !s->out;
	return s->out;
}

void pl_sentence_add(struct pl_sentence *s, struct pl_line *l, int indent)
{
	if (fclose(s->out) == 0 && s->text) /* NULL: the last piece found no room */
		pl_dump_add_wrapped(l, indent, s->text, s->len);
	else
		l->page->no_memory = true;
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
	int cols = pl_glyph_columns(e->s, e->mark_end, page->unicode, INT_MAX);
	struct pl_glyph g;

	for (; e->mark > 0 && cols > room - 1; cols -= g.cols) {
		size_t n = pl_glyph_next(e->s, e->len, page->unicode, &g);

		n = n < e->mark ? n : e->mark;
		e->s += n;
		e->len -= n;
		e->mark -= n;
		e->mark_end -= n;
		e->cut = true;
	}
}

static void put_source(struct pl_page *page, int indent, const struct pl_dump_frame *f)
{
	struct excerpt e = excerpt_of(f);
	struct pl_line l;
	int from, to;

	if (!e.len)
		return;
	fit(&e, page, page->width - indent);
	pl_line_start(&l, page);
	pl_line_pad(&l, indent);
	pl_line_tone(&l, PL_TONE_FAINT);
	if (e.cut)
		pl_line_add(&l, page->unicode ? "\xe2\x80\xa6" : "~");
	pl_line_name(&l, e.s, e.len, page->width, PL_CUT_END);
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
	if (e.mark == e.mark_end || (e.mark == 0 && e.mark_end == e.len && !e.cut))
		return; /* the whole line needs no mark */
	from = indent + e.cut + columns(page, e.s, e.mark);
	to = indent + e.cut + columns(page, e.s, e.mark_end);
	pl_line_start(&l, page);
	pl_line_pad(&l, from);
	pl_line_tone(&l, PL_TONE_WARM);
	while (l.cols < to && l.cols < page->width)
		pl_line_add(&l, "^");
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static struct pl_dump_text file_name(struct pl_dump_text path)
{
	const char *slash = memrchr(path.s, '/', path.len);

	if (!slash)
		return path;
	return (struct pl_dump_text){slash + 1, path.len - (size_t)(slash + 1 - path.s)};
}

static void put_local(struct pl_page *page, int indent, const struct pl_dump_local *local)
{
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_pad(&l, indent);
	pl_line_name(&l, local->name.s, local->name.len, page->width - indent - 4, PL_CUT_END);
	pl_line_add(&l, " = ");
	pl_line_name(&l, local->value.s, local->value.len, page->width - l.cols, PL_CUT_END);
	pl_line_end(&l);
}

/* " [libz.so.1]" */
static void put_module(struct pl_page *page, struct pl_line *l, struct pl_dump_text module)
{
	const bool bracketed = module.len && module.s[0] == '['; /* [jit], [vdso] */

	pl_line_tone(l, PL_TONE_FAINT);
	pl_line_add(l, bracketed ? " " : " [");
	if (module.len)
		pl_line_name(l, module.s, module.len, page->width - l->cols - 1, PL_CUT_START);
	else
		pl_line_add(l, "no file");
	pl_line_add(l, bracketed ? "" : "]");
	pl_line_tone(l, PL_TONE_PLAIN);
}

/* " (/src/deflate.c:1843)", where so much room is left: the file gives way, down to its end. */
static void put_place(struct pl_page *page, struct pl_line *l, const struct pl_dump_frame *f, int tail)
{
	char line[16];
	const int n = snprintf(line, sizeof line, ":%" PRId32 ")", f->line);

	pl_line_add(l, " (");
	pl_line_name(l, f->file.s, f->file.len, page->width - l->cols - n - tail, PL_CUT_START);
	pl_line_add(l, line);
}

/* "deflate [libz.so.1]", "0x2b40 [libz.so.1]", "deflate (/src/deflate.c:1843) [libz.so.1]". */
static void put_native(struct pl_page *page, int indent, const struct pl_dump_frame *f)
{
	const struct pl_dump_native_frame *n = &f->native;
	const struct pl_dump_text module = file_name(n->module);
	char marks[40];
	struct pl_line l;

	snprintf(marks, sizeof marks, "%s%s%s", n->signal ? " (signal)" : "", n->guessed ? " (guessed)" : "",
		 n->inlined ? " (inlined)" : "");
	const int tail = columns(page, module.s, module.len) + 4, name_cols = columns(page, f->name.s, f->name.len);
	int room = page->width - indent - tail;
	/* Its place gives way first. */
	const int of_place = MIN_FILE_COLS + LINE_COLS + (int)strlen(marks);
	const bool placed = f->file.len && f->line > 0 &&
			    room - of_place >= (name_cols < MIN_NAME_COLS ? name_cols : MIN_NAME_COLS);
	room -= placed ? of_place : 0;
	pl_line_start(&l, page);
	pl_line_pad(&l, indent);
	if (f->name.len)
		pl_line_name(&l, f->name.s, f->name.len, room, PL_CUT_END);
	else
		pl_line_addf(&l, "0x%" PRIx64, n->function ? n->function : n->offset ? n->offset : n->address);
	if (placed)
		put_place(page, &l, f, tail + (int)strlen(marks));
	put_module(page, &l, module);
	pl_line_add(&l, marks);
	pl_line_end(&l);
	if (f->has_source)
		put_source(page, indent + SOURCE_INDENT, f);
}

/* "do_epoll_wait [kernel]" */
static void put_kernel(struct pl_page *page, int indent, const struct pl_dump_frame *f)
{
	const int tail = (int)strlen(PL_KERNEL_FILE) + 2;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_pad(&l, indent);
	pl_line_name(&l, f->name.s, f->name.len, page->width - indent - tail, PL_CUT_END);
	pl_line_tone(&l, PL_TONE_FAINT);
	pl_line_add(&l, " " PL_KERNEL_FILE);
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

static void put_missing(struct pl_page *page, int indent)
{
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_pad(&l, indent);
	pl_line_tone(&l, PL_TONE_FAINT);
	pl_line_add(&l, "[native frames are missing here]");
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

void pl_dump_put_frame(struct pl_page *page, int indent, const struct pl_dump_frame *f)
{
	if (f->kind == PL_DUMP_FRAME_NATIVE) {
		put_native(page, indent, f);
		return;
	}
	if (f->kind == PL_DUMP_FRAME_KERNEL) {
		put_kernel(page, indent, f);
		return;
	}
	if (f->kind == PL_DUMP_FRAME_MISSING) {
		put_missing(page, indent);
		return;
	}
	const struct pl_dump_text *name = f->qualname.len ? &f->qualname : &f->name;
	char line[16] = "";
	struct pl_line l;

	if (f->line > 0)
		snprintf(line, sizeof line, ":%" PRId32, f->line);
	int tail = (int)strlen(line) + 1, file = columns(page, f->file.s, f->file.len);
	pl_line_start(&l, page);
	pl_line_pad(&l, indent);
	/* The file gives way first, down to its end. */
	int least = file < MIN_FILE_COLS ? file : MIN_FILE_COLS;
	pl_line_name(&l, name->s, name->len, page->width - indent - least - tail - 2, PL_CUT_END);
	pl_line_add(&l, " (");
	pl_line_name(&l, f->file.s, f->file.len, page->width - l.cols - tail, PL_CUT_START);
	pl_line_addf(&l, "%s)", line);
	pl_line_end(&l);
	if (f->has_source)
		put_source(page, indent + SOURCE_INDENT, f);
	for (size_t i = 0; i < f->locals.len; i++)
		put_local(page, indent + SOURCE_INDENT, &f->locals.data[i]);
}
