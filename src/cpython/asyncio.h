/* SPDX-License-Identifier: Apache-2.0 */
/* asyncio tasks: who waits for what. */
#ifndef PL_ASYNCIO_H
#define PL_ASYNCIO_H

#include "buf.h"
#include "frame.h"

#define PL_MAX_TASKS	    16384
#define PL_MAX_TASK_FRAMES  256 /* of one task */
#define PL_MAX_TASK_WAITERS 256 /* of one task */
#define PL_MAX_TASK_NAME    256 /* bytes */

enum pl_task_state {
	PL_TASK_RUNNING, /* its loop is inside it now; its frames are then those of the thread */
	PL_TASK_WAITING, /* for `waits_for` */
	PL_TASK_READY,	 /* the loop will run it: new, just woken, or after sleep(0) */
};

/** What a task waits for. */
enum pl_wait_kind {
	PL_WAIT_NOTHING,
	PL_WAIT_TASK,	/* waits_for is another task (perhaps of this list) */
	PL_WAIT_GATHER, /* waits_for is what asyncio.gather returned; its children are tasks awaited by this one */
	PL_WAIT_FUTURE, /* any other future: a timer, a lock, I/O, an executor */
};

/** One task. Frames, waiters and the name are in the pools of struct pl_tasks. */
struct pl_task {
	pl_addr addr, loop, coro;
	pl_addr waits_for;  /* a future or task; 0 unless waiting */
	uint64_t thread_id; /* pthread_t of the thread that runs its loop now; 0: none does, or it is not known */
	pl_addr tstate;	    /* 3.14+: the thread state it was made on, 0 if that is gone; else 0 */
	uint32_t name_at, name_len;
	/* The await chain, innermost first: the first one is what waits. Of a running task only its outermost frame:
	 * the others are on the stack of its thread. */
	uint32_t frames_at, frames;
	uint32_t waiters_at, waiters; /* tasks that await this one (addresses), as far as is known */
	uint32_t inner_at,
		inner_len; /* the type of the last thing awaited if it is no frame: "Future", "MyAwaitable" */
	/* What it waits for in terms of asyncio, if it is no other task; `object` 0: there is nothing to name. */
	pl_addr object;
	uint32_t type_at, type_len; /* of it, as programs call it: "asyncio.Lock" */
	uint32_t needs_at, needs;   /* tasks and futures that must all end before it goes on (addresses) */
	uint32_t locks_at, locks;   /* unless it runs */
	uint8_t state;		    /* enum pl_task_state */
	uint8_t wait_kind;	    /* enum pl_wait_kind */
	uint8_t what;		    /* enum pl_wait_for (lock_wait.h) */
	bool for_tasks;		    /* it waits for what tasks do, as far as can be seen, and for nothing else */
	/* Of those that gather or wait wait for, of the first ones, some that have not ended are tasks; are none. */
	bool members_tasks, members_futures;
	uint8_t members_seen;
	bool limited; /* it waits no longer than some time */
	bool cut;     /* the chain is longer, or its inner end could not be read */
};

/* An asyncio.Lock that a task is inside of; or one that it has let go of, which another task may have entered. */
struct pl_task_lock {
	pl_addr lock;
	bool inside;
};

/* Where a task is, and whose it is. */
struct pl_task_at {
	pl_addr addr;
	uint64_t thread_id; /* as above */
};
typedef PL_VEC(struct pl_task_at) pl_task_at_vec;

struct pl_tasks {
	PL_VEC(struct pl_task) list; /* those of one loop together */
	pl_frame_vec frames;
	PL_VEC(pl_addr) waiters, needs;
	PL_VEC(struct pl_task_lock) locks;
	struct pl_buf text; /* names and types */
	size_t lost;	    /* tasks that could not be read, or were more than PL_MAX_TASKS; lists read in part */
};

void pl_tasks_init(struct pl_tasks *t);
void pl_tasks_deinit(struct pl_tasks *t);

/**
 * All unfinished tasks of one interpreter, eager ones and those of loops that do not run included; @p ret is init-ed,
 * what it held is dropped. A frame of a chain is like one of pl_frame_walk: pl_code_read, pl_code_offset and
 * pl_locals_each take it. 3.14+: the interpreter's own lists, laid out as _asyncio's debug section says. Before: the
 * weak sets of asyncio.tasks. A program that never imported asyncio has no tasks and that is no error. Errors:
 * PLUMB_ERR_NOT_SUPPORTED (this release: says so), PLUMB_ERR_CORRUPT (the lists themselves), PLUMB_ERR_TARGET_EXITED,
 * PLUMB_ERR_NO_MEMORY.
 */
struct plumb_error *pl_tasks_read(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *interp,
				  struct pl_tasks *ret) PLUMB_MUST_CHECK;

/**
 * For a second look at some of the tasks that pl_tasks_read has found: what has to be looked up for it, once. The
 * memory must outlive it. Errors: as pl_tasks_read.
 */
struct pl_tasks_again;
struct plumb_error *pl_tasks_again_create(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *interp,
					  struct pl_tasks_again **ret) PLUMB_MUST_CHECK;
void pl_tasks_again_destroy(struct pl_tasks_again *a);
/** Those of these tasks that have not ended, and nothing of others; in no order. One that runs is told as ready. */
struct plumb_error *pl_tasks_again_read(struct pl_tasks_again *a, const pl_addr *tasks, size_t count,
					struct pl_tasks *ret) PLUMB_MUST_CHECK;
/** Append where the unfinished tasks are that there are now, PL_MAX_TASKS at most. *lost_ret: those that could not be
 * read or are more. The interpreter's words are those that it was created with, as far as they change: have them read
 * again before. */
struct plumb_error *pl_tasks_again_list(struct pl_tasks_again *a, pl_task_at_vec *ret,
					size_t *lost_ret) PLUMB_MUST_CHECK;

#endif
