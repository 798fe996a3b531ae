/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "schedule.h"

#define START  12345678901234ull
#define PERIOD 1000003ull
#define TICKS  10000

static struct pl_schedule begun(uint64_t seed, bool jitter)
{
	struct pl_schedule s = {.rng = {seed}, .jitter = jitter};

	pl_schedule_begin(&s, START, PERIOD);
	return s;
}

/* Where in its period, counted from the start, the sample is due. */
static uint64_t point_in(const struct pl_schedule *s, uint64_t tick)
{
	uint64_t begin = START + tick * PERIOD;

	assert_in_range(s->due_ns, begin, begin + PERIOD - 1);
	return s->due_ns - begin;
}

static void each_period_has_one_point_and_every_part_of_it_its_share(void **state)
{
	struct pl_schedule s = begun(1, true);
	unsigned tenths[10] = {0};

	for (uint64_t tick = 0; tick < TICKS; tick++) {
		tenths[point_in(&s, tick) * 10 / PERIOD]++;
		assert_int_equal(pl_schedule_next(&s, s.due_ns), 0);
	}
	for (int i = 0; i < 10; i++) /* four standard errors of 1,000 */
		assert_in_range(tenths[i], 880, 1120);
}

static void neighbours_have_nothing_to_do_with_each_other(void **state)
{
	struct pl_schedule s = begun(2, true);
	double half = (double)PERIOD / 2, last = (double)point_in(&s, 0) - half, sum = 0;

	for (uint64_t tick = 1; tick < TICKS; tick++) {
		(void)pl_schedule_next(&s, s.due_ns);
		double now = (double)point_in(&s, tick) - half;
		sum += now * last;
		last = now;
	}
	/* The variance of a uniform number is a third of the square of its half; four standard errors. */
	double correlation = sum / TICKS / (half * half / 3);
	assert_true(correlation > -0.04 && correlation < 0.04);
}

static void the_same_seed_gives_the_same_points(void **state)
{
	struct pl_schedule a = begun(42, true), b = begun(42, true), other = begun(43, true);
	unsigned same = 0;

	for (int tick = 0; tick < TICKS; tick++) {
		assert_int_equal(a.due_ns, b.due_ns);
		same += a.due_ns == other.due_ns;
		(void)pl_schedule_next(&a, a.due_ns);
		(void)pl_schedule_next(&b, b.due_ns + PERIOD / 7); /* a little late, it stays the same */
		(void)pl_schedule_next(&other, other.due_ns);
	}
	assert_true(same < 10);
}

static void without_jitter_it_is_the_middle(void **state)
{
	struct pl_schedule s = begun(1, false);

	for (uint64_t tick = 0; tick < 100; tick++) {
		assert_int_equal(point_in(&s, tick), PERIOD / 2);
		(void)pl_schedule_next(&s, s.due_ns);
	}
}

static void what_is_missed_is_counted_and_not_caught_up(void **state)
{
	struct pl_schedule s = begun(7, true);

	/* The sample of period 0 was taken in period 5: 1 to 4 are over, that of 5 can still be taken. */
	assert_int_equal(pl_schedule_next(&s, START + 5 * PERIOD), 4);
	(void)point_in(&s, 5);
	assert_int_equal(pl_schedule_next(&s, START + 6 * PERIOD - 1), 0);
	(void)point_in(&s, 6);
	/* In the last moment of the next period: none is over. */
	assert_int_equal(pl_schedule_next(&s, START + 8 * PERIOD - 1), 0);
	(void)point_in(&s, 7);
}

static void ticks_and_misses_add_up_to_the_time(void **state)
{
	struct pl_schedule s = begun(8, true);
	struct pl_rng lateness = {9};
	uint64_t taken = 0, missed = 0;

	for (; taken < TICKS; taken++) {
		assert_int_equal(s.tick, taken + missed);
		uint64_t late = (uint64_t)(3 * pl_rng_unit(&lateness) * (double)PERIOD);
		missed += pl_schedule_next(&s, s.due_ns + late);
	}
	assert_true(missed > TICKS / 2);
	(void)point_in(&s, taken + missed);
}

static void at_the_end_what_was_not_taken_is_over(void **state)
{
	struct pl_schedule s = begun(11, true);

	assert_int_equal(pl_schedule_next(&s, s.due_ns), 0); /* one is taken, the second is to come */
	assert_int_equal(pl_schedule_over(&s, START + PERIOD - 1), 0);
	assert_int_equal(pl_schedule_over(&s, START + 2 * PERIOD - 1), 0);
	assert_int_equal(pl_schedule_over(&s, START + 2 * PERIOD), 1);
	assert_int_equal(pl_schedule_over(&s, START + 9 * PERIOD + 5), 8);
}

static void another_period_begins_now_with_other_points(void **state)
{
	struct pl_schedule s = begun(10, true), again = s;
	uint64_t now = START + 17 * PERIOD + 5;

	pl_schedule_begin(&s, now, 3 * PERIOD);
	assert_in_range(s.due_ns, now, now + 3 * PERIOD - 1);
	assert_int_not_equal((s.due_ns - now) / 3, again.due_ns - START);
	assert_int_equal(pl_schedule_next(&s, now + 3 * PERIOD), 0);
	assert_in_range(s.due_ns, now + 3 * PERIOD, now + 6 * PERIOD - 1);
}

/* Also one that is longer or shorter each time. */
static void periods_that_change_add_up_to_the_time(void **state)
{
	struct pl_schedule s = begun(12, true);
	struct pl_rng lateness = {13};
	uint64_t told = 0, now = 0;

	for (int i = 0; i < TICKS; i++) {
		now = s.due_ns + (uint64_t)(2 * pl_rng_unit(&lateness) * (double)s.period_ns);
		told += s.period_ns;
		told += s.period_ns * pl_schedule_next(&s, now);
		pl_schedule_change(&s, PERIOD * (1 + i % 7));
		assert_int_equal(s.start_ns, START + told);
	}
	assert_in_range(now - START, told - 21 * PERIOD, told + 21 * PERIOD);
}

static void as_fast_as_possible_is_always_due(void **state)
{
	struct pl_schedule s = {.rng = {1}, .jitter = true};

	pl_schedule_begin(&s, START, 0);
	assert_int_equal(s.due_ns, START);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_period_has_one_point_and_every_part_of_it_its_share),
		cmocka_unit_test(neighbours_have_nothing_to_do_with_each_other),
		cmocka_unit_test(the_same_seed_gives_the_same_points),
		cmocka_unit_test(without_jitter_it_is_the_middle),
		cmocka_unit_test(what_is_missed_is_counted_and_not_caught_up),
		cmocka_unit_test(ticks_and_misses_add_up_to_the_time),
		cmocka_unit_test(at_the_end_what_was_not_taken_is_over),
		cmocka_unit_test(another_period_begins_now_with_other_points),
		cmocka_unit_test(periods_that_change_add_up_to_the_time),
		cmocka_unit_test(as_fast_as_possible_is_always_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
