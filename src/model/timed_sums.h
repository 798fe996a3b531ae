/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/model: sums over samples that are given one by one, by batch, as intervals need them. */
#ifndef PL_MODEL_TIMED_SUMS_H
#define PL_MODEL_TIMED_SUMS_H

#include "view.h"

struct pl_timed_sum {
	uint64_t samples, ns[PL_BATCHES];
};

void pl_timed_sum_add(struct pl_timed_sum *sum, const struct plumb_profile *p, const struct pl_sample *s);
uint64_t pl_timed_sum_ns(const struct pl_timed_sum *sum);
/** Of @p all. */
struct pl_share pl_timed_sum_share(const struct pl_timed_sum *sum, const struct pl_timed_sum *all);

#endif
