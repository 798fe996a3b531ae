/* SPDX-License-Identifier: Apache-2.0 */
/* Was this process suspended, by Ctrl-Z, SIGSTOP, a debugger or a freezer? Sampling thread only.
 *
 * Who comes late ran, or waited for a processor, both of which the kernel counts (schedstat), or stood still, mostly
 * with all of its process. */
#ifndef PL_SUSPENSION_H
#define PL_SUSPENSION_H

#include <stdbool.h>
#include <stdint.h>

struct pl_thread_clock;

struct pl_suspension {
	const struct pl_thread_clock *own; /* of this thread */
	uint64_t read_ns,
		busy_ns; /* CLOCK_MONOTONIC; for how long the thread had run or waited for a processor by then */
	bool known;
};

/** @p own is borrowed. */
void pl_suspension_begin(struct pl_suspension *s, const struct pl_thread_clock *own, uint64_t now);

/** This thread was to come at @p due, and comes @p now: did it stand still in between? Not told of less than a second,
 * nor where the kernel counts nothing. */
bool pl_suspension_was(struct pl_suspension *s, uint64_t due, uint64_t now);
/** The same, asked in between: it will be asked again. */
bool pl_suspension_seems(const struct pl_suspension *s, uint64_t due, uint64_t now);

#endif
