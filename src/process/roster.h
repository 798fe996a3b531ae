/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process: which there are, how the kernel numbers them, what they are called. Whoever has them listed
 * may keep more with each than is known here, and is asked and told what happens to them. */
#ifndef PL_ROSTER_H
#define PL_ROSTER_H

#include "map.h"
#include "ration.h"
#include "room.h"
#include "threads.h"
#include "tid_map.h"
#include "watch.h"

struct pl_python_process;

/** What the list is used for. Each of the functions may be NULL: there is nothing to say. */
struct pl_roster_use {
	size_t size; /* of what is kept with a thread; a struct pl_watch comes first in it. All zeros to begin with */
	/** Nobody wants to know of this thread. */
	bool (*leaves_out)(void *user, pid_t tid);
	/** One more. @p awaited: it was in the last list as one that is about to have a thread. */
	void (*came)(void *user, struct pl_watch *w, bool awaited);
	/** Its name was looked for: perhaps it is another one now. */
	void (*named)(void *user, struct pl_watch *w);
	/** It has ended, or its process is not looked at any more. */
	void (*leaves)(void *user, struct pl_watch *w);
};

/** A list of threads that are only read. */
extern const struct pl_roster_use pl_roster_plain;

typedef PL_VEC(pl_addr) pl_addr_vec;

struct pl_roster {
	const struct pl_roster_use *use;
	void *user;
	struct pl_room *room; /* the caller's */
	PL_VEC(struct pl_watch *) watches;
	pl_interp_vec interps; /* as last listed */
	uint32_t tid_offset;   /* <= 3.10: of tid in struct pthread; 0 not known yet */
	struct pl_tid_map tids;
	pl_addr_vec unborn, were_unborn; /* thread states without a thread, in the last list and the one before */
	uint64_t unborn_ns;		 /* since when there were no others */
	uint64_t listed_ns;		 /* when the lists were read last */
	uint64_t next_list_ns;		 /* when to read them again; 0 at once */
	uint64_t clocked_ns;		 /* when the threads' CPU times were read last */
	uint32_t refused;		 /* threads for which there was no room */
	struct pl_ration lists, names;	 /* for reading them */
	uint64_t list_work;		 /* that the last lists took */
	/* Where the watches are, while lists are read: by thread state and ident, by tid and interpreter, by ident. */
	struct pl_map by_state, by_tid, by_ident;
};

/** @p r is all zeros. */
void pl_roster_init(struct pl_roster *r, const struct pl_roster_use *use, void *user, struct pl_room *room);
/** All threads leave. It may be used again. */
void pl_roster_clear(struct pl_roster *r);
/** Read the lists of interpreters and threads of @p p; begin to watch new ones. */
struct plumb_error *pl_roster_refresh(struct pl_python_process *p, uint64_t now) PLUMB_MUST_CHECK;
/** The others keep their order. */
void pl_roster_remove(struct pl_roster *r, size_t i);
/** One of its interpreters as it is now: a new head of its list means a new thread. */
void pl_roster_notice(struct pl_roster *r, const struct pl_interp *now);
/** A stack could not be read: it may be that of a thread state that is gone. */
void pl_roster_doubt(struct pl_roster *r);
/** The thread with that state, with that number; NULL: none. */
struct pl_watch *pl_roster_of_state(const struct pl_roster *r, pl_addr tstate);
struct pl_watch *pl_roster_of_tid(const struct pl_roster *r, pid_t tid);
/** An interpreter's number is its age: 0 is the main one. */
uint64_t pl_roster_interp_number(const struct pl_roster *r, pl_addr interp);
/** NULL: there is none. */
const struct pl_interp *pl_roster_interp(const struct pl_roster *r, uint64_t number);
/** Now and then: the CPU times. */
void pl_roster_clock(struct pl_roster *r, uint64_t now);
/** Those of all threads, as they are now. */
void pl_roster_clock_all(struct pl_roster *r, uint64_t now);

#endif
