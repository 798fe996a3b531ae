/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine: source lines for a dump. The name of a file comes from a code object: only plain files inside the
 * target's root directory are read, and no more of them than a source file is long. */
#include "dump_source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "file_text.h"
#include "target_file.h"

#define FILE_MAX_BYTES (16u << 20)
#define LINE_MAX_BYTES 2000

void pl_sources_deinit(struct pl_sources *s)
{
	for (size_t i = 0; i < s->files.len; i++)
		free(s->files.data[i].text);
	pl_vec_deinit(&s->files);
}

static uint64_t start_real_ns(const struct pl_sources *s)
{
	return s->age_ns ? pl_clock_real_ns() - s->age_ns : 0;
}

static void load(struct pl_sources *s, struct pl_source_file *f)
{
	struct pl_file_state state;
	int fd = -1;

	if (f->path[0] && f->path[0] != '<')
		fd = s->root ? pl_file_open_below(s->root, &s->view.rights, f->path)
			     : pl_target_file_open(s->pid, &s->view, f->path);
	if (fd < 0)
		return;
	if (pl_file_state_read(fd, &state) && state.len <= FILE_MAX_BYTES) {
		f->len = state.len;
		f->changed = pl_file_state_younger(&state, start_real_ns(s));
		s->no_memory |= pl_file_text_read(fd, &state, &f->text) == PL_FILE_TEXT_NO_MEMORY;
	}
	close(fd);
}

static const struct pl_source_file *file_of(struct pl_sources *s, const char *path)
{
	for (size_t i = 0; i < s->files.len; i++)
		if (s->files.data[i].path == path)
			return &s->files.data[i];
	struct pl_source_file f = {.path = path};
	load(s, &f);
	if (pl_vec_push(&s->files, f))
		return &s->files.data[s->files.len - 1];
	free(f.text);
	s->no_memory = true;
	return NULL;
}

/* Line @p number, without its line break. */
static const char *find_line(const struct pl_source_file *f, int32_t number, size_t *len_ret)
{
	const char *p = f->text, *end = f->text + f->len;

	for (int32_t i = 1; i < number && p; i++) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
	if (!p || p >= end)
		return NULL;
	const char *stop = memchr(p, '\n', (size_t)(end - p));
	size_t len = (size_t)((stop ? stop : end) - p);
	len -= len > 0 && p[len - 1] == '\r';
	*len_ret = len < LINE_MAX_BYTES ? len : LINE_MAX_BYTES;
	return p;
}

void pl_sources_add(struct pl_sources *s, struct pl_dump *d, struct pl_dump_frame *f)
{
	const struct pl_source_file *file = f->line > 0 ? file_of(s, f->file.s) : NULL;
	size_t len;
	const char *line = file && file->text ? find_line(file, f->line, &len) : NULL;

	if (!line)
		return;
	f->source = pl_dump_text(d, line, len);
	f->has_source = true;
	f->source_changed = file->changed;
}
