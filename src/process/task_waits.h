/* SPDX-License-Identifier: Apache-2.0 */
/* How long the asyncio tasks of a process wait, where and what for: by looks at some of them, now and then.
 * docs/design/011-tasks.md
 *
 * However many interpreters and tasks a process says that it has, a look takes no more than some tenths of a second. */
#ifndef PL_TASK_WAITS_H
#define PL_TASK_WAITS_H

#include "asyncio.h"
#include "clock.h"
#include "mem_limited.h"
#include "mem_pages.h"
#include "python_process.h"

#define PL_WAITS_LOOKS 20 /* in a second, at most */
#define PL_WAITS_TASKS 8  /* that are read in each */

/** What tasks waited for when they were looked at. */
struct pl_tasks_waiting {
	uint32_t node; /* the stack; 0: it is not known what they did */
	pid_t tid;     /* of the thread that runs their loop */
	uint8_t what;  /* enum pl_dump_for */
	uint32_t tasks;
	uint64_t task_ns; /* that they stand for */
};

/** What listing the tasks of an interpreter needs to know. */
struct pl_task_lister {
	struct pl_interp interp;
	struct pl_work work;
	struct pl_mem_limited limited;
	struct pl_mem_pages *pages;
	struct pl_tasks_again *again;
	size_t listed; /* by the last list that was whole */
};

/** Of one process; sampling thread only. All zeros but for `rng`. Time is the caller's, and need not go on always. */
struct pl_task_waits {
	struct pl_rng rng;
	bool begun;
	uint64_t looked_ns, next_ns; /* the last look, the next one */
	struct pl_task_lister lister;
	pl_task_at_vec list; /* of one interpreter, by thread */
	struct pl_tasks read;
	struct pl_stack_reader stack; /* for names of frames */
	/* Of the last look: */
	PL_VEC(struct pl_tasks_waiting) waits;
	uint64_t stands_ns; /* the time that it stands for */
	uint64_t weighs_ns; /* that of each task of the interpreter that was looked at: it stands for all of them */
	uint64_t late_ns;   /* when it has lasted long enough, by the clock of this thread's CPU time */
	uint64_t lost_ns;   /* task seconds of tasks of which not even the thread is known */
	pid_t tid;	    /* of the thread whose tasks were read last */
};

/** The addresses mean nothing any more. */
void pl_task_waits_forget(struct pl_task_waits *t);
void pl_task_waits_deinit(struct pl_task_waits *t);

/** Is it time for a look at @p now? */
bool pl_task_waits_due(struct pl_task_waits *t, struct pl_python_process *p, uint64_t now);
/** What is found is in `waits`, each place once, until the next call. */
void pl_task_waits_look(struct pl_task_waits *t, struct pl_python_process *p, uint64_t now);

#endif
