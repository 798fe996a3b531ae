/* SPDX-License-Identifier: Apache-2.0 */
/* A dump as text (layer export). Any thread. A page of lines that are never wider than the terminal; what comes from
 * the target is made printable. */
#include <inttypes.h>
#include <string.h>

#include "dump_export.h"
#include "dump_page.h"
#include "dump_words.h"
#include "map.h"
#include "units.h"

#define FRAME_INDENT 2
#define MORE_INDENT  4
#define ROW_INDENT   6
#define MIN_WIDTH    20

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void put_rows(struct pl_page *page, const struct pl_dump_thread *t)
{
	struct pl_sentence s;
	struct pl_line l;

	for (size_t i = 0; i < pl_dump_rows(t) && pl_sentence_start(&s, page); i++) {
		pl_dump_row(t, i, s.out);
		pl_line_start(&l, page);
		pl_line_pad(&l, MORE_INDENT);
		pl_sentence_add(&s, &l, ROW_INDENT);
		pl_line_end(&l);
	}
}

static void put_remark(struct pl_page *page, const char *words)
{
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_pad(&l, FRAME_INDENT);
	pl_line_tone(&l, PL_TONE_FAINT);
	pl_dump_add_wrapped(&l, MORE_INDENT, words, strlen(words));
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

static void put_thread(struct pl_page *page, const struct pl_dump_process *p, const struct pl_dump_thread *t)
{
	struct pl_sentence s;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_tone(&l, PL_TONE_STRONG);
	pl_line_name(&l, t->name.s, t->name.len, page->width / 2, PL_CUT_END);
	pl_line_addf(&l, " (%" PRIu64 ")", t->tid);
	pl_line_tone(&l, PL_TONE_PLAIN);
	if (t->interpreter)
		pl_line_addf(&l, " in interpreter %" PRIu64, t->interpreter);
	if (t->beyond)
		pl_line_add(&l, " not looked at");
	else if (!t->python)
		pl_line_add(&l, " without Python");
	pl_line_add(&l, ": ");
	pl_line_tone(&l, pl_dump_is_suspect(t) ? PL_TONE_WARN : PL_TONE_PLAIN);
	if (pl_sentence_start(&s, page)) {
		pl_dump_words(p, t, s.out);
		pl_sentence_add(&s, &l, MORE_INDENT);
	}
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
	put_rows(page, t);
	for (size_t i = 0; i < t->frames.len; i++) {
		bool apart = t->native == PL_DUMP_NATIVE_APART && t->frames.data[i].kind != PL_DUMP_FRAME_PYTHON;

		if (apart && (i == 0 || t->frames.data[i - 1].kind == PL_DUMP_FRAME_PYTHON))
			put_remark(page, "its native frames, which could not be put between those of Python:");
		pl_dump_put_frame(page, FRAME_INDENT + (apart ? MORE_INDENT : 0), &t->frames.data[i]);
	}
	if (t->native == PL_DUMP_NATIVE_UNREAD)
		put_remark(page, "[its native frames could not be read]");
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

typedef void words_fn(const struct pl_dump_process *p, size_t i, FILE *out);

/* What @p words puts, on lines of its own. */
static void put_note(struct pl_page *page, words_fn *words, const struct pl_dump_process *p, size_t i)
{
	bool grave = words == pl_dump_words_deadlock || words == pl_dump_words_task_deadlock;
	struct pl_sentence s;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_tone(&l, grave ? PL_TONE_WARN : PL_TONE_PLAIN);
	if (pl_sentence_start(&s, page)) {
		words(p, i, s.out);
		pl_sentence_add(&s, &l, MORE_INDENT);
	}
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

static void put_waits(struct pl_page *page, const struct pl_dump_process *p)
{
	for (size_t i = 0; i < p->deadlocks.len; i++)
		put_note(page, pl_dump_words_deadlock, p, i);
	for (size_t i = 0; i < p->task_deadlocks.len; i++)
		put_note(page, pl_dump_words_task_deadlock, p, i);
	for (size_t i = 0; i < p->awaited.len; i++)
		if (p->awaited.data[i].waiters > 1)
			put_note(page, pl_dump_words_waiters, p, i);
	for (size_t i = 0; i < p->task_awaited.len; i++)
		if (p->task_awaited.data[i].thing.waiters > 1)
			put_note(page, pl_dump_words_task_waiters, p, i);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void words_of_process(const struct pl_dump_process *p, FILE *out)
{
	const struct pl_dump_thread_counts n = pl_dump_count_threads(p);

	fprintf(out, "Python %.*s", (int)p->python.len, p->python.s);
	if (p->age_ns)
		fprintf(out, ", up for %s", pl_units_time((double)p->age_ns).s);
	fprintf(out, ", %zu thread%s", n.python, n.python == 1 ? "" : "s");
	if (n.states > n.python)
		fprintf(out, " (%zu entries: one for each interpreter a thread has been in)", n.states);
	if (n.native)
		fprintf(out, " and %zu without Python", n.native);
	if (n.beyond)
		fprintf(out, " and %zu not looked at: too many", n.beyond);
	if (p->left_out || p->late)
		fprintf(out, ", of %zu in all", n.python + n.native + n.beyond + p->left_out + p->late);
	if (p->core.len)
		fprintf(out, ", from the core %.*s", (int)p->core.len, p->core.s);
	if (p->unread)
		fprintf(out, ", %" PRIu32 " that ended meanwhile", p->unread);
}

static void put_header(struct pl_page *page, const struct pl_dump_process *p)
{
	struct pl_sentence s;
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_tone(&l, PL_TONE_STRONG);
	pl_line_addf(&l, "process %" PRIu32, p->pid);
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_add(&l, ": ");
	pl_line_name(&l, p->command.s, p->command.len, page->width, PL_CUT_END);
	pl_line_end(&l);
	pl_line_start(&l, page);
	if (pl_sentence_start(&s, page)) {
		words_of_process(p, s.out);
		pl_sentence_add(&s, &l, 0);
	}
	pl_line_end(&l);
}

static void words_refused(const struct pl_dump_process *p, size_t i, FILE *out)
{
	(void)i;
	fprintf(out, "note: its threads cannot be stopped: %.*s", (int)p->refused.len, p->refused.s);
}

static void words_core_cut(const struct pl_dump_process *p, size_t i, FILE *out)
{
	(void)i;
	fprintf(out,
		"note: the core is cut, %" PRIu64 " of %" PRIu64
		" bytes are there: threads, frames and values may be missing",
		p->core_bytes, p->core_whole_bytes);
}

static void words_late(const struct pl_dump_process *p, size_t i, FILE *out)
{
	(void)i;
	fprintf(out, "note: there was no time to look at %" PRIu32 " thread%s: '--timeout' gives it more", p->late,
		p->late == 1 ? "" : "s");
}

static void words_locals_late(const struct pl_dump_process *p, size_t i, FILE *out)
{
	(void)i;
	fprintf(out, "note: there was no time to read the variables of %" PRIu32 " thread%s: '--timeout' gives it more",
		p->locals_late, p->locals_late == 1 ? "" : "s");
}

static void words_left_out(const struct pl_dump_process *p, size_t i, FILE *out)
{
	(void)i;
	fprintf(out,
		"note: the lines of %" PRIu32
		" source file%s are left out: too many files, or too long or too slow to read (--no-source reads none)",
		p->sources_left_out, p->sources_left_out == 1 ? "" : "s");
}

/* A note of its own, as a paragraph. */
static void put_warning(struct pl_page *page, words_fn *words, const struct pl_dump_process *p)
{
	struct pl_sentence s;
	struct pl_line l;

	pl_page_blank(page);
	pl_line_start(&l, page);
	pl_line_tone(&l, PL_TONE_WARN);
	if (pl_sentence_start(&s, page)) {
		words(p, 0, s.out);
		pl_sentence_add(&s, &l, 6);
	}
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

/* "note: FILE is ..." */
static void put_file_note(struct pl_page *page, const struct pl_dump_text *file, const char *rest)
{
	struct pl_line l;

	pl_page_blank(page);
	pl_line_start(&l, page);
	pl_line_tone(&l, PL_TONE_WARN);
	pl_line_add(&l, "note: ");
	pl_line_name(&l, file->s, file->len, page->width - l.cols, PL_CUT_START);
	pl_line_add(&l, " ");
	pl_dump_add_wrapped(&l, 6, rest, strlen(rest));
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

/* Each file once. Texts are interned: equal text, equal pointer. */
static void put_changed_files(struct pl_page *page, const struct pl_dump_process *p)
{
	struct pl_map told = PL_MAP_INIT;
	uint32_t unused;

	for (size_t i = 0; i < p->threads.len; i++)
		for (size_t k = 0; k < p->threads.data[i].frames.len; k++) {
			const struct pl_dump_frame *f = &p->threads.data[i].frames.data[k];
			uint64_t file = (uintptr_t)f->file.s;

			if (!f->source_changed || pl_map_get(&told, file, 0, &unused))
				continue;
			put_file_note(
				page, &f->file,
				"was changed after the process had started: it may run other lines than are shown");
			(void)pl_map_set(&told, file, 0, 0); /* without memory it is told again */
		}
	pl_map_deinit(&told);
}

static void put_process(struct pl_page *page, const struct pl_dump_process *p)
{
	put_header(page, p);
	put_waits(page, p);
	for (size_t i = 0; i < p->threads.len; i++) {
		/* Threads without Python, or not looked at, have no stack: one line each, together. */
		if (i == 0 || p->threads.data[i].python || p->threads.data[i - 1].python)
			pl_page_blank(page);
		put_thread(page, p, &p->threads.data[i]);
	}
	pl_dump_put_tasks(page, p);
	if (p->core_bytes < p->core_whole_bytes)
		put_warning(page, words_core_cut, p);
	if (p->late)
		put_warning(page, words_late, p);
	if (p->locals_late)
		put_warning(page, words_locals_late, p);
	if (p->refused.len)
		put_warning(page, words_refused, p);
	if (p->silent.len)
		put_file_note(page, &p->silent,
			      "is on a file system that does not answer: source lines are left out (--no-source does "
			      "not ask)");
	if (p->barred.len)
		put_file_note(page, &p->barred,
			      "is not open to the owner of the core (to everybody, where that is root, who keeps cores "
			      "of others, "
			      "too): source lines are left out (--trust-core shows them)");
	if (p->sources_left_out)
		put_warning(page, words_left_out, p);
	put_changed_files(page, p);
}

bool pl_dump_write_text(const struct pl_dump *d, const struct pl_dump_look *look, FILE *out)
{
	struct pl_page page = {.out = out, .color = look->color, .unicode = look->unicode};

	page.width = look->width && look->width < PL_LINE_MAX_COLUMNS ? look->width : PL_LINE_MAX_COLUMNS;
	page.width = page.width > MIN_WIDTH ? page.width : MIN_WIDTH;
	for (size_t i = 0; i < d->processes.len; i++) {
		if (i)
			pl_page_blank(&page);
		put_process(&page, &d->processes.data[i]);
	}
	return !page.no_memory;
}
