/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time that the processes used while they were sampled, as the kernel counts it: also that of threads which no
 * sample has met. Sampling thread only. */
#ifndef PL_USED_CPU_H
#define PL_USED_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct pl_engine;
struct pl_target;

/** Of one process; all zeros at first. */
struct pl_used_cpu {
	uint64_t ns;	  /* noted */
	uint64_t from_ns; /* of the clock of the process: what it used since then is not */
	bool counts;
};

/** It is sampled from now on. */
void pl_used_cpu_begin(struct pl_target *t);
/** It is not any more. */
void pl_used_cpu_end(struct pl_engine *e, struct pl_target *t);
/** Of all processes, up to now: told in the figures of the engine. */
void pl_used_cpu_tell(struct pl_engine *e);
/** Sampling pauses, and goes on. */
void pl_used_cpu_pause(struct pl_engine *e);
void pl_used_cpu_resume(struct pl_engine *e);

#endif
