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

/** Does /proc number processes as we do? */
bool pl_proc_is_ours(void);
/** PLUMB_ERR_NO_PROCESS if there is no such process (a zombie counts as none; a thread id that is no process: says so).
 */
struct plumb_error *pl_proc_check(pid_t pid) PLUMB_MUST_CHECK;
/** Start time in clock ticks since boot: with the pid it names a process for good. */
struct plumb_error *pl_proc_start_time(pid_t pid, uint64_t *ret) PLUMB_MUST_CHECK;
/** Clock ticks in nanoseconds. */
uint64_t pl_proc_ticks_ns(uint64_t ticks);
/** The start time in nanoseconds; 0 if it is gone. */
uint64_t pl_proc_started_ns(pid_t pid);
/** When the machine was booted, in nanoseconds since 1970. Read from two clocks: two calls differ a little. */
uint64_t pl_proc_booted_real_ns(void);
struct pl_proc_stat {
	pid_t pid, parent, session;
	char state;  /* of the main thread: 'R', 'S', ..., 'Z' ended */
	bool ended;  /* and so have all others; not yet collected */
	bool forked; /* it has not executed a program since it was forked: it runs what its parent ran */
	char comm[16];
	uint64_t start_ticks; /* since boot, in clock ticks */
	uint64_t cpu_ticks;   /* used by all of its threads */
	uint64_t vsize;
};
/** /proc/PID/stat of a process or a thread; false if there is none. */
bool pl_proc_stat_read(pid_t pid, struct pl_proc_stat *ret);
/** CPU time that all threads of a process have used, also those that have ended, to the nanosecond; false if it is gone
 * and was collected. Takes longer the more threads it has: 1,000 of them 20 us. */
bool pl_proc_cpu_ns(pid_t pid, uint64_t *ret);
/** A number can also be a thread's. */
bool pl_proc_is_process(pid_t pid);
/** Whether its memory may be read, as whoever samples it must. */
bool pl_proc_may_be_read(pid_t pid);
/** Its user; -1 if it is gone. */
uid_t pl_proc_owner(pid_t pid);
/** The ids of all processes that /proc shows, ascending. Errors: PLUMB_ERR_SYSTEM, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_proc_all(pl_tid_vec *ret) PLUMB_MUST_CHECK;
/** Thread ids, ascending, appended. */
struct plumb_error *pl_proc_tids(pid_t pid, pl_tid_vec *ret) PLUMB_MUST_CHECK;
/** Is there such a thread, and has it not ended? A main thread that has stays there while others live. True also if we
 * lack the file descriptor to ask with. */
bool pl_proc_thread_alive(pid_t pid, pid_t tid);
/** comm of a thread (at most 15 bytes + NUL); "" if it is gone. */
void pl_proc_comm(pid_t pid, pid_t tid, char ret[static 16]);
/** argv joined with blanks (quoted where needed), cut at @p size; falls back to "[comm]". */
void pl_proc_command(pid_t pid, char *buf, size_t size);
/** Target of /proc/PID/exe without " (deleted)"; "" if unreadable. */
void pl_proc_exe(pid_t pid, char *buf, size_t size);
/** A short name for file names: base name of the script or of "-m module" if @p pid runs Python, else of the program;
 * only [A-Za-z0-9._-], never empty. */
void pl_proc_program(pid_t pid, char *buf, size_t size);
/** Does it run an interpreter, by the name of its program? One that embeds Python is not seen. */
bool pl_proc_is_python(pid_t pid);
/** Is it called @p name: the script it runs ("app.py", "app", "dir/app.py", or a path to that very file), the module of
 * "-m", the program, or the title it gave itself up to a colon or blank? */
bool pl_proc_is_called(pid_t pid, const char *name);
/** (dev, ino) of /proc/PID/exe; false if unreadable. Changes when the process execs another program. */
bool pl_proc_exe_id(pid_t pid, uint64_t *dev, uint64_t *ino);

#endif
