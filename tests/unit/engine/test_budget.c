/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "budget.h"

#define MS 1000000ull

static uint64_t period_after(struct pl_budget *b, uint64_t period, uint64_t now, uint64_t cpu, uint64_t stopped)
{
	return pl_budget_period(b, period, now, &(struct pl_used){b->used.rounds, cpu, stopped, b->used.refused});
}

/* A profiler whose every sample costs @p cost_ns, for ten seconds; the period it ends with, and what it used last. */
static uint64_t settle(double limit, uint64_t period, uint64_t cpu_cost, uint64_t stop_cost, double *used)
{
	struct pl_budget b;
	uint64_t now = 5 * MS, cpu = 0, stopped = 0;

	period = pl_budget_init(&b, limit, limit, period, now);
	for (int look = 0; look < 100; look++) {
		assert_false(pl_budget_due(&b, now, false));
		now += 100 * MS;
		assert_true(pl_budget_due(&b, now, false));
		uint64_t samples = 100 * MS / period;
		cpu += samples * cpu_cost;
		stopped += samples * stop_cost;
		*used = (double)(samples * (cpu_cost > stop_cost ? cpu_cost : stop_cost)) / (100.0 * MS);
		period = period_after(&b, period, now, cpu, stopped);
	}
	return period;
}

static void what_fits_is_not_slowed(void **state)
{
	double used;

	assert_int_equal(settle(0.05, MS, 10000, 14000, &used), MS);
}

static void the_dearer_of_the_two_costs_sets_the_rate(void **state)
{
	double used;

	assert_true(settle(0.01, MS, 50000, 0, &used) > 5 * MS);
	assert_true(used <= 0.01 && used > 0.007);
	assert_true(settle(0.01, MS, 0, 50000, &used) > 5 * MS);
	assert_true(used <= 0.01 && used > 0.007);
	assert_true(settle(0.02, 10000, 5000, 14000, &used) > 600000);
	assert_true(used <= 0.02 && used > 0.014);
}

static void it_goes_faster_again_but_never_than_asked(void **state)
{
	struct pl_budget b;
	uint64_t now = 0, period = pl_budget_init(&b, 0.01, 0.01, MS, now);

	for (int i = 0; i < 20; i++)
		period = period_after(&b, period, now += 100 * MS, (uint64_t)(i + 1) * 90 * MS, 0);
	assert_int_equal(period, 1000 * MS); /* nine tenths of a core whatever it does: as slow as it gets */
	for (int i = 0; i < 120; i++)	     /* ten seconds to save what was too much, and then as fast as before */
		period = period_after(&b, period, now += 100 * MS, 20 * 90 * MS, 0);
	assert_int_equal(period, MS);
}

/* What a look used too much is saved later: a program whose samples are cheap for a while and then dear would be met at
 * the rate of the cheap ones each time. The first second is left out: nothing is known of it before. */
static void what_was_too_much_is_saved(void **state)
{
	static const int phases[] = {1, 2, 3, 5, 10, 30}; /* looks */

	for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
		struct pl_budget b;
		uint64_t now = 0, cpu = 0, first = 0, period = pl_budget_init(&b, 0.02, 0.02, MS, now);
		double samples = 0; /* a period can be longer than a look */

		for (int look = 0; look < 6000; look++) {
			samples += 100.0 * MS / (double)period;
			uint64_t cost = look / phases[i] % 2 ? 500000 : 5000;

			cpu += (uint64_t)samples * cost;
			samples -= (uint64_t)samples;
			period = period_after(&b, period, now += 100 * MS, cpu, 0);
			first = look == 9 ? cpu : first;
		}
		double used = (double)(cpu - first) / (5990 * 100.0 * MS);
		if (used > 0.0205 || used < 0.005)
			fail_msg("phases of %d looks: %f", phases[i], used);
	}
}

/* The program's time has a limit of its own. */
static void standing_still_is_limited_apart_from_cpu_time(void **state)
{
	struct pl_budget b;
	uint64_t now = 0, used = 0, still = 0, period = pl_budget_init(&b, 0.2, 0.025, MS, now);

	period = MS; /* as asked for: 100 us a sample, of 20 us of which the program stands, are within both limits */
	for (int look = 0; look < 200; look++) {
		uint64_t samples = 100 * MS / period;

		period = period_after(&b, period, now += 100 * MS, used += samples * 100000, still += samples * 20000);
		assert_int_equal(period, MS);
	}
	for (int look = 0; look < 400; look++) {
		uint64_t samples = 100 * MS / period;

		if (look == 200)
			still = 0, pl_budget_skip(&b, now, &(struct pl_used){.cpu_ns = used, .stopped_ns = still});
		period = period_after(&b, period, now += 100 * MS, used += samples * 100000, still += samples * 50000);
	}
	assert_true(still <= 200 * 100 * MS / 1000 * 25 && still > 200 * 100 * MS / 1000 * 18);
}

static void without_a_limit_it_is_never_due(void **state)
{
	struct pl_budget b;

	assert_int_equal(pl_budget_init(&b, 0, 0, 0, 0), 0);
	assert_false(pl_budget_due(&b, UINT64_MAX, true));
}

static void what_is_skipped_does_not_count(void **state)
{
	struct pl_budget b;

	assert_int_equal(pl_budget_init(&b, 0.05, 0.05, MS, 0), MS);
	pl_budget_skip(&b, 1000 * MS, &(struct pl_used){.cpu_ns = 900 * MS, .stopped_ns = 800 * MS});
	assert_false(pl_budget_due(&b, 1099 * MS, false));
	assert_true(pl_budget_due(&b, 1099 * MS, true));
	assert_true(pl_budget_due(&b, 1100 * MS, false));
	assert_int_equal(period_after(&b, MS, 1100 * MS, 901 * MS, 801 * MS), MS);
}

/* A profiler that goes as fast as it can for ten seconds: a round takes 10 us of its own time, or as long as the
 * program stands still for it. The last second counts. */
static struct pl_used as_fast_as_possible(double still_limit, uint64_t stop_cost)
{
	struct pl_budget b;
	struct pl_used sums = {0}, then = {0};
	uint64_t now = 0, period = pl_budget_init(&b, 0, still_limit, 0, now);

	while (now < 10000 * MS) {
		uint64_t round = stop_cost > 10000 ? stop_cost : 10000;

		now += period > round ? period : round;
		sums.rounds++;
		sums.stopped_ns += stop_cost;
		if (pl_budget_due(&b, now, false))
			period = pl_budget_period(&b, period, now, &sums);
		if (now <= 9000 * MS)
			then = sums;
	}
	return (struct pl_used){.rounds = sums.rounds - then.rounds, .stopped_ns = sums.stopped_ns - then.stopped_ns};
}

/* What has not to stand still for its samples has no limit; what does gets as many as are to be had. */
static void as_fast_as_possible_is_a_rate_like_others(void **state)
{
	assert_int_equal(as_fast_as_possible(0.025, 0).rounds, 100000);
	static const uint64_t costs[] = {10000, 25000, 50000, 400000};

	for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
		struct pl_used used = as_fast_as_possible(0.025, costs[i]);

		if (used.stopped_ns > 26 * MS || used.stopped_ns < 15 * MS)
			fail_msg("%d us a sample: %d us", (int)costs[i] / 1000, (int)used.stopped_ns / 1000);
	}
	assert_int_equal(as_fast_as_possible(0, 25000).rounds, 40000);
}

/* Where nothing has to wait for it, it is there within a tenth of a second. */
static void it_begins_with_what_can_be_afforded(void **state)
{
	struct pl_budget b;
	uint64_t now = 0, period = pl_budget_init(&b, 0.2, 0.025, 50000, now);

	assert_true(period * 25 / 1000 >= 20000);
	while (now < 100 * MS)
		if (pl_budget_due(&b, now += period, false))
			period = period_after(&b, period, now, 0, 0);
	assert_int_equal(period, 50000);
	assert_int_equal(pl_budget_init(&b, 0.2, 0.025, MS, now), MS);
}

static void a_period_lasts_as_long_as_has_to_be_waited(void **state)
{
	struct pl_budget b;

	(void)pl_budget_init(&b, 0.2, 0.025, MS, 0);
	assert_int_equal(pl_budget_at_least(&b, MS, 0), MS);
	assert_int_equal(pl_budget_at_least(&b, MS, 30 * MS), 30 * MS);
	assert_int_equal(pl_budget_at_least(&b, MS, 30000 * MS), 100 * MS);
	assert_int_equal(pl_budget_at_least(&b, 500 * MS, 30000 * MS), 500 * MS);
}

/* A long stop keeps the rate down while it matters: a program that needs none any more is sampled as fast as before
 * soon after. */
static void what_needs_no_stop_does_not_wait_for_them(void **state)
{
	for (int needed = 0; needed < 2; needed++) {
		struct pl_budget b;
		struct pl_used sums = {.rounds = 100, .stopped_ns = 90 * MS};
		uint64_t now = 100 * MS, period = pl_budget_init(&b, 0, 0.025, 0, 0);

		period = pl_budget_period(&b, period, now, &sums);
		assert_true(period > 5 * MS);
		while (now < 900 * MS) {
			now += period ? period : MS / 100;
			sums.rounds++;
			sums.refused += (uint64_t)needed;
			if (pl_budget_due(&b, now, false))
				period = pl_budget_period(&b, period, now, &sums);
		}
		assert_int_equal(period, needed ? 100 * MS : 0);
	}
}

/* 2.5 % is allowed; what is told makes the rate fall where it is more than that. */
static void one_long_stop_is_made_up_for(void **state)
{
	struct pl_stood_still s = {0};
	uint64_t now = 5 * MS, taken = 4 * MS; /* the first ones: nobody knew what they cost */

	pl_stood_still_begin(&s, now);
	assert_in_range(pl_stood_still_tell(&s, taken, 0.025, now += 100 * MS), 0, 2500000);
	for (int i = 0; i < 20; i++)
		assert_int_equal(pl_stood_still_tell(&s, taken += 2 * MS, 0.025, now += 100 * MS), 2 * MS);
	assert_in_range(pl_stood_still_tell(&s, taken += 6 * MS, 0.025, now += 100 * MS), 0, 2500000);
	assert_in_range(pl_stood_still_tell(&s, taken += 16 * MS, 0.025, now += 100 * MS), 10 * MS, 16 * MS);
	assert_int_equal(pl_stood_still_tell(&s, taken, 0.025, now += 100 * MS), 0);
}

static void what_is_too_much_all_the_time_is_told(void **state)
{
	struct pl_stood_still s = {0};
	uint64_t now = 5 * MS, taken = 0, told = 0;

	pl_stood_still_begin(&s, now);
	for (int i = 0; i < 100; i++)
		told += pl_stood_still_tell(&s, taken += 5 * MS, 0.025, now += 100 * MS);
	assert_in_range(told, 490 * MS, 500 * MS);
	assert_int_equal(pl_stood_still_tell(&s, taken += 5 * MS, 0.025, now += 100 * MS), 5 * MS);
}

/* One long stop is left out, many short ones are not. */
static void what_is_too_much_at_once_is_told_at_once(void **state)
{
	struct pl_stood_still s = {0};
	uint64_t now = 5 * MS;

	pl_stood_still_begin(&s, now);
	assert_false(pl_stood_still_hurries(&s, 5 * MS, 0.025, now));
	assert_true(pl_stood_still_hurries(&s, 8 * MS, 0.025, now += 1));
	assert_false(pl_stood_still_hurries(&s, 8 * MS, 0.025, now + 200 * MS));
	(void)pl_stood_still_tell(&s, 12 * MS, 0.025, now);
	assert_false(pl_stood_still_hurries(&s, 12 * MS, 0.025, now));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_long_stop_is_made_up_for),
		cmocka_unit_test(what_is_too_much_all_the_time_is_told),
		cmocka_unit_test(what_is_too_much_at_once_is_told_at_once),
		cmocka_unit_test(what_is_skipped_does_not_count),
		cmocka_unit_test(what_fits_is_not_slowed),
		cmocka_unit_test(standing_still_is_limited_apart_from_cpu_time),
		cmocka_unit_test(the_dearer_of_the_two_costs_sets_the_rate),
		cmocka_unit_test(it_goes_faster_again_but_never_than_asked),
		cmocka_unit_test(what_was_too_much_is_saved),
		cmocka_unit_test(without_a_limit_it_is_never_due),
		cmocka_unit_test(as_fast_as_possible_is_a_rate_like_others),
		cmocka_unit_test(it_begins_with_what_can_be_afforded),
		cmocka_unit_test(what_needs_no_stop_does_not_wait_for_them),
		cmocka_unit_test(a_period_lasts_as_long_as_has_to_be_waited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
