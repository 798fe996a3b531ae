/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is sampled. Sampling thread only. */
#ifndef PL_TARGET_H
#define PL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "budget.h"
#include "late_samples.h"
#include "lock_samples.h"
#include "python_process.h"
#include "said_events.h"
#include "search.h"
#include "task_waits.h"
#include "used_cpu.h"

struct pl_engine;

#define PL_MAX_TARGETS 1000 /* processes followed at once */

/** One process: one that was asked for, or a descendant of such a one. */
struct pl_target {
	struct pl_engine *engine;	 /* whose it is */
	struct pl_python_process python; /* alive while attached, but for its pid */
	pid_t parent, session;
	uint64_t start_ticks;
	int pid_fd;			      /* -1: as exit_fd */
	uint64_t came_ns;		      /* CLOCK_MONOTONIC */
	uint32_t index;			      /* number in the output */
	bool asked;			      /* for by whoever samples; else a descendant */
	bool announced;			      /* as the program it is now */
	bool known;			      /* to the consumer */
	bool met;			      /* a tick has met a thread of it */
	bool halted;			      /* stopped by a signal or a debugger, when we looked last: */
	uint64_t halt_look_ns, halt_round_ns; /* CLOCK_MONOTONIC, and the round after it */

	struct pl_stood_still still;
	struct pl_used_cpu used;

	struct pl_search search;
	bool attached;
	bool forked;	      /* it ran its parent's program when we attached */
	size_t first;	      /* of its threads in the next round; may be beyond the last */
	uint64_t listed_tick; /* in which round the lists were read last */
	struct pl_task_waits waits;
	struct pl_lock_samples lock_samples;
	struct pl_late_samples late;
	struct pl_said_events said;
};

#endif
