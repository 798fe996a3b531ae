/* SPDX-License-Identifier: Apache-2.0 */
/* Standing on a thread's processor: while we run there, it does not. docs/design/009-standing-beside.md
 *
 * Whoever keeps to the processor that a thread ran on last, and is told that it still is the one, knows that the thread
 * is not running at that moment; and if its count of runs (thread_clock.h) has not moved since, that it has not run.
 * Nothing is stopped or interrupted: the thread waits for its processor as it does for any program. One thread at a
 * time, that for which pl_beside_init was called. */
#ifndef PL_BESIDE_H
#define PL_BESIDE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arrival.h"

#define PL_BESIDE_SETS 4 /* of 1,024 processors each */

struct pl_beside {
	/* Where the sampling thread may run while it keeps to no processor: the one that `which` names. The other one
	 * is written when somebody else has moved us, so that pl_beside_free always reads one that is whole. */
	cpu_set_t mine[2][PL_BESIDE_SETS];
	_Atomic uint32_t which;
	_Atomic pid_t tid;  /* who can be freed; 0: nobody; negative: it is being done */
	_Atomic bool freed; /* it goes nowhere any more */
	bool able;
	int nice;
	int cpu;		     /* the processor that it keeps to; PL_BESIDE_NOBODY: none */
	uint64_t since_ns, taken_ns; /* of its CPU time */
	struct pl_arrival arrival;   /* whoever wakes the sampling thread notes it */
};

#define PL_BESIDE_NOBODY (-1)

/** For the calling thread; @p b is all zeros, but that pl_beside_free may have come before. Where the kernel does not
 * say where the thread may run, or it is one that all others go before, pl_beside_go will always fail. */
void pl_beside_init(struct pl_beside *b);

/** By that thread, before it ends: it may run where it could before, and nobody takes another one for it, to which the
 * kernel may give its number. */
void pl_beside_end(struct pl_beside *b);

/** The processor that a thread ran on last, or runs on; PL_BESIDE_NOBODY if it is gone, or if we could wait there for
 * long: it goes before us, by its priority or as a real-time thread. Opens a file: 2 us. */
int pl_beside_where(const struct pl_beside *b, pid_t pid, pid_t tid);

/** Keep to @p cpu from now on. False: it is none of ours; then nothing has changed. Going there takes 40 us, and as
 * long as others keep it busy. */
bool pl_beside_go(struct pl_beside *b, int cpu);

/** Run somewhere else now, and anywhere later. False: there is no other processor for us; then nothing has changed. */
bool pl_beside_leave(struct pl_beside *b);

/** Are we where we keep to? Not if the kernel, or anybody else, has moved us: then we keep to it no longer. */
bool pl_beside_is_there(struct pl_beside *b);

/** May be called by other threads, more than once, and in a signal handler: whoever is kept from running where it keeps
 * to can run anywhere again, and goes nowhere any more. */
void pl_beside_free(struct pl_beside *b);

/** The CPU time that we have used on processors that we kept to, since the last call: no thread has run there
 * meanwhile. */
uint64_t pl_beside_taken_ns(struct pl_beside *b);

#endif
