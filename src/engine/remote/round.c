/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: one round, which samples every thread of every process once. */
#include "round.h"

#include "clock.h"
#include "event_looks.h"
#include "gil_holders.h"
#include "late_samples.h"
#include "lock_samples.h"
#include "proc.h"
#include "remote_engine.h"
#include "sampled.h"
#include "sampling_thread.h"
#include "search.h"
#include "send.h"
#include "target.h"
#include "task_looks.h"
#include "thread_state.h"
#include "tree.h"
#include "words.h"

#define HALT_LOOK_NS 50000000ull
#define OVERTIME_NS  1000000000ull /* a last round that takes longer than this is cut, or it would look like a hang */
/* So many threads may be read from the processor of another one, which waits for us meanwhile. */
#define FEW_THREADS   16
#define BESIDE_ROUNDS 64 /* for which we keep to a processor though nobody was stood beside */

/* That sampling is to stop somebody tells us; that the time is over is seen between two rounds, and here. */
static bool is_over(const struct pl_engine *e)
{
	return atomic_load(&e->stopping) ||
	       (e->options.duration_ns && pl_clock_monotonic_ns() > e->start_ns + e->options.duration_ns + OVERTIME_NS);
}

/* A reading brings the interpreter's words along. */
static void notice_interp(struct pl_target *t, const struct pl_reading *r)
{
	if (r->complete)
		pl_thread_list_notice(&t->python.threads, &r->interp);
}

static void tell_ready(struct pl_thread_sampler *thread, struct pl_raw_sample *s, uint64_t weight_ns)
{
	if (thread->counted && pl_ready_time_take(&thread->ready, &thread->counters, pl_clock_monotonic_ns(), weight_ns,
						  s->state & PL_STATE_ON_CPU))
		s->state |= pl_reason_state(PL_REASON_CPU);
}

/* Time in which we stood still is known to be a pause when the round is over: what is seen behind it would be told as
 * later than what the next rounds see. */
uint64_t pl_round_time(struct pl_engine *e)
{
	uint64_t now = pl_clock_monotonic_ns();

	if (e->looked_ns) {
		if (pl_suspension_seems(&e->suspension, e->looked_ns, now))
			e->stood_ns += now - e->looked_ns;
		e->looked_ns = now;
	}
	return now - e->start_ns - e->stood_ns;
}

/* Some wait for what is told later. */
static void hand_over(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t weight_ns)
{
	uint64_t time_ns = pl_round_time(e);

	if (!pl_late_samples_keep(thread->target, thread, s, time_ns, weight_ns) &&
	    !pl_lock_samples_take(thread->target, thread, s, time_ns, weight_ns))
		pl_send_sample(e, thread, s, weight_ns);
}

enum pl_round_result pl_round_one(struct pl_engine *e, struct pl_target *t, size_t i, uint64_t weight_ns)
{
	const struct pl_mode_rules *mode = pl_mode_rules(e->options.mode);
	struct pl_sampled *thread = pl_sampled_of(t->python.threads.samplers.data[i]);
	struct pl_reading reading;
	struct pl_raw_sample s;
	enum pl_take_result r = pl_thread_sampler_take(&thread->sampler, &t->python.reader, &t->python.stopper,
						       mode->running_only, &reading, &s);

	if (r == PL_TAKE_SAMPLE && (s.state & mode->needs) != mode->needs)
		r = PL_TAKE_NOTHING;
	pl_send_judge_codes(e, t, thread->sampler.tid);
	switch (r) {
	case PL_TAKE_SAMPLE:
		if (mode->tells_ready)
			tell_ready(&thread->sampler, &s, weight_ns);
		hand_over(e, thread, &s, weight_ns);
		break;
	case PL_TAKE_NOTHING:
		pl_send_sample(e, thread, NULL, 0);
		notice_interp(t, &reading);
		return PL_ROUND_NONE;
	case PL_TAKE_UNREADABLE:
		e->now.losses[PL_LOSS_UNREADABLE]++;
		pl_thread_list_doubt(&t->python.threads);
		break;
	case PL_TAKE_GONE:
		pl_thread_list_remove(&t->python.threads, i);
		return PL_ROUND_TOOK;
	case PL_TAKE_EXITED:
		return PL_ROUND_GONE;
	}
	notice_interp(t, &reading);
	return PL_ROUND_TOOK;
}

/* A thread that is in another interpreter is sampled there. */
static enum pl_round_result sample_here(struct pl_engine *e, struct pl_target *t, size_t i, uint64_t weight_ns)
{
	struct pl_thread_sampler *thread = t->python.threads.samplers.data[i];

	if ((thread->newer || thread->older) && !pl_thread_sampler_innermost(thread, &t->python.reader)) {
		pl_thread_sampler_skip(thread);
		return PL_ROUND_NONE;
	}
	return pl_sampled_of(thread)->wanted ? pl_round_one(e, t, i, weight_ns) : PL_ROUND_NONE;
}

/* Each thread once. The stops that are allowed may not do for all that need one, and whoever comes first gets them: so
 * a round begins behind the thread that was stopped last. */
enum pl_round_result pl_round_all(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns)
{
	struct pl_thread_list *r = &t->python.threads;
	size_t i = t->first;

	for (size_t left = r->samplers.len; left > 0 && !is_over(e); left--) {
		size_t len = r->samplers.len;
		uint64_t stops = t->python.stopper.stops;

		i = i < len ? i : 0;
		if (sample_here(e, t, i, weight_ns) == PL_ROUND_GONE)
			return PL_ROUND_GONE;
		if (r->samplers.len == len) /* else the next one has moved up */
			i++;
		if (t->python.stopper.stops != stops)
			t->first = i;
		if (left > FEW_THREADS)
			(void)pl_beside_leave(&e->beside);
		(void)pl_late_samples_settle(e, t);
	}
	return PL_ROUND_TOOK;
}

/* One that was sampled has told that there are new ones. Those of a request may have ended by the next round. Lists are
 * read when nothing points to a thread any more, as it may be gone by then. */
static enum pl_round_result sample_newcomers(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns)
{
	struct pl_thread_list *r = &t->python.threads;

	if (r->next_list_ns != 0 || is_over(e))
		return PL_ROUND_TOOK;
	const uint64_t now = pl_clock_monotonic_ns();
	struct plumb_error *err = pl_sampled_refresh(e, t, now);
	plumb_error_destroy(err); /* who has ended is found in the next round */
	for (size_t i = r->samplers.len; i-- > 0;)
		if (r->samplers.data[i]->came_ns == now && sample_here(e, t, i, weight_ns) == PL_ROUND_GONE)
			return PL_ROUND_GONE;
	return PL_ROUND_TOOK;
}

/* A thread that ran no Python may run some by now, and be back before any other one tells: C code that calls back makes
 * a thread state for each call. */
static void look_at_heads(struct pl_target *t)
{
	const struct pl_thread_list *r = &t->python.threads;

	for (size_t i = 0; i < r->interps.len; i++) {
		struct pl_interp now;
		struct plumb_error *err = pl_interp_read_again(pl_python_process_mem(&t->python), &t->python.reader.py,
							       &r->interps.data[i], &now);

		if (!err)
			pl_thread_list_notice(&t->python.threads, &now);
		plumb_error_destroy(err);
	}
}

/* The words that tell of new threads, when no running thread brought them along. A process that has just been forked is
 * asked each time until its one thread bears its own number. */
static enum pl_round_result keep_thread_list(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	struct pl_thread_list *r = &t->python.threads;

	if (r->natives)
		look_at_heads(t);
	bool due = now >= r->next_list_ns || (t->forked && r->samplers.len == 0);
	struct plumb_error *err = due ? pl_sampled_refresh(e, t, now) : NULL;

	if (err == &pl_err_target_exited)
		return PL_ROUND_GONE;
	plumb_error_destroy(err);
	pl_thread_list_clock(&t->python.threads, now);
	return PL_ROUND_TOOK;
}

/* What standing beside its threads took of the time of the process. The next round finds us there, where that is not
 * in the way of anybody else. */
static void end_beside(struct pl_engine *e, struct pl_target *t)
{
	uint64_t taken_ns = pl_beside_taken_ns(&e->beside);

	if (t->python.stopper.beside_rounds == 0)
		pl_stopper_stood_beside(&t->python.stopper, taken_ns);
	if (e->attached_count > 1 || t->python.threads.samplers.len > FEW_THREADS ||
	    t->python.stopper.beside_rounds >= BESIDE_ROUNDS ||
	    !pl_stopper_stands_beside(&t->python.stopper, pl_clock_monotonic_ns()))
		(void)pl_beside_leave(&e->beside);
	t->python.stopper.beside_rounds++;
}

static enum pl_round_result sample_threads(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns)
{
	const struct pl_mode_rules *mode = pl_mode_rules(e->options.mode);
	enum pl_round_result r = mode->round(e, t, weight_ns);

	pl_lock_samples_send(e, t);
	if (r == PL_ROUND_TOOK && mode->round == pl_round_all) {
		r = sample_newcomers(e, t, weight_ns);
		pl_lock_samples_send(e, t);
	}
	end_beside(e, t);
	return r;
}

/* Is it stopped by others? Its threads look as if they waited. The time counts that it was so from one round to the
 * next. */
static void look_whether_halted(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	struct pl_thread_state state;

	if (!t->asked || t->index || e->options.own)
		return;
	if (t->halted)
		e->now.halted_ns += now - t->halt_round_ns;
	t->halt_round_ns = now;
	if (now < t->halt_look_ns)
		return;
	pl_thread_state_read(t->python.pid, t->python.pid, &state);
	t->halted = state.letter == 'T' || state.letter == 't';
	t->halt_look_ns = now + HALT_LOOK_NS;
}

static enum pl_round_result sample_target(struct pl_engine *e, struct pl_target *t, uint64_t now, uint64_t weight_ns)
{
	if (keep_thread_list(e, t, now) == PL_ROUND_GONE)
		return PL_ROUND_GONE;
	t->met |= t->python.threads.samplers.len > 0;
	look_whether_halted(e, t, now);
	if (e->stats.threads != e->room.threads) /* a thread is told before its first sample is */
		pl_sampling_thread_publish(e, now);
	enum pl_round_result r = sample_threads(e, t, weight_ns);
	if (r != PL_ROUND_GONE)
		pl_event_looks_take(e, t, false);
	return r;
}

/* The address space is gone: the process has ended, or has become another program by exec. */
static void lose_target(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	(void)pl_beside_leave(&e->beside);
	if (t->python.stopper.exit_known)
		pl_tree_end(e, t, now);
	else
		pl_search_detach(e, t);
}

/* It lives, but there is no /proc any more that tells of it: no thread is known to live then, and none is sampled. */
static bool is_out_of_sight(const struct pl_target *t)
{
	return t->attached && t->python.threads.samplers.len == 0 && pl_proc_owner(t->python.pid) == (uid_t)-1;
}

/* Every thread of every process. Backwards, as a process can leave. */
void pl_round(struct pl_engine *e, uint64_t now, uint64_t weight_ns)
{
	e->now.ticks++;
	e->looked_ns = now;
	e->stood_ns = 0;
	for (size_t i = e->targets.len; i-- > 0 && !is_over(e);) {
		struct pl_target *t = e->targets.data[i];

		if (t->attached && e->options.own)
			pl_python_process_keep_open(&t->python);
		if (t->attached && sample_target(e, t, now, weight_ns) == PL_ROUND_GONE &&
		    pl_mem_live_gone(t->python.reader.live))
			lose_target(e, t, now);
		else if (is_out_of_sight(t))
			e->now.losses[PL_LOSS_UNREADABLE]++;
	}
	if (!is_over(e))
		pl_task_looks_take(e, now);
	e->looked_ns = 0;
}
