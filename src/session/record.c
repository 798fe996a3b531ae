/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: the recording of a session. Under `work`, or while there is no consumer. */
#include "session_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "again.h"

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
	s->path = strdup(pl_capture_path(s->writer));
	pl_session_failed(s, err);
}

void pl_session_writing_failed(struct plumb_session *s, struct plumb_error *err)
{
	pl_session_failed(s, err);
	if (pl_capture_is_kept(s->writer)) {
		take_name(s);
	} else {
		free(s->path);
		s->path = NULL;
	}
	pl_capture_destroy(s->writer);
	s->writer = NULL;
}

/* A name of our choice is a free one: plumb.app.4242.plumb, or plumb.app.4242.2.plumb and so on. */
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
		char *path = free_name(s->program, (int)s->options.pid, number);

		plumb_error_destroy(err);
		err = path ? pl_new_file_open(path, PL_REPLACE_NONE, ret) : &pl_err_no_memory;
		free(path);
		if (plumb_error_code(err) != PLUMB_ERR_EXISTS)
			break;
	}
	return err;
}

struct plumb_error *pl_session_open_recording(struct plumb_session *s, const char *path)
{
	enum pl_replace replace = s->force ? PL_REPLACE_ALL : PL_REPLACE_NAMED;
	struct pl_new_file file;
	struct plumb_error *err = path ? pl_new_file_open(path, replace, &file) : open_unnamed(s, &file);

	s->named = path != NULL;
	if (!err)
		err = pl_capture_create_in(&file, s->profile, &s->writer);
	if (err)
		return err;
	s->path = strdup(path ? path : pl_capture_path(s->writer));
	return s->path ? NULL : &pl_err_no_memory;
}

void pl_session_write_chunk(struct plumb_session *s, uint64_t now)
{
	if (!s->writer || (now - s->chunk_ns < PL_CAPTURE_CHUNK_NS && !pl_capture_wants_flush(s->writer)))
		return;
	s->chunk_ns = now;
	struct plumb_error *err = pl_capture_flush(s->writer, s->profile);
	if (err)
		pl_session_writing_failed(s, err);
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
		char *path = free_name(program, (int)s->options.pid, number);

		renamed = path && pl_capture_rename(s->writer, path);
		if (renamed) {
			free(s->path);
			s->path = path;
		} else {
			free(path);
		}
	}
}

/* So that formats with instants can be written at once. Where it cannot be opened again (-o was a pipe), or not be read
 * as it was written, there are counts only. */
static void read_recording_again(struct plumb_session *s, uint64_t chunks)
{
	struct pl_capture_info info = {.chunks = chunks, .complete = true};
	struct stat st;
	int fd = s->path ? open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		plumb_error_destroy(pl_again_from_mapping(s->profile, fd, (size_t)st.st_size, &info));
	close(fd);
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
	if (worth_it)
		take_name(s);
	uint64_t chunks = pl_capture_chunks(s->writer);
	pl_capture_destroy(s->writer);
	s->writer = NULL;
	if (worth_it && !s->since.reset) /* else it tells more than was counted */
		read_recording_again(s, chunks);
}
