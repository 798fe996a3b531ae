/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only; see used_cpu.h. */
#include "used_cpu.h"

#include "proc.h"
#include "remote_engine.h"
#include "target.h"

void pl_used_cpu_begin(struct pl_target *t)
{
	t->used.counts = pl_proc_cpu_ns(t->python.pid, &t->used.from_ns);
}

static void note(struct pl_used_cpu *used, pid_t pid)
{
	uint64_t now_ns;

	if (!used->counts || !pl_proc_cpu_ns(pid, &now_ns) || now_ns < used->from_ns)
		return;
	used->ns += now_ns - used->from_ns;
	used->from_ns = now_ns;
}

void pl_used_cpu_end(struct pl_engine *e, struct pl_target *t)
{
	note(&t->used, t->python.pid);
	e->gone_used_ns += t->used.ns;
	t->used = (struct pl_used_cpu){0};
}

void pl_used_cpu_tell(struct pl_engine *e)
{
	e->now.used_cpu_ns = e->gone_used_ns;
	for (size_t i = 0; i < e->targets.len; i++) {
		struct pl_target *t = e->targets.data[i];

		note(&t->used, t->python.pid);
		e->now.used_cpu_ns += t->used.ns;
	}
	if (e->options.own) /* what we use there is no part of the program */
		e->now.used_cpu_ns -= e->now.cpu_ns < e->now.used_cpu_ns ? e->now.cpu_ns : e->now.used_cpu_ns;
}

void pl_used_cpu_pause(struct pl_engine *e)
{
	for (size_t i = 0; i < e->targets.len; i++)
		e->targets.data[i]->used.counts = false;
}

void pl_used_cpu_resume(struct pl_engine *e)
{
	for (size_t i = 0; i < e->targets.len; i++)
		if (e->targets.data[i]->attached)
			pl_used_cpu_begin(e->targets.data[i]);
}
