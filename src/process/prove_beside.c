/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. A stack is proved from the processor that the thread ran on: while we run there,
 * it does not. docs/design/009-standing-beside.md; see prove.h. */
#include "prove.h"

#include <time.h>

#include "beside.h"

#define LET_RUN_NS   20000
#define BESIDE_TRIES 4
#define PROBE_BESIDE 256 /* for which we leave its processor, and come back */

enum beside { BESIDE_READ, BESIDE_RAN, BESIDE_MOVED, BESIDE_NOT_THERE };

/* On its processor it does not run: read, and see that it has not run. BESIDE_MOVED: it was on another processor, to
 * which we have gone. */
static enum beside read_beside(struct pl_attempt *a, struct plumb_error **err)
{
	struct pl_thread_sampler *thread = a->thread;
	struct pl_beside *b = a->stopper->beside;
	struct pl_run_counters before, after;

	if (pl_thread_clock_counters(&thread->clock, &before) != PL_CLOCK_OK)
		return BESIDE_NOT_THERE;
	thread->counters.runs = before.runs;
	int cpu = pl_beside_where(b, thread->pid, thread->tid);
	if (cpu == PL_BESIDE_NOBODY)
		return BESIDE_NOT_THERE;
	if (cpu != b->cpu)
		return pl_beside_go(b, cpu) ? BESIDE_MOVED : BESIDE_NOT_THERE;
	if (!pl_beside_is_there(b))
		return BESIDE_NOT_THERE;
	*err = pl_stack_read(a->r, &thread->stack, a->reading);
	return pl_thread_clock_counters(&thread->clock, &after) == PL_CLOCK_OK && after.runs == before.runs
		       ? BESIDE_READ
		       : BESIDE_RAN;
}

/* We have come from another processor, or have let it run: it may have blocked meanwhile. That it ran was seen before,
 * and what ran is what counts. PL_TAKE_UNPROVED: it does run. */
static enum pl_take_result sample_if_blocked(struct pl_attempt *a)
{
	struct pl_activity_info info = {.syscall = -1};
	enum pl_activity activity = pl_thread_clock_activity(&a->thread->clock, &info);

	if (activity == PL_ACTIVITY_GONE)
		return PL_TAKE_GONE;
	return activity == PL_ACTIVITY_BLOCKED ? pl_prove_at_rest(a, PL_ACTIVITY_RUNNING, &info) : PL_TAKE_UNPROVED;
}

/* PL_TAKE_UNPROVED: it went on running, or we cannot be where it is. */
static enum pl_take_result try_beside(struct pl_attempt *a)
{
	pl_addr root = a->thread->stack.root;

	for (int i = 0; i < BESIDE_TRIES; i++) {
		struct plumb_error *err = NULL;
		enum pl_take_result result = i ? sample_if_blocked(a) : PL_TAKE_UNPROVED;

		if (result != PL_TAKE_UNPROVED)
			return result;
		enum beside beside = read_beside(a, &err);
		if (err)
			return pl_attempt_failed(err);
		if (beside == BESIDE_NOT_THERE) {
			pl_still_failed(&a->stopper->still, PL_STILL_BESIDE);
			break;
		}
		if (beside != BESIDE_READ)
			continue;
		if (pl_attempt_is_whole(a, i + 1 < BESIDE_TRIES ? root : a->reading->root)) {
			pl_stack_trust(a->r, &a->thread->stack, a->reading);
			return pl_attempt_take(a, PL_ACTIVITY_RUNNING, NULL, PL_EXACT);
		}
		if (a->reading->complete)
			root = a->reading->root;
		/* Longer each time: where others want the processor, too, they get it first. */
		nanosleep(&(struct timespec){.tv_nsec = LET_RUN_NS << 2 * i}, NULL);
	}
	return PL_TAKE_UNPROVED;
}

/* Because of us it stands still, so whether it has become stable is seen from elsewhere, now and then; as long as it
 * seems so, more often. After the sample, so that nothing comes between the question what it does and its stack. */
static struct plumb_error *probe_from_elsewhere(struct pl_attempt *a)
{
	struct pl_thread_sampler *thread = a->thread;
	struct pl_beside *b = a->stopper->beside;
	struct pl_reading reading = *a->reading, *taken = a->reading;
	int cpu = b->cpu;

	if (thread->probes++ % (thread->steady_run ? PL_PROBE_EVERY : PROBE_BESIDE) != 0 || !pl_beside_leave(b))
		return NULL;
	a->reading = &reading;
	struct plumb_error *err = pl_attempt_read_for_steady(a);
	a->reading = taken;
	if (err)
		return err;
	pl_attempt_note_steadiness(a, &reading);
	if (thread->unstable)
		(void)pl_beside_go(b, cpu); /* the next tick finds us there */
	return NULL;
}

/* One of which nothing is known yet is most often stable, and would be held up for nothing: its first samples are
 * doubtful. */
bool pl_attempt_may_stand_beside(const struct pl_attempt *a, uint64_t now)
{
	return a->thread->counted && a->thread->seen_unstable && !a->beside_tried &&
	       !pl_thread_sampler_is_native(a->thread) && pl_stopper_may_stand_beside(a->stopper, now);
}

enum pl_take_result pl_prove_beside(struct pl_attempt *a)
{
	a->beside_tried = true;
	enum pl_take_result result = try_beside(a);

	if (result != PL_TAKE_SAMPLE)
		return result;
	a->stopper->beside_rounds = 0;
	struct plumb_error *err = probe_from_elsewhere(a);
	return err ? pl_attempt_failed(err) : result;
}
