/* SPDX-License-Identifier: Apache-2.0 */
/* Adding one profile to another (layer model). One owner at a time.
 *
 * Each table of the source is interned into the destination in order of ids, so that what a row refers to is there
 * before the row; then the cells are added up. Every rule for a single value (sum, maximum, minimum, "all", first in a
 * total order of texts) is associative and commutative, hence so is the whole. Does not scale weights. axis.c tells
 * which batch of one belongs to which of the other. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "events.h"
#include "index.h"
#include "profile.h"

/* Nothing was ever recorded into it: the neutral element, whose mode and period mean nothing. */
static bool is_blank(const struct plumb_profile *p)
{
	return !p->cell_count && !p->meta.ticks && !p->meta.start_real_ns;
}

/* Ids of the source -> ids of the destination. */
struct id_maps {
	uint32_t *strings, *functions, *locations, *stacks, *processes, *threads;
	uint8_t batches[PL_BATCHES];
};

static bool id_maps_init(struct id_maps *m, const struct plumb_profile *from)
{
	m->strings = calloc((size_t)pl_strtab_count(from->strings) + 1, sizeof *m->strings);
	m->functions = calloc((size_t)from->function_count + 1, sizeof *m->functions);
	m->locations = calloc((size_t)from->location_count + 1, sizeof *m->locations);
	m->stacks = calloc((size_t)from->stack_count + 1, sizeof *m->stacks);
	m->processes = calloc((size_t)from->process_count + 1, sizeof *m->processes);
	m->threads = calloc((size_t)from->thread_count + 1, sizeof *m->threads);
	return m->strings && m->functions && m->locations && m->stacks && m->processes && m->threads;
}

static void id_maps_deinit(struct id_maps *m)
{
	free(m->strings);
	free(m->functions);
	free(m->locations);
	free(m->stacks);
	free(m->processes);
	free(m->threads);
}

static struct plumb_error *merge_strings(struct plumb_profile *into, const struct plumb_profile *from,
					 struct id_maps *m)
{
	uint32_t count = pl_strtab_count(from->strings);
	for (uint32_t i = 0; i < count; i++) {
		size_t len = 0;
		const char *text = pl_strtab_get(from->strings, i, &len);
		struct plumb_error *err = pl_profile_string(into, text, len, &m->strings[i]);
		if (err)
			return err;
	}
	return NULL;
}

static struct plumb_error *merge_functions(struct plumb_profile *into, const struct plumb_profile *from,
					   struct id_maps *m)
{
	for (uint32_t i = 0; i < from->function_count; i++) {
		struct pl_function f = from->functions[i];
		f.name = m->strings[f.name];
		f.qualname = m->strings[f.qualname];
		f.file = m->strings[f.file];
		f.labels = m->strings[f.labels];
		f.unnamed = m->strings[f.unnamed];
		f.source = m->strings[f.source];
		struct plumb_error *err = pl_profile_function(into, &f, &m->functions[i]);
		if (err)
			return err;
	}
	return NULL;
}

static struct plumb_error *merge_locations(struct plumb_profile *into, const struct plumb_profile *from,
					   struct id_maps *m)
{
	for (uint32_t i = 0; i < from->location_count; i++) {
		struct pl_location l = from->locations[i];
		l.function = m->functions[l.function];
		struct plumb_error *err = pl_profile_location(into, &l, &m->locations[i]);
		if (err)
			return err;
	}
	return NULL;
}

/* Maps are far larger than the caches: a row's place is fetched some rows before it is needed. */
#define AHEAD 12

/* Only if the parent is there already; else it will be in the cache anyway. */
static void expect_stack(const struct plumb_profile *into, const struct plumb_profile *from, const struct id_maps *m,
			 uint32_t now, uint32_t next)
{
	if (next >= from->stack_count || from->stacks[next].parent >= now)
		return;
	const struct pl_stack *s = &from->stacks[next];
	pl_profile_expect_stack(into, m->stacks[s->parent], m->locations[s->location]);
}

static struct plumb_error *merge_stacks(struct plumb_profile *into, const struct plumb_profile *from, struct id_maps *m)
{
	if (!pl_row_index_reserve(&into->index->stacks, from->stack_count))
		return &pl_err_no_memory;
	for (uint32_t i = 1; i < from->stack_count; i++) { /* node 0 is node 0 everywhere */
		const struct pl_stack *s = &from->stacks[i];
		expect_stack(into, from, m, i, i + AHEAD);
		struct plumb_error *err =
			pl_profile_stack(into, m->stacks[s->parent], m->locations[s->location], &m->stacks[i]);
		if (err)
			return err;
	}
	return NULL;
}

/* Total order of texts: by bytes, the empty one last. */
static int compare_texts(const struct plumb_profile *p, uint32_t a, uint32_t b)
{
	size_t a_len = 0, b_len = 0;
	const char *a_text = pl_strtab_get(p->strings, a, &a_len);
	const char *b_text = pl_strtab_get(p->strings, b, &b_len);
	if (!a_len || !b_len)
		return (a_len == 0) - (b_len == 0);
	int order = memcmp(a_text, b_text, a_len < b_len ? a_len : b_len);
	return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* Of texts and parents that differ the first in their order, as the process may have been seen at different times. */
static void merge_process_row(const struct plumb_profile *p, struct pl_process *row, const struct pl_process *proc)
{
	uint32_t *texts[] = {&row->program, &row->name, &row->python};
	const uint32_t theirs[] = {proc->program, proc->name, proc->python};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (compare_texts(p, theirs[i], *texts[i]) < 0)
			*texts[i] = theirs[i];
	row->parent = row->parent > proc->parent ? row->parent : proc->parent;
	row->came_ns = row->came_ns < proc->came_ns ? row->came_ns : proc->came_ns;
	row->ended = row->ended || proc->ended;
	row->ended_ns = row->ended_ns > proc->ended_ns ? row->ended_ns : proc->ended_ns;
}

static bool has_named_hosts(const struct plumb_profile *p)
{
	bool named = false;
	for (uint32_t i = 0; i < p->process_count; i++)
		named = named || p->processes[i].host;
	return named;
}

/* Two machines give the same numbers to their processes. Recordings of one machine need no names for it. */
static struct plumb_error *name_hosts(struct plumb_profile *into, const struct plumb_profile *from, bool *named_ret)
{
	bool differ = !is_blank(into) && !is_blank(from) &&
		      strcmp(pl_strtab_get(into->strings, into->meta.host, NULL),
			     pl_strtab_get(from->strings, from->meta.host, NULL)) != 0;
	*named_ret = differ || has_named_hosts(into) || has_named_hosts(from);
	return *named_ret ? pl_profile_name_hosts(into) : NULL;
}

static struct plumb_error *merge_processes(struct plumb_profile *into, const struct plumb_profile *from,
					   struct id_maps *m)
{
	bool named = false;
	uint32_t host = m->strings[from->meta.host];
	struct plumb_error *err = name_hosts(into, from, &named);
	if (!err && named && !host)
		err = pl_profile_string(into, "?", 1, &host);
	if (err)
		return err;
	for (uint32_t i = 0; i < from->process_count; i++) {
		struct pl_process proc = from->processes[i];
		proc.program = m->strings[proc.program];
		proc.name = m->strings[proc.name];
		proc.python = m->strings[proc.python];
		proc.host = m->strings[proc.host];
		if (named && !proc.host)
			proc.host = host;
		uint32_t before = into->process_count;
		struct pl_process key = {.pid = proc.pid, .start_ns = proc.start_ns, .host = proc.host};
		if (!proc.start_ns) {
			key.program = proc.program;
			key.python = proc.python;
		}
		err = pl_profile_process(into, &key, &m->processes[i]);
		if (err)
			return err;
		struct pl_process *row = &into->processes[m->processes[i]];
		if (into->process_count > before)
			*row = proc;
		else
			merge_process_row(into, row, &proc);
	}
	return NULL;
}

/* CPU time is known only if it is known for both parts: half of it would make a busy thread look idle. */
static void merge_thread_row(const struct plumb_profile *p, struct pl_thread *row, const struct pl_thread *t)
{
	if (compare_texts(p, t->name, row->name) < 0)
		row->name = t->name;
	row->main = row->main || t->main;
	row->cpu_known = row->cpu_known && t->cpu_known;
	row->cpu_ns = row->cpu_known ? pl_sum_u64(row->cpu_ns, t->cpu_ns) : 0;
}

static struct plumb_error *merge_threads(struct plumb_profile *into, const struct plumb_profile *from,
					 struct id_maps *m)
{
	for (uint32_t i = 0; i < from->thread_count; i++) {
		struct pl_thread t = from->threads[i];
		t.process = m->processes[t.process];
		t.name = m->strings[t.name];
		t.cpu_ns = t.cpu_known ? t.cpu_ns : 0;
		uint32_t before = into->thread_count;
		struct pl_thread key = {.process = t.process, .tid = t.tid};
		struct plumb_error *err = pl_profile_thread(into, &key, &m->threads[i]);
		if (err)
			return err;
		struct pl_thread *row = &into->threads[m->threads[i]];
		if (into->thread_count > before)
			*row = t;
		else
			merge_thread_row(into, row, &t);
	}
	return NULL;
}

/* The name of a file says nothing of its text: pl_profile_source has the rule for two of them. */
static struct plumb_error *merge_sources(struct plumb_profile *into, const struct plumb_profile *from,
					 const struct id_maps *m)
{
	for (uint32_t i = 0; i < from->source_count; i++) {
		const struct pl_source *s = &from->sources[i];
		struct plumb_error *err = pl_profile_source(into, m->strings[s->file], s->text, s->len, s->changed);
		if (err)
			return err;
	}
	return NULL;
}

static struct plumb_error *merge_modules(struct plumb_profile *into, const struct plumb_profile *from,
					 const struct id_maps *m)
{
	struct plumb_error *err = NULL;
	for (uint32_t i = 0; i < from->module_count && !err; i++) {
		const struct pl_module *row = &from->modules[i];
		struct pl_module module = {.file = m->strings[row->file], .build_id = m->strings[row->build_id]};
		err = pl_profile_module(into, &module);
	}
	return err;
}

static struct plumb_error *merge_tables(struct plumb_profile *into, const struct plumb_profile *from, struct id_maps *m)
{
	struct plumb_error *err = merge_strings(into, from, m);
	if (!err)
		err = merge_functions(into, from, m);
	if (!err)
		err = merge_locations(into, from, m);
	if (!err)
		err = merge_stacks(into, from, m);
	if (!err)
		err = merge_processes(into, from, m);
	if (!err)
		err = merge_threads(into, from, m);
	if (!err)
		err = merge_sources(into, from, m);
	return err ? err : merge_modules(into, from, m);
}

/* A cell in the ids and batches of the destination. */
static struct pl_cell cell_of(const struct plumb_profile *from, uint32_t i, const struct id_maps *m)
{
	struct pl_cell c = from->cells[i];
	c.stack = m->stacks[c.stack];
	c.thread = m->threads[c.thread];
	c.batch = m->batches[c.batch];
	return c;
}

static struct plumb_error *merge_cells(struct plumb_profile *into, const struct plumb_profile *from, struct id_maps *m)
{
	struct plumb_error *err = pl_axis_unite(into, is_blank(into), from, m->batches);
	struct pl_cell cells[PL_TOGETHER];
	for (uint32_t first = 0; first < from->cell_count && !err; first += PL_TOGETHER) {
		uint32_t left = from->cell_count - first, count = left < PL_TOGETHER ? left : PL_TOGETHER;
		for (uint32_t i = 0; i < count; i++)
			cells[i] = cell_of(from, first + i, m);
		err = pl_cells_add_all(into, cells, count);
	}
	return err;
}

static struct plumb_error *merge_waits(struct plumb_profile *into, const struct plumb_profile *from,
				       const struct id_maps *m)
{
	struct plumb_error *err = NULL;
	for (uint32_t i = 0; i < from->wait_count && !err; i++) {
		struct pl_wait w = from->waits[i];
		w.stack = m->stacks[w.stack];
		w.thread = m->threads[w.thread];
		err = pl_profile_wait(into, &w);
	}
	pl_profile_waited(into, &from->waited);
	return err;
}

static struct plumb_error *merge_events(struct plumb_profile *into, const struct plumb_profile *from,
					const struct id_maps *m)
{
	struct plumb_error *err = NULL;
	uint64_t start_ns = pl_event_start_ns(from);

	for (uint32_t i = 0; i < from->event_count && !err; i++) {
		struct pl_event e = from->events[i];

		e.time_ns = pl_sum_u64(e.time_ns, start_ns);
		e.process = e.process ? 1 + m->processes[e.process - 1] : 0;
		e.thread = e.thread ? 1 + m->threads[e.thread - 1] : 0;
		e.name = m->strings[e.name];
		e.labels = m->strings[e.labels];
		err = pl_profile_event(into, &e);
	}
	return err;
}

/* -1, 0, 1: which recording began first; an unknown start is later than any. */
static int compare_starts(uint64_t a, uint64_t b)
{
	return (a - 1 > b - 1) - (a - 1 < b - 1);
}

/* The text of the recording that began first; of two that began together, the first in the order of texts. */
static uint32_t pick_text(const struct plumb_profile *into, int start_order, uint32_t mine, uint32_t theirs)
{
	if (start_order == 0)
		start_order = compare_texts(into, mine, theirs);
	return start_order <= 0 ? mine : theirs;
}

static void merge_texts(struct plumb_profile *into, struct pl_meta *from)
{
	struct pl_meta *m = &into->meta;
	int order = compare_starts(m->start_real_ns, from->start_real_ns);
	for (size_t i = 0; pl_meta_text(m, i); i++) {
		uint32_t *text = pl_meta_text(m, i);
		int first = text == &m->refused_why ? 0 : order; /* "" stands behind any reason */
		*text = pick_text(into, first, *text, *pl_meta_text(from, i));
	}
	if (order > 0)
		m->start_real_ns = from->start_real_ns;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Figures of several runs are those of none; without them the exporters take the profile's own. */
static struct pl_collector merge_collectors(const struct pl_collector *a, const struct pl_collector *b)
{
	return (struct pl_collector){.skip_idle = a->skip_idle && b->skip_idle};
}

static void merge_meta(struct plumb_profile *into, struct pl_meta *from)
{
	struct pl_meta *m = &into->meta;
	merge_texts(into, from);
	m->period_ns = max_u64(m->period_ns, from->period_ns);
	m->collector = merge_collectors(&m->collector, &from->collector);
	m->seed = m->seed == from->seed ? m->seed : 0;
	m->jitter = m->jitter || from->jitter;
	m->native = m->native > from->native ? m->native : from->native;
	m->native_threads = m->native_threads || from->native_threads;
	m->untimed = m->untimed || from->untimed;
	m->selected = m->selected || from->selected;
	m->imported = m->imported && from->imported;
	m->complete = m->complete && from->complete;
	m->ticks = pl_sum_u64(m->ticks, from->ticks);
	for (int i = 0; i < PL_LOSSES; i++)
		m->losses[i] = pl_sum_u64(m->losses[i], from->losses[i]);
	m->damaged_parts = pl_sum_u64(m->damaged_parts, from->damaged_parts);
	m->taken_ns = pl_sum_u64(m->taken_ns, from->taken_ns);
	m->missed_ns = pl_sum_u64(m->missed_ns, from->missed_ns);
	m->stops = pl_sum_u64(m->stops, from->stops);
	for (int i = 0; i < PL_REFUSALS; i++)
		m->refused[i] = pl_sum_u64(m->refused[i], from->refused[i]);
	m->stopped_ns = pl_sum_u64(m->stopped_ns, from->stopped_ns);
	m->halted_ns = pl_sum_u64(m->halted_ns, from->halted_ns);
	m->used_cpu_ns = pl_sum_u64(m->used_cpu_ns, from->used_cpu_ns);
	m->max_overhead_ppm =
		m->max_overhead_ppm > from->max_overhead_ppm ? m->max_overhead_ppm : from->max_overhead_ppm;
	m->max_still_ppm = m->max_still_ppm > from->max_still_ppm ? m->max_still_ppm : from->max_still_ppm;
	m->sources_left_out = pl_sum_u64(m->sources_left_out, from->sources_left_out);
	m->profiler_cpu_ns = pl_sum_u64(m->profiler_cpu_ns, from->profiler_cpu_ns);
	m->file_bytes = 0;
}

static struct plumb_error *merge_with(struct plumb_profile *into, const struct plumb_profile *from, struct id_maps *m)
{
	bool into_blank = is_blank(into), from_blank = is_blank(from);
	struct plumb_error *err = merge_tables(into, from, m);
	if (!err && !from_blank) {
		pl_events_to_real(into);
		err = merge_cells(into, from, m);
	}
	if (!err)
		err = merge_waits(into, from, m);
	if (!err && !from_blank)
		err = merge_events(into, from, m);
	if (err || from_blank)
		return err;
	struct pl_meta meta = from->meta;
	for (size_t i = 0; pl_meta_text(&meta, i); i++)
		*pl_meta_text(&meta, i) = m->strings[*pl_meta_text(&meta, i)];
	if (into_blank)
		into->meta = meta;
	else
		merge_meta(into, &meta);
	into->meta.duration_ns = pl_axis_covered_ns(&into->axis);
	return NULL;
}

struct plumb_error *pl_profile_merge(struct plumb_profile *into, const struct plumb_profile *from)
{
	assert(into != from);
	if (!is_blank(into) && !is_blank(from) && into->meta.mode != from->meta.mode)
		return pl_error(PLUMB_ERR_INVALID, "profiles of different modes cannot be added: "
						   "wall-clock, CPU and GIL time are different quantities");
	if (!is_blank(into) && !is_blank(from) && into->meta.counted != from->meta.counted)
		return pl_error(PLUMB_ERR_INVALID, "one of the profiles knows times and the other only numbers of "
						   "samples: they cannot be added");
	struct id_maps maps = {0};
	struct plumb_error *err = id_maps_init(&maps, from) ? merge_with(into, from, &maps) : &pl_err_no_memory;
	id_maps_deinit(&maps);
	return err;
}

static bool has_nothing(const struct plumb_profile *p)
{
	return is_blank(p) && !p->process_count && !p->source_count && p->stack_count == 1 && !p->function_count;
}

struct plumb_error *pl_profile_merge_last(struct plumb_profile **into, struct plumb_profile *from)
{
	struct plumb_error *err;
	if (!has_nothing(*into) || is_blank(from)) {
		err = pl_profile_merge(*into, from);
		pl_profile_destroy(from);
		return err;
	}
	pl_events_to_real(from);
	err = from->axis.merged ? NULL : pl_axis_begin(from);
	if (err) {
		pl_profile_destroy(from);
		return err;
	}
	if (from->stream.destroy)
		from->stream.destroy(from->stream.ctx);
	from->stream = (struct pl_stream){0};
	from->meta.duration_ns = pl_axis_covered_ns(&from->axis);
	pl_profile_destroy(*into);
	*into = from;
	return NULL;
}
