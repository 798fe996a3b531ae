/* SPDX-License-Identifier: Apache-2.0 */
/* Whose CPU the calling thread has taken: when the kernel puts one thread on a CPU in another one's place, both get the
 * same time, to the nanosecond. Layer os; one thread, that which asks. */
#ifndef PL_ARRIVAL_H
#define PL_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PL_ARRIVALS_NOTED 1024 /* behind a question */

/** All zeros at first. */
struct pl_arrival {
	uint64_t at_ns;	    /* as pl_last_run_at; 0: not known */
	uint32_t wanted;    /* so many more are noted */
	uint64_t prompt_ns; /* one in four is not later than this */
	bool late;	    /* than those */
};

/** The calling thread has just been woken, so long after it was due. Costs 10 us, and nothing where nobody asks. */
void pl_arrival_note(struct pl_arrival *a, uint64_t late_ns);

enum pl_arrival_took {
	PL_ARRIVAL_TOOK,
	PL_ARRIVAL_TOOK_LATE, /* we had to wait, perhaps until the thread gave the CPU up */
	PL_ARRIVAL_DID_NOT,
	PL_ARRIVAL_UNKNOWN, /* nobody has asked for long, it is gone, or the kernel does not tell (pl_last_run) */
};
/** A thread that has no CPU, but wants one: did it have that on which we came, until we did? Costs 10 us. */
enum pl_arrival_took pl_arrival_took(struct pl_arrival *a, pid_t pid, pid_t tid);

#endif
