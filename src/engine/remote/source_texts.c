/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of source files into the profile (layer engine, consumer thread only).
 *
 * A file is looked at once for each process that is the first to run some code of it: another process can have another
 * file of that name (a container), or the same one after it was edited. It is read again only if it is not the file
 * that was read last. Files are read soon after the first sample of them, with the rights that the process had when it
 * was taken: while it lives and has them still, or, when it has ended, if it saw the files that we see. Who reads them
 * is somebody else (source_reader.h): no file system keeps the samples waiting. */
#include "source_texts.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "proc.h"
#include "records.h"

#define AT_ONCE_MS    20 /* most files of a turn come in less */
#define PATIENCE_MS   5000
#define AT_END_MS     1000 /* whoever waits for the end waits for this, too */
#define ALL_AT_END_MS 5000 /* however many there are */

void pl_texts_deinit(struct pl_texts *t)
{
	pl_vec_deinit(&t->places);
	pl_vec_deinit(&t->wishes);
	pl_vec_deinit(&t->states);
	pl_map_deinit(&t->asked);
	pl_map_deinit(&t->read);
	pl_map_deinit(&t->left_out);
	pl_source_reader_end(&t->reader);
}

/* The place of a process, which need not be known yet; NULL without memory. */
static struct pl_text_place *place_of(struct pl_texts *t, uint32_t process)
{
	while (t->places.len <= process)
		if (!pl_vec_push(&t->places, ((struct pl_text_place){0})))
			return NULL;
	return &t->places.data[process];
}

static void append(struct pl_texts *t, struct pl_text_list *to, struct pl_text_list what)
{
	if (!what.first)
		return;
	if (to->first)
		t->wishes.data[to->last - 1].next = what.first;
	else
		to->first = what.first;
	to->last = what.last;
}

struct plumb_error *pl_texts_want(struct pl_texts *t, uint32_t file, uint32_t process, uint32_t view)
{
	uint32_t known;

	if (t->off || !view || pl_map_get(&t->asked, file, process, &known))
		return NULL;
	struct pl_text_place *place = place_of(t, process);
	if (!place || !pl_map_set(&t->asked, file, process, 1) ||
	    !pl_vec_push(&t->wishes, ((struct pl_text_wish){file, process, view, 0})))
		return &pl_err_no_memory;
	const uint32_t last = (uint32_t)t->wishes.len;
	append(t, place->pid ? &t->due : &place->waiting, (struct pl_text_list){last, last});
	return NULL;
}

struct plumb_error *pl_texts_process(struct pl_texts *t, const struct pl_process_info *info)
{
	if (t->off)
		return NULL;
	struct pl_text_place *place = place_of(t, info->index);
	if (!place)
		return &pl_err_no_memory;
	append(t, &t->due, place->waiting);
	*place = (struct pl_text_place){.pid = (pid_t)info->pid,
					.start_ns = info->start_ns,
					.view_number = info->view_number,
					.view = info->view};
	return NULL;
}

/* Each file counts once. */
static struct plumb_error *leave_out(struct pl_texts *t, struct plumb_profile *p, uint32_t file)
{
	uint32_t known;

	if (pl_map_get(&t->left_out, file, 0, &known))
		return NULL;
	p->meta.sources_left_out++;
	return pl_map_set(&t->left_out, file, 0, 1) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *note_read(struct pl_texts *t, uint32_t file, const struct pl_file_state *state)
{
	uint32_t at;

	t->bytes += state->len;
	if (pl_map_get(&t->read, file, 0, &at)) {
		t->states.data[at] = *state;
		return NULL;
	}
	at = (uint32_t)t->states.len;
	return pl_vec_push(&t->states, *state) && pl_map_set(&t->read, file, 0, at) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *take_answer(struct pl_texts *t, struct plumb_profile *p, struct pl_source_answer *a)
{
	const struct pl_text_wish *w = &t->asked_for;
	uint64_t start_ns = t->places.data[w->process].start_ns;
	uint64_t start_real_ns = start_ns ? pl_proc_booted_real_ns() + start_ns : 0;
	struct plumb_error *err = NULL;

	switch (a->outcome) {
	case PL_SOURCE_NONE:
	case PL_SOURCE_BARRED:
	case PL_SOURCE_KNOWN:
		return NULL;
	case PL_SOURCE_TOO_LONG:
	case PL_SOURCE_SILENT:
		return leave_out(t, p, w->file);
	case PL_SOURCE_NO_MEMORY:
		return &pl_err_no_memory;
	case PL_SOURCE_READ:
		break;
	}
	bool changed = a->moving || pl_file_state_younger(&a->state, start_real_ns);
	err = pl_profile_source(p, w->file, a->text, a->state.len, changed);
	free(a->text);
	return err ? err : note_read(t, w->file, &a->state);
}

/* "<string>" is no file, and neither is what C would take for the end of another name. */
static bool is_path(const char *name, size_t len)
{
	return len && name[0] != '<' && strlen(name) == len;
}

static uint64_t room(const struct pl_texts *t)
{
	uint64_t left = PL_TEXTS_MAX_BYTES - t->bytes;

	return left < PL_SOURCE_MAX_BYTES ? left : PL_SOURCE_MAX_BYTES;
}

static struct plumb_error *ask(struct pl_texts *t, struct plumb_profile *p, const struct pl_text_wish *wish)
{
	const struct pl_text_place *place = &t->places.data[wish->process];
	size_t len = 0;
	const char *path = pl_strtab_get(p->strings, wish->file, &len);
	uint32_t at;

	if (!is_path(path, len) || wish->view != place->view_number)
		return NULL; /* of a process that has other rights by now nothing is read */
	struct pl_source_question q = {.pid = place->pid, .view = place->view, .path = path, .max_len = room(t)};
	if (pl_map_get(&t->read, wish->file, 0, &at))
		q.known = t->states.data[at];
	t->asked_for = *wish;
	if (t->late || t->asked.len > PL_TEXTS_MAX_FILES || !pl_source_ask(&t->reader, &q))
		return leave_out(t, p, wish->file);
	return NULL;
}

/* The next wish that can be fulfilled; false: there is none. */
static bool next_wish(struct pl_texts *t, struct pl_text_wish *ret)
{
	if (!t->due.first)
		return false;
	*ret = t->wishes.data[t->due.first - 1];
	t->due.first = ret->next;
	return true;
}

static struct plumb_error *read_for(struct pl_texts *t, struct plumb_profile *p, int timeout_ms, int patience_ms)
{
	uint64_t until = pl_clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000;
	struct plumb_error *err = NULL;
	struct pl_source_answer answer;
	struct pl_text_wish wish;

	while (!err) {
		if (t->reader.asker.asked) {
			uint64_t now = pl_clock_monotonic_ns();
			int left = until > now ? (int)((until - now) / 1000000) : 0;

			if (!pl_source_answered(&t->reader, left, patience_ms, &answer))
				break;
			err = take_answer(t, p, &answer);
		} else if (next_wish(t, &wish)) {
			err = ask(t, p, &wish);
		} else {
			break;
		}
	}
	return err;
}

static struct plumb_error *leave_rest(struct pl_texts *t, struct plumb_profile *p)
{
	struct plumb_error *err = leave_out(t, p, t->asked_for.file);
	struct pl_text_wish wish;

	t->late = true;
	while (!err && next_wish(t, &wish))
		err = ask(t, p, &wish);
	return err;
}

struct plumb_error *pl_texts_read(struct pl_texts *t, struct plumb_profile *p)
{
	return read_for(t, p, AT_ONCE_MS, PATIENCE_MS);
}

struct plumb_error *pl_texts_finish(struct pl_texts *t, struct plumb_profile *p)
{
	struct plumb_error *err = read_for(t, p, ALL_AT_END_MS, AT_END_MS);

	if (!err && t->reader.asker.asked) /* the time is over */
		err = leave_rest(t, p);
	pl_source_reader_end(&t->reader); /* also if the session is looked at for long */
	return err;
}
