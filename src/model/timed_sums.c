/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of samples by batch (layer model). Pure. */
#include "timed_sums.h"

#include "index.h"
#include "select.h"

void pl_timed_sum_add(struct pl_timed_sum *sum, const struct plumb_profile *p, const struct pl_sample *s)
{
	uint64_t at = s->time_ns / p->batch_ns;
	unsigned batch = at < PL_BATCHES ? (unsigned)at : PL_BATCHES - 1;

	sum->samples = pl_sum_u64(sum->samples, pl_sum_u64(1, s->extra));
	sum->ns[batch] = pl_sum_u64(sum->ns[batch], s->weight_ns);
}

uint64_t pl_timed_sum_ns(const struct pl_timed_sum *sum)
{
	uint64_t ns = 0;

	for (int b = 0; b < PL_BATCHES; b++)
		ns = pl_sum_u64(ns, sum->ns[b]);
	return ns;
}

struct pl_share pl_timed_sum_share(const struct pl_timed_sum *sum, const struct pl_timed_sum *all)
{
	uint64_t part = pl_timed_sum_ns(sum), whole = pl_timed_sum_ns(all);

	return (struct pl_share){.samples = sum->samples,
				 .weight_ns = part,
				 .share = whole ? (double)part / (double)whole : 0,
				 .half_width = pl_select_half_width(sum->ns, all->ns, all->samples)};
}
