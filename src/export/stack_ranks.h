/* SPDX-License-Identifier: Apache-2.0 */
/* An order of functions, locations and stacks by what they say: their ids depend on who came first. */
#ifndef PL_STACK_RANKS_H
#define PL_STACK_RANKS_H

#include "profile.h"

int pl_order_functions(const struct plumb_profile *p, uint32_t a, uint32_t b);
int pl_order_locations(const struct plumb_profile *p, uint32_t a, uint32_t b);

/** @p ranks, one for each stack: those that are not 0, and those of their callers, are replaced by ranks from 1 on.
 * The less deep come first, of the equally deep the innermost frame that differs decides, and those that say the same
 * have one rank. All others are 0. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_stack_ranks(const struct plumb_profile *p, uint32_t *ranks) PLUMB_MUST_CHECK;
/** By ranks of the locations that the caller has, one for each. */
struct plumb_error *pl_stack_ranks_by(const struct plumb_profile *p, const uint32_t *locations,
				      uint32_t *ranks) PLUMB_MUST_CHECK;

#endif
