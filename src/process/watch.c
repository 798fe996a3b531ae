/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. One thread that is watched: what is known of it, and which way is taken to prove
 * its stack. See watch.h for the rules, prove.h for the ways. */
#include "watch.h"

#include <string.h>

#include "clock.h"
#include "prove.h"
#include "thread_state.h"

/* At high rates the kernel is not asked at each sample whether a calm thread still runs. */
#define ACTIVITY_FRESH_NS 400000ull

static uint64_t times_blocked(const struct pl_watch *w)
{
	struct pl_thread_state state;

	pl_thread_state_read(w->pid, w->tid, &state);
	return state.blocks;
}

void pl_watch_init(struct pl_watch *w, struct pl_reader *r, pid_t pid, pid_t tid, const struct pl_tstate *ts,
		   const struct pl_interp *interp)
{
	*w = (struct pl_watch){.pid = pid, .tid = tid, .ident = ts->thread_id, .main = tid == pid, .moving = true};
	pl_stack_reader_init(&w->stack, r, ts->addr, interp);
	pl_thread_clock_open(&w->clock, pid, tid);
	w->counted = pl_thread_clock_counters(&w->clock, &w->first) == PL_CLOCK_OK;
	w->counters = w->first;
	pl_bursts_begin(&w->bursts, &w->first, times_blocked(w));
}

void pl_watch_deinit(struct pl_watch *w)
{
	pl_thread_clock_close(&w->clock);
	pl_stack_reader_deinit(&w->stack);
	pl_outer_deinit(&w->outer);
}

/* How long it has run is asked after how often it has blocked: a burst that ends just then may be in the time and not
 * be counted. The other way round its time would be added to the next one's, and two short bursts look like a long one.
 */
static void note_end_of_burst(struct pl_watch *w)
{
	uint64_t blocks = times_blocked(w);
	struct pl_run_counters now;

	if (pl_thread_clock_counters(&w->clock, &now) == PL_CLOCK_OK)
		pl_bursts_end(&w->bursts, &now, blocks);
}

/* Is it likely to block before a stop reaches it? Then it is not stopped: an interrupted epoll_wait returns EINTR. Not
 * known without run counters. */
static bool blocks_soon(struct pl_watch *w)
{
	if (!w->counted)
		return false;
	if (pl_bursts_may_have_ended(&w->bursts, &w->counters))
		note_end_of_burst(w);
	else
		pl_bursts_go_on(&w->bursts, &w->counters);
	return pl_bursts_brief(&w->bursts);
}

/* ---- what is known of it ---- */

void pl_watch_clocked(struct pl_watch *w, const struct pl_run_counters *c, uint64_t now)
{
	w->cpu_ns = c->run_ns - w->first.run_ns;
	w->clocked_ns = now;
}

/* What the kernel says of its runs up to now. *same_ret: it has not been on a CPU since the last sample, which then
 * still holds. False: it has ended. */
static bool count_runs(struct pl_watch *w, uint64_t now, bool *same_ret)
{
	struct pl_run_counters c;
	enum pl_clock_result r = pl_thread_clock_counters(&w->clock, &c);

	*same_ret = false;
	w->counted = r == PL_CLOCK_OK;
	if (!w->counted)
		return r != PL_CLOCK_GONE;
	*same_ret = w->still && c.runs == w->counters.runs;
	w->ran_ns += c.run_ns - w->counters.run_ns;
	pl_watch_clocked(w, &c, now);
	w->counters = c;
	return true;
}

static bool runs_frames(const struct pl_watch *w, struct pl_reader *r)
{
	struct pl_tstate ts;

	return !pl_tstate_read(pl_mem_live_mem(r->live), &r->py, w->stack.tstate, &ts) && ts.frame &&
	       ts.frame != ts.base_frame;
}

bool pl_watch_innermost(const struct pl_watch *w, struct pl_reader *r)
{
	for (const struct pl_watch *n = w->newer; n; n = n->newer)
		if (runs_frames(n, r))
			return false;
	return !w->older || runs_frames(w, r);
}

/* What the thread does in another interpreter is not this one's. */
void pl_watch_skip(struct pl_watch *w)
{
	(void)pl_thread_clock_counters(&w->clock, &w->counters);
	w->still = false;
}

void pl_watch_pause(struct pl_watch *w)
{
	bool same;

	(void)count_runs(w, pl_clock_monotonic_ns(), &same);
}

void pl_watch_resume(struct pl_watch *w)
{
	struct pl_run_counters c;

	w->still = false;
	if (pl_thread_clock_counters(&w->clock, &c) != PL_CLOCK_OK)
		return;
	w->first.run_ns += c.run_ns - w->counters.run_ns;
	w->counters = c;
}

/* ---- which way ---- */

static enum pl_watch_result sample_running(struct pl_attempt *a, enum pl_activity activity, uint64_t now)
{
	struct pl_watch *w = a->w;
	enum pl_watch_result result = PL_WATCH_UNPROVED;

	if (pl_stopper_holds(a->stopper, w->tid))
		result = pl_prove_held(a);
	else if (a->stopper->policy != PL_STOP_ALWAYS)
		result = pl_prove_as_it_runs(a, activity);
	if (result == PL_WATCH_UNPROVED && activity == PL_ACTIVITY_RUNNING && pl_attempt_may_stand_beside(a, now))
		result = pl_prove_beside(a);
	if (result == PL_WATCH_UNPROVED && activity == PL_ACTIVITY_RUNNING && pl_stopper_may(a->stopper, now) &&
	    !blocks_soon(w))
		result = pl_prove_asking_again(a);
	if (result != PL_WATCH_UNPROVED)
		return result;
	if (!a->reading->steady)
		return pl_prove_outer(a, activity);
	return pl_attempt_take(a, activity, NULL, PL_DOUBTFUL);
}

/* Is it clear before it is asked what it does that it will be stopped, if it runs? Of one that was brief when it was
 * last looked at that takes a dear look, which is for those that do run: a server's threads hardly ever do. */
static bool stop_is_due(const struct pl_attempt *a, uint64_t now)
{
	return (a->w->moving || a->stopper->policy == PL_STOP_ALWAYS) && pl_stopper_may(a->stopper, now) &&
	       !pl_bursts_brief(&a->w->bursts) && !blocks_soon(a->w);
}

/* A moving thread is stopped anyway: now and then is enough to notice that it has become calm. */
static bool probe_is_due(const struct pl_attempt *a)
{
	return a->stopper->policy != PL_STOP_ALWAYS && a->w->probes++ % PL_PROBE_EVERY == 0;
}

/* A thread is called asleep as soon as it has decided to sleep; until it has left its CPU that is its time. */
static bool has_cpu(const struct pl_watch *w)
{
	struct pl_run_counters counters;
	struct pl_thread_state state;

	if (pl_thread_clock_counters(&w->clock, &counters) != PL_CLOCK_OK)
		return false;
	pl_thread_state_read(w->pid, w->tid, &state);
	return counters.runs > state.ends;
}

/* Where only what runs counts, that is who runs when it is asked what it does, and it is asked before it is read. Were
 * it the other way round for a thread that ran at the last tick, one that is going to sleep would be found asleep, one
 * that wakes up would be read when it is on its way out already, and falling asleep and waking up would cost nothing.
 * But from the question to the stack it must not be longer than waking up takes, or what wakes up is given to the
 * sleep: so all that can be done before the question is. The kernel answers for one that falls asleep when it has left
 * its CPU: so that it still had it is asked before, too. */
static enum pl_watch_result sample_by_activity(struct pl_attempt *a, bool running_only, uint64_t now)
{
	struct pl_watch *w = a->w;
	struct pl_activity_info info = {.syscall = -1};
	bool beside = w->moving && pl_attempt_may_stand_beside(a, now);
	bool stop = !beside && stop_is_due(a, now), probed = stop && probe_is_due(a);
	struct plumb_error *err = probed ? pl_attempt_read_for_steady(a) : NULL;
	enum pl_watch_result result = PL_WATCH_UNPROVED;

	if (err)
		return pl_attempt_failed(err);
	bool on = running_only && has_cpu(w);
	enum pl_activity activity = pl_thread_clock_activity(&w->clock, &info);
	if (activity == PL_ACTIVITY_GONE)
		return PL_WATCH_GONE;
	w->activity_ns = now;
	if (activity == PL_ACTIVITY_RUNNING && beside) {
		result = pl_prove_beside(a);
	} else if (activity == PL_ACTIVITY_RUNNING && stop) {
		if (probed)
			pl_attempt_note_steadiness(a, a->reading);
		result = pl_prove_by_stop(a);
	} else if (activity == PL_ACTIVITY_BLOCKED) {
		result = pl_prove_at_rest(a, on ? PL_ACTIVITY_RUNNING : activity, &info);
		if (running_only)
			return result;
		activity = PL_ACTIVITY_RUNNING; /* if that proved nothing */
	}
	return result != PL_WATCH_UNPROVED ? result : sample_running(a, activity, now);
}

/* A calm thread that was running at its last sample most likely still is: read first, then see what it does. */
static bool looks_calm(const struct pl_attempt *a)
{
	const struct pl_watch *w = a->w;

	return !w->moving && (w->last.state & PL_STATE_ON_CPU) && a->stopper->policy != PL_STOP_ALWAYS;
}

static enum pl_watch_result sample_calm(struct pl_attempt *a, uint64_t now)
{
	struct pl_watch *w = a->w;
	struct plumb_error *err = pl_stack_read(a->r, &w->stack, a->reading);

	if (err)
		return pl_attempt_failed(err);
	if (!a->reading->steady)
		return PL_WATCH_UNPROVED;
	if (now - w->activity_ns > ACTIVITY_FRESH_NS) {
		if (!pl_attempt_still_running(w))
			return PL_WATCH_UNPROVED;
		w->activity_ns = now;
	}
	return pl_attempt_take(a, PL_ACTIVITY_RUNNING, NULL, PL_EXACT);
}

static enum pl_watch_result take(struct pl_attempt *a, bool running_only, uint64_t now)
{
	struct pl_watch *w = a->w;
	enum pl_watch_result result;
	bool same;

	if (!running_only && looks_calm(a) && (result = sample_calm(a, now)) != PL_WATCH_UNPROVED)
		return result;
	if (!count_runs(w, now, &same))
		return PL_WATCH_GONE;
	if (same) {
		*a->ret = w->last;
		return running_only ? PL_WATCH_NOTHING : PL_WATCH_SAMPLE;
	}
	w->still = false;
	return sample_by_activity(a, running_only, now);
}

enum pl_watch_result pl_watch_sample(struct pl_watch *w, struct pl_reader *r, struct pl_stopper *stopper,
				     bool running_only, struct pl_reading *reading, struct pl_raw_sample *ret)
{
	struct pl_attempt a = {.w = w, .r = r, .stopper = stopper, .reading = reading, .ret = ret};

	*reading = (struct pl_reading){0};
	enum pl_watch_result result = take(&a, running_only, pl_clock_monotonic_ns());
	if (result != PL_WATCH_SAMPLE)
		return result;
	w->last = *ret;
	return running_only && !(ret->state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN)) ? PL_WATCH_NOTHING : result;
}
