/* SPDX-License-Identifier: Apache-2.0 */
/* Confidence intervals of shares (layer base). Pure arithmetic, any thread.
 *
 * Accuracy: normal quantile to double precision, t quantile better than 1e-6 for the usual p. Does not know what a
 * sample is, and does not choose batch lengths: that is the caller's part (docs/internals/statistics.md). */
#include "stats.h"

#include <assert.h>
#include <math.h>

#define CONFIDENCE_P  0.975 /* two-sided 95 % */
#define MIN_BATCHES   5
#define EXPANSION_DF  200.0 /* from here on four terms of the expansion are exact to 1e-9 */
#define MAX_ITERATION 300

static double polynomial(const double *c, int n, double x)
{
	double v = 0;
	for (int i = 0; i < n; i++)
		v = v * x + c[i];
	return v;
}

/* P. J. Acklam's rational approximation, relative error below 1.15e-9. */
static double normal_quantile_approx(double p)
{
	static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
				   1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
	static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
				   6.680131188771972e+01,  -1.328068155288572e+01, 1.0};
	static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
				   -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
	static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
				   3.754408661907416e+00, 1.0};
	if (p < 0.02425) {
		double q = sqrt(-2 * log(p));
		return polynomial(c, 6, q) / polynomial(d, 5, q);
	}
	double q = p - 0.5, r = q * q;
	return polynomial(a, 6, r) * q / polynomial(b, 6, r);
}

double pl_stats_normal_quantile(double p)
{
	assert(p > 0 && p < 1);
	if (p > 0.5)
		return -pl_stats_normal_quantile(1 - p);
	double x = normal_quantile_approx(p);
	/* One step of Halley's method: full precision. */
	double u = (0.5 * erfc(-x / sqrt(2)) - p) * sqrt(2 * M_PI) * exp(x * x / 2);
	return x - u / (1 + x * u / 2);
}

/* Continued fraction of the incomplete beta function (modified Lentz); converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double f = d;
	for (int m = 1; m <= MAX_ITERATION; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step = 1;
		for (int half = 0; half < 2; half++) {
			double k = half ? odd : even;
			d = 1 + k * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + k / c;
			c = fabs(c) < tiny ? tiny : c;
			step = c * d;
			f *= step;
		}
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

/* Regularized incomplete beta function, 0 <= x <= 1. */
static double incomplete_beta(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(T > t), t >= 0. */
static double t_upper_tail(double t, double df)
{
	return 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

static double t_density(double t, double df)
{
	return exp(lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * log(df * M_PI) - (df + 1) / 2 * log1p(t * t / df));
}

/* Abramowitz & Stegun 26.7.5: t as a series in 1/df around the normal quantile z. */
static double t_expansion(double z, double df)
{
	double z2 = z * z;
	double g1 = z * (z2 + 1) / 4;
	double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
	double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
	double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
	return z + (g1 + (g2 + (g3 + g4 / df) / df) / df) / df;
}

/* The t >= 0 with P(T > t) = tail: Newton's method inside a shrinking bracket. */
static double t_solve(double tail, double df)
{
	double low = 0, high = 1;
	for (int i = 0; i < 1000 && t_upper_tail(high, df) > tail; i++) {
		low = high;
		high *= 2;
	}
	double t = t_expansion(pl_stats_normal_quantile(1 - tail), df);
	for (int i = 0; i < MAX_ITERATION; i++) {
		if (!(t > low && t < high))
			t = low + (high - low) / 2;
		double excess = t_upper_tail(t, df) - tail;
		if (excess > 0)
			low = t;
		else
			high = t;
		double next = t + excess / t_density(t, df);
		if (fabs(next - t) <= 1e-12 * t)
			return next;
		t = next;
	}
	return t;
}

double pl_stats_t_quantile(double p, double df)
{
	assert(p > 0 && p < 1 && df >= 1);
	if (p < 0.5)
		return -pl_stats_t_quantile(1 - p, df);
	if (p == 0.5)
		return 0;
	if (df >= EXPANSION_DF)
		return t_expansion(pl_stats_normal_quantile(p), df);
	return t_solve(1 - p, df);
}

double pl_stats_t_two_sided(double t, double df)
{
	assert(df > 0);
	if (isnan(t))
		return 1;
	return isinf(t) ? 0 : fmin(2 * t_upper_tail(fabs(t), df), 1);
}

double pl_stats_wilson_half_width(double hits, double n)
{
	if (!(n > 0))
		return 0.5; /* the limit for n -> 0: nothing is known */
	double z = pl_stats_normal_quantile(CONFIDENCE_P), z2 = z * z;
	double share = fmin(fmax(hits / n, 0), 1);
	return z / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));
}

double pl_stats_share_half_width(const double *hit, const double *all, size_t n)
{
	struct pl_share_sums s = {0};
	for (size_t i = 0; i < n; i++) {
		s.hits += hit[i];
		s.total += all[i];
		s.batches += all[i] > 0;
	}
	double share = s.total > 0 ? s.hits / s.total : 0;
	for (size_t i = 0; i < n; i++) {
		double residual = all[i] > 0 ? hit[i] - share * all[i] : 0;
		s.squares += residual * residual;
	}
	return pl_stats_sums_half_width(&s);
}

double pl_stats_sums_half_width(const struct pl_share_sums *s)
{
	double wilson = pl_stats_wilson_half_width(s->hits, s->total), batches = (double)s->batches;
	if (batches < MIN_BATCHES)
		return wilson;
	double sigma = sqrt(s->squares * batches / (batches - 1)) / s->total;
	double half = pl_stats_t_quantile(CONFIDENCE_P, batches - 1) * sigma;
	return fmin(fmax(half, wilson), 1);
}
