/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "ration.h"

static void spend(struct pl_ration *r, uint64_t now_ns, uint64_t units)
{
	struct pl_work w = pl_ration_begin(r, now_ns);

	pl_work_note(&w, units);
	pl_ration_end(r, &w);
}

static void much_may_be_done_at_once_and_then_a_share_of_the_time(void **state)
{
	struct pl_ration r = {0};
	uint64_t now = 1000000;

	assert_int_equal(pl_ration_begin(&r, now).most, PL_RATION_MOST);
	spend(&r, now, PL_RATION_MOST);
	assert_int_equal(pl_ration_begin(&r, now).most, 0);
	assert_int_equal(pl_ration_begin(&r, now += 5000 * PL_RATION_SHARE).most, 5000);
	spend(&r, now, 5000);
	assert_int_equal(pl_ration_begin(&r, now).most, 0);
	assert_int_equal(pl_ration_begin(&r, now + (uint64_t)PL_RATION_MOST * PL_RATION_SHARE * 3).most,
			 PL_RATION_MOST);
}

static void what_was_done_beyond_it_is_paid_back(void **state)
{
	struct pl_ration r = {0};

	spend(&r, 1, PL_RATION_MOST + 700);
	assert_int_equal(pl_ration_begin(&r, 1 + 700 * PL_RATION_SHARE).most, 0);
	assert_int_equal(pl_ration_begin(&r, 1 + 800 * PL_RATION_SHARE).most, 100);
}

static void a_clock_that_goes_back_gives_nothing(void **state)
{
	struct pl_ration r = {0};

	spend(&r, 1000, PL_RATION_MOST);
	assert_int_equal(pl_ration_begin(&r, 10).most, 0);
	assert_int_equal(pl_ration_begin(&r, 1000).most, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(much_may_be_done_at_once_and_then_a_share_of_the_time),
		cmocka_unit_test(what_was_done_beyond_it_is_paid_back),
		cmocka_unit_test(a_clock_that_goes_back_gives_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
