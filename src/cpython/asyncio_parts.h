/* SPDX-License-Identifier: Apache-2.0 */
/* What the files asyncio*.c share: where the words of tasks are, and one task or future read. */
#ifndef PL_ASYNCIO_PARTS_H
#define PL_ASYNCIO_PARTS_H

#include "asyncio.h"
#include "dict.h"
#include "map.h"
#include "mem_pages.h"
#include "value.h"

/** Words of the C structs of _asyncio. The first word after the object's header is the loop, in every release. */
struct pl_task_layout {
	uint32_t state, fut_waiter, coro;
	uint32_t name; /* 3.8+, else PL_NONE */
	/* 3.14+, from its debug section; else PL_NONE */
	uint32_t node, awaited_by, awaited_by_is_set;
	uint32_t interp_tasks, tstate_loop, tstate_task, tstate_tasks;
};

/** What walking the tasks of one interpreter needs to know. */
struct pl_asyncio {
	struct pl_mem *mem;
	const struct pl_py *py;
	const struct pl_interp *interp;
	struct pl_values values;
	struct pl_task_layout layout;
	struct pl_dict tasks_module;	/* asyncio.tasks */
	struct pl_dict c_module;	/* _asyncio; no entries: the program does without it */
	pl_addr task_type, future_type; /* of _asyncio; 0: the program does without it */
	size_t slots;			/* of sets, looked at so far */
};

/** A task or future, wherever its words are: in a C struct, or attributes of a class in Python. */
struct pl_task_words {
	pl_addr loop, coro, waits_for, name;
	bool done;
	bool in_c; /* the C struct: also has `awaited_by` */
};

/** May the interpreter have tasks at all? */
bool pl_may_have_tasks(const struct pl_py *py, const struct pl_interp *interp);
/** Fill in what is looked up by name; `mem`, `py`, `interp` and `values` are set. *here_ret: the program uses asyncio.
 */
struct plumb_error *pl_asyncio_open(struct pl_asyncio *a, bool *here_ret) PLUMB_MUST_CHECK;
/** Where the words are, into a->layout; PLUMB_ERR_NOT_SUPPORTED by name. */
struct plumb_error *pl_task_layout_find(struct pl_asyncio *a) PLUMB_MUST_CHECK;

/** Is the object an instance of @p base (a type object; 0: of nothing)? */
bool pl_task_derives(const struct pl_asyncio *a, pl_addr obj, pl_addr base);
struct plumb_error *pl_task_words_read(const struct pl_asyncio *a, pl_addr task,
				       struct pl_task_words *ret) PLUMB_MUST_CHECK;
/** Has a future its result already? False if that cannot be known. */
bool pl_future_is_done(const struct pl_asyncio *a, pl_addr future);
/** Append the name, on 3.7 that of the coroutine; "?" if it has none that can be read. */
struct plumb_error *pl_task_name_add(struct pl_asyncio *a, const struct pl_task_words *words,
				     struct pl_buf *ret) PLUMB_MUST_CHECK;

/** `task` is awaited by `waiter`. */
struct pl_task_edge {
	pl_addr task, waiter;
};

/** One walk. */
struct pl_task_walk {
	struct pl_asyncio a;
	struct pl_mem_pages *pages; /* what a.mem keeps; NULL: whoever gave it sees to that */
	size_t read;		    /* tasks */
	size_t meetings;	    /* with what may be one */
	struct pl_tasks *out;
	pl_task_at_vec *list; /* only where tasks are is wanted; NULL: all of each */
	struct pl_map seen;
	PL_VEC(struct pl_task_edge) edges;
	bool again;	/* what tasks wait for is wanted, and not who waits for whom: a thread may stand still for it */
	size_t futures; /* of sets, asked whether they are done */
	pl_tstate_vec threads;
	PL_VEC(pl_addr) running;
	pl_addr tstate;	      /* whose list is walked now, 3.14+ */
	pl_addr last_loop;    /* the loop whose thread was looked up last ... */
	uint64_t last_thread; /* ... and what was found */
};

/** Fill in @p task, whose address is set, from its words; frames, names and edges go to the walk. */
struct plumb_error *pl_task_describe(struct pl_task_walk *w, const struct pl_task_words *words,
				     struct pl_task *task) PLUMB_MUST_CHECK;
/** The pthread_t of the thread that runs a loop now; 0: none does, or it is not known. */
uint64_t pl_task_thread_of(struct pl_task_walk *w, pl_addr loop);
/** What it waits for, by its state, chain and `waits_for`, and the locks that it is inside of. */
struct plumb_error *pl_task_add_wait(struct pl_task_walk *w, struct pl_task *task) PLUMB_MUST_CHECK;
/** What a task of the C struct says of those that wait for it. */
struct plumb_error *pl_task_add_waiters(struct pl_task_walk *w, pl_addr task) PLUMB_MUST_CHECK;
/** Does the error end the whole walk, and not only one task? */
bool pl_task_is_fatal(const struct plumb_error *err);

/** Called with each object of a set; an error ends the walk. */
typedef struct plumb_error *pl_set_fn(void *ctx, pl_addr obj);
/** The members of a set, or what the weak references in it refer to. PLUMB_ERR_LIMIT: there may be more; so many slots
 * of sets are looked at in a walk. */
struct plumb_error *pl_set_each(struct pl_asyncio *a, pl_addr set, bool weak, pl_set_fn *fn,
				void *ctx) PLUMB_MUST_CHECK;

#endif
