/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of source files into the profile (layer engine, consumer thread only).
 *
 * A file is looked at once for each process that is the first to run some code of it: another process can have another
 * file of that name (a container), or the same one after it was edited. It is read again only if it is not the file
 * that was read last. Files are read soon after the first sample of them, with the rights that the process had when it
 * was taken: while it lives and has them still, or, when it has ended, if it saw the files that we see. */
#include "texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"
#include "remote.h"

void pl_texts_deinit(struct pl_texts *t)
{
	pl_vec_deinit(&t->places);
	pl_vec_deinit(&t->wishes);
	pl_vec_deinit(&t->states);
	pl_map_deinit(&t->asked);
	pl_map_deinit(&t->read);
	pl_map_deinit(&t->left_out);
}

struct plumb_error *pl_texts_want(struct pl_texts *t, uint32_t file, uint32_t process, uint32_t view)
{
	uint32_t known;

	if (t->off || !view || pl_map_get(&t->asked, file, process, &known))
		return NULL;
	if (!pl_map_set(&t->asked, file, process, 1) ||
	    !pl_vec_push(&t->wishes, ((struct pl_text_wish){file, process, view})))
		return &pl_err_no_memory;
	return NULL;
}

struct plumb_error *pl_texts_process(struct pl_texts *t, const struct pl_process_info *info)
{
	if (t->off)
		return NULL;
	while (t->places.len <= info->index)
		if (!pl_vec_push(&t->places, ((struct pl_text_place){0})))
			return &pl_err_no_memory;
	t->places.data[info->index] = (struct pl_text_place){.pid = (pid_t)info->pid,
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

/* Never with more rights than were seen: of a process that has other ones by now nothing is read. */
static int open_file(const struct pl_text_place *place, uint32_t view, const char *path)
{
	if (view != place->view_number)
		return -1;
	int fd = pl_target_file_open(place->pid, &place->view, path);
	if (fd >= 0 || errno != ESRCH || !pl_file_view_is_ours(&place->view))
		return fd;
	return pl_file_open_below("/", &place->view.rights, path);
}

static bool is_read(const struct pl_texts *t, uint32_t file, const struct pl_file_state *state)
{
	uint32_t at;

	return pl_map_get(&t->read, file, 0, &at) && pl_file_state_equal(&t->states.data[at], state);
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

static struct plumb_error *read_text(struct pl_texts *t, struct plumb_profile *p, uint32_t file, int fd,
				     const struct pl_file_state *state, uint64_t start_real_ns)
{
	struct pl_file_state after;
	char *text = NULL;

	switch (pl_file_text_read(fd, state, &text)) {
	case PL_FILE_TEXT_NO_MEMORY:
		return &pl_err_no_memory;
	case PL_FILE_TEXT_NONE:
		return NULL;
	case PL_FILE_TEXT_READ:
		break;
	}
	bool changed = pl_file_state_younger(state, start_real_ns) || !pl_file_state_read(fd, &after) ||
		       !pl_file_state_equal(state, &after);
	struct plumb_error *err = pl_profile_source(p, file, text, state->len, changed);
	free(text);
	return err ? err : note_read(t, file, state);
}

static struct plumb_error *take_file(struct pl_texts *t, struct plumb_profile *p, uint32_t file, int fd,
				     uint64_t start_real_ns)
{
	struct pl_file_state state;

	if (!pl_file_state_read(fd, &state) || is_read(t, file, &state))
		return NULL;
	if (state.len > PL_SOURCE_MAX_BYTES || state.len > PL_TEXTS_MAX_BYTES - t->bytes)
		return leave_out(t, p, file);
	return read_text(t, p, file, fd, &state, start_real_ns);
}

/* "<string>" is no file, and neither is what C would take for the end of another name. */
static bool is_path(const char *name, size_t len)
{
	return len && name[0] != '<' && strlen(name) == len;
}

static struct plumb_error *fulfil(struct pl_texts *t, struct plumb_profile *p, const struct pl_text_wish *wish,
				  uint64_t booted_ns)
{
	const struct pl_text_place *place = &t->places.data[wish->process];
	size_t len = 0;
	const char *path = pl_strtab_get(p->strings, wish->file, &len);

	if (!is_path(path, len))
		return NULL;
	if (t->asked.len > PL_TEXTS_MAX_FILES)
		return leave_out(t, p, wish->file);
	int fd = open_file(place, wish->view, path);
	if (fd < 0)
		return NULL;
	uint64_t start_real_ns = place->start_ns ? booted_ns + place->start_ns : 0;
	struct plumb_error *err = take_file(t, p, wish->file, fd, start_real_ns);
	close(fd);
	return err;
}

struct plumb_error *pl_texts_read(struct pl_texts *t, struct plumb_profile *p)
{
	uint64_t booted_ns = t->wishes.len ? pl_proc_booted_real_ns() : 0;
	struct plumb_error *err = NULL;
	size_t left = 0;

	for (size_t i = 0; i < t->wishes.len; i++) {
		struct pl_text_wish wish = t->wishes.data[i];
		bool known = wish.process < t->places.len && t->places.data[wish.process].pid;

		if (known && !err)
			err = fulfil(t, p, &wish, booted_ns);
		else
			t->wishes.data[left++] = wish;
	}
	t->wishes.len = left;
	return err;
}
