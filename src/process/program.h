/* SPDX-License-Identifier: Apache-2.0 */
/* The program that is sampled: starting it, naming it, waiting for it. */
#ifndef PL_PROGRAM_H
#define PL_PROGRAM_H

#include <plumb/signals.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "vec.h"

/** As pl_spawn (os/spawn.h). */
struct plumb_error *pl_program_launch(char *const argv[], const struct plumb_signals *signals,
				      pid_t *ret) PLUMB_MUST_CHECK;
/** As pl_spawn_signals. */
void pl_program_signals(struct plumb_signals *ret);
/** PLUMB_ERR_NO_PROCESS if there is none. */
struct plumb_error *pl_program_check(pid_t pid) PLUMB_MUST_CHECK;
/** A short name, fit for a file name. */
void pl_program_name(pid_t pid, char *buf, size_t size);
/** The command line. */
void pl_program_command(pid_t pid, char *buf, size_t size);

typedef PL_VEC(pid_t) pl_pid_vec;
/** All processes that /proc shows. */
struct plumb_error *pl_program_all(pl_pid_vec *ret) PLUMB_MUST_CHECK;
/** As pl_proc_is_called, pl_proc_is_python and pl_proc_may_be_read (os/proc.h). */
bool pl_program_is_called(pid_t pid, const char *name);
bool pl_program_is_python(pid_t pid);
bool pl_program_may_be_read(pid_t pid);
/** CPU time of all its threads, to a clock tick; 0 if it is gone. */
uint64_t pl_program_cpu_ns(pid_t pid);
/** When it was started, in nanoseconds since boot, to a clock tick; 0 if it is gone. As pl_proc_booted_real_ns. */
uint64_t pl_program_started_ns(pid_t pid);
uint64_t pl_program_booted_real_ns(void);
/** 0 if it is gone. */
pid_t pl_program_parent(pid_t pid);
/** Whose it is: "alice (uid 1000)". */
void pl_program_user(pid_t pid, char *buf, size_t size);

/** Whether a launched program has ended, or was reaped. Async-signal-safe. */
bool pl_program_has_ended(pid_t pid);
/** Wait until a launched program has ended; it is not reaped, and its id stays its own. Also over if it was reaped
 * elsewhere. */
void pl_program_wait_end(pid_t pid);
/** Wait for a launched program and reap it: from then on its id may be another process's. Its wait status, -1 if it was
 * reaped elsewhere. */
int pl_program_reap(pid_t pid);

#endif
