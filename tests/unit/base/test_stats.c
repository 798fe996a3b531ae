/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <stdbool.h>

#include "clock.h"
#include "stats.h"

static void assert_close(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.9f is not within %g of %.9f", got, tolerance, want);
}

static void normal_quantiles_are_those_of_the_tables(void **state)
{
	assert_close(pl_stats_normal_quantile(0.5), 0, 1e-15);
	assert_close(pl_stats_normal_quantile(0.9), 1.2815515655446004, 1e-12);
	assert_close(pl_stats_normal_quantile(0.975), 1.9599639845400545, 1e-12);
	assert_close(pl_stats_normal_quantile(0.995), 2.5758293035489004, 1e-12);
	assert_close(pl_stats_normal_quantile(0.025), -1.9599639845400545, 1e-12);
	assert_close(pl_stats_normal_quantile(1e-9), -5.997807015008182, 1e-9);
	for (double p = 0.001; p < 1; p += 0.001)
		assert_close(0.5 * erfc(-pl_stats_normal_quantile(p) / sqrt(2)), p, 1e-13);
}

static void tails_are_those_of_the_quantiles(void **state)
{
	for (double df = 1; df < 500; df = df * 1.7 + 1) {
		for (double p = 0.501; p < 1; p += 0.049)
			assert_close(pl_stats_t_two_sided(pl_stats_t_quantile(p, df), df), 2 * (1 - p), 1e-6);
	}
	assert_close(pl_stats_t_two_sided(-2.776445, 4), 0.05, 1e-6);
	assert_close(pl_stats_t_two_sided(0, 4), 1, 1e-12);
	assert_close(pl_stats_t_two_sided(INFINITY, 4), 0, 1e-12);
	assert_close(pl_stats_t_two_sided(NAN, 4), 1, 1e-12);
}

static void t_quantiles_are_those_of_the_tables(void **state)
{
	static const struct {
		double df, p975, p995;
	} rows[] = {
		{1, 12.706205, 63.656741}, {2, 4.302653, 9.924843},    {3, 3.182446, 5.840909},
		{4, 2.776445, 4.604095},   {5, 2.570582, 4.032143},    {7, 2.364624, 3.499483},
		{10, 2.228139, 3.169273},  {19, 2.093024, 2.860935},   {30, 2.042272, 2.749996},
		{60, 2.000298, 2.660283},  {100, 1.983972, 2.625891},  {199, 1.971957, 2.600760},
		{200, 1.971896, 2.600634}, {1000, 1.962339, 2.580755}, {1e7, 1.959964, 2.575830},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_close(pl_stats_t_quantile(0.975, rows[i].df), rows[i].p975, 2e-6);
		assert_close(pl_stats_t_quantile(0.995, rows[i].df), rows[i].p995, 5e-6);
		assert_close(pl_stats_t_quantile(0.025, rows[i].df), -rows[i].p975, 2e-6);
		assert_close(pl_stats_t_quantile(0.5, rows[i].df), 0, 0);
	}
}

static void t_quantiles_have_no_step_where_the_method_changes(void **state)
{
	static const double ps[] = {0.6, 0.9, 0.975, 0.999, 0.99999};
	for (size_t i = 0; i < sizeof ps / sizeof *ps; i++)
		assert_close(pl_stats_t_quantile(ps[i], 199.9999), pl_stats_t_quantile(ps[i], 200), 1e-6);
	/* Between whole degrees of freedom it falls steadily. */
	for (double df = 1; df < 20; df += 0.25)
		assert_true(pl_stats_t_quantile(0.975, df) > pl_stats_t_quantile(0.975, df + 0.25));
	/* df 1 is Cauchy's distribution, for which there is a formula. */
	assert_close(pl_stats_t_quantile(0.999, 1), tan(M_PI * 0.499), 1e-4);
}

static void wilson_is_right_in_the_middle_and_at_the_edges(void **state)
{
	assert_close(pl_stats_wilson_half_width(50, 100), (0.596168 - 0.403832) / 2, 1e-6);
	assert_close(pl_stats_wilson_half_width(0, 10), 0.277533 / 2, 1e-6);
	assert_close(pl_stats_wilson_half_width(10, 10), 0.277533 / 2, 1e-6);
	assert_close(pl_stats_wilson_half_width(81, 263), (0.366200 - 0.255266) / 2, 1e-4);
	assert_close(pl_stats_wilson_half_width(0, 0), 0.5, 1e-12);
	assert_close(pl_stats_wilson_half_width(0, 1e-9), 0.5, 1e-6);
	assert_close(pl_stats_wilson_half_width(5e5, 1e6), 1.96 * 0.0005, 1e-5);
}

static void few_batches_fall_back_to_wilson(void **state)
{
	const double hit[] = {1, 9, 0, 0, 2, 0}, all[] = {10, 10, 0, 0, 10, 0};
	assert_close(pl_stats_share_half_width(hit, all, 6), pl_stats_wilson_half_width(12, 30), 1e-12);
	assert_close(pl_stats_share_half_width(NULL, NULL, 0), 0.5, 1e-12);
}

static void equal_batches_are_not_narrower_than_wilson(void **state)
{
	double hit[20], all[20];
	for (int i = 0; i < 20; i++) {
		hit[i] = 25;
		all[i] = 100;
	}
	assert_close(pl_stats_share_half_width(hit, all, 20), pl_stats_wilson_half_width(500, 2000), 1e-12);
}

static void the_ratio_estimator_has_its_textbook_value(void **state)
{
	/* Residuals of share 1/2: +4 -4 +2 -2 0; variance of the mean 40/4 * 5 / 100^2. */
	const double hit[] = {14, 6, 12, 8, 10, 0}, all[] = {20, 20, 20, 20, 20, 0};
	double want = 2.776445 * sqrt(40.0 / 4 * 5) / 100;
	assert_close(pl_stats_share_half_width(hit, all, 6), want, 1e-6);
	/* Batches of unequal length: hits in proportion are no variance at all. */
	const double hit2[] = {10, 20, 30, 40, 50}, all2[] = {20, 40, 60, 80, 100};
	assert_close(pl_stats_share_half_width(hit2, all2, 5), pl_stats_wilson_half_width(150, 300), 1e-12);
}

/* A 0/1 series in which a state lasts about 1/(1-stay) samples: neighbours are correlated as in a program's phases. */
static bool covers(struct pl_rng *rng, double share, double stay, int batches, int length)
{
	double hit[64] = {0}, all[64], hits = 0;
	bool on = pl_rng_unit(rng) < share;
	for (int b = 0; b < batches; b++) {
		all[b] = length;
		for (int i = 0; i < length; i++) {
			hit[b] += on;
			if (pl_rng_unit(rng) >= stay)
				on = pl_rng_unit(rng) < share;
		}
		hits += hit[b];
	}
	double got = hits / (batches * (double)length);
	return fabs(got - share) <= pl_stats_share_half_width(hit, all, (size_t)batches);
}

static void the_interval_covers_the_truth_in_95_percent_of_correlated_series(void **state)
{
	static const struct {
		double share, stay;
		int batches, length;
	} cases[] = {{0.5, 0.9, 30, 200}, {0.2, 0.95, 20, 400}, {0.1, 0.5, 10, 200}, {0.7, 0.0, 40, 100}};
	const int tries = 2000;
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct pl_rng rng = {.state = 1000 + c};
		int covered = 0;
		for (int i = 0; i < tries; i++)
			covered += covers(&rng, cases[c].share, cases[c].stay, cases[c].batches, cases[c].length);
		double rate = covered / (double)tries;
		if (rate < 0.92 || rate > 0.98)
			fail_msg("case %zu: coverage %.4f", c, rate);
	}
}

static void wilson_alone_would_be_wrong_for_correlated_series(void **state)
{
	struct pl_rng rng = {.state = 5};
	double hit[30] = {0}, all[30];
	bool on = true;
	for (int b = 0; b < 30; b++) {
		all[b] = 200;
		for (int i = 0; i < 200; i++) {
			hit[b] += on;
			if (pl_rng_unit(&rng) >= 0.95)
				on = pl_rng_unit(&rng) < 0.5;
		}
	}
	/* Correlation time 39 samples: the true interval is about 6 times as wide. */
	assert_true(pl_stats_share_half_width(hit, all, 30) > 3 * pl_stats_wilson_half_width(3000, 6000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_quantiles_are_those_of_the_tables),
		cmocka_unit_test(t_quantiles_are_those_of_the_tables),
		cmocka_unit_test(tails_are_those_of_the_quantiles),
		cmocka_unit_test(t_quantiles_have_no_step_where_the_method_changes),
		cmocka_unit_test(wilson_is_right_in_the_middle_and_at_the_edges),
		cmocka_unit_test(few_batches_fall_back_to_wilson),
		cmocka_unit_test(equal_batches_are_not_narrower_than_wilson),
		cmocka_unit_test(the_ratio_estimator_has_its_textbook_value),
		cmocka_unit_test(the_interval_covers_the_truth_in_95_percent_of_correlated_series),
		cmocka_unit_test(wilson_alone_would_be_wrong_for_correlated_series),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
