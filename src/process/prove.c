/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. What the ways to prove a stack have in common, and those that hold nobody up.
 * See prove.h; reading.c for what a steady reading is. */
#include "prove.h"

#include <sys/syscall.h>

#include "native_reader.h"
#include "wait_reason.h"
#include "words.h"

static bool waits_for_gil(const struct pl_activity_info *info, const struct pl_interp *interp)
{
	return info && info->syscall == SYS_futex && pl_interp_gil_has(interp, info->args[0]);
}

struct plumb_error *pl_attempt_read(struct pl_attempt *a)
{
	if (!pl_thread_sampler_is_native(a->thread))
		return pl_stack_read(a->r, &a->thread->stack, a->reading);
	*a->reading = (struct pl_reading){.complete = true, .steady = true, .bare = true};
	return NULL;
}

static bool may_run_python(const struct pl_reading *r)
{
	return pl_tstate_may_run(&r->tstate, &r->interp);
}

static uint16_t state_of_activity(enum pl_activity activity)
{
	if (activity == PL_ACTIVITY_RUNNING)
		return PL_STATE_ON_CPU;
	return activity == PL_ACTIVITY_BLOCKED ? 0 : PL_STATE_UNKNOWN;
}

static uint16_t state_of_python(const struct pl_reading *r, enum pl_activity activity,
				const struct pl_activity_info *info)
{
	const struct pl_tstate *ts = &r->tstate;
	uint16_t state = 0;

	if (pl_tstate_has_gil(ts, &r->interp))
		state |= PL_STATE_HAS_GIL;
	else if (ts->gil_requested || (activity == PL_ACTIVITY_BLOCKED && waits_for_gil(info, &r->interp)))
		state |= PL_STATE_WANTS_GIL;
	if (may_run_python(r) && r->interp.gc_collecting)
		state |= PL_STATE_IN_GC;
	if (ts->exception)
		state |= PL_STATE_EXCEPTION;
	if (r->in_jit)
		state |= PL_STATE_JIT;
	return state;
}

static uint16_t state_of(const struct pl_attempt *a, enum pl_activity activity, const struct pl_activity_info *info)
{
	uint16_t state = state_of_activity(activity);

	if (!pl_thread_sampler_is_native(a->thread))
		state |= state_of_python(a->reading, activity, info);
	if (activity == PL_ACTIVITY_BLOCKED && !(state & PL_STATE_WANTS_GIL))
		state |= pl_reason_state(a->reason);
	return state;
}

static uint8_t marker_of(const struct pl_reading *r, uint16_t state)
{
	if (r->folded)
		return PL_MARKER_FOLDED;
	if (state & PL_STATE_IN_GC)
		return PL_MARKER_GC;
	return r->node == 0 && r->native_node == 0 ? PL_MARKER_NO_FRAME : PL_MARKER_NONE;
}

/* Its native frames are all there is to know. */
static enum pl_take_result take_without_python(struct pl_attempt *a, uint16_t state, enum pl_quality quality)
{
	uint32_t native = a->reading->native_node;

	*a->ret = (struct pl_raw_sample){.node = native,
					 .native_untold = a->r->native_frames && !native,
					 .state = state,
					 .quality = (uint8_t)(native ? quality : PL_PARTIAL),
					 .marker = native ? PL_MARKER_NONE : PL_MARKER_MOVING};
	return PL_TAKE_SAMPLE;
}

enum pl_take_result pl_attempt_take(struct pl_attempt *a, enum pl_activity activity,
				    const struct pl_activity_info *info, enum pl_quality quality)
{
	const struct pl_reading *r = a->reading;
	uint16_t state = state_of(a, activity, info);
	bool proved = quality == PL_EXACT || quality == PL_STOPPED;
	uint32_t task = proved ? r->task_node : 0, native = proved ? r->native_node : 0;

	if (pl_thread_sampler_is_native(a->thread))
		return take_without_python(a, state, quality);
	*a->ret = (struct pl_raw_sample){.node = native ? native
						 : task ? task
							: r->node,
					 .task_untold = r->in_task && !task,
					 .native_untold = a->r->native_frames && !native,
					 .tag = r->tag,
					 .state = state,
					 .quality = (uint8_t)quality,
					 .marker = marker_of(r, state)};
	return PL_TAKE_SAMPLE;
}

void pl_attempt_take_native(struct pl_attempt *a, const struct pl_activity_info *info)
{
	const struct pl_thread_sampler *thread = a->thread;

	if (!a->r->native || !a->reading->complete || a->reading->folded)
		return;
	(void)pl_native_reader_take(a->r->native, &thread->stack, thread->tid, info);
}

void pl_attempt_see_native(struct pl_attempt *a)
{
	if (a->r->native)
		plumb_error_destroy(
			pl_native_reader_node(a->r->native, a->r, &a->thread->stack, &a->reading->native_node));
}

enum pl_take_result pl_attempt_failed(struct plumb_error *err)
{
	return err == &pl_err_target_exited ? PL_TAKE_EXITED : PL_TAKE_UNREADABLE;
}

/* It was blocked before the reading: was it all along? A kernel without run counters leaves the proof to the reading.
 */
static bool stood_still(const struct pl_thread_sampler *thread, const struct pl_reading *r)
{
	struct pl_run_counters after;

	if (!thread->counted)
		return r->steady && pl_thread_clock_activity(&thread->clock, NULL) == PL_ACTIVITY_BLOCKED;
	return pl_thread_clock_counters(&thread->clock, &after) == PL_CLOCK_OK && after.runs == thread->counters.runs;
}

/* While it stands still. */
static struct pl_awaits awaited_lock(const struct pl_attempt *a, const struct pl_activity_info *info)
{
	struct pl_awaits awaits = {0};

	if (a->r->lock_looks && !pl_thread_sampler_is_native(a->thread) && a->reading->complete &&
	    info->syscall == SYS_futex && !waits_for_gil(info, &a->reading->interp))
		pl_lock_looks_find(a->r->lock_looks, &a->thread->stack.frames, info->args[0], &awaits);
	return awaits;
}

enum pl_take_result pl_prove_at_rest(struct pl_attempt *a, enum pl_activity activity,
				     const struct pl_activity_info *info)
{
	struct pl_thread_sampler *thread = a->thread;
	for (int i = 0; i < 2; i++) {
		struct plumb_error *err = pl_attempt_read(a);
		if (err)
			return pl_attempt_failed(err);
		if (a->reading->complete)
			break;
	}
	pl_attempt_take_native(a, info);
	struct pl_awaits awaits = awaited_lock(a, info);
	if (activity == PL_ACTIVITY_BLOCKED)
		a->reason = pl_wait_reason(thread->pid, thread->tid, a->r->mem, info);
	if (!stood_still(thread, a->reading))
		return PL_TAKE_UNPROVED;
	if (!a->reading->complete)
		return PL_TAKE_UNREADABLE;
	pl_attempt_see_native(a);
	pl_stack_trust(a->r, &thread->stack, a->reading);
	thread->still = thread->counted && activity == PL_ACTIVITY_BLOCKED;
	thread->awaits = awaits;
	return pl_attempt_take(a, activity, info, PL_EXACT);
}

bool pl_attempt_still_running(const struct pl_thread_sampler *thread)
{
	return pl_thread_clock_activity(&thread->clock, NULL) == PL_ACTIVITY_RUNNING;
}

bool pl_attempt_is_whole(const struct pl_attempt *a, pl_addr root)
{
	const struct pl_reading *r = a->reading;

	return r->complete &&
	       (r->root == 0 || r->root == root || pl_stack_root_as_others(a->r, &a->thread->stack, r->root));
}

/* A steady reading says something only if the thread has run since the last one that was counted: one that merely waits
 * for a CPU is steady as often as we look. */
static bool has_run(struct pl_thread_sampler *thread, const struct pl_reading *r)
{
	pl_addr instr = thread->stack.frames.len ? thread->stack.frames.data[0].instr : 0;
	bool ran = r->node != thread->counted_node || instr != thread->counted_instr ||
		   thread->counters.run_ns != thread->counted_run_ns;

	thread->counted_node = r->node;
	thread->counted_instr = instr;
	thread->counted_run_ns = thread->counters.run_ns;
	return ran;
}

/* Of one that runs on the processor that we keep to it says nothing: it stands still because of us. */
static bool may_run_meanwhile(const struct pl_attempt *a)
{
	return !a->stopper->beside || a->stopper->beside->cpu == PL_BESIDE_NOBODY;
}

void pl_attempt_note_steadiness(struct pl_attempt *a, const struct pl_reading *r)
{
	struct pl_thread_sampler *thread = a->thread;

	if (!r->steady) {
		thread->unstable = thread->seen_unstable = true;
		thread->steady_run = 0;
	} else if (thread->unstable && may_run_meanwhile(a) && has_run(thread, r) &&
		   ++thread->steady_run >= PL_STABLE_AFTER) {
		thread->unstable = thread->seen_unstable = false;
		thread->steady_run = 0;
	}
}

bool pl_attempt_may_run_python(const struct pl_attempt *a)
{
	struct pl_reading now = {0};

	return !pl_tstate_read(a->r->mem, &a->r->py, a->thread->stack.tstate, &now.tstate) &&
	       !pl_interp_read_again(a->r->mem, &a->r->py, &a->thread->stack.interp, &now.interp) &&
	       may_run_python(&now);
}

/* Without the GIL it could not push a frame, nor move in one: if its innermost instruction did not move, it stood
 * still.
 */
static bool stood_outside_python(const struct pl_reading *r)
{
	return r->bare || (r->steady && r->at_rest && !may_run_python(r));
}

enum pl_take_result pl_prove_outside_python(struct pl_attempt *a)
{
	for (int i = 0; i < 2; i++) {
		struct plumb_error *err = pl_attempt_read(a);

		if (err)
			return pl_attempt_failed(err);
		if (stood_outside_python(a->reading))
			return pl_attempt_take(a, PL_ACTIVITY_RUNNING, NULL, PL_EXACT);
	}
	return PL_TAKE_UNPROVED;
}

enum pl_take_result pl_prove_without_python(struct pl_attempt *a, enum pl_activity activity)
{
	struct plumb_error *err = pl_attempt_read(a);

	return err ? pl_attempt_failed(err) : pl_attempt_take(a, activity, NULL, PL_EXACT);
}

/* The first reading may merely miss a plan that was made for another stack; the second has a new plan. That without any
 * makes one, and is never steady. */
struct plumb_error *pl_attempt_read_for_steady(struct pl_attempt *a)
{
	int tries = a->thread->stack.snap.plan.len ? 2 : 3;
	struct plumb_error *err;

	do
		err = pl_attempt_read(a);
	while (!err && !a->reading->steady && --tries);
	return err;
}

enum pl_take_result pl_prove_in_core(struct pl_attempt *a)
{
	struct pl_activity_info info = {.syscall = -1};
	enum pl_activity activity = pl_thread_clock_activity(&a->thread->clock, &info);
	struct plumb_error *err = pl_attempt_read(a);

	/* Nothing is beyond a limit but what is damaged. */
	if (!err && a->reading->complete && !a->reading->folded)
		return pl_attempt_take(a, activity, &info, PL_EXACT);
	a->reading->folded = false;
	err = err ? err : pl_stack_read_inner(a->r, &a->thread->stack, a->reading);
	if (err)
		return pl_attempt_failed(err);
	/* Without a frame there still is what its state and its interpreter say. */
	return a->reading->interp.addr ? pl_attempt_take(a, activity, &info, PL_PARTIAL) : PL_TAKE_UNREADABLE;
}

enum pl_take_result pl_prove_as_it_runs(struct pl_attempt *a, enum pl_activity activity)
{
	struct pl_thread_sampler *thread = a->thread;
	bool was_unstable = thread->unstable;
	struct plumb_error *err = pl_attempt_read_for_steady(a);
	if (err)
		return pl_attempt_failed(err);
	pl_attempt_note_steadiness(a, a->reading);
	if (!stood_outside_python(a->reading) && (!a->reading->steady || was_unstable))
		return PL_TAKE_UNPROVED;
	return pl_attempt_take(a, activity, NULL, PL_EXACT);
}
