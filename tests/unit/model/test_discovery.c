/* SPDX-License-Identifier: Apache-2.0 */
/* False discovery rates: the published example, weights, and what is promised of many tests of nothing. */
#include "discovery.h"

#include <stdbool.h>

#include "clock.h"
#include "unit.h"

#define NEAR 1e-9

/* The 15 p-values of Benjamini and Hochberg's paper (1995, section 3.2): at 5 % their procedure believes four. */
static const double paper[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
			       0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
#define PAPER (sizeof paper / sizeof *paper)

static void the_published_example(void **state)
{
	double weight[PAPER], q[PAPER];
	int believed = 0;
	for (size_t i = 0; i < PAPER; i++)
		weight[i] = 3;
	assert_ok(pl_discovery_adjust(paper, weight, q, PAPER));
	for (size_t i = 0; i < PAPER; i++)
		believed += q[i] <= 0.05;
	assert_int_equal(believed, 4);
	assert_float_equal(q[0], 0.0015, NEAR);
	assert_float_equal(q[3], 0.035625, NEAR);
	assert_float_equal(q[14], 1, NEAR);
	for (size_t i = 1; i < PAPER; i++)
		assert_true(q[i] >= q[i - 1]);
}

static void order_does_not_matter(void **state)
{
	double p[] = {0.04, 0.001, 0.5, 0.02}, weight[] = {1, 1, 1, 1}, q[4];
	double back[] = {0.02, 0.5, 0.001, 0.04}, q_back[4];
	assert_ok(pl_discovery_adjust(p, weight, q, 4));
	assert_ok(pl_discovery_adjust(back, weight, q_back, 4));
	for (int i = 0; i < 4; i++)
		assert_float_equal(q[i], q_back[3 - i], NEAR);
	assert_float_equal(q[1], 0.004, NEAR);
	assert_float_equal(q[3], 0.04, NEAR);
}

static void weight_is_a_part_of_the_error(void **state)
{
	double p[] = {0.01, 0.01, 0.01}, weight[] = {6, 3, 0}, q[3];
	assert_ok(pl_discovery_adjust(p, weight, q, 3));
	/* Two tests; weights 4/3 and 2/3: p 0.0075 and 0.015, of which the second is believed with both. */
	assert_float_equal(q[0], 0.015, NEAR);
	assert_float_equal(q[1], 0.015, NEAR);
	assert_float_equal(q[2], 1, NEAR); /* no test */
}

static void nothing_is_no_error(void **state)
{
	double none = 0, q = 5;
	assert_ok(pl_discovery_adjust(&none, &none, &q, 0));
	assert_ok(pl_discovery_adjust(&none, &none, &q, 1));
	assert_float_equal(q, 1, NEAR);
}

/* Of 2,000 families of 50 tests of nothing, 5 % have a test that is believed at 5 %. */
static void families_of_nothing_are_mostly_silent(void **state)
{
	struct pl_rng rng = {7};
	int alarms = 0;
	for (int family = 0; family < 2000; family++) {
		double p[50], weight[50], q[50];
		bool alarm = false;
		for (int i = 0; i < 50; i++) {
			p[i] = pl_rng_unit(&rng);
			weight[i] = 1 + i % 7;
		}
		assert_ok(pl_discovery_adjust(p, weight, q, 50));
		for (int i = 0; i < 50; i++)
			alarm = alarm || q[i] <= 0.05;
		alarms += alarm;
	}
	assert_in_range(alarms, 70, 130); /* 100 +- 3 standard deviations */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_example),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(weight_is_a_part_of_the_error),
		cmocka_unit_test(nothing_is_no_error),
		cmocka_unit_test(families_of_nothing_are_mostly_silent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
