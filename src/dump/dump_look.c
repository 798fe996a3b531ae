/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: one thread, by the rules of the sampling (thread_sampler.h), again until its stack is proved.
 *
 * What a thread waits for, and its variables, are read between two looks at its run counter, and again if the counter
 * moved: stack, wait and values belong together. Those of a running thread are read while it is stopped. */
#include "dump_look.h"

#include <string.h>
#include <time.h>

#include "clock.h"
#include "exceptions.h"

#define PROVE_NS	  15000000ull  /* for one thread; then the best reading is taken */
#define NATIVE_NS	  100000000ull /* the same with its native frames: it must have been stopped for them */
#define PAUSE_NS	  30000l
#define WAITER_LOOKS	  3
#define LOCALS_NS	  100000000ull
#define LOCALS_STOPPED_NS 5000000ull /* a thread is not kept for longer than this */

void pl_look_deinit(struct pl_look *l)
{
	pl_vec_deinit(&l->wait.watched);
	pl_variables_deinit(&l->variables);
	pl_native_taken_deinit(&l->native);
}

static struct pl_native_thread native_thread(const struct pl_thread_sampler *thread)
{
	return (struct pl_native_thread){thread->tid, thread->stack.cframe, &thread->stack.frames};
}

/* Nothing of a core moves: what was read of it will never be better. */
static bool moves(const struct pl_looker *u)
{
	return !u->process->core;
}

static bool wants_locals(const struct pl_looker *u)
{
	return u->o->locals && (!moves(u) || pl_clock_monotonic_ns() < u->locals_end_ns);
}

static void take_while_stopped(void *ctx, struct pl_thread_sampler *thread)
{
	struct pl_looker *u = ctx;
	const struct pl_native_thread t = native_thread(thread);

	if (u->native)
		pl_native_take_stopped(u->native, &t, u->native_taken);
	if (!wants_locals(u))
		return;
	pl_mem_pages_forget(u->pages);
	pl_variables_take(u->variables, &u->values, &thread->stack.frames, LOCALS_STOPPED_NS);
	u->variables_taken = true;
}

static bool wants_stops(const struct pl_looker *u)
{
	return u->o->locals || u->native;
}

struct plumb_error *pl_looker_init(struct pl_looker *u)
{
	struct plumb_error *err;

	if (!wants_stops(u))
		return NULL;
	if ((err = pl_mem_pages_create(pl_python_process_mem(u->process), &u->pages)))
		return err;
	pl_values_init(&u->values, pl_mem_pages_mem(u->pages), &u->process->reader.py, NULL);
	return NULL;
}

void pl_looker_deinit(struct pl_looker *u)
{
	pl_mem_pages_destroy(u->pages);
}

static bool is_sure(const struct pl_looker *u, const struct pl_look *l)
{
	return l->read && (!moves(u) || l->sample.quality == PL_EXACT || l->sample.quality == PL_STOPPED);
}

/* Worth more than @p old: the surer stack, and of equals one whose wait belongs to it. */
static bool is_better(const struct pl_look *l, const struct pl_look *old)
{
	if (!l->read || !old->read)
		return l->read;
	if (l->agrees != old->agrees)
		return l->agrees;
	return l->sample.quality <= old->sample.quality;
}

static bool same_call(const struct pl_activity_info *a, const struct pl_activity_info *b)
{
	return a->syscall == b->syscall && (a->syscall < 0 || memcmp(a->args, b->args, sizeof a->args) == 0);
}

/* Without counters: it is in the same call with the same arguments. */
bool pl_stand_holds(const struct pl_stand *s, const struct pl_thread_sampler *thread)
{
	struct pl_run_counters now;
	struct pl_activity_info info = {.syscall = -1};

	if (thread->counted)
		return pl_thread_clock_counters(&thread->clock, &now) == PL_CLOCK_OK && now.runs == s->counters.runs;
	return pl_thread_clock_activity(&thread->clock, &info) == s->activity && same_call(&info, &s->info);
}

/* A thread that runs and was not stopped: without the GIL, so that its frames do not change. Are they still the same?
 */
static bool kept_its_stack(struct pl_looker *u, struct pl_thread_sampler *thread, const struct pl_look *l)
{
	pl_addr instr = thread->stack.frames.len ? thread->stack.frames.data[0].instr : 0;
	struct pl_reading again;
	struct plumb_error *err = pl_stack_read(&u->process->reader, &thread->stack, &again);

	plumb_error_destroy(err);
	return !err && again.complete && again.node == l->sample.node && thread->stack.frames.len &&
	       thread->stack.frames.data[0].instr == instr;
}

static void take_variables(struct pl_looker *u, struct pl_thread_sampler *thread, struct pl_look *l)
{
	if (u->variables_taken || !is_sure(u, l) || !wants_locals(u))
		return;
	pl_mem_pages_forget(u->pages);
	pl_variables_take(&l->variables, &u->values, &thread->stack.frames, moves(u) ? LOCALS_NS : UINT64_MAX);
	if (moves(u) && l->stand.activity != PL_ACTIVITY_BLOCKED)
		l->agrees &= kept_its_stack(u, thread, l);
}

/* The handlers of generators are elsewhere in memory, and only those of a thread that stands still can be followed. */
static bool handles_exception(const struct pl_looker *u, const struct pl_thread_sampler *thread,
			      const struct pl_look *l)
{
	struct pl_mem *mem = pl_python_process_mem(u->process);
	struct pl_tstate ts;

	if (l->sample.state & PL_STATE_EXCEPTION || (moves(u) && l->stand.activity != PL_ACTIVITY_BLOCKED))
		return l->sample.state & PL_STATE_EXCEPTION;
	struct plumb_error *err = pl_tstate_read(mem, &u->process->reader.py, thread->stack.tstate, &ts);
	bool handles = !err && pl_exception_handled(mem, &u->process->reader.py, &ts);
	plumb_error_destroy(err);
	return handles;
}

static bool has_same_stack(struct pl_looker *u, struct pl_thread_sampler *thread, const struct pl_look *l)
{
	struct pl_reading again;

	if (pl_thread_sampler_is_native(thread)) /* it has none */
		return true;
	struct plumb_error *err = pl_stack_read(&u->process->reader, &thread->stack, &again);
	plumb_error_destroy(err);
	return !err && again.complete && again.node == l->sample.node;
}

/* One that runs and was not stopped so far, as its Python frames do not change without the GIL: its registers do. */
static void stop_for_native(struct pl_looker *u, struct pl_thread_sampler *thread, struct pl_look *l)
{
	struct pl_pause pause;

	if (!pl_stopper_may(&u->process->stopper, pl_clock_monotonic_ns()) || pl_thread_sampler_blocks_soon(thread) ||
	    pl_thread_clock_activity(&thread->clock, NULL) != PL_ACTIVITY_RUNNING ||
	    pl_stopper_stop(&u->process->stopper, thread->pid, thread->tid, &pause) > PL_PAUSE_HELD)
		return;
	if (has_same_stack(u, thread, l)) {
		const struct pl_native_thread t = native_thread(thread);
		pl_native_take_stopped(u->native, &t, &l->native);
	}
	pl_stopper_release(&u->process->stopper, &pause);
	pl_bursts_stopped(&thread->bursts);
}

static bool wants_native(const struct pl_looker *u)
{
	return u->native && !pl_native_is_late(u->native);
}

/* A blocked thread is left alone: what the kernel says of it is enough. */
static void take_native(struct pl_looker *u, struct pl_thread_sampler *thread, struct pl_look *l)
{
	const struct pl_native_thread t = native_thread(thread);

	if (!wants_native(u) || !is_sure(u, l) || l->native.taken)
		return;
	if (l->stand.activity == PL_ACTIVITY_BLOCKED)
		pl_native_take_blocked(u->native, &t, &l->stand.info, &l->native);
	else if (l->stand.activity == PL_ACTIVITY_RUNNING)
		stop_for_native(u, thread, l);
	l->agrees &= l->native.taken;
}

static enum pl_take_result look_once(struct pl_looker *u, struct pl_thread_sampler *thread, struct pl_look *l)
{
	struct pl_stop_taker taker = {.take = take_while_stopped, .ctx = u};
	struct pl_reading reading;

	l->stand = (struct pl_stand){.info = {.syscall = -1}};
	l->lock_wait = (struct pl_lock_wait){0};
	pl_variables_deinit(&l->variables); /* of an earlier look */
	pl_native_taken_deinit(&l->native);
	(void)pl_thread_clock_counters(&thread->clock, &l->stand.counters);
	l->stand.activity = pl_thread_clock_activity(&thread->clock, &l->stand.info);
	u->variables = &l->variables;
	u->native_taken = &l->native;
	u->variables_taken = false;
	enum pl_take_result r =
		wants_stops(u) ? pl_thread_sampler_take_stopped(thread, &u->process->reader, &u->process->stopper,
								&taker, &reading, &l->sample)
			       : pl_thread_sampler_take(thread, &u->process->reader, &u->process->stopper, false,
							&reading, &l->sample);
	l->read = r == PL_TAKE_SAMPLE;
	l->holder = reading.interp.gil_holder;
	l->exception = l->read && handles_exception(u, thread, l);
	l->jit = pl_tstate_in_jit(pl_python_process_mem(u->process), &u->process->reader.py, thread->stack.tstate,
				  &l->jit_known);
	l->agrees = l->stand.activity != PL_ACTIVITY_RUNNING || l->sample.state & PL_STATE_ON_CPU;
	take_variables(u, thread, l);
	take_native(u, thread, l);
	if (l->stand.activity == PL_ACTIVITY_BLOCKED) {
		pl_dump_wait(u->d, u->around, pl_python_process_mem(u->process), &l->stand.info, &l->wait);
		if (l->read && l->wait.on == PL_WAITS_LOCK)
			pl_lock_wait_find(u->lock_values, &thread->stack.frames, l->wait.lock, &l->lock_wait);
		l->agrees = pl_stand_holds(&l->stand, thread) && (!wants_native(u) || l->native.taken);
	}
	return r;
}

/* A thread that waits for the GIL wakes up every 5 ms to ask for it again, and runs for some microseconds then. */
static bool may_be_a_waiter(const struct pl_look *l)
{
	return l->stand.activity == PL_ACTIVITY_RUNNING && !(l->sample.state & PL_STATE_HAS_GIL) && l->holder;
}

static void swap(struct pl_look *a, struct pl_look *b)
{
	struct pl_look tmp = *a;

	*a = *b;
	*b = tmp;
}

bool pl_look_until_proved(struct pl_looker *u, struct pl_thread_sampler *thread, struct pl_look *ret)
{
	uint64_t end = pl_clock_monotonic_ns() + (u->native ? NATIVE_NS : PROVE_NS);
	struct pl_look l = {0};
	int again = 0;

	u->locals_late += u->o->locals && !wants_locals(u);
	end = end < u->end_ns ? end : u->end_ns;
	for (;;) {
		enum pl_take_result r = look_once(u, thread, &l);

		if (r == PL_TAKE_GONE || r == PL_TAKE_EXITED)
			break;
		if (is_better(&l, ret) || !ret->read)
			swap(&l, ret);
		bool done = is_sure(u, ret) && ret->agrees && !(may_be_a_waiter(ret) && again++ < WAITER_LOOKS);
		if (done || !moves(u) || pl_clock_monotonic_ns() > end)
			break;
		(void)pl_stopper_settle(&u->process->stopper);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	pl_look_deinit(&l);
	return ret->read || !moves(u) || ret->stand.activity != PL_ACTIVITY_UNKNOWN;
}

void pl_look_at_native(struct pl_looker *u, pid_t tid, struct pl_look *l)
{
	uint64_t end = pl_clock_monotonic_ns() + NATIVE_NS;
	struct pl_thread_sampler thread;

	end = end < u->end_ns ? end : u->end_ns;
	pl_thread_sampler_init_native(&thread, u->process->pid, tid);
	while (wants_native(u) && pl_clock_monotonic_ns() < end) {
		(void)pl_thread_clock_counters(&thread.clock,
					       &thread.counters); /* does it run for longer than a moment? */
		stop_for_native(u, &thread, l);
		if (l->native.taken || pl_thread_clock_activity(&thread.clock, NULL) != PL_ACTIVITY_RUNNING)
			break;
		(void)pl_stopper_settle(&u->process->stopper);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	pl_thread_sampler_deinit(&thread);
}
