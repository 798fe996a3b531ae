/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See watch.h for the rules; reading.c for what a steady reading is. */
#include "watch.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "clock.h"
#include "thread_state.h"

/* At high rates the kernel is not asked at each sample whether a calm thread still runs. */
#define ACTIVITY_FRESH_NS 400000ull
#define STOP_TRIES	  3
#define LET_RUN_NS	  20000
#define WALK_TRIES	  4
#define PROBE_EVERY	  4
#define BESIDE_TRIES	  4
#define PROBE_BESIDE	  256 /* for which we leave its processor, and come back */

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

static bool waits_for_gil(const struct pl_activity_info *info, const struct pl_interp *interp)
{
	return info->syscall == SYS_futex && pl_interp_gil_has(interp, info->args[0]);
}

static bool may_run_python(const struct pl_reading *r)
{
	return pl_tstate_may_run(&r->tstate, &r->interp);
}

static uint8_t state_of(const struct pl_reading *r, enum pl_activity activity, const struct pl_activity_info *info)
{
	const struct pl_tstate *ts = &r->tstate;
	bool holds = pl_tstate_has_gil(ts, &r->interp);
	uint8_t state = 0;

	if (activity == PL_ACTIVITY_RUNNING)
		state |= PL_STATE_ON_CPU;
	else if (activity != PL_ACTIVITY_BLOCKED)
		state |= PL_STATE_UNKNOWN;
	if (holds)
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

static uint8_t marker_of(const struct pl_reading *r, uint8_t state)
{
	if (r->folded)
		return PL_MARKER_FOLDED;
	if (state & PL_STATE_IN_GC)
		return PL_MARKER_GC;
	return r->node == 0 ? PL_MARKER_NO_FRAME : PL_MARKER_NONE;
}

static void fill(struct pl_raw_sample *s, const struct pl_reading *r, uint8_t state, enum pl_quality quality)
{
	s->node = r->node;
	s->tag = r->tag;
	s->state = state;
	s->quality = (uint8_t)quality;
	s->marker = marker_of(r, state);
}

/* What the ways to read a thread have in common. */
struct attempt {
	struct pl_watch *w;
	struct pl_reader *r;
	struct pl_stopper *stopper;
	struct pl_reading *reading;
	struct pl_raw_sample *ret;
	bool beside_tried;
};

static enum pl_watch_result read_result(struct plumb_error *err)
{
	return err == &pl_err_target_exited ? PL_WATCH_EXITED : PL_WATCH_UNREADABLE;
}

/* It was blocked before the reading: was it all along? A kernel without run counters leaves the proof to the reading.
 */
static bool stood_still(const struct pl_watch *w, const struct pl_reading *r)
{
	struct pl_run_counters after;

	if (!w->counted)
		return r->steady && pl_thread_clock_activity(&w->clock, NULL) == PL_ACTIVITY_BLOCKED;
	return pl_thread_clock_counters(&w->clock, &after) == PL_CLOCK_OK && after.runs == w->counters.runs;
}

/* Its stack stands still while it is blocked: exact if it did not get on a CPU in between. PL_WATCH_NOTHING: it did.
 * @p activity: what it did when this tick looked first, which is what the sample says. */
static enum pl_watch_result sample_blocked(struct attempt *a, enum pl_activity activity,
					   const struct pl_activity_info *info)
{
	struct pl_watch *w = a->w;
	for (int i = 0; i < 2; i++) {
		struct plumb_error *err = pl_stack_read(a->r, &w->stack, a->reading);
		if (err)
			return read_result(err);
		if (a->reading->complete)
			break;
	}
	if (!stood_still(w, a->reading))
		return PL_WATCH_NOTHING;
	if (!a->reading->complete)
		return PL_WATCH_UNREADABLE;
	pl_stack_trust(&w->stack, a->reading);
	fill(a->ret, a->reading, state_of(a->reading, activity, info), PL_EXACT);
	w->still = w->counted && activity == PL_ACTIVITY_BLOCKED;
	return PL_WATCH_SAMPLE;
}

static bool still_running(const struct pl_watch *w)
{
	return pl_thread_clock_activity(&w->clock, NULL) == PL_ACTIVITY_RUNNING;
}

/* Stop, read, let go. PL_WATCH_NOTHING: it could not be stopped. */
static enum pl_watch_result stop_and_read(struct attempt *a)
{
	struct pl_watch *w = a->w;
	struct pl_stopper *s = a->stopper;
	struct pl_pause pause;

	enum pl_pause_result p = pl_stopper_stop(s, w->pid, w->tid, &pause);
	if (p == PL_PAUSE_GONE)
		return s->exit_known ? PL_WATCH_EXITED : PL_WATCH_GONE;
	if (p == PL_PAUSE_REFUSED)
		return PL_WATCH_NOTHING;
	struct plumb_error *err = pl_stack_read(a->r, &w->stack, a->reading);
	if (!err && a->reading->complete)
		pl_stopper_let_take(s, w);
	pl_stopper_release(s, &pause);
	pl_bursts_stopped(&w->bursts);
	return err ? read_result(err) : PL_WATCH_SAMPLE;
}

/* May it be stopped right now? Not if it may not run Python code: then it runs C code and may enter a system call at
 * any moment, and its Python stack stands still anyway. */
static bool may_run_python_now(const struct attempt *a)
{
	struct pl_reading now = {0};
	struct pl_mem *live = pl_mem_live_mem(a->r->live);

	return !pl_tstate_read(live, &a->r->py, a->w->stack.tstate, &now.tstate) &&
	       !pl_interp_read_again(live, &a->r->py, &a->w->stack.interp, &now.interp) && may_run_python(&now);
}

/* Has the last reading, of a thread that stood still, brought its stack? Not if it stands between two instructions that
 * together link a frame. */
static bool is_whole(const struct attempt *a, pl_addr root)
{
	return a->reading->complete && (a->reading->root == 0 || a->reading->root == root);
}

/* A thread can be stopped between two instructions that together link a frame: then the chain is not whole, or seems to
 * end at that frame. An outermost frame that is not the one we know must be found by two stops in a row, or by the last
 * one. */
static enum pl_watch_result sample_stopped(struct attempt *a)
{
	pl_addr root = a->w->stack.root;

	for (int i = 0; i < STOP_TRIES; i++) {
		enum pl_watch_result result = stop_and_read(a);

		if (result != PL_WATCH_SAMPLE)
			return result;
		if (is_whole(a, i + 1 < STOP_TRIES ? root : a->reading->root)) {
			pl_stack_trust(&a->w->stack, a->reading);
			fill(a->ret, a->reading, state_of(a->reading, PL_ACTIVITY_RUNNING, NULL), PL_STOPPED);
			return PL_WATCH_SAMPLE;
		}
		if (a->reading->complete)
			root = a->reading->root;
		nanosleep(&(struct timespec){.tv_nsec = LET_RUN_NS}, NULL);
		/* The same questions as before the first stop. */
		if (a->stopper->late.len || !still_running(a->w) || !may_run_python_now(a))
			break;
	}
	return a->reading->complete ? PL_WATCH_NOTHING : PL_WATCH_UNREADABLE;
}

/* Has the last reading come to the thread's outermost frame? */
static bool came_to_root(const struct attempt *a)
{
	return a->reading->complete && a->reading->root && a->reading->root == a->w->stack.root;
}

/* Frames to look for: those that were found last time, or those of a whole walk, whatever it is worth. */
static struct plumb_error *walk_to_root(struct attempt *a)
{
	const struct pl_outer *o = &a->w->outer;
	bool known = o->known.len && o->root == a->w->stack.root;
	struct plumb_error *err = NULL;

	for (int i = 0; !err && i < WALK_TRIES && !came_to_root(a) && !(known && a->reading->tstate.addr); i++)
		err = pl_stack_read(a->r, &a->w->stack, a->reading);
	return err;
}

/* Not proved and not to be stopped: the frames that stood throughout, from the root. */
static enum pl_watch_result sample_partial(struct attempt *a, enum pl_activity activity)
{
	struct pl_stack_reader *stack = &a->w->stack;
	struct pl_outer *o = &a->w->outer;
	struct plumb_error *err = walk_to_root(a);
	uint32_t node = 0;

	if (err)
		return read_result(err);
	if (a->reading->tstate.addr == 0)
		return PL_WATCH_UNREADABLE;
	/* Where no walk came to the root that is known, it may have become another. */
	bool walked = a->reading->complete && a->reading->root && (came_to_root(a) || o->root != stack->root);
	if (walked || (o->known.len && o->root == stack->root))
		err = pl_outer_read(a->r, stack, o, walked, a->reading->root, &node);
	if (err)
		return read_result(err);
	a->reading->node = node && pl_stack_root_known(a->r, stack, o->root) ? node : 0;
	a->reading->tag = a->reading->node ? o->tag : 0;
	fill(a->ret, a->reading, state_of(a->reading, activity, NULL), PL_PARTIAL);
	a->ret->marker = PL_MARKER_MOVING;
	return PL_WATCH_SAMPLE;
}

/* A steady reading says something only if the thread has run since the last one that was counted: one that merely waits
 * for a CPU is steady as often as we look. */
static bool has_run(struct pl_watch *w, const struct pl_reading *r)
{
	pl_addr instr = w->stack.frames.len ? w->stack.frames.data[0].instr : 0;
	bool ran = r->node != w->counted_node || instr != w->counted_instr || w->counters.run_ns != w->counted_run_ns;

	w->counted_node = r->node;
	w->counted_instr = instr;
	w->counted_run_ns = w->counters.run_ns;
	return ran;
}

/* Of one that runs on the processor that we keep to it says nothing: it stands still because of us. */
static bool may_run_meanwhile(const struct attempt *a)
{
	return !a->stopper->beside || a->stopper->beside->cpu == PL_BESIDE_NOBODY;
}

static void note_steadiness(struct attempt *a, const struct pl_reading *r)
{
	struct pl_watch *w = a->w;

	if (!r->steady) {
		w->moving = w->seen_moving = true;
		w->steady_run = 0;
	} else if (w->moving && may_run_meanwhile(a) && has_run(w, r) && ++w->steady_run >= PL_CALM_AFTER) {
		w->moving = w->seen_moving = false;
		w->steady_run = 0;
	}
}

/* A thread that might not run Python code, and whose innermost instruction did not move, stood still. */
static enum pl_watch_result sample_outside_python(struct attempt *a)
{
	for (int i = 0; i < 2; i++) {
		struct plumb_error *err = pl_stack_read(a->r, &a->w->stack, a->reading);

		if (err)
			return read_result(err);
		if (a->reading->steady && a->reading->at_rest && !may_run_python(a->reading)) {
			fill(a->ret, a->reading, state_of(a->reading, PL_ACTIVITY_RUNNING, NULL), PL_EXACT);
			return PL_WATCH_SAMPLE;
		}
	}
	return PL_WATCH_NOTHING;
}

/* The first reading may merely miss a plan that was made for another stack; the second has a new plan. */
static struct plumb_error *read_for_steady(struct attempt *a)
{
	struct plumb_error *err = pl_stack_read(a->r, &a->w->stack, a->reading);

	return err || a->reading->steady ? err : pl_stack_read(a->r, &a->w->stack, a->reading);
}

/* Read it as it runs. PL_WATCH_NOTHING: that proves nothing, but the reading may be of use. */
static enum pl_watch_result sample_unstopped(struct attempt *a, enum pl_activity activity)
{
	struct pl_watch *w = a->w;
	bool was_moving = w->moving;
	struct plumb_error *err = read_for_steady(a);
	if (err)
		return read_result(err);
	note_steadiness(a, a->reading);
	if (!a->reading->steady || was_moving)
		return PL_WATCH_NOTHING;
	fill(a->ret, a->reading, state_of(a->reading, activity, NULL), PL_EXACT);
	return PL_WATCH_SAMPLE;
}

/* It runs, said the kernel just now. */
static enum pl_watch_result sample_by_stop(struct attempt *a)
{
	if (!may_run_python_now(a)) {
		enum pl_watch_result result = sample_outside_python(a);
		/* Has it come back to Python meanwhile? The same questions as before any stop. */
		if (result != PL_WATCH_NOTHING || !still_running(a->w) || !may_run_python_now(a))
			return result;
	}
	return sample_stopped(a);
}

/* It has been read since we asked: a thread that has blocked meanwhile must not be disturbed, and stands still. It was
 * running when we looked: a thread must not be running twice to count, or short runs would count too little. */
static enum pl_watch_result ask_again_and_stop(struct attempt *a)
{
	struct pl_activity_info info = {.syscall = -1};
	enum pl_activity activity = pl_thread_clock_activity(&a->w->clock, &info);

	if (activity == PL_ACTIVITY_BLOCKED)
		return sample_blocked(a, PL_ACTIVITY_RUNNING, &info);
	return activity == PL_ACTIVITY_RUNNING ? sample_by_stop(a) : PL_WATCH_NOTHING;
}

/* ---- standing beside it (docs/design/009-standing-beside.md) ---- */

enum beside { BESIDE_READ, BESIDE_RAN, BESIDE_MOVED, BESIDE_NOT_THERE };

/* On its processor it does not run: read, and see that it has not run. BESIDE_MOVED: it was on another processor, to
 * which we have gone. */
static enum beside read_beside(struct attempt *a, struct plumb_error **err)
{
	struct pl_watch *w = a->w;
	struct pl_beside *b = a->stopper->beside;
	struct pl_run_counters before, after;

	if (pl_thread_clock_counters(&w->clock, &before) != PL_CLOCK_OK)
		return BESIDE_NOT_THERE;
	w->counters.runs = before.runs;
	int cpu = pl_beside_where(b, w->pid, w->tid);
	if (cpu == PL_BESIDE_NOBODY)
		return BESIDE_NOT_THERE;
	if (cpu != b->cpu)
		return pl_beside_go(b, cpu) ? BESIDE_MOVED : BESIDE_NOT_THERE;
	if (!pl_beside_is_there(b))
		return BESIDE_NOT_THERE;
	*err = pl_stack_read(a->r, &w->stack, a->reading);
	return pl_thread_clock_counters(&w->clock, &after) == PL_CLOCK_OK && after.runs == before.runs ? BESIDE_READ
												       : BESIDE_RAN;
}

/* We have come from another processor, or have let it run: it may have blocked meanwhile. That it ran was seen before,
 * and what ran is what counts. PL_WATCH_NOTHING: it does run. */
static enum pl_watch_result sample_if_blocked(struct attempt *a)
{
	struct pl_activity_info info = {.syscall = -1};
	enum pl_activity activity = pl_thread_clock_activity(&a->w->clock, &info);

	if (activity == PL_ACTIVITY_GONE)
		return PL_WATCH_GONE;
	return activity == PL_ACTIVITY_BLOCKED ? sample_blocked(a, PL_ACTIVITY_RUNNING, &info) : PL_WATCH_NOTHING;
}

/* PL_WATCH_NOTHING: it went on running, or we cannot be where it is. */
static enum pl_watch_result try_beside(struct attempt *a)
{
	pl_addr root = a->w->stack.root;

	for (int i = 0; i < BESIDE_TRIES; i++) {
		struct plumb_error *err = NULL;
		enum pl_watch_result result = i ? sample_if_blocked(a) : PL_WATCH_NOTHING;

		if (result != PL_WATCH_NOTHING)
			return result;
		enum beside beside = read_beside(a, &err);
		if (err)
			return read_result(err);
		if (beside == BESIDE_NOT_THERE) {
			pl_still_failed(&a->stopper->still, PL_STILL_BESIDE);
			break;
		}
		if (beside != BESIDE_READ)
			continue;
		if (is_whole(a, i + 1 < BESIDE_TRIES ? root : a->reading->root)) {
			pl_stack_trust(&a->w->stack, a->reading);
			fill(a->ret, a->reading, state_of(a->reading, PL_ACTIVITY_RUNNING, NULL), PL_EXACT);
			return PL_WATCH_SAMPLE;
		}
		if (a->reading->complete)
			root = a->reading->root;
		/* Longer each time: where others want the processor, too, they get it first. */
		nanosleep(&(struct timespec){.tv_nsec = LET_RUN_NS << 2 * i}, NULL);
	}
	return PL_WATCH_NOTHING;
}

/* Because of us it stands still, so whether it has become calm is seen from elsewhere, now and then; as long as it
 * seems so, more often. After the sample, so that nothing comes between the question what it does and its stack. */
static struct plumb_error *probe_from_elsewhere(struct attempt *a)
{
	struct pl_watch *w = a->w;
	struct pl_beside *b = a->stopper->beside;
	struct pl_reading reading = *a->reading, *taken = a->reading;
	int cpu = b->cpu;

	if (w->probes++ % (w->steady_run ? PROBE_EVERY : PROBE_BESIDE) != 0 || !pl_beside_leave(b))
		return NULL;
	a->reading = &reading;
	struct plumb_error *err = read_for_steady(a);
	a->reading = taken;
	if (err)
		return err;
	note_steadiness(a, &reading);
	if (w->moving)
		(void)pl_beside_go(b, cpu); /* the next tick finds us there */
	return NULL;
}

/* One of which nothing is known yet is most often calm, and would be held up for nothing: its first samples are
 * doubtful. */
static bool may_stand_beside(const struct attempt *a, uint64_t now)
{
	return a->w->counted && a->w->seen_moving && !a->beside_tried && pl_stopper_may_stand_beside(a->stopper, now);
}

static enum pl_watch_result sample_beside(struct attempt *a)
{
	a->beside_tried = true;
	enum pl_watch_result result = try_beside(a);

	if (result != PL_WATCH_SAMPLE)
		return result;
	a->stopper->beside_rounds = 0;
	struct plumb_error *err = probe_from_elsewhere(a);
	return err ? read_result(err) : result;
}

static enum pl_watch_result sample_held(struct attempt *a)
{
	pl_addr root = a->w->stack.root;
	struct plumb_error *err = pl_stack_read(a->r, &a->w->stack, a->reading);

	if (err)
		return read_result(err);
	if (!is_whole(a, root))
		return PL_WATCH_NOTHING;
	fill(a->ret, a->reading, state_of(a->reading, PL_ACTIVITY_RUNNING, NULL), PL_STOPPED);
	return PL_WATCH_SAMPLE;
}

static enum pl_watch_result sample_running(struct attempt *a, enum pl_activity activity, uint64_t now)
{
	struct pl_watch *w = a->w;
	enum pl_watch_result result = PL_WATCH_NOTHING;

	if (pl_stopper_holds(a->stopper, w->tid))
		result = sample_held(a);
	else if (a->stopper->policy != PL_STOP_ALWAYS)
		result = sample_unstopped(a, activity);
	if (result == PL_WATCH_NOTHING && activity == PL_ACTIVITY_RUNNING && may_stand_beside(a, now))
		result = sample_beside(a);
	if (result == PL_WATCH_NOTHING && activity == PL_ACTIVITY_RUNNING && pl_stopper_may(a->stopper, now) &&
	    !blocks_soon(w))
		result = ask_again_and_stop(a);
	if (result != PL_WATCH_NOTHING)
		return result;
	if (!a->reading->steady)
		return sample_partial(a, activity);
	fill(a->ret, a->reading, state_of(a->reading, activity, NULL), PL_DOUBTFUL);
	return PL_WATCH_SAMPLE;
}

/* Is it clear before it is asked what it does that it will be stopped, if it runs? Of one that was brief when it was
 * last looked at that takes a dear look, which is for those that do run: a server's threads hardly ever do. */
static bool stop_is_due(const struct attempt *a, uint64_t now)
{
	return (a->w->moving || a->stopper->policy == PL_STOP_ALWAYS) && pl_stopper_may(a->stopper, now) &&
	       !pl_bursts_brief(&a->w->bursts) && !blocks_soon(a->w);
}

/* A moving thread is stopped anyway: now and then is enough to notice that it has become calm. */
static bool probe_is_due(const struct attempt *a)
{
	return a->stopper->policy != PL_STOP_ALWAYS && a->w->probes++ % PROBE_EVERY == 0;
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
static enum pl_watch_result sample_by_activity(struct attempt *a, bool running_only, uint64_t now)
{
	struct pl_watch *w = a->w;
	struct pl_activity_info info = {.syscall = -1};
	bool beside = w->moving && may_stand_beside(a, now);
	bool stop = !beside && stop_is_due(a, now), probed = stop && probe_is_due(a);
	struct plumb_error *err = probed ? read_for_steady(a) : NULL;
	enum pl_watch_result result = PL_WATCH_NOTHING;

	if (err)
		return read_result(err);
	bool on = running_only && has_cpu(w);
	enum pl_activity activity = pl_thread_clock_activity(&w->clock, &info);
	if (activity == PL_ACTIVITY_GONE)
		return PL_WATCH_GONE;
	w->activity_ns = now;
	if (activity == PL_ACTIVITY_RUNNING && beside) {
		result = sample_beside(a);
	} else if (activity == PL_ACTIVITY_RUNNING && stop) {
		if (probed)
			note_steadiness(a, a->reading);
		result = sample_by_stop(a);
	} else if (activity == PL_ACTIVITY_BLOCKED) {
		result = sample_blocked(a, on ? PL_ACTIVITY_RUNNING : activity, &info);
		if (running_only)
			return result;
		activity = PL_ACTIVITY_RUNNING; /* if that proved nothing */
	}
	return result != PL_WATCH_NOTHING ? result : sample_running(a, activity, now);
}

/* A calm thread that was running at its last sample most likely still is: read first, then see what it does. */
static bool looks_calm(const struct attempt *a)
{
	const struct pl_watch *w = a->w;

	return !w->moving && (w->last.state & PL_STATE_ON_CPU) && a->stopper->policy != PL_STOP_ALWAYS;
}

static enum pl_watch_result sample_calm(struct attempt *a, uint64_t now)
{
	struct pl_watch *w = a->w;
	struct plumb_error *err = pl_stack_read(a->r, &w->stack, a->reading);

	if (err)
		return read_result(err);
	if (!a->reading->steady)
		return PL_WATCH_NOTHING;
	if (now - w->activity_ns > ACTIVITY_FRESH_NS) {
		if (!still_running(w))
			return PL_WATCH_NOTHING;
		w->activity_ns = now;
	}
	fill(a->ret, a->reading, state_of(a->reading, PL_ACTIVITY_RUNNING, NULL), PL_EXACT);
	return PL_WATCH_SAMPLE;
}

void pl_watch_clocked(struct pl_watch *w, const struct pl_run_counters *c, uint64_t now)
{
	w->cpu_ns = c->run_ns - w->first.run_ns;
	w->clocked_ns = now;
}

/* Update the counters; true if the thread has not been on a CPU since the last sample, which then still holds. */
static bool unchanged(struct pl_watch *w, uint64_t now, bool *gone)
{
	struct pl_run_counters c;
	enum pl_clock_result r = pl_thread_clock_counters(&w->clock, &c);

	*gone = r == PL_CLOCK_GONE;
	if (r != PL_CLOCK_OK) {
		w->counted = false;
		return false;
	}
	bool same = w->still && c.runs == w->counters.runs;
	w->ran_ns += c.run_ns - w->counters.run_ns;
	pl_watch_clocked(w, &c, now);
	w->counters = c;
	w->counted = true;
	return same;
}

static enum pl_watch_result take(struct attempt *a, bool running_only, uint64_t now)
{
	struct pl_watch *w = a->w;
	enum pl_watch_result result;
	bool gone;

	if (!running_only && looks_calm(a) && (result = sample_calm(a, now)) != PL_WATCH_NOTHING)
		return result;
	bool same = unchanged(w, now, &gone);
	if (gone)
		return PL_WATCH_GONE;
	if (same) {
		*a->ret = w->last;
		return running_only ? PL_WATCH_NOTHING : PL_WATCH_SAMPLE;
	}
	w->still = false;
	return sample_by_activity(a, running_only, now);
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
	bool gone;

	(void)unchanged(w, pl_clock_monotonic_ns(), &gone);
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

enum pl_watch_result pl_watch_sample(struct pl_watch *w, struct pl_reader *r, struct pl_stopper *stopper,
				     bool running_only, struct pl_reading *reading, struct pl_raw_sample *ret)
{
	struct attempt a = {.w = w, .r = r, .stopper = stopper, .reading = reading, .ret = ret};

	*reading = (struct pl_reading){0};
	enum pl_watch_result result = take(&a, running_only, pl_clock_monotonic_ns());
	if (result != PL_WATCH_SAMPLE)
		return result;
	w->last = *ret;
	return running_only && !(ret->state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN)) ? PL_WATCH_NOTHING : result;
}
