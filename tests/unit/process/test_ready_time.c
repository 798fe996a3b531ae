/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that are told as ready without a CPU weigh what the kernel says of it, whatever the thread does. */
#include "unit.h"

#include <stdlib.h>

#include "ready_time.h"

#define MS     1000000ull
#define PERIOD (10 * MS)
#define TICK   (4 * MS) /* the kernel's, at which run times move */

/* A thread that runs, is ready and sleeps by turns, and who looks at it. */
struct thread {
	uint64_t run_ns, ready_ns, sleep_ns; /* of one turn: ready, runs, sleeps */
	struct pl_run_counters c;
	uint64_t now, at; /* at: since the turn began */
};

static bool moves_on(struct thread *t)
{
	const uint64_t step = MS / 10, ran = t->at + step - t->ready_ns;

	t->now += step;
	t->at += step;
	if (t->at == t->ready_ns) {
		t->c.delay_ns += t->ready_ns;
		t->c.runs++;
	} else if (t->at > t->ready_ns && ran <= t->run_ns && (ran % TICK == 0 || ran == t->run_ns)) {
		t->c.run_ns += ran % TICK ? ran % TICK : TICK;
	}
	bool may_be = t->at <= t->ready_ns + t->run_ns;
	if (t->at >= t->ready_ns + t->run_ns + t->sleep_ns)
		t->at = 0;
	return may_be;
}

/* The last look comes at the end of a turn, when all is told. Returns what samples say of its ready time. */
static uint64_t look_at(struct thread *t, uint64_t turns, struct pl_ready_time *r)
{
	const uint64_t end = turns * (t->run_ns + t->ready_ns + t->sleep_ns);
	struct pl_rng rng = {7};
	uint64_t next = pl_rng_next(&rng) % PERIOD, tick = 0, told = 0;

	pl_ready_time_begin(r, &t->c, t->now, 3);
	while (t->now < end) {
		bool may_be = moves_on(t);

		if (t->now < next)
			continue;
		told += pl_ready_time_take(r, &t->c, t->now, PERIOD, may_be) ? PERIOD : 0;
		next = ++tick * PERIOD + pl_rng_next(&rng) % PERIOD;
	}
	return told;
}

static void expect(uint64_t run_ns, uint64_t ready_ns, uint64_t sleep_ns)
{
	struct thread t = {.run_ns = run_ns, .ready_ns = ready_ns, .sleep_ns = sleep_ns};
	struct pl_ready_time r;
	int64_t told = (int64_t)look_at(&t, 1000, &r), most = (int64_t)(2 * (PERIOD + ready_ns));

	if (llabs(told - (int64_t)t.c.delay_ns) > most)
		fail_msg("told %.1f ms of %.1f", (double)told / 1e6, (double)t.c.delay_ns / 1e6);
}

static void all_that_the_kernel_tells_is_told(void **state)
{
	expect(3 * MS, 6 * MS, 0);    /* three for one CPU */
	expect(MS, MS, 30 * MS);      /* it naps, and waits for a CPU when it wakes up */
	expect(90 * MS, 300 * MS, 0); /* waits are longer than many periods */
	expect(20 * MS, MS / 2, 0);
	expect(4 * MS, 0, 4 * MS);
}

/* Every turn begins in step with a period: what runs at its end has its part like what runs at its beginning. */
static void it_does_not_keep_in_step(void **state)
{
	struct pl_run_counters c = {.runs = 1};
	struct pl_ready_time r;
	int told[2] = {0};

	pl_ready_time_begin(&r, &c, 0, 1);
	for (int i = 0; i < 20000; i++) {
		c.run_ns += PERIOD / 2;
		c.delay_ns += PERIOD / 2;
		c.runs++;
		told[i % 2] += pl_ready_time_take(&r, &c, (uint64_t)(i + 1) * PERIOD, PERIOD, true);
	}
	assert_in_range(told[0] + told[1], 9998, 10002);
	assert_in_range(told[0], 4500, 5500);
}

/* What the kernel tells of a time without samples is not given to the few that there are. */
static void of_a_gap_only_its_part_counts(void **state)
{
	struct pl_run_counters c = {.runs = 1};
	struct pl_ready_time r;
	int told = 0;

	pl_ready_time_begin(&r, &c, 0, 1);
	for (uint64_t i = 1; i <= 1000; i++) { /* one tick of ten */
		c.run_ns += 8 * PERIOD;
		c.delay_ns += 2 * PERIOD;
		c.runs++;
		told += pl_ready_time_take(&r, &c, i * 10 * PERIOD, PERIOD, true);
	}
	assert_in_range(told, 198, 202);
}

/* It waits for 80 ms and runs for 20. Ticks are missed where it gets its CPU: that is when the kernel tells of the
 * wait, most of which had its samples before. And of the rest every other tick is missed, if @p every is 2. */
static void expect_share_of_gaps(uint64_t gap_ns, uint64_t every)
{
	struct thread t = {.run_ns = 20 * MS, .ready_ns = 80 * MS};
	struct pl_ready_time r;
	struct pl_rng rng = {7};
	uint64_t next = 0, tick = 0, told = 0, taken = 0;

	pl_ready_time_begin(&r, &t.c, 0, 3);
	while (t.now < 1000 * 100 * MS) {
		bool may_be = moves_on(&t);

		if (t.now < next)
			continue;
		next = ++tick * MS + pl_rng_next(&rng) % MS;
		if (tick % every || (t.at + gap_ns / 2 >= t.ready_ns && t.at <= t.ready_ns + gap_ns / 2))
			continue;
		taken++;
		told += pl_ready_time_take(&r, &t.c, t.now, MS, may_be);
	}
	assert_in_range(told * 1000 / taken, 770, 830);
}

static void what_is_told_in_a_gap_was_of_samples_before(void **state)
{
	expect_share_of_gaps(0, 1);
	expect_share_of_gaps(6 * MS, 1);
	expect_share_of_gaps(0, 2);
	expect_share_of_gaps(6 * MS, 3);
}

/* It waits for an hour: while it does so it is told, as far as that is believed, and nothing twice. */
static void a_long_wait_is_told_while_it_lasts(void **state)
{
	struct pl_run_counters c = {.runs = 1};
	struct pl_ready_time r;
	int told = 0;

	pl_ready_time_begin(&r, &c, 0, 1);
	for (uint64_t i = 1; i <= 60; i++)
		told += pl_ready_time_take(&r, &c, i * PERIOD, PERIOD, true);
	assert_in_range(told, 54, 55); /* but for the first that it takes to see it */
	c.delay_ns += 60 * PERIOD;
	c.runs++;
	for (uint64_t i = 61; i <= 100; i++) {
		c.run_ns += PERIOD;
		told += pl_ready_time_take(&r, &c, i * PERIOD, PERIOD, true);
	}
	assert_in_range(told, 59, 61);
}

/* Without the kernel's ticks (nohz_full) who runs looks as if he stood. */
static void not_more_than_a_second_is_believed(void **state)
{
	struct pl_run_counters c = {.runs = 1};
	struct pl_ready_time r;
	int told = 0;

	pl_ready_time_begin(&r, &c, 0, 1);
	for (uint64_t i = 1; i <= 100000; i++)
		told += pl_ready_time_take(&r, &c, i * PERIOD, PERIOD, true);
	assert_in_range(told, 99, 101);
}

static void counters_that_go_back_tell_nothing(void **state)
{
	struct pl_run_counters c = {.runs = 5, .delay_ns = 1000 * MS};
	struct pl_ready_time r;

	pl_ready_time_begin(&r, &c, 0, 1);
	c.delay_ns = 0;
	c.runs = 1;
	assert_false(pl_ready_time_take(&r, &c, PERIOD, PERIOD, true));
	assert_int_equal(r.owed_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_the_kernel_tells_is_told),
		cmocka_unit_test(it_does_not_keep_in_step),
		cmocka_unit_test(of_a_gap_only_its_part_counts),
		cmocka_unit_test(what_is_told_in_a_gap_was_of_samples_before),
		cmocka_unit_test(a_long_wait_is_told_while_it_lasts),
		cmocka_unit_test(not_more_than_a_second_is_believed),
		cmocka_unit_test(counters_that_go_back_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
