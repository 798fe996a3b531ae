/* SPDX-License-Identifier: Apache-2.0 */
/* What one target may make us do beside reading stacks that are known: so much at once, then a share of the time. How
 * much there is to do is up to the target, and all others wait for it. */
#ifndef PL_RATION_H
#define PL_RATION_H

#include "work.h"

#define PL_RATION_MOST	(256u << 20) /* at once: 20,000 functions of usual size */
#define PL_RATION_SHARE 10	     /* of the time: one part in so many */

/** Plain data; zero: nothing was done yet. */
struct pl_ration {
	uint64_t spent; /* and not regained by @p at_ns */
	uint64_t at_ns;
	bool unlimited; /* nobody waits for it */
};

/** What may be done now. When it is done, tell. */
struct pl_work pl_ration_begin(struct pl_ration *r, uint64_t now_ns);
void pl_ration_end(struct pl_ration *r, const struct pl_work *done);

#endif
