/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <time.h>

#include "clock.h"

static void the_generator_has_its_published_values(void **state)
{
	/* splitmix64 from seed 1234567, the sequence its author gives. */
	struct pl_rng r = {.state = 1234567};
	assert_true(pl_rng_next(&r) == 6457827717110365317ull);
	assert_true(pl_rng_next(&r) == 3203168211198807973ull);
	assert_true(pl_rng_next(&r) == 9817491932198370423ull);
}

static void unit_values_are_uniform_below_one(void **state)
{
	struct pl_rng r = {.state = 7};
	double sum = 0, squares = 0, low = 1, high = 0;
	const int n = 200000;
	for (int i = 0; i < n; i++) {
		double u = pl_rng_unit(&r);
		sum += u;
		squares += u * u;
		low = u < low ? u : low;
		high = u > high ? u : high;
	}
	assert_true(low >= 0 && low < 0.001 && high < 1 && high > 0.999);
	/* Five standard errors around 1/2 and 1/3. */
	assert_true(sum / n > 0.4967 && sum / n < 0.5033);
	assert_true(squares / n > 0.3300 && squares / n < 0.3367);
}

static void cpu_time_moves_with_work_and_the_monotonic_clock_covers_it(void **state)
{
	/* The wider a clock, the earlier it is read. */
	uint64_t start = pl_clock_monotonic_ns(), all = pl_clock_process_cpu_ns(), cpu = pl_clock_thread_cpu_ns();
	while (pl_clock_thread_cpu_ns() - cpu < 1000000)
		continue;
	uint64_t used = pl_clock_thread_cpu_ns() - cpu;
	assert_true(pl_clock_process_cpu_ns() - all >= used);
	assert_true(pl_clock_monotonic_ns() - start + 1000000 >= used);
}

static void real_time_agrees_with_time(void **state)
{
	time_t before = time(NULL);
	uint64_t now_s = pl_clock_real_ns() / PL_NS_PER_S;
	assert_in_range(now_s, before, time(NULL) + 1); /* time() may be a tick behind */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_generator_has_its_published_values),
		cmocka_unit_test(unit_values_are_uniform_below_one),
		cmocka_unit_test(cpu_time_moves_with_work_and_the_monotonic_clock_covers_it),
		cmocka_unit_test(real_time_agrees_with_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
