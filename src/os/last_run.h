/* SPDX-License-Identifier: Apache-2.0 */
/* For how long a thread has not run. */
#ifndef PL_LAST_RUN_H
#define PL_LAST_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PL_LAST_RUN_CPUS 4096

/** The schedulers' clocks as far as they were asked, one per CPU. Start with {0}. */
struct pl_sched_clocks {
	struct pl_sched_clock {
		int64_t ahead_ns; /* of CLOCK_MONOTONIC */
		bool asked, known;
	} * cpu; /* PL_LAST_RUN_CPUS of them, once one was asked */
};
void pl_sched_clocks_deinit(struct pl_sched_clocks *c);

/**
 * At least so long ago the thread ran last. False if the kernel does not tell (it needs CONFIG_SCHED_DEBUG up to Linux
 * 6.14), if it is gone, or if the CPU it ran on does not answer within milliseconds.
 */
bool pl_last_run(struct pl_sched_clocks *c, pid_t pid, pid_t tid, uint64_t *ret_ago_ns);

/** When the thread ran last, by the scheduler's clock on the CPU where that was: comparable with that of others of this
 * CPU only. When it lost the CPU, or up to some milliseconds ago if it has one. False if the kernel does not tell. */
bool pl_last_run_at(pid_t pid, pid_t tid, uint64_t *ret_ns);

/** Pure: se.exec_start in nanoseconds from the text of a sched file; false if there is none, or the thread has not
 * run yet. */
bool pl_last_run_parse(const char *text, uint64_t *ret_ns);

#endif
