/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "bursts.h"

#define US	1000ull
#define UNKNOWN UINT64_MAX

/* The kernel's counters of a thread, and how often we have asked for the dear one. */
struct thread {
	struct pl_run_counters c;
	uint64_t blocks;
	int asked;
};

static void look(struct pl_bursts *b, struct thread *t)
{
	if (!pl_bursts_may_have_ended(b, &t->c)) {
		pl_bursts_go_on(b, &t->c);
	} else if (!pl_bursts_stay_long(b, &t->c)) {
		pl_bursts_end(b, &t->c, t->blocks);
		t->asked++;
	}
}

static void run(struct thread *t, uint64_t ns, bool blocks)
{
	t->c.run_ns += ns;
	t->c.runs++;
	t->blocks += blocks;
}

static void a_thread_that_is_only_pushed_off_its_cpu_runs_on(void **state)
{
	struct thread t = {.c = {.run_ns = 4000 * US, .runs = 40}, .blocks = 1};
	struct pl_bursts b;

	pl_bursts_begin(&b, &t.c, t.blocks);
	for (int i = 0; i < 1000; i++) {
		run(&t, 20 * US, false);
		look(&b, &t);
		assert_false(pl_bursts_brief(&b));
	}
}

/* A stop counts as a blocking at once, the run behind it when the thread gets a CPU: that can be after the next look.
 */
static void stops_of_ours_end_no_burst_whenever_they_are_counted(void **state)
{
	struct thread t = {.c = {.run_ns = 4000 * US, .runs = 2}, .blocks = 1};
	struct pl_bursts b;

	pl_bursts_begin(&b, &t.c, t.blocks);
	for (int i = 0; i < 1000; i++) {
		pl_bursts_stopped(&b);
		t.blocks++;
		look(&b, &t);
		if (i % 3 == 0)
			run(&t, 20 * US, false); /* pushed off, too */
		run(&t, 20 * US, false);
		if (i % 2 == 0)
			look(&b, &t);
		assert_false(pl_bursts_brief(&b));
	}
}

static void a_thread_that_begins_to_block_is_noticed_after_few_bursts(void **state)
{
	struct thread t = {.c = {.run_ns = 3600000000 * US, .runs = 2}, .blocks = 1};
	struct pl_bursts b;
	int bursts = 0;

	pl_bursts_begin(&b, &t.c, t.blocks);
	for (; !pl_bursts_brief(&b); bursts++) {
		run(&t, 50 * US, true);
		look(&b, &t);
	}
	assert_true(bursts <= 4);
	run(&t, 300 * US, false);
	look(&b, &t);
	assert_false(pl_bursts_brief(&b)); /* one that goes on counts at once */
}

/* As one is in which a hypervisor took the CPU away, which the kernel counts as run time. */
static void one_long_burst_makes_no_other_thread_of_it(void **state)
{
	struct thread t = {.c = {.run_ns = 4000 * US, .runs = 80}, .blocks = 80};
	struct pl_bursts b;

	pl_bursts_begin(&b, &t.c, t.blocks);
	for (int i = 0; i < 20; i++) {
		run(&t, 70 * US, true);
		look(&b, &t);
	}
	t.c.run_ns += 5000 * US;
	look(&b, &t);
	assert_false(pl_bursts_brief(&b)); /* while it goes on */
	run(&t, 20 * US, true);
	look(&b, &t);
	assert_true(pl_bursts_brief(&b));
}

static void blocking_between_stops_is_noticed(void **state)
{
	struct thread t = {.c = {.run_ns = 4000 * US, .runs = 2}, .blocks = 1};
	struct pl_bursts b;
	int rounds = 0;

	pl_bursts_begin(&b, &t.c, t.blocks);
	for (; !pl_bursts_brief(&b) && rounds < 100; rounds++) {
		pl_bursts_stopped(&b);
		run(&t, 20 * US, true);
		run(&t, 20 * US, true); /* by itself */
		look(&b, &t);
	}
	assert_true(rounds <= 4);
}

static void older_counters_are_no_long_burst(void **state)
{
	struct thread t = {.c = {.run_ns = 4000 * US, .runs = 40}, .blocks = 39};
	struct pl_bursts b;

	pl_bursts_begin(&b, &t.c, t.blocks);
	struct pl_run_counters before = t.c;
	run(&t, 20 * US, true);
	pl_bursts_end(&b, &t.c, t.blocks);
	uint64_t mean_ns = b.mean_ns;
	assert_false(pl_bursts_may_have_ended(&b, &before));
	pl_bursts_go_on(&b, &before);
	assert_int_equal(b.mean_ns, mean_ns);
}

static void where_blocking_is_not_told_each_run_counts(void **state)
{
	struct thread t = {.c = {.run_ns = 4000 * US, .runs = 1}, .blocks = UNKNOWN};
	struct pl_bursts b;

	pl_bursts_begin(&b, &t.c, UNKNOWN);
	assert_false(pl_bursts_brief(&b));
	for (int i = 0; i < 20; i++) {
		t.c.run_ns += 50 * US;
		t.c.runs++;
		look(&b, &t);
	}
	assert_in_range(b.mean_ns, 50 * US, 60 * US);
}

static void a_thread_that_is_pushed_off_after_long_is_not_asked_how_often_it_blocks(void **state)
{
	struct thread t = {.c = {.run_ns = 4000 * US, .runs = 40}, .blocks = 1};
	struct pl_bursts b;

	pl_bursts_begin(&b, &t.c, t.blocks);
	for (int i = 0; i < 1000; i++) {
		run(&t, 2000 * US, false);
		look(&b, &t);
		assert_false(pl_bursts_brief(&b));
	}
	assert_true(t.asked <= 2);
}

/* Also one that ended its long bursts by itself. */
static void one_that_begins_to_block_after_long_bursts_is_noticed_as_soon(void **state)
{
	struct thread t = {.c = {.run_ns = 4000 * US, .runs = 40}, .blocks = 1};
	struct pl_bursts b;
	int bursts = 0;

	pl_bursts_begin(&b, &t.c, t.blocks);
	for (int i = 0; i < 1000; i++) {
		run(&t, 2000 * US, i % 2 == 0);
		look(&b, &t);
	}
	for (; !pl_bursts_brief(&b); bursts++) {
		run(&t, 50 * US, true);
		look(&b, &t);
	}
	assert_true(bursts <= 4);
}

/* It has blocked a thousand times where nobody asked: that is not how often it blocks now. */
static void bursts_that_nobody_asked_for_make_none_brief(void **state)
{
	struct thread t = {.c = {.run_ns = 4000 * US, .runs = 4}, .blocks = 4};
	struct pl_bursts b;

	pl_bursts_begin(&b, &t.c, t.blocks);
	for (int i = 0; i < 1000; i++) {
		run(&t, 2000 * US, true);
		look(&b, &t);
	}
	uint64_t mean_ns = b.mean_ns;
	run(&t, 350 * US, true);
	look(&b, &t);
	assert_true(b.mean_ns >= mean_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_is_only_pushed_off_its_cpu_runs_on),
		cmocka_unit_test(stops_of_ours_end_no_burst_whenever_they_are_counted),
		cmocka_unit_test(a_thread_that_begins_to_block_is_noticed_after_few_bursts),
		cmocka_unit_test(one_long_burst_makes_no_other_thread_of_it),
		cmocka_unit_test(blocking_between_stops_is_noticed),
		cmocka_unit_test(older_counters_are_no_long_burst),
		cmocka_unit_test(where_blocking_is_not_told_each_run_counts),
		cmocka_unit_test(a_thread_that_is_pushed_off_after_long_is_not_asked_how_often_it_blocks),
		cmocka_unit_test(one_that_begins_to_block_after_long_bursts_is_noticed_as_soon),
		cmocka_unit_test(bursts_that_nobody_asked_for_make_none_brief),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
