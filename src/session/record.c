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

#define RECORDING_NAME "plumb.%s.%d.plumb"

void pl_session_failed(struct plumb_session *s, struct plumb_error *err)
{
	if (!s->failure)
		s->failure = err;
	else
		plumb_error_destroy(err);
}

void pl_session_writing_failed(struct plumb_session *s, struct plumb_error *err)
{
	pl_capture_destroy(s->writer);
	s->writer = NULL;
	pl_session_failed(s, err);
}

struct plumb_error *pl_session_open_recording(struct plumb_session *s, const char *path)
{
	s->named = path != NULL;
	s->path = path ? strdup(path) : NULL;
	if (!path && asprintf(&s->path, RECORDING_NAME, s->program, (int)s->options.pid) < 0)
		s->path = NULL;
	return s->path ? pl_capture_create(s->path, s->profile, &s->writer) : &pl_err_no_memory;
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
	char *path;

	if (s->named || !s->writer || !p->process_count)
		return;
	s->named = true;
	if (asprintf(&path, RECORDING_NAME, pl_strtab_get(p->strings, p->processes[0].name, NULL),
		     (int)s->options.pid) < 0)
		return;
	if (strcmp(path, s->path) == 0 || !pl_capture_rename(s->writer, path)) {
		free(path);
		return;
	}
	free(s->path);
	s->path = path;
}

void pl_session_remove_recording(struct plumb_session *s)
{
	struct stat st;

	if (s->path && lstat(s->path, &st) == 0 && S_ISREG(st.st_mode))
		(void)unlink(s->path);
}

/* So that formats with instants can be written at once. Where it cannot be opened again (-o was a pipe), or not be read
 * as it was written, there are counts only. */
static void read_recording_again(struct plumb_session *s, uint64_t chunks)
{
	struct pl_capture_info info = {.chunks = chunks, .complete = true};
	struct stat st;
	int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return;
	}
	plumb_error_destroy(pl_again_from_recording(s->profile, fd, &info));
}

void pl_session_finish_recording(struct plumb_session *s)
{
	if (!s->writer)
		return;
	struct plumb_error *err = pl_capture_finish(s->writer, s->profile);
	if (err) {
		pl_session_writing_failed(s, err);
		return;
	}
	uint64_t chunks = pl_capture_chunks(s->writer);
	pl_capture_destroy(s->writer);
	s->writer = NULL;
	if (!s->since.reset) /* else it tells more than was counted */
		read_recording_again(s, chunks);
}
