/* SPDX-License-Identifier: Apache-2.0 */
/* The instants of a thread's samples, for formats with an axis of time. */
#ifndef PL_TIMELINE_H
#define PL_TIMELINE_H

#include "profile.h"

struct pl_timeline {
	uint64_t interval_ns; /* the period; 1 ms where there is none */
	uint64_t period_ns;   /* of the last sample: where the rate was lowered it stands for more */
	bool timed, started, weighed;
	uint64_t now_ns; /* of the last sample */
	uint64_t count;	 /* samples it stands for */
};

/** At the start of a thread. */
void pl_timeline_start(struct pl_timeline *t, const struct plumb_profile *p);
/** The instant of the thread's next sample, never before the last one. In a profile without times the samples of a
 * thread stand one after the other: then it is the end of what @p s stands for. */
uint64_t pl_timeline_next(struct pl_timeline *t, const struct pl_sample *s);
/** How long what was seen in @p count samples is taken to have lasted, @p gap_ns before the next: all of that, unless
 * it is much longer than their periods; then something was not seen, and the thread may have done anything. */
uint64_t pl_timeline_length(const struct pl_timeline *t, uint64_t gap_ns, uint64_t count);

/** A pid that is of one process only: numbers are used again. The first of them keeps its own. */
uint64_t pl_timeline_pid(const struct plumb_profile *p, uint32_t process);
/** Likewise a tid: readers that take a thread's number for its own everywhere would mix those of two processes. That of
 * a main thread still is its pid. */
uint64_t pl_timeline_tid(const struct plumb_profile *p, const struct pl_thread *t);

#endif
