/* SPDX-License-Identifier: Apache-2.0 */
/* Facts from /proc about processes and threads. Text is parsed hostile-safe: comm may hold ") R". */
#ifndef PL_PROC_H
#define PL_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "vec.h"

typedef PL_VEC(pid_t) pl_tid_vec;

/** PLUMB_ERR_NO_PROCESS if there is no such process (a zombie counts as none; a thread id that is no process: says so).
 */
struct plumb_error *pl_proc_check(pid_t pid) PLUMB_MUST_CHECK;
/** Start time in clock ticks since boot: with the pid it names a process for good. */
struct plumb_error *pl_proc_start_time(pid_t pid, uint64_t *ret) PLUMB_MUST_CHECK;
struct pl_proc_stat {
	pid_t pid, parent, session;
	char state;  /* 'R', 'S', ..., 'Z' ended and not yet collected */
	bool forked; /* it has not executed a program since it was forked: it runs what its parent ran */
	char comm[16];
	uint64_t start_ticks; /* since boot, in clock ticks */
	uint64_t vsize;
};
/** /proc/PID/stat of a process or a thread; false if there is none. */
bool pl_proc_stat_read(pid_t pid, struct pl_proc_stat *ret);
/** A number can also be a thread's. */
bool pl_proc_is_process(pid_t pid);
/** Thread ids, ascending, appended. */
struct plumb_error *pl_proc_tids(pid_t pid, pl_tid_vec *ret) PLUMB_MUST_CHECK;
/** comm of a thread (at most 15 bytes + NUL); "" if it is gone. */
void pl_proc_comm(pid_t pid, pid_t tid, char ret[static 16]);
/** argv joined with blanks (quoted where needed), cut at @p size; falls back to "[comm]". */
void pl_proc_command(pid_t pid, char *buf, size_t size);
/** Target of /proc/PID/exe without " (deleted)"; "" if unreadable. */
void pl_proc_exe(pid_t pid, char *buf, size_t size);
/** A short name for file names: base name of the script or of "-m module" if @p pid runs Python, else of the program;
 * only [A-Za-z0-9._-], never empty. */
void pl_proc_program(pid_t pid, char *buf, size_t size);
/** (dev, ino) of /proc/PID/exe; false if unreadable. Changes when the process execs another program. */
bool pl_proc_exe_id(pid_t pid, uint64_t *dev, uint64_t *ino);

#endif
