/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of threads for formats of CPython's collectors (layer export; one owner at a time). Threads are told apart
 * by their ids alone, as there. */
#include "thread_figures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frame_name.h"
#include "sample_tree.h"

enum mark { HAS_GC = 1, HAS_TASK = 2 };

static uint8_t mark_of(const struct plumb_profile *p, const struct pl_function *f)
{
	struct pl_text name = pl_text_of(p, f->name);
	bool gc = memmem(name.s, name.len, "<GC>", 4) || memmem(name.s, name.len, "gc_collect", 10);

	return (gc ? HAS_GC : 0) | (f->origin == PL_ORIGIN_TASK ? HAS_TASK : 0);
}

/* A name, which may be long, is searched once, however many stacks it stands in. Callers have smaller ids than what
 * they call, so one pass sees all. */
static struct plumb_error *mark_stacks(struct pl_thread_figures *f)
{
	const struct plumb_profile *p = f->p;
	uint8_t *functions = calloc((size_t)p->function_count + 1, sizeof *functions);

	if (!functions)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < p->function_count; i++)
		functions[i] = mark_of(p, &p->functions[i]);
	for (uint32_t i = 1; i < p->stack_count; i++)
		f->marks[i] = f->marks[p->stacks[i].parent] | functions[p->locations[p->stacks[i].location].function];
	free(functions);
	return NULL;
}

static int compare_u64(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

static void rank_threads(struct pl_thread_figures *f)
{
	uint32_t n = f->p->thread_count, kept = 0;

	for (uint32_t i = 0; i < n; i++)
		f->tids[i] = f->p->threads[i].tid;
	qsort(f->tids, n, sizeof *f->tids, compare_u64);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || f->tids[i] != f->tids[kept - 1])
			f->tids[kept++] = f->tids[i];
	}
	f->tid_count = kept;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *at = bsearch(&f->p->threads[i].tid, f->tids, kept, sizeof *at, compare_u64);

		f->rank_of[i] = (uint32_t)(at - f->tids);
	}
}

struct plumb_error *pl_thread_figures_init(struct pl_thread_figures *f, const struct plumb_profile *p)
{
	*f = (struct pl_thread_figures){.p = p};
	f->tids = calloc((size_t)p->thread_count + 1, sizeof *f->tids);
	f->rank_of = calloc((size_t)p->thread_count + 1, sizeof *f->rank_of);
	f->each = calloc((size_t)p->thread_count + 1, sizeof *f->each);
	f->marks = calloc((size_t)p->stack_count + 1, sizeof *f->marks);
	if (!f->tids || !f->rank_of || !f->each || !f->marks)
		return &pl_err_no_memory;
	rank_threads(f);
	return mark_stacks(f);
}

void pl_thread_figures_deinit(struct pl_thread_figures *f)
{
	free(f->tids);
	free(f->rank_of);
	free(f->each);
	free(f->marks);
	pl_vec_deinit(&f->order);
	*f = (struct pl_thread_figures){0};
}

bool pl_thread_figures_is_task(const struct pl_thread_figures *f, uint32_t stack)
{
	return f->p->meta.collector.known && (f->marks[stack] & HAS_TASK);
}

static void count(struct pl_figures *f, const struct pl_sample *s, uint64_t n, bool gc)
{
	f->total = pl_sum_u64(f->total, n);
	f->has_gil = pl_sum_u64(f->has_gil, s->state & PL_STATE_HAS_GIL ? n : 0);
	f->on_cpu = pl_sum_u64(f->on_cpu, s->state & PL_STATE_ON_CPU ? n : 0);
	f->gil_requested = pl_sum_u64(f->gil_requested, s->state & PL_STATE_WANTS_GIL ? n : 0);
	f->unknown = pl_sum_u64(f->unknown, s->state & PL_STATE_UNKNOWN ? n : 0);
	f->has_exception = pl_sum_u64(f->has_exception, s->state & PL_STATE_EXCEPTION ? n : 0);
	f->gc = pl_sum_u64(f->gc, gc ? n : 0);
}

static void end_tick(struct pl_thread_figures *f)
{
	f->ticks = pl_sum_u64(f->ticks, f->tick_samples);
	f->gc_ticks = pl_sum_u64(f->gc_ticks, f->tick_gc ? f->tick_samples : 0);
	f->tick_samples = 0;
	f->tick_gc = false;
}

struct plumb_error *pl_thread_figures_add(struct pl_thread_figures *f, const struct pl_sample *s)
{
	uint64_t n = pl_sum_u64(s->extra, 1);
	uint32_t rank = f->rank_of[s->thread];
	bool gc = (s->state & PL_STATE_IN_GC) || (f->marks[s->stack] & HAS_GC);
	bool task = pl_thread_figures_is_task(f, s->stack);

	if (s->time_ns != f->tick_time_ns || !pl_profile_is_timed(f->p))
		end_tick(f);
	f->tick_time_ns = s->time_ns;
	f->tick_samples = n > f->tick_samples ? n : f->tick_samples;
	if (task)
		return NULL;
	f->tick_gc |= gc;
	count(&f->all, s, n, gc);
	count(&f->each[rank], s, n, gc);
	if (f->each[rank].seen)
		return NULL;
	f->each[rank].seen = true;
	return pl_vec_push(&f->order, rank) ? NULL : &pl_err_no_memory;
}

/* A tick at which there was no thread left no sample, but it was one; of samples that were selected the others are
 * nobody's. Without times only the number of ticks is known. */
void pl_thread_figures_finish(struct pl_thread_figures *f)
{
	uint64_t ticks = f->p->meta.ticks;

	end_tick(f);
	if (ticks && !f->p->meta.selected && (ticks > f->ticks || !pl_profile_is_timed(f->p)))
		f->ticks = ticks;
	if (f->gc_ticks > f->ticks)
		f->gc_ticks = f->ticks;
}

static void key_percent(struct pl_json *j, const char *key, uint64_t part, uint64_t all)
{
	double percent = (double)part / (double)(all ? all : 1) * 100;

	pl_json_key(j, key);
	pl_json_number(j, percent);
}

static void write_percents(struct pl_json *j, const struct pl_figures *f, uint64_t gc, uint64_t ticks)
{
	key_percent(j, "has_gil_pct", f->has_gil, f->total);
	key_percent(j, "on_cpu_pct", f->on_cpu, f->total);
	key_percent(j, "gil_requested_pct", f->gil_requested, f->total);
	key_percent(j, "has_exception_pct", f->has_exception, f->total);
	key_percent(j, "gc_pct", gc, ticks);
}

static void write_counts(struct pl_json *j, const struct pl_figures *f)
{
	pl_json_key_u64(j, "has_gil", f->has_gil);
	pl_json_key_u64(j, "on_cpu", f->on_cpu);
	pl_json_key_u64(j, "gil_requested", f->gil_requested);
	pl_json_key_u64(j, "unknown", f->unknown);
	pl_json_key_u64(j, "has_exception", f->has_exception);
	pl_json_key_u64(j, "total", f->total);
}

static bool is_free_threaded(const struct plumb_profile *p)
{
	for (uint32_t i = 0; i < p->process_count; i++) {
		struct pl_text version = pl_text_of(p, p->processes[i].python);

		if (version.len && memchr(version.s, 't', version.len))
			return true;
	}
	return false;
}

void pl_thread_figures_write(const struct pl_thread_figures *f, struct pl_json *j)
{
	pl_json_key(j, "thread_stats");
	pl_json_object(j);
	write_percents(j, &f->all, f->gc_ticks, f->ticks);
	pl_json_key_bool(j, "free_threaded", is_free_threaded(f->p));
	write_counts(j, &f->all);
	pl_json_object_end(j);
	pl_json_key(j, "per_thread_stats");
	pl_json_object(j);
	for (size_t i = 0; i < f->order.len; i++) {
		const struct pl_figures *t = &f->each[f->order.data[i]];
		char key[24];

		snprintf(key, sizeof key, "%" PRIu64, f->tids[f->order.data[i]]);
		pl_json_key(j, key);
		pl_json_object(j);
		write_percents(j, t, t->gc, f->ticks);
		write_counts(j, t);
		pl_json_key_u64(j, "gc_samples", t->gc);
		pl_json_object_end(j);
	}
	pl_json_object_end(j);
}
