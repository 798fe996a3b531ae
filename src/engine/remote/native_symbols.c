/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, consumer thread only. A file is read once, when the first sample comes that has a function of it; and
 * by somebody else (symbol_reader.h), so that no file system keeps the samples waiting for longer than it is given time
 * for. The samples wait in the queue meanwhile. */
#include "native_symbols.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"

#define AT_ONCE_MS    20 /* most files come in less */
#define PATIENCE_MS   1000
#define ALL_AT_END_MS 5000 /* whoever waits for the end waits so long, however many there are */
#define NS_PER_MS     1000000u

void pl_native_symbols_deinit(struct pl_native_symbols *s)
{
	pl_symbol_reader_deinit(&s->reader);
	pl_demangler_deinit(&s->demangler);
	pl_map_deinit(&s->perf_maps);
	pl_vec_deinit(&s->perf_maps_read);
	for (size_t i = 0; i < s->files.len; i++) {
		pl_functions_destroy(s->files.data[i].functions);
		pl_file_lines_destroy(s->files.data[i].lines);
	}
	pl_vec_deinit(&s->files);
}

/* NULL without memory. */
static struct pl_native_symbols_file *file_of(struct pl_native_symbols *s, const struct pl_code_module *m)
{
	while (s->files.len <= m->id)
		if (!pl_vec_push(&s->files, ((struct pl_native_symbols_file){0})))
			return NULL;
	return &s->files.data[m->id];
}

static void forget_perf_map(struct pl_native_symbols *s, uint32_t module)
{
	struct pl_native_symbols_file *f = &s->files.data[module];

	pl_functions_destroy(f->functions);
	s->perf_maps_bytes -= f->bytes;
	f->functions = NULL;
	f->bytes = 0;
}

/* The one before has served: what comes now was sampled later. */
static void forget_older(struct pl_native_symbols *s, const struct pl_code_module *m)
{
	uint32_t before;

	if (pl_map_get(&s->perf_maps, (uint64_t)m->pid, 0, &before))
		forget_perf_map(s, before);
	(void)pl_map_set(&s->perf_maps, (uint64_t)m->pid, 0, m->id); /* without memory it stays */
}

/* Those that were read first make room for it. */
static void keep_perf_map(struct pl_native_symbols *s, struct pl_native_symbols_file *f)
{
	const uint64_t most = s->perf_maps_most ? s->perf_maps_most : PL_PERF_MAPS_MOST;

	if (!f->functions)
		return;
	f->bytes = pl_functions_bytes(f->functions);
	s->perf_maps_bytes += f->bytes;
	if (!pl_vec_push(&s->perf_maps_read, s->asked)) {
		forget_perf_map(s, s->asked);
		return;
	}
	while (s->perf_maps_bytes > most && s->perf_maps_first + 1 < s->perf_maps_read.len)
		forget_perf_map(s, s->perf_maps_read.data[s->perf_maps_first++]);
}

static void ask(struct pl_native_symbols *s, const struct pl_code_module *m, struct pl_native_symbols_file *f)
{
	const bool lines = f->state == PL_NATIVE_SYMBOLS_NAMED;
	const struct pl_code_file q = {.pid = m->pid,
				       .seen = &m->seen,
				       .map = &m->map,
				       .build_id = m->build_id,
				       .build_id_len = m->build_id_len};

	s->asked_perf_map = pl_code_module_is_perf_map(&m->map);
	s->asked_lines = lines;
	if (s->asked_perf_map)
		forget_older(s, m);
	const bool asked = lines ? pl_symbol_ask_lines(&s->reader, &q) : pl_symbol_ask(&s->reader, &q);

	f->lines_left_out = lines && !asked && !pl_symbol_lines_left(&s->reader, m->pid);
	f->state = asked ? PL_NATIVE_SYMBOLS_ASKED : PL_NATIVE_SYMBOLS_READ;
	s->asked = m->id;
}

/* What was answered about @p f. */
static void take_over(struct pl_native_symbols *s, struct pl_native_symbols_file *f, struct pl_functions *functions)
{
	if (s->asked_lines) {
		f->lines = pl_symbol_take_lines(&s->reader);
		f->state = PL_NATIVE_SYMBOLS_READ;
		return;
	}
	f->functions = functions;
	f->state = functions && !s->asked_perf_map ? PL_NATIVE_SYMBOLS_NAMED : PL_NATIVE_SYMBOLS_READ;
	if (s->asked_perf_map)
		keep_perf_map(s, f);
}

/* False: the question that is open is not answered yet. */
static bool take_answer(struct pl_native_symbols *s, int wait_ms)
{
	struct pl_functions *functions;

	if (!s->reader.asker.asked)
		return true;
	if (!pl_symbol_answered(&s->reader, wait_ms, PATIENCE_MS, &functions))
		return false;
	take_over(s, &s->files.data[s->asked], functions);
	return true;
}

/* 0: the time is over. */
static int may_wait_ms(struct pl_native_symbols *s, bool patient)
{
	const uint64_t now = pl_clock_monotonic_ns();

	if (!patient)
		return AT_ONCE_MS;
	if (!s->end_ns)
		s->end_ns = now + (uint64_t)ALL_AT_END_MS * NS_PER_MS;
	const uint64_t left = now < s->end_ns ? (s->end_ns - now) / NS_PER_MS : 0;
	return left < PATIENCE_MS ? (int)left : PATIENCE_MS;
}

bool pl_native_symbols_ready(struct pl_native_symbols *s, const struct pl_code_module *m, bool patient)
{
	struct pl_native_symbols_file *f = file_of(s, m);

	if (!f || f->state == PL_NATIVE_SYMBOLS_READ)
		return true;
	/* Names first: they come sooner, and more depends on them. */
	while (take_answer(s, may_wait_ms(s, patient)) && may_wait_ms(s, patient)) {
		if (f->state == PL_NATIVE_SYMBOLS_READ)
			return true;
		ask(s, m, f);
	}
	return f->state == PL_NATIVE_SYMBOLS_READ;
}

void pl_native_symbols_give_up(struct pl_native_symbols *s, const struct pl_code_module *m)
{
	struct pl_native_symbols_file *f = file_of(s, m);

	if (f && (f->state == PL_NATIVE_SYMBOLS_UNREAD || f->state == PL_NATIVE_SYMBOLS_NAMED))
		f->state = PL_NATIVE_SYMBOLS_READ;
}

const char *pl_native_symbols_name(struct pl_native_symbols *s, const struct pl_native_code *n)
{
	struct pl_functions *f =
		n->module && n->module->id < s->files.len ? s->files.data[n->module->id].functions : NULL;

	return f ? pl_functions_find(f, n->place, n->begin) : NULL;
}

static void put_place(const struct pl_native_code *n, char buf[static PL_NATIVE_NAME])
{
	const char *path = n->module->map.path, *slash = strrchr(path, '/');

	snprintf(buf, PL_NATIVE_NAME, "%.200s+0x%llx", slash ? slash + 1 : path,
		 (unsigned long long)(n->begin ? n->begin : n->place));
}

void pl_native_symbols_text(struct pl_native_symbols *s, const struct pl_native_code *n, const char *name,
			    char buf[static PL_NATIVE_NAME])
{
	if (!name)
		put_place(n, buf);
	else
		pl_demangle_or_keep(&s->demangler, name, buf);
}

size_t pl_native_symbols_places(struct pl_native_symbols *s, const struct pl_native_code *n, uint64_t place,
				void (*tell)(void *ctx, const struct pl_dwarf_place *p), void *ctx, bool *left_out)
{
	const struct pl_native_symbols_file *f =
		n->module && n->module->id < s->files.len ? &s->files.data[n->module->id] : NULL;
	struct pl_symbol_places q = {.address = place, .tell = tell, .ctx = ctx};

	if (!f) {
		*left_out = false;
		return 0;
	}
	q.pid = n->module->pid;
	size_t count = pl_symbol_places(&s->reader, f->lines, &q);
	*left_out = q.left_out || f->lines_left_out;
	return count;
}
