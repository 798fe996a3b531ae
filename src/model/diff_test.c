/* SPDX-License-Identifier: Apache-2.0 */
/* Which differences are changes (layer model). Pure arithmetic over sums. docs/internals/statistics.md has the why. */
#include <math.h>
#include <stdlib.h>

#include "diff_parts.h"
#include "discovery.h"
#include "stats.h"

#define CONFIDENCE_P 0.975 /* two-sided 95 % */
#define POWER_P	     0.95
#define MAX_LAG	     0.9
#define MAX_FREEDOM  256   /* from here on t is taken at this many degrees: too wide by 0.5 % at most */
#define LEAST_SHARE  0.005 /* of rows below it nobody asks how small a change could have been seen */
#define LEAST_WEIGHT 1e-9
#define FLOOR	     0.7 /* of the average design effect: what chance rarely goes below in a row */

/* Variance of the mean of a side, and how well it is known. */
struct spread {
	double variance, freedom;
};

struct judge {
	const struct pl_diff_sums *s;
	const struct pl_diff *d;
	struct pl_diff_sum *const *sums; /* by side, then row */
	double rate;
	double *p, *q, *weight, *error, *freedom; /* per row */
	double weights;				  /* their sum */
	double design[PL_DIFF_SIDES];		  /* variance of an average row, in that of independent samples */
	double quantile[MAX_FREEDOM + 1], power[MAX_FREEDOM + 1]; /* by degrees of freedom; 0: not asked yet */
};

static double cached_quantile(double *cache, double p, double freedom)
{
	int at = freedom >= MAX_FREEDOM ? MAX_FREEDOM : freedom < 1 ? 1 : (int)freedom;

	if (cache[at] == 0)
		cache[at] = pl_stats_t_quantile(p, at);
	return cache[at];
}

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
static double least_variance(const struct judge *j, uint32_t row, enum pl_diff_side side)
{
	const double *one = j->s->resolution;
	double before = j->sums[PL_DIFF_BEFORE][row].mean, after = j->sums[PL_DIFF_AFTER][row].mean;
	double both = (before * one[PL_DIFF_AFTER] + after * one[PL_DIFF_BEFORE]) /
		      (one[PL_DIFF_BEFORE] + one[PL_DIFF_AFTER]);

	return fmax(FLOOR * j->design[side] * odds(j->d, both) * one[side], one[side] * one[side]);
}

/* With one run, the batches say how much it varies. With several on either side the runs themselves do, but never less
 * than the batches; a side with one run is taken to vary as the other. */
static struct spread side_spread(const struct judge *j, uint32_t row, enum pl_diff_side side, double factor)
{
	enum pl_diff_side other = side == PL_DIFF_BEFORE ? PL_DIFF_AFTER : PL_DIFF_BEFORE;
	enum pl_diff_side from = j->s->sides[side].runs > 1 ? side : other;
	double runs = (double)j->s->sides[side].runs, from_runs = (double)j->s->sides[from].runs;
	double within = j->sums[side][row].within / (runs * runs) * factor;
	struct spread ret = {.variance = fmax(within, least_variance(j, row, side)), .freedom = j->s->freedom[side]};

	if (!j->d->between_runs)
		return ret;
	double between = j->sums[from][row].squares / (from_runs - 1) / runs;
	return (struct spread){.variance = fmax(between, ret.variance), .freedom = from_runs - 1};
}

/* Welch and Satterthwaite. */
static double joint_freedom(struct spread a, struct spread b)
{
	double sum = a.variance + b.variance;
	double parts = a.variance * a.variance / a.freedom + b.variance * b.variance / b.freedom;

	return parts > 0 ? sum * sum / parts : a.freedom + b.freedom;
}

/* How much of the allowed error a row gets: about its part of everything that can vary. Under the assumption that
 * nothing changed this tells nothing of the difference, so it may be chosen by looking. */
static double weight_of(const struct pl_diff *d, double before, double after)
{
	double mean = (before + after) / 2;

	if (!(mean > 0))
		return 0;
	return fmax(d->scale == PL_DIFF_BY_FUNCTION ? mean : mean * (1 - mean), LEAST_WEIGHT);
}

static void measure(struct judge *j, uint32_t row, struct pl_diff_value *v)
{
	const struct pl_diff_sum *a = &j->sums[PL_DIFF_BEFORE][row], *b = &j->sums[PL_DIFF_AFTER][row];
	double factor = lag_factor(j->s, a, b, (double)j->s->sides[PL_DIFF_BEFORE].runs,
				   (double)j->s->sides[PL_DIFF_AFTER].runs);
	struct spread before = side_spread(j, row, PL_DIFF_BEFORE, factor);
	struct spread after = side_spread(j, row, PL_DIFF_AFTER, factor);
	double error = sqrt(before.variance + after.variance), freedom = joint_freedom(before, after);
	double t = cached_quantile(j->quantile, CONFIDENCE_P, freedom), ratio = b->mean / a->mean;

	*v = (struct pl_diff_value){.before = a->mean,
				    .after = b->mean,
				    .half_width = t * error,
				    .relative_half_width = NAN,
				    .detectable = NAN,
				    .q = 1,
				    .before_samples = a->samples,
				    .after_samples = b->samples};
	if (a->mean > 0)
		v->relative_half_width = t * sqrt(after.variance + ratio * ratio * before.variance) / a->mean;
	v->p = error > 0 ? pl_stats_t_two_sided((b->mean - a->mean) / error, freedom) : 1;
	j->p[row] = v->p;
	j->error[row] = error;
	j->freedom[row] = freedom;
	j->weight[row] = weight_of(j->d, a->mean, b->mean);
	j->weights += j->weight[row];
}

static bool is_too_small(const struct pl_diff *d, const struct pl_diff_value *v)
{
	return !d->between_runs && fabs(v->after - v->before) < PL_DIFF_MIN_CHANGE * fmax(v->before, v->after);
}

static enum pl_diff_verdict verdict_of(const struct judge *j, const struct pl_diff_value *v)
{
	if (v->q > j->rate || is_too_small(j->d, v))
		return PL_DIFF_SAME;
	if (!v->before_samples)
		return PL_DIFF_NEW;
	if (!v->after_samples)
		return PL_DIFF_GONE;
	return v->after > v->before ? PL_DIFF_MORE : PL_DIFF_LESS;
}

/* The change that this row alone would have needed. */
static double detectable(struct judge *j, uint32_t row, const struct pl_diff_value *v)
{
	double share = fmax(v->before, v->after), p = j->rate * j->weight[row] / j->weights;
	double freedom = fmax(j->freedom[row], 1);

	if (share < LEAST_SHARE || !(p > 0))
		return NAN;
	double change =
		(pl_stats_t_quantile(1 - p / 2, freedom) + cached_quantile(j->power, POWER_P, freedom)) * j->error[row];
	return j->d->between_runs ? change : fmax(change, PL_DIFF_MIN_CHANGE * share);
}

static bool judge_init(struct judge *j, uint32_t rows)
{
	size_t n = (size_t)rows + 1;

	j->p = calloc(n, sizeof *j->p);
	j->q = calloc(n, sizeof *j->q);
	j->weight = calloc(n, sizeof *j->weight);
	j->error = calloc(n, sizeof *j->error);
	j->freedom = calloc(n, sizeof *j->freedom);
	return j->p && j->q && j->weight && j->error && j->freedom;
}

static void judge_deinit(struct judge *j)
{
	free(j->p);
	free(j->q);
	free(j->weight);
	free(j->error);
	free(j->freedom);
}

static struct pl_diff_value *value_of(struct pl_diff_row *row, bool total)
{
	return total ? &row->total : &row->self;
}

/* All rows by one figure. *changes_ret: how many are changes. */
static struct plumb_error *judge_all(struct judge *j, struct pl_diff *d, bool total, uint32_t *changes_ret)
{
	for (uint32_t r = 0; r < d->row_count; r++)
		measure(j, r, value_of(&d->table[r], total));
	struct plumb_error *err = pl_discovery_adjust(j->p, j->weight, j->q, d->row_count);
	for (uint32_t r = 0; r < d->row_count && !err; r++) {
		struct pl_diff_value *v = value_of(&d->table[r], total);

		v->q = j->q[r];
		v->verdict = verdict_of(j, v);
		v->detectable = detectable(j, r, v);
		*changes_ret += v->verdict != PL_DIFF_SAME;
	}
	return err;
}

static struct plumb_error *test(const struct pl_diff_sums *s, struct pl_diff *d, bool total, uint32_t *changes_ret)
{
	struct judge *j = calloc(1, sizeof *j);

	if (!j)
		return &pl_err_no_memory;
	j->s = s;
	j->d = d;
	j->sums = total ? s->total : s->self;
	j->rate = total ? PL_DIFF_TOTAL_RATE : PL_DIFF_SELF_RATE;
	for (int side = 0; side < PL_DIFF_SIDES; side++)
		j->design[side] = design_effect(s, d, (enum pl_diff_side)side);
	struct plumb_error *err = judge_init(j, d->row_count) ? judge_all(j, d, total, changes_ret) : &pl_err_no_memory;
	judge_deinit(j);
	free(j);
	return err;
}

struct plumb_error *pl_diff_test(const struct pl_diff_sums *s, struct pl_diff *d)
{
	struct plumb_error *err = test(s, d, false, &d->self_changes);

	return err ? err : test(s, d, true, &d->total_changes);
}
