/* SPDX-License-Identifier: Apache-2.0 */
/* Links that go round: those of memory that changes, or is made up. */
#ifndef PL_CYCLE_H
#define PL_CYCLE_H

#include <stdbool.h>

#include "mem.h"

/** Brent's cycle detection: one compare per step, and a cycle is seen within a few rounds of it. Zero at the start. */
struct pl_cycle_guard {
	pl_addr mark;
	size_t steps, limit;
};

/** Has the walk that is at @p addr now been there before? */
static inline bool pl_goes_round(struct pl_cycle_guard *g, pl_addr addr)
{
	if (addr == g->mark)
		return true;
	if (++g->steps >= g->limit) {
		g->mark = addr;
		g->steps = 0;
		g->limit = g->limit ? g->limit * 2 : 1;
	}
	return false;
}

#endif
