/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of counts that may be anything. */
#ifndef PL_SUM_H
#define PL_SUM_H

#include <stdint.h>

/** Counts of hostile recordings may be anything: they stay at the maximum instead of starting again at 0. */
static inline uint64_t pl_sum_u64(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline void pl_sum_up(uint64_t *sum, uint64_t more)
{
	*sum = pl_sum_u64(*sum, more);
}

#endif
