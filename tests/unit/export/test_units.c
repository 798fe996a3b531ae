/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "units.h"

static void counts_have_groups_of_three(void **state)
{
	assert_string_equal(pl_units_count(0).s, "0");
	assert_string_equal(pl_units_count(999).s, "999");
	assert_string_equal(pl_units_count(12301).s, "12,301");
	assert_string_equal(pl_units_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
}

static void times_change_units_where_rounding_would_show_four_digits(void **state)
{
	assert_string_equal(pl_units_time(0).s, "0 s");
	assert_string_equal(pl_units_time(870).s, "870 ns");
	assert_string_equal(pl_units_time(9.4e3).s, "9.4 us");
	assert_string_equal(pl_units_time(845e6).s, "845 ms");
	assert_string_equal(pl_units_time(999.6e6).s, "1.0 s");
	assert_string_equal(pl_units_time(12.34e9).s, "12.3 s");
	assert_string_equal(pl_units_time(119.9e9).s, "119.9 s");
	assert_string_equal(pl_units_time(119.96e9).s, "2m00s");
	assert_string_equal(pl_units_time(3599.9e9).s, "1h00m");
	assert_string_equal(pl_units_time(11535e9).s, "3h12m");
	assert_string_equal(pl_units_time(1e30).s, "277777777777h46m");
}

static void times_beside_each_other_have_one_unit(void **state)
{
	assert_string_equal(pl_units_time_as(0.7e9, 1.84e9).s, "0.70 s");
	assert_string_equal(pl_units_time_as(1.84e9, 1.84e9).s, "1.84 s");
	assert_string_equal(pl_units_time_as(12.34e9, 12.34e9).s, "12.3 s");
	assert_string_equal(pl_units_time_as(3e9, 99.96e9).s, "3 s");
	assert_string_equal(pl_units_time_as(845e6, 845e6).s, "845 ms");
	assert_string_equal(pl_units_time_as(9.996e6, 2e6).s, "10.00 ms");
	assert_string_equal(pl_units_time_as(870, 870).s, "870 ns");
	assert_string_equal(pl_units_time_as(0, 1e9).s, "0 s");
	assert_string_equal(pl_units_time_as(1e300, 1e300).s, "9000000000000000 s");
}

static void half_widths_are_never_shown_smaller_than_they_are(void **state)
{
	assert_string_equal(pl_units_share(0.52, 0.0101, true).s, "52 % \xc2\xb1"
								  "1.1");
	assert_string_equal(pl_units_share(0.52, 0.011, true).s, "52 % \xc2\xb1"
								 "1.1");
	assert_string_equal(pl_units_share(1, 0.0002, true).s, "100 % \xc2\xb1"
							       "0.1");
	assert_string_equal(pl_units_share(0.5, 0.123, false).s, "50 % +-13");
	assert_string_equal(pl_units_time_pm(6.4e9, 0.101e9, true).s, "6.4 s \xc2\xb1"
								      "0.2");
	assert_string_equal(pl_units_time_pm(845e6, 13.2e6, false).s, "845 ms +-14");
	assert_string_equal(pl_units_time_pm(300e9, 4e9, false).s, "5m00s +-4.0 s");
	assert_string_equal(pl_units_share(1, 1e-12, false).s, "100 % +-0.0");
	assert_string_equal(pl_units_half_width(0, false).s, "+-0.0");
	assert_string_equal(pl_units_half_width(0.0101, false).s, "+-1.1");
	assert_string_equal(pl_units_half_width(0.0995, false).s, "+-10");
	assert_string_equal(pl_units_time_pm(1e9, 0, false).s, "1.0 s +-0.0");
}

static void shares_have_the_digits_that_their_half_width_supports(void **state)
{
	assert_string_equal(pl_units_share(0.523, 0.011, true).s, "52 % \xc2\xb1"
								  "1.1");
	assert_string_equal(pl_units_share(0.523, 0.001, true).s, "52.3 % \xc2\xb1"
								  "0.1");
	assert_string_equal(pl_units_share(0.031, 0.004, true).s, "3.1 % \xc2\xb1"
								  "0.4");
	assert_string_equal(pl_units_percent(0.0005).s, "0.05 %");
	assert_string_equal(pl_units_percent(0.00001).s, "<0.01 %");
	assert_string_equal(pl_units_percent(0.031).s, "3.1 %");
	assert_string_equal(pl_units_percent(0.71).s, "71 %");
}

static void rates(void **state)
{
	assert_string_equal(pl_units_rate(1000).s, "1,000/s");
	assert_string_equal(pl_units_rate(0.5).s, "0.5/s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_have_groups_of_three),
		cmocka_unit_test(times_change_units_where_rounding_would_show_four_digits),
		cmocka_unit_test(times_beside_each_other_have_one_unit),
		cmocka_unit_test(half_widths_are_never_shown_smaller_than_they_are),
		cmocka_unit_test(shares_have_the_digits_that_their_half_width_supports),
		cmocka_unit_test(rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
