/* SPDX-License-Identifier: Apache-2.0 */
/* Which differences are changes (layer model). Pure arithmetic over sums. docs/internals/statistics.md has the why. */
#include <math.h>
#include <stdlib.h>

#include "diff_parts.h"
#include "discovery.h"
#include "stats.h"

#define CONFIDENCE_P 0.975 /* two-sided 95 % */
#define POWER_P	     0.95
#define MAX_FREEDOM  256   /* from here on t is taken at this many degrees: too wide by 0.5 % at most */
#define LEAST_SHARE  0.005 /* of rows below it nobody asks how small a change could have been seen */
#define LEAST_WEIGHT 1e-9

/* What is known of after - before. */
struct difference {
	double error, freedom;
	double half_width, relative_half_width; /* 95 % */
	double p;
};

struct judge {
	struct pl_diff_varied of;
	double rate;
	double *p, *q, *weight;					  /* per row */
	struct difference *share, *time;			  /* likewise */
	double weights;						  /* their sum */
	double quantile[MAX_FREEDOM + 1], power[MAX_FREEDOM + 1]; /* by degrees of freedom; 0: not asked yet */
};

static double quantile_at(double *cache, double p, int freedom)
{
	if (cache[freedom] == 0)
		cache[freedom] = pl_stats_t_quantile(p, freedom);
	return cache[freedom];
}

/* Between two whole numbers t is nearly straight in 1 / freedom, and never above the straight line. */
static double cached_quantile(double *cache, double p, double freedom)
{
	double bounded = fmin(fmax(freedom, 1), MAX_FREEDOM), low = floor(bounded);
	double at_low = quantile_at(cache, p, (int)low);

	if (bounded == low)
		return at_low;
	double part = (1 / low - 1 / bounded) / (1 / low - 1 / (low + 1));
	return at_low + part * (quantile_at(cache, p, (int)low + 1) - at_low);
}

/* Welch and Satterthwaite. */
static double joint_freedom(struct pl_diff_spread a, struct pl_diff_spread b)
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
	bool can_be_all = d->scale == PL_DIFF_BY_FUNCTION || (d->in_time && !d->share_too); /* and still change */

	if (!(mean > 0))
		return 0;
	return fmax(can_be_all ? mean : mean * (1 - mean), LEAST_WEIGHT);
}

static struct difference compare_means(struct judge *j, const double mean[PL_DIFF_SIDES],
				       const struct pl_diff_spread spread[PL_DIFF_SIDES])
{
	double before = spread[PL_DIFF_BEFORE].variance, after = spread[PL_DIFF_AFTER].variance;
	double off = mean[PL_DIFF_AFTER] - mean[PL_DIFF_BEFORE], ratio = mean[PL_DIFF_AFTER] / mean[PL_DIFF_BEFORE];
	struct difference ret = {.error = sqrt(before + after),
				 .freedom = joint_freedom(spread[PL_DIFF_BEFORE], spread[PL_DIFF_AFTER]),
				 .relative_half_width = NAN};
	double t = cached_quantile(j->quantile, CONFIDENCE_P, ret.freedom);

	ret.half_width = t * ret.error;
	if (mean[PL_DIFF_BEFORE] > 0)
		ret.relative_half_width = t * sqrt(after + ratio * ratio * before) / mean[PL_DIFF_BEFORE];
	ret.p = ret.error > 0 ? pl_stats_t_two_sided(off / ret.error, ret.freedom) : 1;
	return ret;
}

static void compare_sides(struct judge *j, uint32_t row)
{
	struct pl_diff_sum *const *sums = j->of.sums;
	double mean[] = {sums[PL_DIFF_BEFORE][row].mean, sums[PL_DIFF_AFTER][row].mean};
	double mean_ns[] = {sums[PL_DIFF_BEFORE][row].mean_ns, sums[PL_DIFF_AFTER][row].mean_ns};
	struct pl_diff_spread share[PL_DIFF_SIDES], time[PL_DIFF_SIDES];

	pl_diff_spreads(&j->of, row, share, time);
	j->share[row] = compare_means(j, mean, share);
	j->time[row] = compare_means(j, mean_ns, time);
}

/* Of a function's time as the scale, how its runs differ is not known; of samples, no time is. */
static struct pl_diff_time time_of(const struct judge *j, uint32_t row)
{
	const struct pl_diff_total *sides = j->of.s->sides;
	bool known = j->of.d->scale != PL_DIFF_BY_SAMPLES;

	for (int side = 0; side < PL_DIFF_SIDES; side++)
		known = known && sides[side].timed && !sides[side].unscaled;

	if (!known)
		return (struct pl_diff_time){NAN, NAN, NAN};
	return (struct pl_diff_time){
		.before_ns = j->of.sums[PL_DIFF_BEFORE][row].mean_ns,
		.after_ns = j->of.sums[PL_DIFF_AFTER][row].mean_ns,
		.relative_half_width = j->of.d->scale == PL_DIFF_BY_TIME ? j->time[row].relative_half_width : NAN};
}

static bool took_more(const struct pl_diff *d, const struct pl_diff_value *v)
{
	return d->in_time ? v->time.after_ns > v->time.before_ns : v->after > v->before;
}

static void measure(struct judge *j, uint32_t row, struct pl_diff_value *v)
{
	const struct pl_diff_sum *a = &j->of.sums[PL_DIFF_BEFORE][row], *b = &j->of.sums[PL_DIFF_AFTER][row];

	compare_sides(j, row);
	*v = (struct pl_diff_value){.before = a->mean,
				    .after = b->mean,
				    .half_width = j->share[row].half_width,
				    .relative_half_width = j->share[row].relative_half_width,
				    .p = j->of.d->in_time ? j->time[row].p : j->share[row].p,
				    .detectable = NAN,
				    .seen_from = NAN,
				    .time = time_of(j, row),
				    .q = 1,
				    .before_samples = a->samples,
				    .after_samples = b->samples};
	if (j->of.d->share_too) /* both have to be unlikely, and to go the same way */
		v->p = took_more(j->of.d, v) == (v->after > v->before) ? fmax(v->p, j->share[row].p) : 1;
	j->p[row] = v->p;
	j->weight[row] = weight_of(j->of.d, a->mean, b->mean);
	j->weights += j->weight[row];
}

static bool is_within(double before, double after, double least)
{
	return fabs(after - before) < least * fmax(before, after);
}

/* Smaller than what one run a side can tell. */
static bool is_too_small(const struct pl_diff *d, const struct pl_diff_value *v)
{
	if (d->between_runs)
		return false;
	if (d->in_time && !d->share_too)
		return is_within(v->time.before_ns, v->time.after_ns, PL_DIFF_MIN_TIME_CHANGE);
	return is_within(v->before, v->after, PL_DIFF_MIN_CHANGE) ||
	       (d->share_too && is_within(v->time.before_ns, v->time.after_ns, PL_DIFF_MIN_CHANGE));
}

static enum pl_diff_verdict verdict_of(const struct judge *j, const struct pl_diff_value *v)
{
	if (v->q > j->rate || is_too_small(j->of.d, v))
		return PL_DIFF_SAME;
	if (!v->before_samples)
		return PL_DIFF_NEW;
	if (!v->after_samples)
		return PL_DIFF_GONE;
	return took_more(j->of.d, v) ? PL_DIFF_MORE : PL_DIFF_LESS;
}

/* The change that this row alone would have needed. */
static double needed(struct judge *j, uint32_t row, const struct difference *of)
{
	double p = j->rate * j->weight[row] / j->weights, freedom = fmax(of->freedom, 1);

	return (pl_stats_t_quantile(1 - p / 2, freedom) + cached_quantile(j->power, POWER_P, freedom)) * of->error;
}

static double detectable(struct judge *j, uint32_t row, const struct pl_diff_value *v)
{
	double share = fmax(v->before, v->after);

	if (share < LEAST_SHARE || !(j->weight[row] > 0))
		return NAN;
	double change = needed(j, row, &j->share[row]);
	return j->of.d->between_runs ? change : fmax(change, PL_DIFF_MIN_CHANGE * share);
}

/* The same of what the row took. Where its share has to change as well: a row that takes x more moves its share s to
 * s (1 + x) / (1 + s x), so that of one that is nearly everything hardly moves. */
static double seen_from(struct judge *j, uint32_t row, const struct pl_diff_value *v)
{
	if (isnan(v->detectable) || !(v->before > 0))
		return NAN;
	if (!j->of.d->in_time)
		return v->detectable / v->before;
	double time = needed(j, row, &j->time[row]) / v->time.before_ns;
	double room = v->before * (1 - v->before - v->detectable);
	if (j->of.d->between_runs)
		return time;
	if (!j->of.d->share_too)
		return fmax(time, PL_DIFF_MIN_TIME_CHANGE);
	return room > 0 ? fmax(fmax(time, PL_DIFF_MIN_CHANGE), v->detectable / room) : INFINITY;
}

static bool judge_init(struct judge *j, uint32_t rows)
{
	size_t n = (size_t)rows + 1;

	j->p = calloc(n, sizeof *j->p);
	j->q = calloc(n, sizeof *j->q);
	j->weight = calloc(n, sizeof *j->weight);
	j->share = calloc(n, sizeof *j->share);
	j->time = calloc(n, sizeof *j->time);
	return j->p && j->q && j->weight && j->share && j->time;
}

static void judge_deinit(struct judge *j)
{
	free(j->p);
	free(j->q);
	free(j->weight);
	free(j->share);
	free(j->time);
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
		v->seen_from = seen_from(j, r, v);
		*changes_ret += v->verdict != PL_DIFF_SAME;
	}
	return err;
}

static struct plumb_error *test(const struct pl_diff_sums *s, struct pl_diff *d, bool total, uint32_t *changes_ret)
{
	struct judge *j = calloc(1, sizeof *j);

	if (!j)
		return &pl_err_no_memory;
	pl_diff_varied_init(&j->of, s, d, total);
	j->rate = total ? PL_DIFF_TOTAL_RATE : PL_DIFF_SELF_RATE;
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
