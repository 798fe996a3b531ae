/* SPDX-License-Identifier: Apache-2.0 */
/* How long what was seen in a sample is taken to have lasted. */
#include "unit.h"

#include "timeline.h"

#define MS 1000000ull

/* Of two samples, the first of which stands for @p weight_ns in all, @p gap_ns apart. */
static uint64_t lasted(uint8_t mode, uint64_t weight_ns, uint64_t extra, uint64_t gap_ns)
{
	struct plumb_profile p = {.meta = {.mode = mode, .period_ns = MS}};
	struct pl_timeline t;

	pl_timeline_start(&t, &p);
	t.timed = true;
	(void)pl_timeline_next(&t, &(struct pl_sample){.time_ns = 5 * MS, .weight_ns = weight_ns, .extra = extra});
	return pl_timeline_length(&t, gap_ns, t.count);
}

static void what_is_not_seen_for_two_periods_has_ended(void **state)
{
	assert_int_equal(lasted(PL_MODE_WALL, MS, 0, MS), MS);
	assert_int_equal(lasted(PL_MODE_WALL, MS, 0, 50 * MS), 2 * MS);
	assert_int_equal(lasted(PL_MODE_WALL, 3 * MS, 2, 50 * MS), 6 * MS);
}

/* Its samples had two of the periods that were asked for, and nothing in between. */
static void a_rate_that_was_lowered_has_longer_periods(void **state)
{
	assert_int_equal(lasted(PL_MODE_WALL, 20 * MS, 0, 20 * MS), 20 * MS);
	assert_int_equal(lasted(PL_MODE_GIL, 20 * MS, 0, 70 * MS), 40 * MS);
	assert_int_equal(lasted(PL_MODE_WALL, 60 * MS, 2, 500 * MS), 120 * MS);
}

static void a_weight_that_is_no_period_is_not_taken_for_one(void **state)
{
	assert_int_equal(lasted(PL_MODE_CPU, 20 * MS, 0, 50 * MS), 2 * MS);
	assert_int_equal(lasted(PL_MODE_WALL, UINT64_MAX, UINT64_MAX, 50 * MS), 0);
	assert_int_equal(lasted(PL_MODE_WALL, UINT64_MAX, 0, 50 * MS), 50 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_seen_for_two_periods_has_ended),
		cmocka_unit_test(a_rate_that_was_lowered_has_longer_periods),
		cmocka_unit_test(a_weight_that_is_no_period_is_not_taken_for_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
