/* SPDX-License-Identifier: Apache-2.0 */
/* The hottest function is that of the last seconds, not that of the whole recording. */
#include "hottest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000ull
#define S  (1000 * MS)

enum { LOADING = 3, SERVING = 900 };

/* A sample each millisecond. */
static void run(struct pl_hottest *h, uint32_t function, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to; at += MS)
		pl_hottest_add(h, function, at);
}

static double expect(const struct pl_hottest *h, uint32_t want)
{
	uint32_t function = PL_NO_FUNCTION;
	double share = 0;

	assert_true(pl_hottest_find(h, &function, &share));
	assert_int_equal(function, want);
	assert_true(share > 0 && share <= 1);
	return share;
}

static void a_program_that_goes_on_to_something_else_is_seen_to(void **state)
{
	struct pl_hottest h = {0};

	run(&h, LOADING, 0, 60 * S);
	assert_true(expect(&h, LOADING) == 1);
	run(&h, SERVING, 60 * S, 61 * S);
	assert_true(expect(&h, LOADING) > 0.5); /* not at the first other sample */
	run(&h, SERVING, 61 * S, 65 * S);
	assert_true(expect(&h, SERVING) > 0.6);
	run(&h, SERVING, 65 * S, 80 * S);
	assert_true(expect(&h, SERVING) > 0.98);
	pl_hottest_deinit(&h);
}

static void samples_without_a_function_are_a_part_of_the_whole(void **state)
{
	struct pl_hottest h = {0};
	uint32_t function;
	double share;

	run(&h, PL_NO_FUNCTION, 0, S);
	assert_false(pl_hottest_find(&h, &function, &share));
	run(&h, SERVING, S, 1300 * MS);
	share = expect(&h, SERVING);
	assert_true(share > 0.22 && share < 0.24);
	pl_hottest_deinit(&h);
}

/* One sample in ten seconds is still the last that is known; samples may come late, as those by CPU time do. */
static void rare_late_and_long_missing_samples_do_no_harm(void **state)
{
	struct pl_hottest h = {0};

	pl_hottest_add(&h, LOADING, 10 * S);
	pl_hottest_add(&h, SERVING, 20 * S);
	expect(&h, SERVING);
	pl_hottest_add(&h, SERVING, 9 * S);
	expect(&h, SERVING);
	pl_hottest_add(&h, LOADING, UINT64_MAX);
	assert_true(expect(&h, LOADING) == 1);
	pl_hottest_add(&h, LOADING, 0);
	assert_true(expect(&h, LOADING) == 1);
	pl_hottest_deinit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_goes_on_to_something_else_is_seen_to),
		cmocka_unit_test(samples_without_a_function_are_a_part_of_the_whole),
		cmocka_unit_test(rare_late_and_long_missing_samples_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
