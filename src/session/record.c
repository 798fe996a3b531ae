/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: the recording of a session. Under `work`, or while there is no consumer. */
#include "session_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "again.h"
#include "reopen.h"

#define NAMES_MAX 1000

void pl_session_failed(struct plumb_session *s, struct plumb_error *err)
{
	if (!s->failure)
		s->failure = err;
	else
		plumb_error_destroy(err);
}

/* For the last time. Without it the recording is as good, and the path is where it is. */
static void take_name(struct plumb_session *s)
{
	struct plumb_error *err = pl_capture_publish(s->writer);

	if (!err)
		return;
	free(s->path);
	s->path = pl_capture_is_kept(s->writer) ? strdup(pl_capture_path(s->writer)) : NULL;
	pl_session_failed(s, err);
}

/* Somebody has taken it away, and the place with it: it could not be written again. */
static bool is_lost(const struct plumb_session *s)
{
	return pl_capture_fd(s->writer) < 0;
}

void pl_session_writing_failed(struct plumb_session *s, struct plumb_error *err)
{
	pl_session_failed(s, err);
	if (!is_lost(s) && (pl_capture_is_kept(s->writer) || pl_capture_has_samples(s->writer))) {
		take_name(s);
	} else {
		free(s->path);
		s->path = NULL;
	}
	pl_capture_destroy(s->writer);
	s->writer = NULL;
}

/* A name of our choice is a free one: plumb.app.py.4242.plumb, or plumb.app.py.4242.2.plumb and so on. */
static char *free_name(const char *program, int pid, int number)
{
	char suffix[16] = "", *path;

	if (number > 1)
		snprintf(suffix, sizeof suffix, ".%d", number);
	return asprintf(&path, "plumb.%s.%d%s.plumb", program, pid, suffix) < 0 ? NULL : path;
}

static struct plumb_error *open_unnamed(struct plumb_session *s, struct pl_new_file *ret)
{
	struct plumb_error *err = NULL;

	for (int number = 1; number <= NAMES_MAX; number++) {
		char *path = free_name(s->program, (int)s->pid, number);

		plumb_error_destroy(err);
		err = path ? pl_new_file_open(path, PL_REPLACE_NONE, ret) : &pl_err_no_memory;
		free(path);
		if (plumb_error_code(err) != PLUMB_ERR_EXISTS)
			break;
	}
	return err;
}

/* A name that is free is taken at once: whoever looks finds what is known by then. */
static struct plumb_error *open_named(const struct plumb_session *s, const char *path, struct pl_new_file *ret)
{
	struct plumb_error *err = pl_new_file_open(path, PL_REPLACE_NONE, ret);

	if (plumb_error_code(err) != PLUMB_ERR_EXISTS)
		return err;
	plumb_error_destroy(err);
	return pl_new_file_open(path, s->force ? PL_REPLACE_ALL : PL_REPLACE_NAMED, ret);
}

/* Others may write to it, too, and a recording has to be alone in its file: one without a name is whoever's who says
 * that. */
static bool is_of_others(const struct pl_new_file *file)
{
	struct stat st;

	return file->shared && fstat(file->fd, &st) == 0 && st.st_nlink;
}

static struct plumb_error *refuse_shared(struct pl_new_file *file)
{
	struct plumb_error *err = pl_error(PLUMB_ERR_WRITE_FAILED,
					   "a recording is not written to a file that is open already: %s", file->path);

	pl_new_file_discard(file);
	return pl_error_hint(err, "name the file itself");
}

struct plumb_error *pl_session_open_recording(struct plumb_session *s, const char *path)
{
	struct pl_new_file file;
	struct plumb_error *err = path ? open_named(s, path, &file) : open_unnamed(s, &file);

	s->named = path != NULL;
	if (err)
		return err;
	pl_new_file_heed(&file, &s->hurry);
	err = is_of_others(&file) ? refuse_shared(&file) : pl_capture_create_in(&file, s->profile, &s->writer);
	if (err)
		return err;
	s->path = strdup(path ? path : pl_capture_path(s->writer));
	return s->path ? NULL : &pl_err_no_memory;
}

/* From its first samples on it is worth more than what was there. A name that cannot be had is asked for again, at last
 * by whoever tells it. */
static void publish_samples(struct plumb_session *s)
{
	bool published = pl_capture_is_kept(s->writer) && pl_capture_is_named(s->writer);

	if (pl_capture_has_samples(s->writer) && !published)
		plumb_error_destroy(pl_capture_publish(s->writer));
}

/* Whoever waits for a recording that has just begun sees the first samples at once, and more after times that double.
 */
static bool is_chunk_due(const struct plumb_session *s, uint64_t now)
{
	bool begun = s->samples || s->chunk_wait_ns;
	uint64_t wait_ns = begun ? s->chunk_wait_ns : PL_CAPTURE_CHUNK_NS;

	return now - s->chunk_ns >= wait_ns || pl_capture_wants_flush(s->writer);
}

static void chunk_begins(struct plumb_session *s, uint64_t now)
{
	uint64_t wait_ns = s->chunk_wait_ns ? 2 * s->chunk_wait_ns : PL_CAPTURE_CHUNK_NS / 8;

	s->chunk_ns = now;
	if (s->samples)
		s->chunk_wait_ns = wait_ns < PL_CAPTURE_CHUNK_NS ? wait_ns : PL_CAPTURE_CHUNK_NS;
}

void pl_session_write_chunk(struct plumb_session *s, uint64_t now)
{
	if (!s->writer || !is_chunk_due(s, now))
		return;
	chunk_begins(s, now);
	struct plumb_error *err = pl_capture_flush(s->writer, s->profile);
	if (err)
		pl_session_writing_failed(s, err);
	else
		publish_samples(s);
}

void pl_session_name_after_python(struct plumb_session *s)
{
	const struct plumb_profile *p = s->profile;

	if (s->named || !s->writer || !p->process_count)
		return;
	s->named = true;
	const char *program = pl_strtab_get(p->strings, p->processes[0].name, NULL);
	bool renamed = strcmp(program, s->program) == 0;
	for (int number = 1; number <= NAMES_MAX && !renamed; number++) {
		char *path = free_name(program, (int)s->pid, number);

		renamed = path && pl_capture_rename(s->writer, path);
		if (renamed) {
			free(s->path);
			s->path = path;
		} else {
			free(path);
		}
	}
}

/* So that formats with instants can be written at once: from what was written, whatever has its name by now. Where that
 * cannot be read (-o was a pipe), or not as it was written, there are counts only. */
static void read_recording_again(struct plumb_session *s)
{
	struct pl_capture_info info = {.chunks = pl_capture_chunks(s->writer), .complete = true};
	int fd = pl_capture_fd(s->writer);
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		plumb_error_destroy(pl_again_from_mapping(s->profile, fd, (size_t)st.st_size, &info));
}

static int open_to_read(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pl_reopen(fd, O_RDONLY) : -1;
}

int plumb_session_recording(struct plumb_session *s)
{
	if (pl_session_forked(s))
		return -1;
	pthread_mutex_lock(&s->work);
	int fd = s->writer ? open_to_read(pl_capture_fd(s->writer)) : -1;
	pthread_mutex_unlock(&s->work);
	return fd;
}

/* Whether there is an older file still, which has more to tell. */
static bool leaves_older(const struct plumb_session *s)
{
	return !pl_capture_has_samples(s->writer) && !s->profile->wait_count && !pl_capture_is_named(s->writer);
}

static void leave_older(struct plumb_session *s)
{
	free(s->path);
	s->path = NULL;
}

void pl_session_finish_recording(struct plumb_session *s, bool worth_it)
{
	if (!s->writer)
		return;
	struct plumb_error *err = worth_it ? pl_capture_finish(s->writer, s->profile) : NULL;
	if (err) {
		pl_session_writing_failed(s, err);
		return;
	}
	if (worth_it && leaves_older(s))
		leave_older(s);
	else if (worth_it)
		take_name(s);
	if (worth_it && !s->since.reset) /* else it tells more than was counted */
		read_recording_again(s);
	pl_capture_destroy(s->writer);
	s->writer = NULL;
}
