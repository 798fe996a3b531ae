/* SPDX-License-Identifier: Apache-2.0 */
/* Who held the GIL while threads waited for it (layer model). One thread at a time: a stream has a place in its file.
 *
 * A waiting sample is kept until the next one of its process that held the GIL, or one that comes too late to say
 * anything of it. */
#include "gil_waits.h"

#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "timed_sums.h"

/* More wait in no round; who is beyond knows the holder before only. */
#define MOST_WAITING 65536

struct holder {
	bool seen;
	uint64_t time_ns;
	uint32_t function; /* PL_GIL_UNSEEN: no frame of Python */
};

struct waiting {
	struct pl_sample sample;
	struct holder before;
};

struct process {
	struct holder last;
	PL_VEC(struct waiting) waiting; /* the oldest first, */
	size_t first;			/* from here on */
};

struct finder {
	const struct plumb_profile *p;
	struct process *processes;
	uint32_t *python; /* by stack: the function of its innermost frame of Python */
	pl_sample_fn *fn;
	void *ctx;
};

bool pl_gil_is_told(const struct plumb_profile *p)
{
	if (p->meta.mode != PL_MODE_WALL || !pl_profile_is_timed(p))
		return false;
	for (uint32_t i = 0; i < p->cell_count; i++)
		if (p->cells[i].state & PL_STATE_WANTS_GIL)
			return true;
	return false;
}

/* ---- samples with who held it ------------------------------------------------------------------------------------ */

/* Once for all stacks: samples of deep ones that are not Python's would search them again and again. Parents have
 * smaller ids than their children. */
static bool find_python(struct finder *f)
{
	const struct plumb_profile *p = f->p;

	f->python = malloc(((size_t)p->stack_count + 1) * sizeof *f->python);
	if (!f->python)
		return false;
	f->python[0] = PL_GIL_UNSEEN;
	for (uint32_t s = 1; s < p->stack_count; s++) {
		uint32_t function = p->locations[p->stacks[s].location].function;
		bool python = p->functions[function].origin == PL_ORIGIN_PYTHON;

		f->python[s] = python ? function : f->python[p->stacks[s].parent];
	}
	return true;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Half the time that a sample stands for. */
static uint64_t reach(const struct pl_sample *s)
{
	return s->weight_ns / (2 * pl_sum_u64(1, s->extra));
}

/* @p after: the first one behind it, if that was seen. */
static uint32_t held_by(const struct waiting *w, const struct holder *after)
{
	uint64_t time_ns = w->sample.time_ns, within = reach(&w->sample);
	const struct holder *nearest = &w->before;

	if (after->seen && (!nearest->seen || distance(after->time_ns, time_ns) < distance(nearest->time_ns, time_ns)))
		nearest = after;
	if (!nearest->seen || distance(nearest->time_ns, time_ns) > within || nearest->function == PL_GIL_UNSEEN)
		return PL_GIL_UNSEEN;
	return 1 + nearest->function;
}

static size_t count_waiting(const struct process *process)
{
	return process->waiting.len - process->first;
}

/* Forget those that were given: all of them, or when they are the most. */
static void forget_given(struct process *process)
{
	size_t left = count_waiting(process);

	if (left > process->first)
		return;
	if (left)
		memmove(process->waiting.data, process->waiting.data + process->first,
			left * sizeof *process->waiting.data);
	process->waiting.len = left;
	process->first = 0;
}

/* Give the oldest @p count that wait. */
static struct plumb_error *settle(struct finder *f, struct process *process, size_t count, const struct holder *after)
{
	struct plumb_error *err = NULL;

	for (; count > 0 && !err; count--) {
		struct waiting *w = &process->waiting.data[process->first++];

		w->sample.held_by = held_by(w, after);
		err = f->fn(f->ctx, &w->sample);
	}
	forget_given(process);
	return err;
}

static struct plumb_error *settle_all(struct finder *f, struct process *process, const struct holder *after)
{
	return settle(f, process, count_waiting(process), after);
}

/* Those that a holder at @p time_ns would be too late for. */
static size_t count_late(const struct process *process, uint64_t time_ns)
{
	size_t at = process->first;

	while (at < process->waiting.len &&
	       pl_sum_u64(process->waiting.data[at].sample.time_ns, reach(&process->waiting.data[at].sample)) < time_ns)
		at++;
	return at - process->first;
}

static struct plumb_error *wait_for_holder(struct finder *f, struct process *process, const struct pl_sample *s)
{
	static const struct holder none;
	struct plumb_error *err = NULL;

	if (count_waiting(process) >= MOST_WAITING)
		err = settle_all(f, process, &none);
	if (!err && !pl_vec_push(&process->waiting, ((struct waiting){.sample = *s, .before = process->last})))
		err = &pl_err_no_memory;
	return err;
}

static struct plumb_error *find(void *ctx, const struct pl_sample *s)
{
	static const struct holder none;
	struct finder *f = ctx;
	struct process *process = &f->processes[f->p->threads[s->thread].process];
	size_t late = count_late(process, s->time_ns);
	struct plumb_error *err = late ? settle(f, process, late, &none) : NULL;

	if (err)
		return err;
	if (s->state & PL_STATE_HAS_GIL) {
		process->last = (struct holder){true, s->time_ns, f->python[s->stack]};
		err = settle_all(f, process, &process->last);
		return err ? err : f->fn(f->ctx, s);
	}
	return s->state & PL_STATE_WANTS_GIL ? wait_for_holder(f, process, s) : f->fn(f->ctx, s);
}

static struct plumb_error *find_all(const struct plumb_profile *p, pl_sample_fn *fn, void *ctx)
{
	static const struct holder none;
	struct finder f = {.p = p, .fn = fn, .ctx = ctx};
	struct plumb_error *err = &pl_err_no_memory;

	f.processes = calloc((size_t)p->process_count + 1, sizeof *f.processes);
	if (f.processes && find_python(&f))
		err = pl_profile_each(p, find, &f);
	for (uint32_t i = 0; i < p->process_count && f.processes; i++) {
		if (!err)
			err = settle_all(&f, &f.processes[i], &none);
		pl_vec_deinit(&f.processes[i].waiting);
	}
	free(f.processes);
	free(f.python);
	return err;
}

struct plumb_error *pl_gil_each(const struct plumb_profile *p, pl_sample_fn *fn, void *ctx)
{
	if (!pl_gil_is_told(p))
		return pl_profile_each(p, fn, ctx);
	/* What a filter leaves out may have held it: it is asked of the whole. */
	return p->stream.each_held ? p->stream.each_held(p->stream.ctx, fn, ctx) : find_all(p, fn, ctx);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

struct adder {
	const struct plumb_profile *p;
	const struct pl_filter *filter;
	struct pl_gil_blame *blame;
	uint32_t *row_of;		  /* function -> 1 + row */
	PL_VEC(struct pl_timed_sum) sums; /* of each row */
	struct pl_timed_sum all, unseen;
};

static struct pl_timed_sum *sum_of(struct adder *a, uint32_t function)
{
	if (!a->row_of[function]) {
		if (!pl_vec_push(&a->blame->rows, ((struct pl_gil_row){.function = function})) ||
		    !pl_vec_push(&a->sums, ((struct pl_timed_sum){0})))
			return NULL;
		a->row_of[function] = (uint32_t)a->sums.len;
	}
	return &a->sums.data[a->row_of[function] - 1];
}

static struct plumb_error *add(void *ctx, const struct pl_sample *s)
{
	struct adder *a = ctx;
	const struct pl_cell cell = {.thread = s->thread, .state = s->state};
	struct pl_timed_sum *sum = &a->unseen;

	if (!s->held_by || !pl_view_passes(a->p, a->filter, &cell))
		return NULL;
	if (s->held_by != PL_GIL_UNSEEN)
		sum = sum_of(a, s->held_by - 1);
	if (!sum)
		return &pl_err_no_memory;
	pl_timed_sum_add(sum, a->p, s);
	pl_timed_sum_add(&a->all, a->p, s);
	return NULL;
}

static int compare_rows(const void *va, const void *vb)
{
	const struct pl_gil_row *a = va, *b = vb;

	if (a->held.weight_ns != b->held.weight_ns)
		return a->held.weight_ns < b->held.weight_ns ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

static void finish(struct adder *a)
{
	struct pl_gil_blame *b = a->blame;

	for (size_t i = 0; i < b->rows.len; i++)
		b->rows.data[i].held = pl_timed_sum_share(&a->sums.data[i], &a->all);
	if (b->rows.len)
		qsort(b->rows.data, b->rows.len, sizeof *b->rows.data, compare_rows);
	b->unseen = pl_timed_sum_share(&a->unseen, &a->all);
	b->samples = a->all.samples;
	b->weight_ns = pl_timed_sum_ns(&a->all);
}

struct plumb_error *pl_gil_blame_find(const struct plumb_profile *p, const struct pl_filter *f,
				      struct pl_gil_blame *ret)
{
	struct adder a = {.p = p, .filter = f, .blame = ret};
	struct plumb_error *err = NULL;

	*ret = (struct pl_gil_blame){0};
	if (!pl_gil_is_told(p))
		return NULL;
	a.row_of = calloc((size_t)p->function_count + 1, sizeof *a.row_of);
	err = a.row_of ? pl_gil_each(p, add, &a) : &pl_err_no_memory;
	if (!err)
		finish(&a);
	pl_vec_deinit(&a.sums);
	free(a.row_of);
	return err;
}

void pl_gil_blame_deinit(struct pl_gil_blame *b)
{
	pl_vec_deinit(&b->rows);
}
