/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel knows of one thread: how long it ran, and whether it is blocked and in what. From two files of
 * /proc/PID/task/TID that stay open, about 1 us a read. */
#ifndef PL_THREAD_CLOCK_H
#define PL_THREAD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "own_fd.h"

struct pl_core_thread;

struct pl_thread_clock {
	int schedstat_fd, syscall_fd; /* -1: not open */
	struct pl_file_id schedstat, syscall;
	const struct pl_core_thread *noted; /* of a core; NULL: nothing was */
};

/** Never fails: what cannot be opened is unknown. */
void pl_thread_clock_open(struct pl_thread_clock *c, pid_t pid, pid_t tid);
/** Of a thread of a core: what the kernel noted is what it does, and its counters are not known. @p noted is borrowed;
 * NULL: nothing was noted of it. */
void pl_thread_clock_of_core(struct pl_thread_clock *c, const struct pl_core_thread *noted);
void pl_thread_clock_close(struct pl_thread_clock *c);

/**
 * The run counters. `runs` counts the times the thread was put on a CPU and moves at the switch, `run_ns` moves at
 * timer ticks and switches only: a thread known to be off the CPU has not run since iff `runs` is unchanged.
 * `delay_ns`, for how long it was ready and had no CPU, moves when it gets one.
 */
struct pl_run_counters {
	uint64_t run_ns, runs, delay_ns;
};

enum pl_clock_result { PL_CLOCK_OK, PL_CLOCK_UNKNOWN, PL_CLOCK_GONE };

enum pl_clock_result pl_thread_clock_counters(const struct pl_thread_clock *c, struct pl_run_counters *ret);

enum pl_activity {
	PL_ACTIVITY_UNKNOWN,
	PL_ACTIVITY_RUNNING, /* on a CPU or ready to run */
	PL_ACTIVITY_BLOCKED, /* in a system call, or stopped */
	PL_ACTIVITY_GONE,
};
struct pl_activity_info {
	int syscall;	  /* number, -1 if blocked elsewhere (page fault, stopped) */
	uint64_t args[6]; /* valid if syscall >= 0 */
	uint64_t sp, pc;  /* of a blocked one in user space; 0: not known */
};

/** @p ret may be NULL. */
enum pl_activity pl_thread_clock_activity(const struct pl_thread_clock *c, struct pl_activity_info *ret);

#endif
