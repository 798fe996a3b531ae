/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: handing over to the consumer what was sampled, and of what processes and threads.
 */
#include "send.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "mode.h"
#include "proc.h"
#include "remote_engine.h"
#include "round.h"
#include "sampled.h"
#include "target.h"

#define CPU_KNOWN_NS 50000000ull /* CPU time of a shorter time says nothing about whether a thread is idle */

/* ---- processes and threads --------------------------------------------------------------------------------------- */

static uint64_t since_start(const struct pl_engine *e, uint64_t at)
{
	return at > e->start_ns ? at - e->start_ns : 0;
}

void pl_send_process(struct pl_engine *e, struct pl_target *t, bool ended, uint64_t now)
{
	struct pl_record rec = {.kind = PL_RECORD_PROCESS};

	if (pl_queue_room(&e->queue) == 0)
		return;
	struct pl_process_info *info = rec.process.info = calloc(1, sizeof *info);
	if (!info)
		return;
	*info = (struct pl_process_info){.index = t->index,
					 .pid = (uint32_t)t->python.pid,
					 .parent = (uint32_t)t->parent,
					 .start_ns = pl_proc_ticks_ns(t->start_ticks),
					 .came_ns = since_start(e, t->came_ns),
					 .ended = ended,
					 .ended_ns = ended ? since_start(e, now) : 0,
					 .view_number = t->python.files.number,
					 .view = t->python.files.view};
	if (!ended) {
		pl_py_version_text(&t->python.reader.py, info->python);
		pl_proc_command(t->python.pid, info->command, sizeof info->command);
		pl_proc_program(t->python.pid, info->name, sizeof info->name);
	}
	pl_queue_push(&e->queue, &rec);
	t->announced = t->known = true;
}

void pl_send_thread(struct pl_engine *e, struct pl_sampled *thread)
{
	struct pl_target *t = thread->target;

	if (!t->announced)
		pl_send_process(e, t, false, 0);
	if (!t->announced || pl_queue_room(&e->queue) == 0)
		return;
	struct pl_record rec = {.kind = PL_RECORD_THREAD};
	struct pl_thread_info *info = rec.thread.info = calloc(1, sizeof *info);
	if (!info)
		return;
	*info = (struct pl_thread_info){.index = thread->index,
					.process = t->index,
					.tid = (uint64_t)thread->sampler.tid,
					.main = thread->sampler.main,
					.cpu_known =
						thread->sampler.clocked_ns >= thread->sampler.came_ns + CPU_KNOWN_NS,
					.cpu_ns = thread->sampler.cpu_ns};
	memcpy(info->name, thread->sampler.name, sizeof info->name);
	pl_queue_push(&e->queue, &rec);
	thread->announced = true;
}

/* ---- who ran a code ----------------------------------------------------------------------------------------------
 * The files that codes name are opened later, with the rights that their process had when they were seen. A process can
 * change them at any moment, so what counts is that they were the same before a code was seen and afterwards. */

/* True if it is as it was. We ourselves are whoever we are: what we may not read any more is not read. */
static bool same_view(struct pl_engine *e, struct pl_target *t)
{
	uint32_t before = t->python.files.number;
	bool same = pl_process_files_look(&t->python.files, t->python.pid);

	if (t->python.files.number == before)
		return same;
	if (t->announced)
		pl_send_process(e, t, false, 0);
	return e->options.own;
}

void pl_send_look_at_view(struct pl_engine *e, struct pl_target *t)
{
	if (e->options.sources)
		(void)same_view(e, t);
}

/* A thread can have rights, a root and mounts of its own. The view is the process's: code of a thread that sees files
 * in another way is code of somebody else. */
static bool sees_the_same(const struct pl_target *t, pid_t tid)
{
	return tid == t->python.pid || pl_process_files_seen_by(&t->python.files, t->python.pid, tid);
}

void pl_send_judge_codes(struct pl_engine *e, struct pl_target *t, pid_t tid)
{
	const struct pl_code_store *codes = &e->tables.codes;

	if (!e->options.sources || e->judged_codes == codes->known.len)
		return;
	uint32_t view = same_view(e, t) && sees_the_same(t, tid) ? t->python.files.number : 0;
	while (e->judged_codes < codes->known.len)
		codes->known.data[e->judged_codes++]->view = view;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Files of native functions are read while their process has them: soon. */
static void tell_of_modules(struct pl_engine *e)
{
	uint32_t modules = (uint32_t)e->tables.codes.modules.all.len;

	if (e->sent_modules < modules)
		pl_queue_wake(&e->queue);
	e->sent_modules = modules;
}

/* Codes and nodes the consumer has not seen go before the sample that needs them. False: no room, the sample is lost.
 */
static bool send_pending(struct pl_engine *e)
{
	size_t codes = e->tables.codes.known.len, nodes = e->tables.trie.nodes.len;

	while (e->sent_codes < codes && pl_queue_room(&e->queue)) {
		struct pl_record rec = {.kind = PL_RECORD_CODE};

		rec.code.code = e->tables.codes.known.data[e->sent_codes++];
		pl_queue_push(&e->queue, &rec);
	}
	while (e->sent_codes == codes && e->sent_nodes < nodes && pl_queue_room(&e->queue)) {
		const struct pl_node *n = &e->tables.trie.nodes.data[e->sent_nodes++];
		struct pl_record rec = {.kind = PL_RECORD_NODE};

		rec.node.parent = n->parent;
		rec.node.code = n->code;
		rec.node.offset = n->offset;
		rec.node.opcode = n->opcode;
		pl_queue_push(&e->queue, &rec);
	}
	tell_of_modules(e);
	return e->sent_codes == codes && e->sent_nodes == nodes && pl_queue_room(&e->queue) > 0;
}

void pl_send_weighed(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t time_ns,
		     uint64_t weight_ns)
{
	struct pl_record rec = {
		.kind = PL_RECORD_SAMPLE, .state = s->state, .quality = s->quality, .marker = s->marker, .tag = s->tag};

	if (!thread->announced)
		pl_send_thread(e, thread);
	if (!thread->announced || !send_pending(e)) {
		e->now.losses[PL_LOSS_QUEUE]++;
		return;
	}
	e->now.losses[PL_LOSS_FOLDED] += s->marker == PL_MARKER_FOLDED;
	e->now.losses[PL_LOSS_TASK] += s->task_untold;
	e->now.losses[PL_LOSS_NATIVE] += s->native_untold;
	rec.sample.time_ns = time_ns;
	rec.sample.weight_ns = weight_ns;
	rec.sample.node = s->node;
	rec.sample.thread = thread->index;
	pl_queue_push(&e->queue, &rec);
}

void pl_send_wait(struct pl_engine *e, struct pl_sampled *thread, const struct pl_tasks_waiting *wait)
{
	struct pl_record rec = {.kind = PL_RECORD_WAIT, .state = (uint16_t)wait->what};

	if (!thread->announced)
		pl_send_thread(e, thread);
	if (!thread->announced || !send_pending(e)) {
		e->now.losses[PL_LOSS_QUEUE]++;
		return;
	}
	rec.wait.task_ns = wait->task_ns;
	rec.wait.node = wait->node;
	rec.wait.thread = thread->index;
	rec.wait.tasks = wait->tasks;
	pl_queue_push(&e->queue, &rec);
}

/* Without room the sample is sent as one that waits, and not for what. */
void pl_send_lock(struct pl_engine *e, struct pl_sampled *waiter, const struct pl_look_at_lock *look)
{
	struct pl_record rec = {
		.kind = PL_RECORD_LOCK, .state = (uint16_t)look->known, .marker = look->lock.kind != PL_LOCK_PLAIN};
	struct pl_sampled *holder = NULL;

	if (look->known == PL_HOLDER_THREAD)
		holder = pl_sampled_of(look->holder);
	if (holder && !holder->announced)
		pl_send_thread(e, holder);
	if (!waiter->announced)
		pl_send_thread(e, waiter);
	if (!waiter->announced || (holder && !holder->announced) || !send_pending(e))
		return;
	rec.lock.object = look->lock.object;
	rec.lock.waiter = waiter->index;
	if (holder) {
		rec.lock.holder = holder->index;
		rec.lock.node = look->node;
		rec.lock.inside = look->inside;
	}
	pl_queue_push(&e->queue, &rec);
}

void pl_send_look(struct pl_engine *e, uint64_t stands_ns, uint64_t lost_ns)
{
	struct pl_record rec = {.kind = PL_RECORD_LOOK, .look = {stands_ns, lost_ns}};

	if (pl_queue_room(&e->queue))
		pl_queue_push(&e->queue, &rec);
	else
		e->now.losses[PL_LOSS_QUEUE]++;
}

void pl_send_sample(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t weight_ns)
{
	pl_mode_rules(e->options.mode)->send(e, thread, s, pl_round_time(e), weight_ns);
}
