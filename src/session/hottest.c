/* SPDX-License-Identifier: Apache-2.0 */
/* The hottest function of the last seconds, for the status line. Layer session; one thread. All counts are halved every
 * two seconds of the recording, so what a program did before it went on to something else is soon forgotten. */
#include "hottest.h"

#define HALF_LIFE_NS	2000000000ull
#define FORGOTTEN_AFTER 64 /* halvings: then nothing is left */

static void halve(struct pl_hottest *h, double factor)
{
	for (size_t i = 0; i < h->self.len; i++)
		h->self.data[i] *= factor;
	h->all *= factor;
}

static void age(struct pl_hottest *h, uint64_t time_ns)
{
	uint64_t times = time_ns > h->halved_ns ? (time_ns - h->halved_ns) / HALF_LIFE_NS : 0;

	if (!times)
		return;
	halve(h, times < FORGOTTEN_AFTER ? 1.0 / (double)(1ull << times) : 0);
	h->halved_ns += times * HALF_LIFE_NS;
}

void pl_hottest_add(struct pl_hottest *h, uint32_t function, uint64_t time_ns)
{
	age(h, time_ns);
	h->all++;
	if (function == PL_NO_FUNCTION)
		return;
	while (h->self.len <= function)
		if (!pl_vec_push(&h->self, 0))
			return;
	h->self.data[function]++;
}

bool pl_hottest_find(const struct pl_hottest *h, uint32_t *function_ret, double *share_ret)
{
	size_t best = 0;

	for (size_t i = 0; i < h->self.len; i++)
		if (h->self.data[i] > h->self.data[best])
			best = i;
	if (h->self.len == 0 || !(h->self.data[best] > 0))
		return false;
	*function_ret = (uint32_t)best;
	*share_ret = h->self.data[best] / h->all;
	return true;
}

void pl_hottest_deinit(struct pl_hottest *h)
{
	pl_vec_deinit(&h->self);
}
