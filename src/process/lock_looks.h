/* SPDX-License-Identifier: Apache-2.0 */
/* Which lock a thread waits for, once for each wait, and who holds it, once in each round of samples.
 * docs/design/020-lock-blame.md */
#ifndef PL_LOCK_LOOKS_H
#define PL_LOCK_LOOKS_H

#include "lock_holds.h"
#include "lock_wait.h"
#include "mem_limited.h"
#include "mem_pages.h"
#include "ration.h"

struct pl_python_process;
struct pl_reader;
struct pl_thread_sampler;

/** The lock that a thread waits for, while it does; object 0: none. */
struct pl_awaits {
	pl_addr object;
	enum pl_lock_kind kind;
};

/** What is known of who holds a lock. */
enum pl_holder_known {
	PL_HOLDER_UNKNOWN,
	PL_HOLDER_NOBODY, /* it was free: passed on to the next one */
	PL_HOLDER_THREAD,
};

struct pl_look_at_lock {
	struct pl_awaits lock;
	enum pl_holder_known known;
	struct pl_thread_sampler *holder;
	uint32_t node;	 /* the holder's stack */
	uint32_t inside; /* up to its frame that is inside `with` of the lock; 0: not known */
};

#define PL_THREAD_HOLDS 8

/** The locks that a thread is inside of. */
struct pl_thread_holds {
	bool known, whole;
	uint64_t runs; /* the run counter that they were found at */
	uint32_t node, count;
	struct {
		pl_addr lock;
		bool inside, innermost;
		uint32_t node; /* up to the frame that is inside */
	} of[PL_THREAD_HOLDS];
};

typedef void pl_looked_fn(void *ctx, const struct pl_thread_sampler *thread);

/** Of one process; one thread at a time. */
struct pl_lock_looks {
	const struct pl_reader *reader;
	struct pl_ration searches; /* for which lock a thread waits for */
	struct pl_work work;	   /* of what is done now */
	struct pl_mem_limited limited;
	struct pl_mem_pages *pages; /* over it; NULL: none yet; they take memory, so they are given back now and then */
	struct pl_values values;
	uint64_t fresh_ns; /* when what is known of types and code was forgotten */
	struct pl_hold_finder finder;
	pl_lock_hold_vec first, second;
	pl_frame_vec frames;   /* those that the first has found */
	struct pl_map no_lock; /* (code, instruction): there Condition.wait waits for what is no lock, or it takes too
				  much to find it */
	/* Of this round. */
	PL_VEC(struct pl_look_at_lock) locks;
	struct pl_map by_object;
	pl_looked_fn *fn;
	void *ctx;
};

struct plumb_error *pl_lock_looks_create(struct pl_reader *r, struct pl_lock_looks **ret) PLUMB_MUST_CHECK;
void pl_lock_looks_destroy(struct pl_lock_looks *l); /* NULL-safe */

/** The lock that a thread waits for which stands still, with these frames, in the futex at @p futex. None also
 * when the ration for searches is spent: then the next waits are told without. */
void pl_lock_looks_find(struct pl_lock_looks *l, const pl_frame_vec *frames, pl_addr futex, struct pl_awaits *ret);

/** Forget the locks of the round before. */
void pl_lock_looks_begin(struct pl_lock_looks *l);
/** Somebody waits for this one in this round. False: there is no room, who holds it is not known. */
bool pl_lock_looks_add(struct pl_lock_looks *l, const struct pl_awaits *lock, uint32_t *ret);
/** Who holds those that were added: `locks` at the positions that were given. The threads have been sampled just now;
 * @p fn is told of each whose stack was read for it. */
void pl_lock_looks_ask(struct pl_lock_looks *l, struct pl_python_process *p, pl_looked_fn *fn, void *ctx);

#endif
