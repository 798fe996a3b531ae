/* SPDX-License-Identifier: Apache-2.0 */
/* What each stretch of a session counted. Cells refer to the tables of the session's profile, which only grow. */
#ifndef PL_CYCLES_H
#define PL_CYCLES_H

#include "profile.h"
#include "row_index.h"
#include "vec.h"

struct pl_cycle {
	uint64_t number;      /* from the session's beginning */
	uint64_t end_real_ns; /* 0: it has not ended */
	PL_VEC(struct pl_cell) cells;
	struct pl_row_index index;
};

struct pl_cycles {
	uint64_t length_ns;	      /* 0: there are none */
	size_t max;		      /* that have ended */
	size_t max_cells;	      /* of those that have ended, together; 0: as many as there are */
	PL_VEC(struct pl_cycle) list; /* by number, without a gap; the last ones may not have ended */
	size_t ended;
	size_t cells; /* of all of them */
};

void pl_cycles_deinit(struct pl_cycles *c);
/** A sample counts in the cycle of its time; in the oldest there is if that one has been taken. */
struct plumb_error *pl_cycles_add(struct pl_cycles *c, const struct pl_sample *s) PLUMB_MUST_CHECK;
/** All samples before @p elapsed_ns have been added; it was that late at @p real_ns. */
struct plumb_error *pl_cycles_advance(struct pl_cycles *c, uint64_t elapsed_ns, uint64_t real_ns) PLUMB_MUST_CHECK;
/** Those that have not ended do so with the session. */
void pl_cycles_finish(struct pl_cycles *c, uint64_t real_ns);
/** Forget what was counted. */
void pl_cycles_clear(struct pl_cycles *c);
/** The oldest that has ended, NULL: none; drop it. */
const struct pl_cycle *pl_cycles_oldest(const struct pl_cycles *c);
void pl_cycles_drop(struct pl_cycles *c);

#endif
