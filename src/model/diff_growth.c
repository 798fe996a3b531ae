/* SPDX-License-Identifier: Apache-2.0 */
/* How long all of it took (layer model): what no share can tell. Pure. */
#include "diff.h"

#include <math.h>

#include "stats.h"

/* A growth is told from chance if that would make it as large in one of so many comparisons. */
#define BY_CHANCE    0.01
#define CONFIDENCE_P 0.975 /* two-sided 95 % */

static double variance_of_mean(const struct pl_diff_total *t)
{
	double runs = (double)t->runs;

	return t->squares_ns / (runs - 1) / runs;
}

/* Of after - factor * before, by Welch: two means with variances of their own. */
static double difference_error(const struct pl_diff_total *before, const struct pl_diff_total *after, double factor,
			       double *freedom_ret)
{
	double b = factor * factor * variance_of_mean(before), a = variance_of_mean(after);
	double parts = a * a / ((double)after->runs - 1) + b * b / ((double)before->runs - 1);

	*freedom_ret = parts > 0 ? (a + b) * (a + b) / parts : (double)(before->runs + after->runs - 2);
	return sqrt(a + b);
}

/* Student's test: is after more than before * (1 + above)? */
static bool is_sure(const struct pl_diff_total *before, const struct pl_diff_total *after, double above)
{
	double freedom, error = difference_error(before, after, 1 + above, &freedom);
	double off = after->mean_ns - (1 + above) * before->mean_ns;

	if (off <= 0 || error <= 0)
		return off > 0;
	return pl_stats_t_two_sided(off / error, freedom) / 2 < BY_CHANCE;
}

static double half_width_of(const struct pl_diff_total *before, const struct pl_diff_total *after)
{
	double freedom, error;

	if (before->runs < 2 || after->runs < 2)
		return NAN;
	error = difference_error(before, after, after->mean_ns / before->mean_ns, &freedom);
	return pl_stats_t_quantile(CONFIDENCE_P, fmax(freedom, 1)) * error / before->mean_ns;
}

bool pl_diff_few_runs(const struct pl_diff *d)
{
	return d->between_runs &&
	       (d->sides[PL_DIFF_BEFORE].runs < PL_DIFF_RUNS_MIN || d->sides[PL_DIFF_AFTER].runs < PL_DIFF_RUNS_MIN);
}

struct pl_diff_growth pl_diff_growth(const struct pl_diff *d, double above)
{
	const struct pl_diff_total *before = &d->sides[PL_DIFF_BEFORE], *after = &d->sides[PL_DIFF_AFTER];
	struct pl_diff_growth g = {.before_ns = before->mean_ns, .after_ns = after->mean_ns, .half_width = NAN};

	g.known = (d->in_time || (before->whole && after->whole)) && before->mean_ns > 0 && !before->unscaled &&
		  !after->unscaled;
	if (!g.known)
		return g;
	g.relative = after->mean_ns / before->mean_ns - 1;
	g.half_width = half_width_of(before, after);
	g.sure = d->between_runs && !pl_diff_few_runs(d) && is_sure(before, after, above);
	return g;
}

bool pl_diff_grew(const struct pl_diff *d, double above)
{
	struct pl_diff_growth g = pl_diff_growth(d, above);
	bool unknown = !d->between_runs || pl_diff_few_runs(d);

	return g.known && !d->in_shares && d->scale != PL_DIFF_BY_FUNCTION && g.relative > above && (g.sure || unknown);
}
