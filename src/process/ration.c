/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process: see ration.h. A unit of work takes a nanosecond at most. */
#include "ration.h"

struct pl_work pl_ration_begin(struct pl_ration *r, uint64_t now_ns)
{
	uint64_t regained = now_ns > r->at_ns ? (now_ns - r->at_ns) / PL_RATION_SHARE : 0;

	r->spent -= regained < r->spent ? regained : r->spent;
	if (now_ns > r->at_ns)
		r->at_ns = now_ns;
	if (r->unlimited)
		return (struct pl_work){.most = UINT64_MAX};
	return (struct pl_work){.most = r->spent < PL_RATION_MOST ? PL_RATION_MOST - r->spent : 0};
}

void pl_ration_end(struct pl_ration *r, const struct pl_work *done)
{
	r->spent += done->spent;
}
