/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of what depends on chance: how two processes run beside each other. */
#ifndef PL_TEST_SHARE_H
#define PL_TEST_SHARE_H

#include <math.h>

#include "unit.h"

/* With a true share of p and independent cases, k or fewer of n are good with a chance of at most exp(-n KL(k/n, p))
 * (Chernoff). */
static inline double share_chance(size_t good, size_t all, double least)
{
	double n = (double)all, g = (double)good / n, b = 1 - g;

	if (g >= least)
		return 1;
	return exp(-n * ((g > 0 ? g * log(g / least) : 0) + b * log(b / (1 - least))));
}

/** Passes unless so few are @p good of @p all that, with a share of @p least or more, it would be one case in a
 * million.
 */
static inline void assert_share(const char *what, size_t good, size_t all, double least)
{
	if (all > 0 && share_chance(good, all, least) < 1e-6)
		fail_msg("%s: only %zu of %zu, where a share of %g is the least", what, good, all, least);
}

#endif
