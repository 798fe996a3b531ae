/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches in which event loops were held. Layer export; one owner at a time.
 *
 * The samples of a thread are looked at in their order. A stretch begins with a sample below a callback or task and
 * ends before the first in which the thread was elsewhere: in the loop's own code, where it waits for events, or in
 * another callback; or where more was missed than can be overlooked. A loop that has no time to wait may call the same
 * callback many times unseen: readers are told so, and the rule of findings asks for a loop that does wait. */
#include "loop_holds.h"

#include <stdlib.h>
#include <string.h>

#include "frame_name.h"
#include "own_code.h"
#include "words.h"

/* Samples are at most two intervals apart, and a few in a row may be missed: but no loop waits for longer unseen. */
#define GAP_INTERVALS	     2
#define GAP_INTERVALS_MISSED 5
#define GAP_MISSED_NS	     UINT64_C(20000000)

struct stretch {
	uint32_t stack;					   /* shared by all of it so far; 0: there is none */
	uint64_t begin_ns, end_ns, gap_ns, samples, ready; /* gap_ns: the longest between two samples */
};

struct finder {
	const struct plumb_profile *p;
	struct pl_loop_holds *h;
	struct pl_loop_stacks stacks;
	struct pl_filter filter;
	bool *library;
	uint32_t *holder_of;  /* function -> 1 + its row; 0: it has none */
	struct stretch *open; /* of each thread */
};

static uint32_t function_of(const struct plumb_profile *p, uint32_t stack)
{
	return p->locations[p->stacks[stack].location].function;
}

/* The program's own function, if there is one between it and the loop. */
static uint32_t name_of(const struct finder *f, uint32_t stack)
{
	uint32_t entry = f->stacks.entry[stack], left = f->p->stacks[stack].depth - f->p->stacks[entry].depth + 1;

	for (uint32_t s = stack; left; left--, s = f->p->stacks[s].parent) {
		if (!f->library[function_of(f->p, s)])
			return function_of(f->p, s);
	}
	return function_of(f->p, stack);
}

/* Into the list of the longest, which is short; of equally long ones the first. */
static void keep(struct pl_loop_holds *h, const struct pl_loop_hold *hold)
{
	unsigned at = h->kept;

	if (at == PL_LOOP_HOLDS_MAX && h->longest[--at].length_ns >= hold->length_ns)
		return;
	for (; at && h->longest[at - 1].length_ns < hold->length_ns; at--)
		h->longest[at] = h->longest[at - 1];
	h->longest[at] = *hold;
	if (h->kept < PL_LOOP_HOLDS_MAX)
		h->kept++;
}

static struct plumb_error *count(struct finder *f, const struct pl_loop_hold *hold)
{
	struct pl_loop_holds *h = f->h;
	uint64_t own_ns = hold->length_ns - hold->ready_ns;
	struct pl_loop_holder *holder;

	if (!f->holder_of[hold->function]) {
		if (!pl_vec_push(&h->holders, ((struct pl_loop_holder){.function = hold->function})))
			return &pl_err_no_memory;
		f->holder_of[hold->function] = (uint32_t)h->holders.len;
	}
	holder = &h->holders.data[f->holder_of[hold->function] - 1];
	holder->count++;
	holder->held_ns += hold->length_ns;
	if (hold->length_ns > holder->longest_ns)
		holder->longest_ns = hold->length_ns;
	if (own_ns >= PL_LOOP_HOLD_LONG_NS) {
		holder->slow++;
		holder->slow_ns += own_ns;
		if (own_ns > holder->slowest_ns)
			holder->slowest_ns = own_ns;
	}
	h->count++;
	h->held_ns += hold->length_ns;
	return NULL;
}

static struct plumb_error *end(struct finder *f, uint32_t thread)
{
	struct stretch *s = &f->open[thread];
	struct pl_loop_hold hold = {.thread = thread, .begin_ns = s->begin_ns};

	if (!s->stack || s->samples < 2) {
		s->stack = 0;
		return NULL;
	}
	/* What was before the first sample and after the last is half an interval each. */
	hold.length_ns = s->end_ns - s->begin_ns + (s->end_ns - s->begin_ns) / (s->samples - 1);
	hold.ready_ns = (uint64_t)((double)hold.length_ns * ((double)s->ready / (double)s->samples));
	hold.function = name_of(f, s->stack);
	s->stack = 0;
	if (hold.length_ns < PL_LOOP_HOLD_MIN_NS || hold.length_ns < 2 * s->gap_ns)
		return NULL;
	if (s->gap_ns > f->h->gap_ns)
		f->h->gap_ns = s->gap_ns;
	keep(f->h, &hold);
	return count(f, &hold);
}

/* Where a limit of the overhead lowers the rate samples stand for more than a period. */
static uint64_t longest_gap(const struct plumb_profile *p, const struct pl_sample *s)
{
	uint64_t period_ns = p->meta.period_ns, ns = period_ns * GAP_INTERVALS_MISSED;

	if (s->weight_ns > period_ns && s->weight_ns < GAP_MISSED_NS && s->weight_ns * GAP_INTERVALS > ns)
		ns = s->weight_ns * GAP_INTERVALS;
	if (ns > GAP_MISSED_NS)
		ns = GAP_MISSED_NS;
	return ns > period_ns * GAP_INTERVALS ? ns : period_ns * GAP_INTERVALS;
}

static bool goes_on(const struct finder *f, const struct stretch *s, const struct pl_sample *sample)
{
	const uint32_t *entry = f->stacks.entry;

	return entry[sample->stack] && function_of(f->p, entry[s->stack]) == function_of(f->p, entry[sample->stack]) &&
	       sample->time_ns >= s->end_ns && sample->time_ns - s->end_ns <= longest_gap(f->p, sample);
}

static void add(struct finder *f, struct stretch *s, const struct pl_sample *sample)
{
	if (!s->stack)
		*s = (struct stretch){.stack = f->stacks.inner[sample->stack],
				      .begin_ns = sample->time_ns,
				      .end_ns = sample->time_ns};
	s->stack = pl_loop_stacks_shared(&f->stacks, s->stack, sample->stack);
	if (sample->time_ns - s->end_ns > s->gap_ns)
		s->gap_ns = sample->time_ns - s->end_ns;
	s->end_ns = sample->time_ns;
	s->samples++;
	s->ready += pl_reason_of(sample->state) == PL_REASON_CPU;
}

static struct plumb_error *take_sample(void *ctx, const struct pl_sample *sample)
{
	struct finder *f = ctx;
	struct pl_cell cell = {.thread = sample->thread, .stack = sample->stack, .state = sample->state};
	struct stretch *s = &f->open[sample->thread];
	struct plumb_error *err = NULL;

	if (!f->stacks.threads[sample->thread] || !pl_view_passes(f->p, &f->filter, &cell))
		return NULL;
	if (s->stack && !goes_on(f, s, sample))
		err = end(f, sample->thread);
	if (!err && f->stacks.entry[sample->stack])
		add(f, s, sample);
	return err;
}

static int compare_texts(struct pl_text a, struct pl_text b)
{
	int order = memcmp(a.s, b.s, a.len < b.len ? a.len : b.len);

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare(const void *va, const void *vb, void *ctx)
{
	const struct pl_loop_holder *a = va, *b = vb;
	const struct plumb_profile *p = ctx;
	const struct pl_function *f = &p->functions[a->function], *g = &p->functions[b->function];
	int order;

	if (a->held_ns != b->held_ns)
		return a->held_ns < b->held_ns ? 1 : -1;
	order = compare_texts(pl_frame_qualname(p, f), pl_frame_qualname(p, g));
	if (!order)
		order = compare_texts(pl_text_of(p, f->file), pl_text_of(p, g->file));
	return order ? order : (f->firstline > g->firstline) - (f->firstline < g->firstline);
}

static struct plumb_error *find(struct finder *f)
{
	const struct plumb_profile *p = f->p;
	struct plumb_error *err = pl_loop_stacks_init(&f->stacks, p);

	if (err || !f->stacks.any)
		return err;
	f->library = pl_own_code_libraries(p);
	f->holder_of = calloc((size_t)p->function_count + 1, sizeof *f->holder_of);
	f->open = calloc((size_t)p->thread_count + 1, sizeof *f->open);
	if (!f->library || !f->holder_of || !f->open)
		return &pl_err_no_memory;
	err = pl_profile_each(p, take_sample, f);
	for (uint32_t i = 0; i < p->thread_count && !err; i++)
		err = end(f, i);
	if (!err && f->h->holders.len)
		qsort_r(f->h->holders.data, f->h->holders.len, sizeof *f->h->holders.data, compare,
			(void *)(uintptr_t)p);
	return err;
}

struct plumb_error *pl_loop_holds_find(const struct plumb_profile *p, const struct pl_filter *f,
				       struct pl_loop_holds *ret)
{
	struct finder finder = {.p = p, .h = ret, .filter = *f};
	struct plumb_error *err;

	*ret = (struct pl_loop_holds){0};
	if (!pl_profile_is_timed(p) || p->axis.merged || p->meta.selected || !p->meta.period_ns ||
	    p->meta.mode != PL_MODE_WALL)
		return NULL;
	finder.filter.idle = PL_IDLE_KEEP; /* a loop that waits is what ends a stretch */
	err = find(&finder);
	pl_loop_stacks_deinit(&finder.stacks);
	free(finder.library);
	free(finder.holder_of);
	free(finder.open);
	return err;
}

void pl_loop_holds_deinit(struct pl_loop_holds *h)
{
	pl_vec_deinit(&h->holders);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

#define HOLDERS_MAX 50

static void write_function(struct pl_json *j, const struct plumb_profile *p, const uint32_t *rows, uint32_t function)
{
	const struct pl_function *f = &p->functions[function];
	struct pl_text name = pl_frame_qualname(p, f), file = pl_text_of(p, f->file);

	if (rows)
		pl_json_key_u64_or_null(j, "function", rows[function] != UINT32_MAX, rows[function]);
	pl_json_key_strn(j, "name", name.s, name.len);
	pl_json_key_strn(j, "file", file.s, file.len);
	pl_json_key_u64(j, "line", f->firstline);
}

static void write_holders(const struct pl_loop_holds *h, const struct plumb_profile *p, const uint32_t *rows,
			  struct pl_json *j)
{
	pl_json_key(j, "holders");
	pl_json_array(j);
	for (size_t i = 0; i < h->holders.len && i < HOLDERS_MAX; i++) {
		const struct pl_loop_holder *holder = &h->holders.data[i];

		pl_json_object(j);
		write_function(j, p, rows, holder->function);
		pl_json_key_u64(j, "count", holder->count);
		pl_json_key_u64(j, "held_ns", holder->held_ns);
		pl_json_key_u64(j, "longest_ns", holder->longest_ns);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

static void write_longest(const struct pl_loop_holds *h, const struct plumb_profile *p, const uint32_t *rows,
			  struct pl_json *j)
{
	pl_json_key(j, "longest");
	pl_json_array(j);
	for (unsigned i = 0; i < h->kept; i++) {
		const struct pl_loop_hold *hold = &h->longest[i];
		const struct pl_thread *t = &p->threads[hold->thread];

		pl_json_object(j);
		pl_json_key_u64(j, "pid", p->processes[t->process].pid);
		pl_json_key_u64(j, "tid", t->tid);
		pl_json_key_u64(j, "begin_ns", hold->begin_ns);
		pl_json_key_u64(j, "length_ns", hold->length_ns);
		pl_json_key_u64(j, "without_cpu_ns", hold->ready_ns);
		write_function(j, p, rows, hold->function);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

void pl_loop_holds_json(const struct pl_loop_holds *h, const struct plumb_profile *p, const uint32_t *rows,
			struct pl_json *j)
{
	if (!h->count)
		return;
	pl_json_key(j, "loop_holds");
	pl_json_object(j);
	pl_json_key_u64(j, "gap_ns", h->gap_ns);
	pl_json_key_u64(j, "least_ns", PL_LOOP_HOLD_MIN_NS);
	pl_json_key_u64(j, "count", h->count);
	pl_json_key_u64(j, "held_ns", h->held_ns);
	write_holders(h, p, rows, j);
	write_longest(h, p, rows, j);
	pl_json_object_end(j);
}
