/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. A stack is proved by a stop: the thread is stopped for some microseconds, or
 * stands in a stop that was asked for before. See prove.h. */
#include "prove.h"

#include <time.h>

#define STOP_TRIES 3
#define LET_RUN_NS 20000

/* With native frames the sample waits for a stop that is late (late_stack.h), and nobody else. */
static void release(struct pl_attempt *a, struct pl_pause *pause)
{
	if (a->r->native)
		pl_stopper_release_at_once(a->stopper, pause);
	else
		pl_stopper_release(a->stopper, pause);
}

/* Stop, read, let go. PL_TAKE_UNPROVED: it could not be stopped. */
static enum pl_take_result stop_and_read(struct pl_attempt *a)
{
	struct pl_thread_sampler *thread = a->thread;
	struct pl_stopper *s = a->stopper;
	struct pl_pause pause;

	enum pl_pause_result p = pl_stopper_stop(s, thread->pid, thread->tid, &pause);
	if (p == PL_PAUSE_GONE)
		return s->exit_known ? PL_TAKE_EXITED : PL_TAKE_GONE;
	if (p == PL_PAUSE_REFUSED)
		return PL_TAKE_UNPROVED;
	struct plumb_error *err = pl_attempt_read(a);
	if (!err && a->reading->complete)
		pl_stopper_let_take(s, thread);
	if (!err && a->r->native && pl_pause_await(&pause, 0))
		pl_attempt_take_native(a, NULL);
	release(a, &pause);
	pl_bursts_stopped(&thread->bursts);
	pl_leaves_stopped(&thread->leaves);
	if (!err)
		pl_attempt_see_native(a);
	return err ? pl_attempt_failed(err) : PL_TAKE_SAMPLE;
}

/* The questions before any stop that is not the first thing that is done. Who asks for native frames asks for the code
 * that runs without the GIL, too. */
static bool may_be_stopped(const struct pl_attempt *a)
{
	return pl_attempt_still_running(a->thread) && (a->r->native || pl_attempt_may_run_python(a));
}

/* A thread can be stopped between two instructions that together link a frame: then the chain is not whole, or seems to
 * end at that frame. An outermost frame that is not the one we know must be found by two stops in a row, or by the last
 * one. */
static enum pl_take_result sample_stopped(struct pl_attempt *a)
{
	pl_addr root = a->thread->stack.root;

	for (int i = 0; i < STOP_TRIES; i++) {
		enum pl_take_result result = stop_and_read(a);

		if (result != PL_TAKE_SAMPLE)
			return result;
		if (pl_attempt_is_whole(a, i + 1 < STOP_TRIES ? root : a->reading->root)) {
			pl_stack_trust(a->r, &a->thread->stack, a->reading);
			a->thread->stood =
				a->thread->counted && a->r->native && !pl_stopper_holds(a->stopper, a->thread->tid);
			return pl_attempt_take(a, PL_ACTIVITY_RUNNING, NULL, PL_STOPPED);
		}
		if (a->reading->complete)
			root = a->reading->root;
		nanosleep(&(struct timespec){.tv_nsec = LET_RUN_NS}, NULL);
		if (a->stopper->late.len || !may_be_stopped(a))
			break;
	}
	return a->reading->complete ? PL_TAKE_UNPROVED : PL_TAKE_UNREADABLE;
}

/* One that may not run Python code runs C code, may enter a system call at any moment, and its Python stack stands
 * still anyway: it must not be stopped. */
enum pl_take_result pl_prove_by_stop(struct pl_attempt *a)
{
	if (!a->r->native && !pl_attempt_may_run_python(a)) {
		enum pl_take_result result = pl_prove_outside_python(a);
		/* Has it come back to Python meanwhile? */
		if (result != PL_TAKE_UNPROVED || !may_be_stopped(a))
			return result;
	}
	return sample_stopped(a);
}

/* It has been read since we asked: a thread that has blocked meanwhile must not be disturbed, and stands still. It was
 * running when we looked: a thread must not be running twice to count, or short runs would count too little. */
enum pl_take_result pl_prove_asking_again(struct pl_attempt *a)
{
	struct pl_activity_info info = {.syscall = -1};
	enum pl_activity activity = pl_thread_clock_activity(&a->thread->clock, &info);

	if (activity == PL_ACTIVITY_BLOCKED)
		return pl_prove_at_rest(a, PL_ACTIVITY_RUNNING, &info);
	return activity == PL_ACTIVITY_RUNNING ? pl_prove_by_stop(a) : PL_TAKE_UNPROVED;
}

enum pl_take_result pl_prove_held(struct pl_attempt *a)
{
	pl_addr root = a->thread->stack.root;
	struct plumb_error *err = pl_attempt_read(a);

	if (err)
		return pl_attempt_failed(err);
	if (!pl_attempt_is_whole(a, root))
		return PL_TAKE_UNPROVED;
	return pl_attempt_take(a, PL_ACTIVITY_RUNNING, NULL, PL_STOPPED);
}
