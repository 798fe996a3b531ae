/* SPDX-License-Identifier: Apache-2.0 */
/* How long all of it took (layer model): what no share can tell. Pure. */
#include "diff.h"

#include <math.h>

#include "stats.h"

/* From so many runs a side on it can be told from chance, */
#define RUNS_MIN 3
/* and is said to be none if it would be as large in one of so many comparisons. */
#define BY_CHANCE 0.01

static double variance_of_mean(const struct pl_diff_total *t)
{
	double runs = (double)t->runs;

	return t->squares_ns / (runs - 1) / runs;
}

/* Student's test for two means with variances of their own (Welch): is after more than before * (1 + above)? */
static bool is_sure(const struct pl_diff_total *before, const struct pl_diff_total *after, double above)
{
	double factor = 1 + above, b = factor * factor * variance_of_mean(before), a = variance_of_mean(after);
	double off = after->mean_ns - factor * before->mean_ns;
	double freedom = (a + b) * (a + b) / (a * a / ((double)after->runs - 1) + b * b / ((double)before->runs - 1));

	if (off <= 0 || a + b <= 0)
		return off > 0;
	return pl_stats_t_two_sided(off / sqrt(a + b), freedom) / 2 < BY_CHANCE;
}

struct pl_diff_growth pl_diff_growth(const struct pl_diff *d, double above)
{
	const struct pl_diff_total *before = &d->sides[PL_DIFF_BEFORE], *after = &d->sides[PL_DIFF_AFTER];
	struct pl_diff_growth g = {.before_ns = before->mean_ns, .after_ns = after->mean_ns};

	g.known = before->whole && after->whole && before->mean_ns > 0;
	if (!g.known)
		return g;
	g.relative = after->mean_ns / before->mean_ns - 1;
	g.sure = before->runs >= RUNS_MIN && after->runs >= RUNS_MIN && is_sure(before, after, above);
	return g;
}

bool pl_diff_grew(const struct pl_diff *d, double above)
{
	struct pl_diff_growth g = pl_diff_growth(d, above);
	bool few = d->sides[PL_DIFF_BEFORE].runs < RUNS_MIN || d->sides[PL_DIFF_AFTER].runs < RUNS_MIN;

	return g.known && !d->in_shares && d->scale != PL_DIFF_BY_FUNCTION && g.relative > above && (g.sure || few);
}
