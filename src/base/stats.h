/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics of shares. Pure arithmetic. Source of the formulas: docs/internals/statistics.md */
#ifndef PL_STATS_H
#define PL_STATS_H

#include <stddef.h>

/** Quantile of the standard normal distribution, 0 < p < 1. */
double pl_stats_normal_quantile(double p);
/** Quantile of Student's t with @p df degrees of freedom (df >= 1). */
double pl_stats_t_quantile(double p, double df);
/** How likely |T| >= |@p t| is by chance: the two-sided p-value of Student's t with @p df degrees of freedom (df > 0).
 */
double pl_stats_t_two_sided(double t, double df);
/** Half width of the 95 % Wilson interval around @p hits of @p n independent trials. */
double pl_stats_wilson_half_width(double hits, double n);
/**
 * Half width of the 95 % confidence interval of the share sum(hit)/sum(all), from batch means: neighbouring samples are
 * correlated, batches much longer than the correlation are not. Ratio estimator, Student's t with n-1 degrees of
 * freedom, never narrower than the Wilson interval of the same counts. Fewer than 5 non-empty batches: Wilson alone.
 */
double pl_stats_share_half_width(const double *hit, const double *all, size_t n);

/** What that is made of, for whoever adds up many shares batch by batch. */
struct pl_share_sums {
	double hits, total;
	size_t batches; /* that are not empty */
	double squares; /* of hit - hits / total * all, over them */
};
double pl_stats_sums_half_width(const struct pl_share_sums *s);

#endif
