/* SPDX-License-Identifier: Apache-2.0 */
/* How much the figures of a row vary by chance (layer model). Pure arithmetic over sums. docs/internals/statistics.md
 * has the why. */
#include <math.h>

#include "diff_parts.h"

#define MAX_LAG 0.9
#define FLOOR	0.7 /* of the average design effect: what chance rarely goes below in a row */

/* Batches of a program with long phases resemble their neighbours, and so tell less than they seem to: as much less as
 * for a process in which each depends on the one before. Only if that is more than chance makes of independent ones. */
static double lag_factor(const struct pl_diff_sums *s, const struct pl_diff_sum *a, const struct pl_diff_sum *b,
			 double runs_a, double runs_b)
{
	double batches = s->batches[PL_DIFF_BEFORE] + s->batches[PL_DIFF_AFTER];
	double spread = a->spread / (runs_a * runs_a) + b->spread / (runs_b * runs_b);
	double lagged = a->lagged / (runs_a * runs_a) + b->lagged / (runs_b * runs_b);

	if (!(batches > 0) || !(spread > 0))
		return 1;
	double r = lagged / spread + (runs_a + runs_b) / batches;
	if (!(r > 1 / sqrt(batches)))
		return 1;
	r = fmin(r, MAX_LAG);
	return (1 + r) / (1 - r);
}

/* The variance that independent samples would give, times their number. */
static double odds(const struct pl_diff *d, double share)
{
	return fmax(d->scale == PL_DIFF_BY_FUNCTION ? share * (1 + share) : share * (1 - share), 0);
}

/* How much more than independent samples, or less, the batches of a side vary, over all rows by their own time. */
static double design_effect(const struct pl_diff_sums *s, const struct pl_diff *d, enum pl_diff_side side)
{
	double runs = (double)s->sides[side].runs, within = 0, independent = 0;
	struct pl_diff_sum all = {0}, none = {0};

	for (uint32_t r = 0; r < s->row_count; r++) {
		const struct pl_diff_sum *row = &s->self[side][r];

		within += row->within / (runs * runs);
		independent += odds(d, row->mean) * s->resolution[side];
		all.spread += row->spread;
		all.lagged += row->lagged;
	}
	return independent > 0 ? within / independent * lag_factor(s, &all, &none, runs, 1) : 1;
}

/* A row that was not met while a thread stood elsewhere has no variance of its own, but could as well have been met: so
 * no row has much less than an average one with the share of both sides together. */
static double least_variance(const struct pl_diff_varied *v, uint32_t row, enum pl_diff_side side)
{
	const double *one = v->s->resolution;
	double before = v->sums[PL_DIFF_BEFORE][row].mean, after = v->sums[PL_DIFF_AFTER][row].mean;
	double both = (before * one[PL_DIFF_AFTER] + after * one[PL_DIFF_BEFORE]) /
		      (one[PL_DIFF_BEFORE] + one[PL_DIFF_AFTER]);

	return fmax(FLOOR * v->design[side] * odds(v->d, both) * one[side], one[side] * one[side]);
}

/* What the batches of its runs say of how much a side varies. */
static struct pl_diff_spread within(const struct pl_diff_varied *v, uint32_t row, enum pl_diff_side side, double factor)
{
	double runs = (double)v->s->sides[side].runs;
	double variance = v->sums[side][row].within / (runs * runs) * factor;

	return (struct pl_diff_spread){.variance = fmax(variance, least_variance(v, row, side)),
				       .freedom = v->s->freedom[side]};
}

/* With several runs on either side the runs themselves say it, but never less than their batches; a side with one run
 * is taken to vary as the other. @p squares: of the runs' figures around their mean, by side. */
static struct pl_diff_spread with_runs(const struct pl_diff_varied *v, enum pl_diff_side side,
				       struct pl_diff_spread within, const double squares[PL_DIFF_SIDES])
{
	enum pl_diff_side other = side == PL_DIFF_BEFORE ? PL_DIFF_AFTER : PL_DIFF_BEFORE;
	enum pl_diff_side from = v->s->sides[side].runs > 1 ? side : other;
	double runs = (double)v->s->sides[side].runs, from_runs = (double)v->s->sides[from].runs;

	if (!v->d->between_runs)
		return within;
	return (struct pl_diff_spread){.variance = fmax(squares[from] / (from_runs - 1) / runs, within.variance),
				       .freedom = from_runs - 1};
}

void pl_diff_varied_init(struct pl_diff_varied *v, const struct pl_diff_sums *s, const struct pl_diff *d, bool total)
{
	*v = (struct pl_diff_varied){.s = s, .d = d, .sums = total ? s->total : s->self};
	for (int side = 0; side < PL_DIFF_SIDES; side++)
		v->design[side] = design_effect(s, d, (enum pl_diff_side)side);
}

void pl_diff_spreads(const struct pl_diff_varied *v, uint32_t row, struct pl_diff_spread share[PL_DIFF_SIDES],
		     struct pl_diff_spread time[PL_DIFF_SIDES])
{
	const struct pl_diff_sum *before = &v->sums[PL_DIFF_BEFORE][row], *after = &v->sums[PL_DIFF_AFTER][row];
	const struct pl_diff_total *sides = v->s->sides;
	double factor =
		lag_factor(v->s, before, after, (double)sides[PL_DIFF_BEFORE].runs, (double)sides[PL_DIFF_AFTER].runs);
	double squares[] = {before->squares, after->squares};
	double squares_ns[] = {before->squares_ns, after->squares_ns};

	for (int side = 0; side < PL_DIFF_SIDES; side++) {
		struct pl_diff_spread in = within(v, row, (enum pl_diff_side)side, factor), in_ns = in;

		in_ns.variance *= sides[side].mean_ns * sides[side].mean_ns;
		share[side] = with_runs(v, (enum pl_diff_side)side, in, squares);
		time[side] = with_runs(v, (enum pl_diff_side)side, in_ns, squares_ns);
	}
}
