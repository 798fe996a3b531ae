/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: what sampling has with each thread of a process. Which there are is known by the
 * list (process/thread_list.h). */
#include "sampled.h"

#include <stdio.h>
#include <string.h>

#include "cpu_time.h"
#include "late_samples.h"
#include "remote_engine.h"
#include "send.h"
#include "target.h"

static bool filter_matches(const struct pl_engine_options *o, const struct pl_thread_sampler *thread)
{
	char tid[16];

	if (!o->threads)
		return true;
	snprintf(tid, sizeof tid, "%d", (int)thread->tid);
	for (size_t i = 0; i < o->thread_count; i++)
		if (strcmp(o->threads[i], thread->name) == 0 || strcmp(o->threads[i], tid) == 0)
			return true;
	return false;
}

static bool is_among(const int *tids, size_t count, pid_t tid)
{
	for (size_t i = 0; i < count; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

/* Threads that nobody wants to see. */
static bool leaves_out(void *user, pid_t tid)
{
	const struct pl_engine_options *o = &((struct pl_target *)user)->engine->options;

	return is_among(o->hidden, o->hidden_count, tid) || (o->tids && !is_among(o->tids, o->tid_count, tid));
}

/* Whoever waited for its thread in the last list may have run since then. */
static void count_unseen(const struct pl_target *t)
{
	struct pl_engine_stats *now = &t->engine->now;

	if (now->ticks > t->listed_tick + 1)
		now->losses[PL_LOSS_UNREADABLE] += now->ticks - t->listed_tick - 1;
}

static void came(void *user, struct pl_thread_sampler *sampler, bool awaited)
{
	struct pl_target *t = user;
	struct pl_sampled *thread = pl_sampled_of(sampler);

	thread->target = t;
	thread->index = t->engine->next_thread++;
	thread->wanted = filter_matches(&t->engine->options, sampler);
	if (awaited && thread->wanted)
		count_unseen(t);
}

static void named(void *user, struct pl_thread_sampler *sampler)
{
	struct pl_target *t = user;
	struct pl_sampled *thread = pl_sampled_of(sampler);

	thread->wanted = filter_matches(&t->engine->options, sampler);
	/* Who asks for a thread that is not there is told which are. */
	if (thread->announced || !thread->wanted)
		pl_send_thread(t->engine, thread);
}

static void leaves(void *user, struct pl_thread_sampler *sampler)
{
	struct pl_target *t = user;
	struct pl_sampled *thread = pl_sampled_of(sampler);

	pl_late_samples_give_up(t->engine, thread);
	pl_cpu_time_end(t->engine, thread);
	if (thread->announced)
		pl_send_thread(t->engine, thread);
	pl_vec_deinit(&thread->waiting);
}

const struct pl_thread_list_use pl_sampled_use = {
	.size = sizeof(struct pl_sampled), .leaves_out = leaves_out, .came = came, .named = named, .leaves = leaves};

struct plumb_error *pl_sampled_refresh(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	struct pl_thread_list *r = &t->python.threads;
	uint32_t refused = r->refused;
	struct plumb_error *err = pl_thread_list_refresh(&t->python, now);

	if (r->listed_ns == now)
		t->listed_tick = e->now.ticks;
	/* A thread that finds no room is met in each list: count those that have come. */
	if (r->refused > refused)
		e->now.losses[PL_LOSS_BEYOND] += r->refused - refused;
	return err;
}

void pl_sampled_announce_all(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	pl_thread_list_clock_all(&t->python.threads, now);
	for (size_t i = 0; i < t->python.threads.samplers.len; i++)
		if (t->announced)
			pl_send_thread(e, pl_sampled_of(t->python.threads.samplers.data[i]));
}
