/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: source lines for a dump. The name of a file comes from a code object: only plain files inside the
 * target's root directory are read, and no more of them than a source file is long, by somebody who can be left behind.
 */
#include "dump_source.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "profile.h"

#define TEXTS_MAX_BYTES (64u << 20) /* of all files; a stack can name as many as it likes */
#define LINE_MAX_BYTES	2000
/* A line is looked for from the beginning of its stretch: each frame of a stack may be in the last of a million. */
#define STRETCH_LINES 256

static void file_deinit(struct pl_source_file *f)
{
	free(f->text);
	pl_vec_deinit(&f->stretches);
}

void pl_dump_sources_deinit(struct pl_dump_sources *s)
{
	for (size_t i = 0; i < s->files.len; i++)
		file_deinit(&s->files.data[i]);
	pl_vec_deinit(&s->files);
	pl_map_deinit(&s->known);
	pl_source_reader_end(&s->reader);
}

static uint64_t start_real_ns(const struct pl_dump_sources *s)
{
	return s->age_ns ? pl_clock_real_ns() - s->age_ns : 0;
}

static size_t room_for_text(const struct pl_dump_sources *s)
{
	size_t left = TEXTS_MAX_BYTES - s->bytes;

	return left < PL_SOURCE_MAX_BYTES ? left : PL_SOURCE_MAX_BYTES;
}

/* How long the next file may take. All of them together take half of the time there is for the stacks, of which the
 * patience is two fifths. */
static int wait_ms(const struct pl_dump_sources *s)
{
	const uint64_t all_ms = (uint64_t)s->patience_ms * 5 / 4, waited_ms = s->waited_ns / 1000000;
	const uint64_t left_ms = waited_ms < all_ms ? all_ms - waited_ms : 0;

	return left_ms < (uint64_t)s->patience_ms ? (int)left_ms : s->patience_ms;
}

/* Ask for the file, unless @p most were asked for, and wait for the answer. False: it is not asked for. */
static bool ask(struct pl_dump_sources *s, const struct pl_source_question *q, uint32_t most,
		struct pl_source_answer *ret)
{
	const uint64_t start = pl_clock_monotonic_ns();
	const int wait = wait_ms(s);

	if (s->silent)
		return false;
	if (s->asked >= most || wait == 0) {
		s->left_out++;
		return false;
	}
	s->asked++;
	if (!pl_source_ask(&s->reader, q))
		return false;
	while (!pl_source_answered(&s->reader, wait, wait, ret))
		;
	s->waited_ns += pl_clock_monotonic_ns() - start;
	if (ret->outcome == PL_SOURCE_SILENT && wait == s->patience_ms)
		s->silent = q->path;
	else if (ret->outcome == PL_SOURCE_SILENT)
		s->left_out++;
	return true;
}

/* False without memory. */
static bool list_stretches(struct pl_source_file *f)
{
	const char *p = f->text, *end = f->text + f->len;

	for (uint32_t lines = 1; p && (p = memchr(p, '\n', (size_t)(end - p))); lines++) {
		p++;
		if (lines % STRETCH_LINES == 0 && !pl_vec_push(&f->stretches, (uint32_t)(p - f->text)))
			return false;
	}
	return true;
}

static void load(struct pl_dump_sources *s, uint32_t most, struct pl_source_file *f)
{
	struct pl_source_question q = {.pid = s->root ? 0 : s->pid,
				       .view = s->view,
				       .root = s->root,
				       .path = f->path,
				       .max_len = room_for_text(s)};
	struct pl_source_answer answer;

	if (!f->path[0] || f->path[0] == '<' || !ask(s, &q, most, &answer))
		return;
	if (answer.outcome == PL_SOURCE_BARRED && !s->barred)
		s->barred = f->path;
	s->left_out += answer.outcome == PL_SOURCE_TOO_LONG && q.max_len < PL_SOURCE_MAX_BYTES;
	s->no_memory |= answer.outcome == PL_SOURCE_NO_MEMORY;
	if (answer.outcome != PL_SOURCE_READ)
		return;
	f->text = answer.text;
	f->len = answer.state.len;
	s->no_memory |= !list_stretches(f);
	s->bytes += f->len;
	f->changed = pl_file_state_younger(&answer.state, start_real_ns(s));
}

static const struct pl_source_file *file_of(struct pl_dump_sources *s, uint32_t most, const char *path)
{
	struct pl_source_file f = {.path = path};
	uint32_t at;

	if (pl_map_get(&s->known, (uintptr_t)path, 0, &at))
		return &s->files.data[at];
	load(s, most, &f);
	at = (uint32_t)s->files.len;
	if (pl_map_set(&s->known, (uintptr_t)path, 0, at) && pl_vec_push(&s->files, f))
		return &s->files.data[at];
	pl_map_remove(&s->known, (uintptr_t)path, 0);
	file_deinit(&f);
	s->no_memory = true;
	return NULL;
}

/* Line @p number, without its line break. */
static const char *find_line(const struct pl_source_file *f, int32_t number, size_t *len_ret)
{
	const uint32_t before = (uint32_t)number - 1, stretch = before / STRETCH_LINES;
	const char *p = f->text, *end = f->text + f->len;

	if (stretch > f->stretches.len)
		return NULL;
	p += stretch ? f->stretches.data[stretch - 1] : 0;
	for (uint32_t i = before % STRETCH_LINES; i > 0 && p; i--) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
	if (!p || p >= end)
		return NULL;
	const size_t left = (size_t)(end - p), most = left <= LINE_MAX_BYTES ? left : LINE_MAX_BYTES + 1;
	const char *stop = memchr(p, '\n', most);
	size_t len = stop ? (size_t)(stop - p) : most;
	len -= len > 0 && p[len - 1] == '\r';
	*len_ret = len < LINE_MAX_BYTES ? len : LINE_MAX_BYTES;
	return p;
}

void pl_dump_sources_add(struct pl_dump_sources *s, struct pl_dump *d, struct pl_dump_frame *f)
{
	/* Those of C are mostly not here; they leave room for those of Python. */
	const uint32_t most = f->kind == PL_DUMP_FRAME_PYTHON ? PL_SOURCES_MOST : PL_SOURCES_MOST / 2;
	const struct pl_source_file *file = f->line > 0 ? file_of(s, most, f->file.s) : NULL;
	size_t len;
	const char *line = file && file->text ? find_line(file, f->line, &len) : NULL;

	if (!line)
		return;
	f->source = pl_dump_text(d, line, len);
	f->has_source = true;
	f->source_changed = file->changed;
}
