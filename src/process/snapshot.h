/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot: the memory one stack is made of, fetched by one system call.
 *
 * The readers of src/cpython do not know it: they read through a pl_mem. The first time, each read goes to the process
 * and is remembered; these ranges are the plan. The next time the whole plan is fetched in one process_vm_readv, in
 * this order,
 *
 *     anchors | body | anchors again
 *
 * and the same readers run over the copy. The anchors are the words that name the innermost frame (thread state, C
 * frame) and the innermost frames themselves: if they are equal before and after the body was copied, and no read
 * missed the plan, the copy was taken while the innermost frame stood still. */
#ifndef PL_SNAPSHOT_H
#define PL_SNAPSHOT_H

#include "mem.h"
#include "mem_live.h"
#include "vec.h"

#define PL_MAX_ANCHORS	  8
#define PL_PLAN_BYTES_MAX (64u * 1024 * 1024)
#define PL_AHEAD_MAX	  1024 /* pieces of one fetch that are prefetched: those before them are looked through for each */

/** Bytes of the target and where their copy is. */
struct pl_piece {
	pl_addr addr;
	uint32_t len, at;
};
typedef PL_VEC(struct pl_piece) pl_piece_vec;
typedef PL_VEC(struct pl_range) pl_range_vec;

struct pl_snapshot {
	struct pl_mem mem;    /* the reader over the copy; what is not in it comes from the process */
	struct pl_mem before; /* readers over one copy of the anchors alone; what is not in it is unreadable */
	struct pl_mem after;
	struct pl_mem *source;	  /* the process */
	struct pl_mem_live *live; /* the same, for many ranges at once; NULL of a core: nothing is fetched */

	pl_range_vec touched;			 /* what was read since the fetch */
	struct pl_range anchors[PL_MAX_ANCHORS]; /* of the next plan */
	uint32_t anchor_count;

	pl_range_vec plan;     /* what a fetch reads: anchors, body sorted by address, anchors */
	uint32_t plan_anchors; /* how many anchors the plan has */
	uint32_t plan_age;     /* fetches since it was made */

	pl_piece_vec pieces; /* the plan's ranges in the buffer, then what was prefetched since the fetch */
	uint32_t last_piece; /* the piece that served the last read */
	uint8_t *buf;
	size_t len, cap;
	uint8_t *old; /* what the fetch before brought, by the same plan if again */
	size_t old_cap;
	bool again;

	bool fetched; /* the last fetch brought the whole plan */
	bool whole;   /* and every read since was served from it */
};

void pl_snapshot_init(struct pl_snapshot *s, struct pl_mem_live *live);
/** Of a core, in which nothing moves: each read goes to @p source. */
void pl_snapshot_init_of_core(struct pl_snapshot *s, struct pl_mem *source);
void pl_snapshot_deinit(struct pl_snapshot *s);

/** Fetch the plan (nothing, if there is none yet). Errors: pl_err_target_exited, pl_err_no_memory. A plan that is no
 * longer mapped is not an error: s->fetched is then false and reads go to the process. */
struct plumb_error *pl_snapshot_fetch(struct pl_snapshot *s) PLUMB_MUST_CHECK;
/** Start without a copy: every read goes to the process (it is stopped, or this is the first time). */
void pl_snapshot_bypass(struct pl_snapshot *s);

/**
 * Are these bytes in the body of this fetch, and the same as in the fetch before, by the same plan? Then they count as
 * read. False when a new plan is due, which wants to see what is read.
 */
bool pl_snapshot_unchanged(struct pl_snapshot *s, pl_addr addr, size_t len);
/** The piece of the body of this fetch that has these bytes and serves them; NULL if none does, or the anchors do. */
const struct pl_piece *pl_snapshot_piece(const struct pl_snapshot *s, pl_addr addr, size_t len);

/** Read what proves nothing: it comes from the copy or, a little later, from the process; the reading stays as whole as
 * it is. Errors: pl_err_unreadable, pl_err_target_exited. */
struct plumb_error *pl_snapshot_peek(struct pl_snapshot *s, pl_addr addr, void *dst, size_t len) PLUMB_MUST_CHECK;

/** All that was read since the fetch becomes the anchors of the next plan: call it after reading the thread state. */
void pl_snapshot_anchor_touched(struct pl_snapshot *s);
/** One more anchor; joined with a near one; ignored when there are PL_MAX_ANCHORS. */
void pl_snapshot_anchor(struct pl_snapshot *s, pl_addr addr, uint32_t len);
/** After a walk that reached its end: make a new plan if this one was missed or is old. Out of memory: no plan. */
void pl_snapshot_learn(struct pl_snapshot *s);

#endif
