/* SPDX-License-Identifier: Apache-2.0 */
/* What happened at a moment (layer model). One owner at a time. */
#include "events.h"

#include <stdlib.h>

#include "axis.h"
#include "index.h"
#include "select.h"

#define UNKNOWN_START (1ull << 63) /* as axis.c has it */

static uint32_t events_of(const struct plumb_profile *p, uint32_t process)
{
	uint32_t had = 0;

	(void)pl_map_get(&p->index->events, process, 0, &had);
	return had;
}

bool pl_event_has_room(const struct plumb_profile *p, uint32_t process, uint64_t text_bytes)
{
	return p->event_count < PL_MAX_EVENTS && events_of(p, process) < PL_MAX_PROCESS_EVENTS &&
	       text_bytes <= PL_MAX_EVENT_TEXT - p->index->event_text;
}

static uint64_t text_bytes_of(const struct plumb_profile *p, const struct pl_event *e)
{
	size_t name, labels;

	(void)pl_strtab_get(p->strings, e->name, &name);
	(void)pl_strtab_get(p->strings, e->labels, &labels);
	return (uint64_t)name + labels;
}

struct plumb_error *pl_profile_event(struct plumb_profile *p, const struct pl_event *e)
{
	struct pl_profile_index *x = p->index;
	uint64_t text_bytes = text_bytes_of(p, e);

	if (!pl_event_has_room(p, e->process, text_bytes)) {
		p->meta.losses[PL_LOSS_EVENTS] = pl_sum_u64(p->meta.losses[PL_LOSS_EVENTS], 1);
		return NULL;
	}
	struct plumb_error *err = pl_row_room(p, (void **)&p->events, &x->event_cap, p->event_count, sizeof *p->events);
	if (err)
		return err;
	if (!pl_map_set(&x->events, e->process, 0, events_of(p, e->process) + 1))
		return &pl_err_no_memory;
	x->event_text += text_bytes;
	p->events[p->event_count++] = *e;
	return NULL;
}

uint64_t pl_event_start_ns(const struct plumb_profile *p)
{
	uint64_t start_ns = p->meta.start_real_ns;

	if (p->axis.merged)
		return 0;
	return start_ns && start_ns < UNKNOWN_START ? start_ns : UNKNOWN_START;
}

void pl_events_to_real(struct plumb_profile *p)
{
	uint64_t start_ns = pl_event_start_ns(p);

	for (uint32_t i = 0; i < p->event_count; i++)
		p->events[i].time_ns = pl_sum_u64(p->events[i].time_ns, start_ns);
}

bool pl_event_since_ns(const struct plumb_profile *p, uint64_t time_ns, uint64_t *ret)
{
	uint64_t start_ns = p->axis.merged ? p->meta.start_real_ns : 0;

	*ret = time_ns > start_ns ? time_ns - start_ns : 0;
	return !p->axis.merged || time_ns < UNKNOWN_START;
}

/* The first batch that does not end before @p piece. */
static uint32_t batch_of(const struct pl_axis *a, uint64_t piece)
{
	uint32_t low = 0, high = a->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (a->piece[mid] < piece)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint64_t pl_event_axis_ns(const struct plumb_profile *p, uint64_t time_ns)
{
	unsigned shift = p->index->batch_shift;
	uint64_t piece = time_ns >> shift;

	if (!p->axis.merged)
		return time_ns;
	uint32_t batch = batch_of(&p->axis, piece);
	bool inside = batch < p->axis.count && p->axis.piece[batch] == piece;
	return ((uint64_t)batch << shift) + (inside ? time_ns & (p->batch_ns - 1) : 0);
}

void pl_event_find(const struct plumb_profile *p, uint32_t pid, uint64_t tid, struct pl_event *ret)
{
	uint32_t thread;

	ret->process = ret->thread = 0;
	for (uint32_t i = 0; i < p->process_count; i++)
		if (p->processes[i].pid == pid)
			ret->process = 1 + i;
	if (ret->process && tid && pl_map_get(&p->index->threads, tid, ret->process - 1, &thread))
		ret->thread = 1 + thread;
}

struct plumb_error *pl_events_of_threads(const struct plumb_profile *p, const bool *threads, bool **ret)
{
	bool *in = calloc((size_t)p->event_count + 1, sizeof *in);
	bool *processes = calloc((size_t)p->process_count + 1, sizeof *processes);
	bool enough = in && processes;

	for (uint32_t i = 0; i < p->thread_count && enough; i++)
		processes[p->threads[i].process] |= !threads || threads[i];
	for (uint32_t i = 0; i < p->event_count && enough; i++) {
		const struct pl_event *e = &p->events[i];
		bool known = e->thread ? !threads || threads[e->thread - 1] : !e->process || processes[e->process - 1];

		in[i] = !threads || known;
	}
	free(processes);
	if (enough)
		*ret = in;
	else
		free(in);
	return enough ? NULL : &pl_err_no_memory;
}

/* Of two at one time the one that was noted first. */
static int compare(const void *a, const void *b, void *ctx)
{
	const struct plumb_profile *p = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (p->events[i].time_ns != p->events[j].time_ns)
		return p->events[i].time_ns < p->events[j].time_ns ? -1 : 1;
	return (i > j) - (i < j);
}

static struct plumb_error *in_order_of_time(const struct plumb_profile *p, const bool *in, pl_event_vec *ret)
{
	PL_VEC(uint32_t) order = {0};
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < p->event_count && !err; i++)
		if (in[i] && !pl_vec_push(&order, i))
			err = &pl_err_no_memory;
	if (!err && order.len)
		qsort_r(order.data, order.len, sizeof *order.data, compare, (void *)(uintptr_t)p);
	for (size_t i = 0; i < order.len && !err; i++)
		err = pl_vec_push(ret, p->events[order.data[i]]) ? NULL : &pl_err_no_memory;
	pl_vec_deinit(&order);
	return err;
}

/* Threads that are idle did what they did all the same. */
struct plumb_error *pl_events_by_time(const struct plumb_profile *p, const struct pl_filter *f, pl_event_vec *ret)
{
	struct pl_filter all_idle = *f;
	bool *threads = NULL, *in = NULL;

	*ret = (pl_event_vec){0};
	all_idle.idle = PL_IDLE_KEEP;
	struct plumb_error *err = f->threads || f->processes ? pl_select_threads(p, &all_idle, &threads) : NULL;
	if (!err)
		err = pl_events_of_threads(p, threads, &in);
	if (!err)
		err = in_order_of_time(p, in, ret);
	free(threads);
	free(in);
	if (err)
		pl_vec_deinit(ret);
	return err;
}
