/* SPDX-License-Identifier: Apache-2.0 */
/* A process that runs Python, open for reading: which Python it is, its threads, their stacks, and having them stand
 * still. One that has ended is read from its core in the same way: nothing of it moves, and of its threads the kernel
 * tells what it noted. Used by one thread at a time, and what is stopped by that one alone (ptrace's rule).
 * docs/design/012-one-process.md */
#ifndef PL_PYTHON_PROCESS_H
#define PL_PYTHON_PROCESS_H

#include "core.h"
#include "proc.h"
#include "process_files.h"
#include "reading.h"
#include "thread_list.h"
#include "stopper.h"

struct pl_python_process {
	pid_t pid;
	struct pl_core *core; /* that is read; NULL: the process itself is */
	struct pl_reader reader;
	struct pl_thread_list threads;
	struct pl_stopper stopper;
	struct pl_process_files files; /* of a core: the rights that it was dumped with */
};

/** Its memory, as it is now. */
static inline struct pl_mem *pl_python_process_mem(const struct pl_python_process *p)
{
	return p->reader.mem;
}

/** The threads that the kernel knows of, appended; of a core those that it noted, the main one first. Errors: those of
 * pl_proc_tids. */
struct plumb_error *pl_python_process_tids(const struct pl_python_process *p, pl_tid_vec *ret) PLUMB_MUST_CHECK;
/** What the kernel says of one of them. It is to be closed. */
void pl_python_process_clock(const struct pl_python_process *p, pid_t tid, struct pl_thread_clock *ret);

/* ---- one process, by itself -------------------------------------------------------------------------------------- */

/** Find its Python; one that is starting up is given a second for that. Its threads are not listed yet. Errors:
 * PLUMB_ERR_NO_PROCESS, PLUMB_ERR_NOT_PERMITTED, PLUMB_ERR_NOT_PYTHON, PLUMB_ERR_NOT_SUPPORTED, PLUMB_ERR_NOT_READY,
 * PLUMB_ERR_SYSTEM and what else pl_find_python tells. */
struct plumb_error *pl_python_process_open(pid_t pid, enum pl_stop_policy policy,
					   struct pl_python_process **ret) PLUMB_MUST_CHECK;
/** The process that the core file @p path was written of. @p root: its root directory, NULL: ours; @p trusted: what the
 * core names is opened with our own rights. Errors: those of pl_core_open, PLUMB_ERR_NOT_PYTHON, and those of
 * pl_which_python. */
struct plumb_error *pl_python_process_open_core(const char *path, const char *root, bool trusted,
						struct pl_python_process **ret) PLUMB_MUST_CHECK;
void pl_python_process_close(struct pl_python_process *p);

/* ---- one of many, whose Python is found by whoever has them ------------------------------------------------------ */

/** @p p is all zeros, but for its pid. What samples refer to, and how much room there is, are shared by all. */
void pl_python_process_init(struct pl_python_process *p, struct pl_tables *tables, struct pl_room *room,
			    const struct pl_thread_list_use *use, void *user);
void pl_python_process_deinit(struct pl_python_process *p);
/** It runs this Python, in that memory, which is taken over. @p beside is borrowed. Looking for native code is noted as
 * @p work. */
void pl_python_process_attach(struct pl_python_process *p, const struct pl_py *py, struct pl_mem_live *live,
			      enum pl_stop_policy policy, struct pl_beside *beside, struct pl_work *work);
/** Of our own process: the program may close our descriptors at any moment. Before each use. */
void pl_python_process_keep_open(struct pl_python_process *p);
/** It has ended, or runs another program. */
void pl_python_process_detach(struct pl_python_process *p);

#endif
