/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: how long tasks wait, looked at between two rounds of samples. How long a look
 * takes is up to the program. So there is one of one process between two rounds, and all together have a share of the
 * time, however many processes there are. */
#include "task_looks.h"

#include "clock.h"
#include "remote_engine.h"
#include "sampled.h"
#include "send.h"
#include "target.h"

#define SHARE 20 /* of so much time, one part may be spent */

static void send_all(struct pl_engine *e, struct pl_target *t)
{
	struct pl_task_waits *w = &t->waits;

	for (size_t i = 0; i < w->waits.len; i++) {
		const struct pl_tasks_waiting *wait = &w->waits.data[i];
		struct pl_thread_sampler *thread = pl_thread_list_of_tid(&t->python.threads, wait->tid);

		if (!thread || (!wait->node && pl_sampled_of(thread)->wanted))
			w->lost_ns += wait->task_ns;
		else if (pl_sampled_of(thread)->wanted)
			pl_send_wait(e, pl_sampled_of(thread), wait);
	}
	pl_send_look(e, w->stands_ns, w->lost_ns);
}

static bool is_due(struct pl_engine *e, struct pl_target *t, uint64_t at)
{
	if (t->attached && !t->waits.begun)
		t->waits.rng.state = e->options.seed + t->index;
	return t->attached && pl_task_waits_due(&t->waits, &t->python, at);
}

/* Of those that are due the one that has waited longest: nobody takes the turn of others. */
static struct pl_target *next(struct pl_engine *e, uint64_t at)
{
	struct pl_target *longest = NULL;

	for (size_t i = 0; i < e->targets.len; i++) {
		struct pl_target *t = e->targets.data[i];

		if (is_due(e, t, at) && (!longest || t->waits.looked_ns < longest->waits.looked_ns))
			longest = t;
	}
	return longest;
}

void pl_task_looks_take(struct pl_engine *e, uint64_t now)
{
	uint64_t at = now - e->start_ns;

	if (!e->options.tasks || now < e->waits_ns)
		return;
	uint64_t cpu_ns = pl_clock_thread_cpu_ns();
	struct pl_target *t = next(e, at);
	if (!t)
		return;
	pl_task_waits_look(&t->waits, &t->python, at);
	pl_send_judge_codes(e, t, t->waits.tid);
	send_all(e, t);
	e->waits_ns = now + (pl_clock_thread_cpu_ns() - cpu_ns) * SHARE;
}
