/* SPDX-License-Identifier: Apache-2.0 */
/* Which function is the hottest now: samples by the function they were in, where older ones count for less. */
#ifndef PL_HOTTEST_H
#define PL_HOTTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

struct pl_hottest {
	PL_VEC(double) self; /* by function */
	double all;	     /* samples, those without a function included */
	uint64_t halved_ns;
};

#define PL_NO_FUNCTION UINT32_MAX

/** Count a sample taken at @p time_ns in @p function. Without memory for a new function that one is not counted. */
void pl_hottest_add(struct pl_hottest *h, uint32_t function, uint64_t time_ns);
/** False if there is none yet. */
bool pl_hottest_find(const struct pl_hottest *h, uint32_t *function_ret, double *share_ret);
void pl_hottest_deinit(struct pl_hottest *h);

#endif
