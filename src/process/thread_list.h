/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process: which there are, how the kernel numbers them, what they are called. Whoever has them listed
 * may keep more with each than is known here, and is asked and told what happens to them. Those of a core are what
 * Python knew of and the kernel noted: none of them comes or goes. */
#ifndef PL_THREAD_LIST_H
#define PL_THREAD_LIST_H

#include "map.h"
#include "ration.h"
#include "room.h"
#include "threads.h"
#include "tid_map.h"
#include "thread_sampler.h"

struct pl_python_process;

/** What the list is used for. Each of the functions may be NULL: there is nothing to say. */
struct pl_thread_list_use {
	size_t size; /* of what is kept with a thread; a struct pl_thread_sampler comes first in it. All zeros to begin
			with */
	/** Nobody wants to know of this thread. */
	bool (*leaves_out)(void *user, pid_t tid);
	/** One more. @p awaited: it was in the last list as one that is about to have a thread. */
	void (*came)(void *user, struct pl_thread_sampler *thread, bool awaited);
	/** Its name was looked for: perhaps it is another one now. */
	void (*named)(void *user, struct pl_thread_sampler *thread);
	/** It has ended, or its process is not looked at any more. */
	void (*leaves)(void *user, struct pl_thread_sampler *thread);
};

/** A list of threads that are only read. */
extern const struct pl_thread_list_use pl_thread_list_plain;

typedef PL_VEC(pl_addr) pl_addr_vec;

struct pl_thread_list {
	const struct pl_thread_list_use *use;
	void *user;
	struct pl_room *room; /* the caller's */
	bool natives;	      /* threads that run no Python are listed, too */
	bool met_python;      /* there was one that does */
	PL_VEC(struct pl_thread_sampler *) samplers;
	pl_interp_vec interps; /* as last listed */
	uint32_t tid_offset;   /* <= 3.10: of tid in struct pthread; 0 not known yet */
	struct pl_tid_map tids;
	pl_addr_vec unborn, were_unborn; /* thread states without a thread, in the last list and the one before */
	uint64_t unborn_ns;		 /* since when there were no others */
	uint64_t listed_ns;		 /* when the lists were read last; 0 not yet. Who was started since is new */
	uint64_t next_list_ns;		 /* when to read them again; 0 at once */
	uint64_t clocked_ns;		 /* when the threads' CPU times were read last */
	uint32_t refused;		 /* threads for which there was no room */
	struct pl_ration lists, names;	 /* for reading them */
	uint64_t list_work;		 /* that the last lists took */
	/* Where the thread samplers are, while lists are read: by thread state and ident, by tid and interpreter, by
	 * ident. */
	struct pl_map by_state, by_tid, by_ident;
};

/** @p list is all zeros. */
void pl_thread_list_init(struct pl_thread_list *list, const struct pl_thread_list_use *use, void *user,
			 struct pl_room *room);
/** All threads leave. It may be used again. */
void pl_thread_list_clear(struct pl_thread_list *list);
/** Read the lists of interpreters and threads of @p p; make a thread sampler for each new one. */
struct plumb_error *pl_thread_list_refresh(struct pl_python_process *p, uint64_t now) PLUMB_MUST_CHECK;
/** The others keep their order. */
void pl_thread_list_remove(struct pl_thread_list *list, size_t i);
/** One of its interpreters as it is now: a new head of its list means a new thread. */
void pl_thread_list_notice(struct pl_thread_list *list, const struct pl_interp *now);
/** A stack could not be read: it may be that of a thread state that is gone. */
void pl_thread_list_doubt(struct pl_thread_list *list);
/** The thread with that state, with that number; NULL: none. */
struct pl_thread_sampler *pl_thread_list_of_state(const struct pl_thread_list *list, pl_addr tstate);
struct pl_thread_sampler *pl_thread_list_of_tid(const struct pl_thread_list *list, pid_t tid);
/** An interpreter's number is its age: 0 is the main one. */
uint64_t pl_thread_list_interp_number(const struct pl_thread_list *list, pl_addr interp);
/** NULL: there is none. */
const struct pl_interp *pl_thread_list_interp(const struct pl_thread_list *list, uint64_t number);
/** Now and then: the CPU times. */
void pl_thread_list_clock(struct pl_thread_list *list, uint64_t now);
/** Those of all threads, as they are now. */
void pl_thread_list_clock_all(struct pl_thread_list *list, uint64_t now);

#endif
