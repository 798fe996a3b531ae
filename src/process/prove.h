/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to prove the stack of one thread at this moment. Which one is taken is decided in thread_sampler.c. Each
 * ends with a sample, with what went wrong, or with PL_TAKE_UNPROVED: then the next one may do better, and the last
 * reading may be of use to it. docs/design/002-true-stacks.md has the proofs. */
#ifndef PL_PROVE_H
#define PL_PROVE_H

#include "thread_sampler.h"

#define PL_PROBE_EVERY 4

/** One sample that is tried to be had. */
struct pl_attempt {
	struct pl_thread_sampler *thread;
	struct pl_reader *r;
	struct pl_stopper *stopper;
	struct pl_reading *reading; /* the last one */
	struct pl_raw_sample *ret;
	bool beside_tried;
	enum pl_reason reason; /* for what it waits, if it is blocked */
};

/* ---- ways: prove.c ---- */

/** It is blocked, and its stack stands still while it is: EXACT if it did not get on a CPU in between. @p activity:
 * what it did when this tick looked first, which is what the sample says. */
enum pl_take_result pl_prove_at_rest(struct pl_attempt *a, enum pl_activity activity,
				     const struct pl_activity_info *info);
/** It runs, and not Python code: EXACT if its innermost instruction did not move meanwhile. */
enum pl_take_result pl_prove_outside_python(struct pl_attempt *a);
/** It runs no Python, and its native frames are not to be had: PARTIAL, nothing is known but that it runs. */
enum pl_take_result pl_prove_without_python(struct pl_attempt *a, enum pl_activity activity);
/** It is of a core: EXACT, and what is damaged is PARTIAL, its inner frames as far as they go. */
enum pl_take_result pl_prove_in_core(struct pl_attempt *a);
/** Read it as it runs: EXACT if it is stable and the reading steady. */
enum pl_take_result pl_prove_as_it_runs(struct pl_attempt *a, enum pl_activity activity);

/* ---- prove_stopped.c ---- */

/** It runs, said the kernel just now: stop it and read, STOPPED. */
enum pl_take_result pl_prove_by_stop(struct pl_attempt *a);
/** The same, of a thread that has been read since the kernel was asked. */
enum pl_take_result pl_prove_asking_again(struct pl_attempt *a);
/** A stop that was asked for before has not come about, or has just: it runs no code of its own. */
enum pl_take_result pl_prove_held(struct pl_attempt *a);

/* ---- prove_beside.c ---- */

/** Is it known to move, and may we? Once for each sample. */
bool pl_attempt_may_stand_beside(const struct pl_attempt *a, uint64_t now);
/** Read it from the processor that it ran on: EXACT. */
enum pl_take_result pl_prove_beside(struct pl_attempt *a);

/* ---- prove_outer.c ---- */

/** The frames that stood throughout: PARTIAL, whatever they are. */
enum pl_take_result pl_prove_outer(struct pl_attempt *a, enum pl_activity activity);

/* ---- what they have in common: prove.c ---- */

/** Read its Python stack once. One that runs no Python has none: that reading is always whole. Errors: as
 * pl_stack_read.
 */
struct plumb_error *pl_attempt_read(struct pl_attempt *a) PLUMB_MUST_CHECK;
/** The last reading is the sample. */
enum pl_take_result pl_attempt_take(struct pl_attempt *a, enum pl_activity activity,
				    const struct pl_activity_info *info, enum pl_quality quality);
/** An error of a reading. */
enum pl_take_result pl_attempt_failed(struct plumb_error *err);
/** With native frames: the thread stands still, and was read whole. @p info: it is blocked; NULL: we have stopped it.
 */
void pl_attempt_take_native(struct pl_attempt *a, const struct pl_activity_info *info);
/** What was taken goes into the last reading. It may run again. */
void pl_attempt_see_native(struct pl_attempt *a);
/** Has the last reading, of a thread that stood still, brought its stack? Not if it stands between two instructions
 * that together link a frame. */
bool pl_attempt_is_whole(const struct pl_attempt *a, pl_addr root);
/** Read it twice at most by a plan: one that was made for another stack is merely missed. */
struct plumb_error *pl_attempt_read_for_steady(struct pl_attempt *a) PLUMB_MUST_CHECK;
/** What @p r says of whether the thread moves. */
void pl_attempt_note_steadiness(struct pl_attempt *a, const struct pl_reading *r);
/** Does it hold the GIL right now (in a free-threaded build: is it attached)? If not, its Python stack stands still. */
bool pl_attempt_may_run_python(const struct pl_attempt *a);
/** Asks the kernel. */
bool pl_attempt_still_running(const struct pl_thread_sampler *thread);

#endif
