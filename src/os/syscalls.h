/* SPDX-License-Identifier: Apache-2.0 */
/* System calls in which threads wait: their names and what their arguments mean. */
#ifndef PL_SYSCALLS_H
#define PL_SYSCALLS_H

#include <stdint.h>

#include "reason.h"

/** What the call waits for. */
enum pl_call_kind {
	PL_CALL_OTHER,	  /* nothing of the below */
	PL_CALL_FD,	  /* argument 0 is the descriptor */
	PL_CALL_POLL,	  /* argument 0 and 1: array of struct pollfd and its length */
	PL_CALL_SELECT,	  /* argument 0 to 3: number of descriptors, three sets */
	PL_CALL_SLEEP,	  /* the time alone */
	PL_CALL_FUTEX,	  /* argument 0 is its address, argument 1 the operation */
	PL_CALL_WAIT,	  /* argument 0: pid of the child as wait4 has it */
	PL_CALL_WAITID,	  /* argument 0 and 1: kind of id and id */
	PL_CALL_FLOCK,	  /* as FD, for a lock on the file */
	PL_CALL_FCNTL,	  /* the same if argument 1 asks to wait for a lock */
	PL_CALL_SIGNAL,	  /* waits for a signal */
	PL_CALL_PATH,	  /* argument 1 is a path */
	PL_CALL_PATH_OLD, /* argument 0 is a path */
	PL_CALL_VFORK,	  /* the child of vfork has not gone on yet */
};

/** How long. */
enum pl_call_time {
	PL_TIME_NONE,
	PL_TIME_MS,		 /* an int, negative: for ever */
	PL_TIME_SPEC,		 /* pointer to struct timespec, relative; NULL: for ever */
	PL_TIME_VAL,		 /* pointer to struct timeval */
	PL_TIME_CLOCK_NANOSLEEP, /* argument 0 is the clock, argument 1 the flags, argument 2 the time */
	PL_TIME_FUTEX,		 /* argument 3; argument 1 tells the clock and whether it is relative */
};

struct pl_call {
	long number;
	const char *name;
	uint8_t kind, time, time_arg; /* enum pl_call_kind, enum pl_call_time */
	uint8_t reason;		      /* enum pl_reason, of who waits in it; UNKNOWN: what its descriptor is says it */
};

/** The row of @p number; NULL: not a call that threads wait in for long, or unknown. */
const struct pl_call *pl_call_find(long number);

#endif
