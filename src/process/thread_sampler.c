/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. One thread that is sampled: what is known of it, and which way is taken to prove
 * its stack. See thread_sampler.h for the rules, prove.h for the ways. */
#include "thread_sampler.h"

#include <string.h>

#include "clock.h"
#include "core.h"
#include "prove.h"
#include "thread_state.h"

/* At high rates the kernel is not asked at each sample whether a stable thread still runs. */
#define ACTIVITY_FRESH_NS 400000ull

static uint64_t times_blocked(const struct pl_thread_sampler *thread)
{
	struct pl_thread_state state;

	pl_thread_state_read(thread->pid, thread->tid, &state);
	return state.blocks;
}

static void init(struct pl_thread_sampler *thread, struct pl_reader *r, pid_t pid, pid_t tid,
		 const struct pl_tstate *ts, const struct pl_interp *interp)
{
	*thread = (struct pl_thread_sampler){
		.pid = pid, .tid = tid, .ident = ts->thread_id, .main = tid == pid, .unstable = true};
	pl_stack_reader_init(&thread->stack, r, ts->addr, interp);
	thread->stack.thread_id = ts->thread_id;
}

static void begin_counting(struct pl_thread_sampler *thread)
{
	pl_thread_clock_open(&thread->clock, thread->pid, thread->tid);
	thread->counted = pl_thread_clock_counters(&thread->clock, &thread->first) == PL_CLOCK_OK;
	thread->counters = thread->first;
	pl_ready_time_begin(&thread->ready, &thread->first, pl_clock_monotonic_ns(), (uint64_t)thread->tid);
	pl_bursts_begin(&thread->bursts, &thread->first, times_blocked(thread));
}

void pl_thread_sampler_init_of_core(struct pl_thread_sampler *thread, struct pl_reader *r, const struct pl_core *core,
				    pid_t tid, const struct pl_tstate *ts, const struct pl_interp *interp)
{
	init(thread, r, pl_core_pid(core), tid, ts, interp);
	pl_thread_clock_of_core(&thread->clock, pl_core_thread_of(core, tid));
}

void pl_thread_sampler_init(struct pl_thread_sampler *thread, struct pl_reader *r, pid_t pid, pid_t tid,
			    const struct pl_tstate *ts, const struct pl_interp *interp)
{
	init(thread, r, pid, tid, ts, interp);
	begin_counting(thread);
}

void pl_thread_sampler_init_native(struct pl_thread_sampler *thread, pid_t pid, pid_t tid)
{
	*thread = (struct pl_thread_sampler){.pid = pid, .tid = tid, .main = tid == pid, .unstable = true};
	begin_counting(thread);
}

/* Of the stack that it had nothing holds. */
static void forget_stack(struct pl_thread_sampler *thread)
{
	pl_stack_reader_deinit(&thread->stack);
	pl_outer_deinit(&thread->outer);
	thread->stack = (struct pl_stack_reader){0};
	thread->outer = (struct pl_outer){0};
	thread->last = (struct pl_raw_sample){0};
	thread->awaits = (struct pl_awaits){0};
	thread->holds = (struct pl_thread_holds){0};
	thread->still = thread->stood = thread->seen_unstable = false;
	thread->unstable = true;
	thread->steady_run = 0;
}

void pl_thread_sampler_get_state(struct pl_thread_sampler *thread, struct pl_reader *r, const struct pl_tstate *ts,
				 const struct pl_interp *interp)
{
	forget_stack(thread);
	thread->ident = ts->thread_id;
	pl_stack_reader_init(&thread->stack, r, ts->addr, interp);
	thread->stack.thread_id = ts->thread_id;
}

void pl_thread_sampler_unlink(struct pl_thread_sampler *thread)
{
	if (thread->newer)
		thread->newer->older = thread->older;
	if (thread->older)
		thread->older->newer = thread->newer;
	thread->newer = thread->older = NULL;
}

void pl_thread_sampler_lose_state(struct pl_thread_sampler *thread)
{
	pl_thread_sampler_unlink(thread);
	forget_stack(thread);
	thread->ident = 0;
}

void pl_thread_sampler_deinit(struct pl_thread_sampler *thread)
{
	pl_thread_clock_close(&thread->clock);
	pl_stack_reader_deinit(&thread->stack);
	pl_outer_deinit(&thread->outer);
}

/* How long it has run is asked after how often it has blocked: a burst that ends just then may be in the time and not
 * be counted. The other way round its time would be added to the next one's, and two short bursts look like a long one.
 */
static void note_end_of_burst(struct pl_thread_sampler *thread)
{
	uint64_t blocks = times_blocked(thread);
	struct pl_run_counters now;

	if (pl_thread_clock_counters(&thread->clock, &now) == PL_CLOCK_OK)
		pl_bursts_end(&thread->bursts, &now, blocks);
}

bool pl_thread_sampler_blocks_soon(struct pl_thread_sampler *thread)
{
	if (!thread->counted)
		return false;
	if (!pl_bursts_may_have_ended(&thread->bursts, &thread->counters))
		pl_bursts_go_on(&thread->bursts, &thread->counters);
	else if (!pl_bursts_stay_long(&thread->bursts, &thread->counters))
		note_end_of_burst(thread);
	return pl_bursts_brief(&thread->bursts);
}

/* ---- what is known of it ---- */

void pl_thread_sampler_clocked(struct pl_thread_sampler *thread, const struct pl_run_counters *c, uint64_t now)
{
	thread->cpu_ns = c->run_ns - thread->first.run_ns;
	thread->clocked_ns = now;
}

/* What the kernel says of its runs up to now. *same_ret: it has not been on a CPU since the last sample, which then
 * still holds. False: it has ended. */
static bool count_runs(struct pl_thread_sampler *thread, uint64_t now, bool *same_ret)
{
	struct pl_run_counters c;
	enum pl_clock_result r = pl_thread_clock_counters(&thread->clock, &c);

	*same_ret = false;
	thread->counted = r == PL_CLOCK_OK;
	if (!thread->counted)
		return r != PL_CLOCK_GONE;
	*same_ret = (thread->still || thread->stood) && c.runs == thread->counters.runs;
	thread->ran_ns += c.run_ns - thread->counters.run_ns;
	pl_thread_sampler_clocked(thread, &c, now);
	thread->counters = c;
	return true;
}

static bool runs_frames(const struct pl_thread_sampler *thread, struct pl_reader *r)
{
	struct pl_tstate ts;

	return !pl_tstate_read(r->mem, &r->py, thread->stack.tstate, &ts) && pl_tstate_runs_frames(&ts);
}

bool pl_thread_sampler_innermost(const struct pl_thread_sampler *thread, struct pl_reader *r)
{
	for (const struct pl_thread_sampler *n = thread->newer; n; n = n->newer)
		if (runs_frames(n, r))
			return false;
	return !thread->older || runs_frames(thread, r);
}

/* What the thread does in another interpreter is not this one's. */
void pl_thread_sampler_skip(struct pl_thread_sampler *thread)
{
	(void)pl_thread_clock_counters(&thread->clock, &thread->counters);
	thread->still = thread->stood = false;
}

bool pl_thread_sampler_count_standing(struct pl_thread_sampler *thread)
{
	bool same;

	return count_runs(thread, pl_clock_monotonic_ns(), &same) && thread->counted;
}

void pl_thread_sampler_pause(struct pl_thread_sampler *thread)
{
	bool same;

	(void)count_runs(thread, pl_clock_monotonic_ns(), &same);
}

void pl_thread_sampler_resume(struct pl_thread_sampler *thread)
{
	struct pl_run_counters c;

	thread->still = thread->stood = false;
	if (pl_thread_clock_counters(&thread->clock, &c) != PL_CLOCK_OK)
		return;
	thread->first.run_ns += c.run_ns - thread->counters.run_ns;
	thread->counters = c;
}

/* ---- which way ---- */

/* One that blocks soon is not stopped. Mostly it is in C code when it runs: a server's threads do little else. A
 * reading that was steady is not given up for one that is not. */
static enum pl_take_result stop_or_leave(struct pl_attempt *a, uint64_t now)
{
	if (pl_stopper_may(a->stopper, now) && !pl_thread_sampler_blocks_soon(a->thread))
		return pl_prove_asking_again(a);
	return a->reading->steady || pl_attempt_may_run_python(a) ? PL_TAKE_UNPROVED : pl_prove_outside_python(a);
}

static enum pl_take_result sample_running(struct pl_attempt *a, enum pl_activity activity, uint64_t now)
{
	struct pl_thread_sampler *thread = a->thread;
	enum pl_take_result result = PL_TAKE_UNPROVED;

	if (pl_stopper_holds(a->stopper, thread->tid))
		result = pl_prove_held(a);
	else if (a->stopper->policy != PL_STOP_ALWAYS)
		result = pl_prove_as_it_runs(a, activity);
	if (result == PL_TAKE_UNPROVED && activity == PL_ACTIVITY_RUNNING && pl_attempt_may_stand_beside(a, now))
		result = pl_prove_beside(a);
	if (result == PL_TAKE_UNPROVED && activity == PL_ACTIVITY_RUNNING)
		result = stop_or_leave(a, now);
	if (result != PL_TAKE_UNPROVED)
		return result;
	if (pl_thread_sampler_is_native(thread))
		return pl_prove_without_python(a, activity);
	if (!a->reading->steady)
		return pl_prove_outer(a, activity);
	return pl_attempt_take(a, activity, NULL, PL_DOUBTFUL);
}

/* Is it clear before it is asked what it does that it will be stopped, if it runs? Of one that was brief when it was
 * last looked at that takes a dear look, which is for those that do run: a server's threads hardly ever do. */
static bool stop_is_due(const struct pl_attempt *a, uint64_t now)
{
	return (a->thread->unstable || a->stopper->policy == PL_STOP_ALWAYS) && pl_stopper_may(a->stopper, now) &&
	       !pl_bursts_brief(&a->thread->bursts) && !pl_thread_sampler_blocks_soon(a->thread);
}

/* An unstable thread is stopped anyway: now and then is enough to notice that it has become stable. */
static bool probe_is_due(const struct pl_attempt *a)
{
	return a->stopper->policy != PL_STOP_ALWAYS && a->thread->probes++ % PL_PROBE_EVERY == 0;
}

/* Who comes to a CPU between the two has one now. The other way round he would seem to have left it more often than he
 * came. */
static bool read_leaves(const struct pl_thread_sampler *thread, struct pl_run_counters *c,
			struct pl_thread_state *state)
{
	pl_thread_state_read(thread->pid, thread->tid, state);
	return pl_thread_clock_counters(&thread->clock, c) == PL_CLOCK_OK;
}

static void note_leaves(struct pl_thread_sampler *thread)
{
	struct pl_run_counters counters;
	struct pl_thread_state state;

	if (!read_leaves(thread, &counters, &state))
		state.ends = UINT64_MAX;
	pl_leaves_note(&thread->leaves, &counters, &state);
}

/* A thread is called asleep as soon as it has decided to sleep; until it has left its CPU that is its time. It is off
 * its CPU by now. */
static bool had_cpu(struct pl_thread_sampler *thread)
{
	struct pl_run_counters counters;
	struct pl_thread_state state;

	return pl_leaves_may_have_cpu(&thread->leaves) && read_leaves(thread, &counters, &state) &&
	       pl_leaves_slept(&thread->leaves, &counters, &state);
}

/* It is said to run or to be ready. Who had a CPU when we came counts, wherever that is; and if we came late, not who
 * leaves it often: we may have had to wait until it did. */
static bool only_waits(const struct pl_attempt *a)
{
	const struct pl_thread_sampler *thread = a->thread;

	if (pl_leaves_only_waits(&thread->leaves))
		return true;
	if (pl_leaves_may_have_cpu(&thread->leaves) || !a->stopper->beside)
		return false;
	enum pl_arrival_took took = pl_arrival_took(&a->stopper->beside->arrival, thread->pid, thread->tid);
	return took == PL_ARRIVAL_DID_NOT || (took == PL_ARRIVAL_TOOK_LATE && thread->leaves.often);
}

/* Where only what runs counts, that is who runs when it is asked what it does, and it is asked before it is read. Were
 * it the other way round for a thread that ran at the last tick, one that is going to sleep would be found asleep, one
 * that wakes up would be read when it is on its way out already, and falling asleep and waking up would cost nothing.
 * But from the question to the stack it must not be longer than waking up takes, or what wakes up is given to the
 * sleep: so all that can be done before the question is. The kernel answers for one that falls asleep when it has left
 * its CPU, and calls who waits for one running: so its switches are looked at before, too (leaves.h). */
static enum pl_take_result sample_by_activity(struct pl_attempt *a, bool running_only, uint64_t now)
{
	struct pl_thread_sampler *thread = a->thread;
	struct pl_activity_info info = {.syscall = -1};
	bool beside = thread->unstable && pl_attempt_may_stand_beside(a, now);
	bool stop = !beside && stop_is_due(a, now), probed = stop && probe_is_due(a);
	struct plumb_error *err = probed ? pl_attempt_read_for_steady(a) : NULL;
	enum pl_take_result result = PL_TAKE_UNPROVED;

	if (err)
		return pl_attempt_failed(err);
	if (running_only)
		note_leaves(thread);
	enum pl_activity activity = pl_thread_clock_activity(&thread->clock, &info);
	if (activity == PL_ACTIVITY_GONE)
		return PL_TAKE_GONE;
	if (activity == PL_ACTIVITY_BLOCKED && pl_stopper_has_come(a->stopper, thread->tid))
		activity = PL_ACTIVITY_RUNNING; /* it got a CPU, and stands because of us */
	thread->activity_ns = now;
	if (running_only && activity == PL_ACTIVITY_RUNNING && only_waits(a))
		return PL_TAKE_NOTHING;
	if (activity == PL_ACTIVITY_RUNNING && beside) {
		result = pl_prove_beside(a);
	} else if (activity == PL_ACTIVITY_RUNNING && stop) {
		if (probed)
			pl_attempt_note_steadiness(a, a->reading);
		result = pl_prove_by_stop(a);
	} else if (activity == PL_ACTIVITY_BLOCKED) {
		bool on = running_only && had_cpu(thread);
		result = pl_prove_at_rest(a, on ? PL_ACTIVITY_RUNNING : activity, &info);
		if (running_only)
			return result;
		activity = PL_ACTIVITY_RUNNING; /* if that proved nothing */
	}
	return result != PL_TAKE_UNPROVED ? result : sample_running(a, activity, now);
}

/* A stable thread that was running at its last sample most likely still is: read first, then see what it does. */
static bool looks_stable(const struct pl_attempt *a)
{
	const struct pl_thread_sampler *thread = a->thread;

	return !thread->unstable && (thread->last.state & PL_STATE_ON_CPU) && a->stopper->policy != PL_STOP_ALWAYS &&
	       !pl_thread_sampler_is_native(thread);
}

static enum pl_take_result sample_stable(struct pl_attempt *a, uint64_t now)
{
	struct pl_thread_sampler *thread = a->thread;
	struct plumb_error *err = pl_stack_read(a->r, &thread->stack, a->reading);

	if (err)
		return pl_attempt_failed(err);
	if (!a->reading->steady)
		return PL_TAKE_UNPROVED;
	if (now - thread->activity_ns > ACTIVITY_FRESH_NS) {
		bool same;

		if (!pl_attempt_still_running(thread) || !count_runs(thread, now, &same))
			return PL_TAKE_UNPROVED;
		thread->activity_ns = now;
	}
	return pl_attempt_take(a, PL_ACTIVITY_RUNNING, NULL, PL_EXACT);
}

static enum pl_take_result take(struct pl_attempt *a, bool running_only, uint64_t now)
{
	struct pl_thread_sampler *thread = a->thread;
	enum pl_take_result result;
	bool same;

	if (!a->r->live)
		return pl_prove_in_core(a);
	if (!running_only && looks_stable(a) && (result = sample_stable(a, now)) != PL_TAKE_UNPROVED)
		return result;
	if (!count_runs(thread, now, &same))
		return PL_TAKE_GONE;
	if (same && !(thread->stood && a->stopper->takers)) {
		*a->ret = thread->last;
		return running_only && !thread->stood ? PL_TAKE_NOTHING : PL_TAKE_SAMPLE;
	}
	thread->still = thread->stood = false;
	thread->awaits.object = 0;
	return sample_by_activity(a, running_only, now);
}

enum pl_take_result pl_thread_sampler_take(struct pl_thread_sampler *thread, struct pl_reader *r,
					   struct pl_stopper *stopper, bool running_only, struct pl_reading *reading,
					   struct pl_raw_sample *ret)
{
	struct pl_attempt a = {.thread = thread, .r = r, .stopper = stopper, .reading = reading, .ret = ret};

	*reading = (struct pl_reading){0};
	enum pl_take_result result = take(&a, running_only, pl_clock_monotonic_ns());
	if (result != PL_TAKE_SAMPLE)
		return result;
	thread->last = *ret;
	return running_only && !(ret->state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN)) ? PL_TAKE_NOTHING : result;
}

enum pl_take_result pl_thread_sampler_take_stopped(struct pl_thread_sampler *thread, struct pl_reader *r,
						   struct pl_stopper *stopper, struct pl_stop_taker *taker,
						   struct pl_reading *reading, struct pl_raw_sample *ret)
{
	enum pl_stop_policy policy = stopper->policy;
	struct pl_still still = stopper->still;

	if (policy == PL_STOP_AUTO)
		stopper->policy = PL_STOP_ALWAYS;
	pl_stopper_add_taker(stopper, taker);
	enum pl_take_result result = pl_thread_sampler_take(thread, r, stopper, false, reading, ret);
	pl_stopper_remove_taker(stopper, taker);
	stopper->policy = policy;
	stopper->still = still;
	return result;
}
