/* SPDX-License-Identifier: Apache-2.0 */
/* How the scheduler sees a thread, and since when its process runs. */
#ifndef PL_THREAD_STATE_H
#define PL_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pl_thread_state {
	char letter; /* as ps has it: R runs or is ready, S sleeps, D cannot be woken, T stopped, t stopped by a tracer,
			Z dead; 0: gone */
	pid_t tracer;	 /* 0: none, or the calling thread */
	uint64_t blocks; /* times it left the CPU by itself, to wait; UINT64_MAX: not known */
	uint64_t ends;	 /* times it left the CPU; UINT64_MAX: not known. Of pl_run_counters.runs and those that the
			    kernel does not count as many, or one fewer while it has one */
};
/** A thread that the calling thread holds is as it was: it runs, and nobody traces it. */
void pl_thread_state_read(pid_t pid, pid_t tid, struct pl_thread_state *ret);

/** Nanoseconds since @p pid was started; false if it is gone. */
bool pl_process_age(pid_t pid, uint64_t *ret_ns);

#endif
