/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: how long tasks wait, looked at between two rounds of samples. */
#include "task_looks.h"

#include "remote_engine.h"
#include "sampled.h"
#include "send.h"
#include "target.h"

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

void pl_task_looks_take(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	if (!e->options.tasks)
		return;
	if (!t->waits.begun)
		t->waits.rng.state = e->options.seed + t->index;
	bool looked = pl_task_waits_step(&t->waits, &t->python, now - e->start_ns);
	pl_send_judge_codes(e, t, t->waits.tid);
	if (looked)
		send_all(e, t);
}
