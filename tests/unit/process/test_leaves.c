/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "leaves.h"

/* What the kernel counts of a thread. It has no CPU but between comes() and leaves(). */
struct thread {
	struct pl_run_counters c;
	struct pl_thread_state state;
};

static const struct thread began = {.c = {.runs = 12, .run_ns = 1000}, .state = {.blocks = 7, .ends = 12}};
/* Of 500 of its returns nothing is in the count of runs. */
static const struct thread waited_for_children = {.c = {.runs = 12, .run_ns = 1000},
						  .state = {.blocks = 7, .ends = 512}};

static void comes(struct thread *t)
{
	t->c.runs++;
}

static void leaves(struct thread *t, bool blocks)
{
	t->c.run_ns += 10;
	t->state.ends++;
	t->state.blocks += blocks;
}

static void runs_and(struct thread *t, bool blocks)
{
	comes(t);
	leaves(t, blocks);
}

static bool only_waits(struct pl_leaves *l, const struct thread *t)
{
	pl_leaves_note(l, &t->c, &t->state);
	return pl_leaves_only_waits(l);
}

/* It was found asleep. */
static struct pl_leaves known(const struct thread *t)
{
	struct pl_leaves l = {0};

	pl_leaves_note(&l, &t->c, &t->state);
	assert_false(pl_leaves_slept(&l, &t->c, &t->state));
	return l;
}

static void who_has_been_woken_has_not_run(void **state)
{
	struct thread t = began;
	struct pl_leaves l = known(&t);

	runs_and(&t, true);
	assert_true(only_waits(&l, &t));
	assert_true(only_waits(&l, &t));
	runs_and(&t, true);
	runs_and(&t, true);
	assert_true(only_waits(&l, &t));
	runs_and(&t, false);
	assert_false(only_waits(&l, &t));
}

static void who_waits_for_the_cpu_that_others_took_counts_once(void **state)
{
	struct thread t = waited_for_children;
	struct pl_leaves l = known(&t);

	for (int i = 0; i < 3; i++) {
		runs_and(&t, false);
		assert_false(only_waits(&l, &t));
		assert_true(only_waits(&l, &t));
	}
}

static void who_has_a_cpu_does_not_wait(void **state)
{
	const struct thread all[] = {began, waited_for_children};

	for (int i = 0; i < 2; i++) {
		struct thread t = all[i];
		struct pl_leaves l = known(&t);

		runs_and(&t, true);
		comes(&t);
		assert_false(only_waits(&l, &t));
		assert_false(only_waits(&l, &t));
		assert_true(pl_leaves_may_have_cpu(&l));
	}
}

static void who_falls_asleep_has_its_cpu_until_it_left_it(void **state)
{
	struct thread t = waited_for_children;
	struct pl_leaves l = known(&t);

	comes(&t);
	pl_leaves_note(&l, &t.c, &t.state);
	leaves(&t, true);
	assert_true(pl_leaves_slept(&l, &t.c, &t.state));
	pl_leaves_note(&l, &t.c, &t.state);
	assert_false(pl_leaves_may_have_cpu(&l));
}

static void of_both_it_is_not_known_which_was_last(void **state)
{
	struct thread t = began;
	struct pl_leaves l = known(&t);

	runs_and(&t, true);
	runs_and(&t, false);
	assert_false(only_waits(&l, &t));
}

static void who_has_left_its_cpu_more_than_once_has_done_so_often(void **state)
{
	struct thread t = began;
	struct pl_leaves l = known(&t);

	runs_and(&t, false);
	assert_false(only_waits(&l, &t));
	assert_false(l.often);
	runs_and(&t, true);
	runs_and(&t, false);
	assert_false(only_waits(&l, &t));
	assert_true(l.often);
}

static void a_stop_of_ours_is_none_of_its_own_whenever_it_is_counted(void **state)
{
	struct thread t = began;
	struct pl_leaves l = known(&t);

	pl_leaves_stopped(&l);
	runs_and(&t, true);
	assert_false(only_waits(&l, &t));
	pl_leaves_stopped(&l);
	runs_and(&t, false);
	assert_false(only_waits(&l, &t)); /* it has not come about */
	runs_and(&t, true);
	assert_false(only_waits(&l, &t));
	runs_and(&t, true);
	assert_true(only_waits(&l, &t));
}

/* A thread that never sleeps is not looked at when it is off its CPU. */
static void who_runs_on_while_nothing_is_counted_has_a_cpu(void **state)
{
	struct thread t = waited_for_children;
	struct pl_leaves l = {0};

	comes(&t);
	for (int i = 0; i < 5; i++) {
		assert_false(only_waits(&l, &t));
		t.c.run_ns += 4000;
	}
	assert_false(l.unknown);
	leaves(&t, false);
	pl_leaves_note(&l, &t.c, &t.state);
	assert_false(pl_leaves_may_have_cpu(&l));
}

/* While the counts were read. */
static void run_time_may_go_on_once_behind_the_last_run(void **state)
{
	struct thread t = began;
	struct pl_leaves l = {0};

	only_waits(&l, &t);
	t.c.run_ns += 4000;
	for (int i = 0; i < 5; i++)
		only_waits(&l, &t);
	assert_false(pl_leaves_may_have_cpu(&l));
}

static void returns_that_are_not_counted_any_more_are_noticed(void **state)
{
	struct thread t = began;
	struct pl_leaves l = known(&t);

	t.state.ends += 40;
	for (int i = 0; i < 5; i++)
		assert_false(only_waits(&l, &t));
	assert_false(pl_leaves_slept(&l, &t.c, &t.state));
	assert_true(only_waits(&l, &t));
}

static void where_the_kernel_does_not_tell_it_counts(void **state)
{
	struct pl_leaves l = {0};
	struct thread t = {.c = {.runs = 12}, .state = {.blocks = UINT64_MAX, .ends = UINT64_MAX}};

	assert_false(only_waits(&l, &t));
	assert_false(pl_leaves_slept(&l, &t.c, &t.state));
	assert_false(only_waits(&l, &t));
}

static void where_the_kernel_tells_no_more_it_counts(void **state)
{
	struct thread t = began, untold = {.state = {.blocks = UINT64_MAX, .ends = UINT64_MAX}};
	struct pl_leaves l = known(&t);

	runs_and(&t, true);
	assert_true(only_waits(&l, &t));
	assert_false(only_waits(&l, &untold));
	assert_false(only_waits(&l, &untold));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_been_woken_has_not_run),
		cmocka_unit_test(who_waits_for_the_cpu_that_others_took_counts_once),
		cmocka_unit_test(who_has_a_cpu_does_not_wait),
		cmocka_unit_test(who_falls_asleep_has_its_cpu_until_it_left_it),
		cmocka_unit_test(of_both_it_is_not_known_which_was_last),
		cmocka_unit_test(who_has_left_its_cpu_more_than_once_has_done_so_often),
		cmocka_unit_test(a_stop_of_ours_is_none_of_its_own_whenever_it_is_counted),
		cmocka_unit_test(who_runs_on_while_nothing_is_counted_has_a_cpu),
		cmocka_unit_test(run_time_may_go_on_once_behind_the_last_run),
		cmocka_unit_test(returns_that_are_not_counted_any_more_are_noticed),
		cmocka_unit_test(where_the_kernel_does_not_tell_it_counts),
		cmocka_unit_test(where_the_kernel_tells_no_more_it_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
