/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "leaves.h"

/* What the kernel counts of a thread that has no CPU. */
struct thread {
	struct pl_run_counters c;
	struct pl_thread_state state;
};

static const struct thread began = {.c = {.runs = 12}, .state = {.blocks = 7, .ends = 12}};

static void runs_and(struct thread *t, bool blocks)
{
	t->c.runs++;
	t->state.ends++;
	t->state.blocks += blocks;
}

static bool used_cpu(struct pl_leaves *l, const struct thread *t)
{
	pl_leaves_note(l, &t->c, &t->state);
	return pl_leaves_used_cpu(l);
}

static void who_has_been_woken_has_not_run(void **state)
{
	struct pl_leaves l = {0};
	struct thread t = began;

	used_cpu(&l, &t);
	runs_and(&t, true);
	assert_false(used_cpu(&l, &t));
	assert_false(used_cpu(&l, &t));
	runs_and(&t, true);
	runs_and(&t, true);
	assert_false(used_cpu(&l, &t));
	runs_and(&t, false);
	assert_true(used_cpu(&l, &t));
}

static void who_waits_for_the_cpu_that_others_took_counts_once(void **state)
{
	struct pl_leaves l = {0};
	struct thread t = began;

	assert_true(used_cpu(&l, &t));
	assert_false(used_cpu(&l, &t));
	runs_and(&t, false);
	assert_true(used_cpu(&l, &t));
	assert_false(used_cpu(&l, &t));
}

static void of_both_it_is_not_known_which_was_last(void **state)
{
	struct pl_leaves l = {0};
	struct thread t = began;

	used_cpu(&l, &t);
	runs_and(&t, true);
	runs_and(&t, false);
	assert_true(used_cpu(&l, &t));
}

static void a_stop_of_ours_is_none_of_its_own_whenever_it_is_counted(void **state)
{
	struct pl_leaves l = {0};
	struct thread t = began;

	used_cpu(&l, &t);
	pl_leaves_stopped(&l);
	runs_and(&t, true);
	assert_true(used_cpu(&l, &t));
	pl_leaves_stopped(&l);
	runs_and(&t, false);
	assert_true(used_cpu(&l, &t)); /* it has not come about */
	runs_and(&t, true);
	assert_true(used_cpu(&l, &t));
	runs_and(&t, true);
	assert_false(used_cpu(&l, &t));
}

static void where_the_kernel_does_not_tell_it_counts(void **state)
{
	struct pl_leaves l = {0};
	struct thread t = {.c = {.runs = 12}, .state = {.blocks = UINT64_MAX, .ends = UINT64_MAX}};

	assert_true(used_cpu(&l, &t));
	assert_true(used_cpu(&l, &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_been_woken_has_not_run),
		cmocka_unit_test(who_waits_for_the_cpu_that_others_took_counts_once),
		cmocka_unit_test(of_both_it_is_not_known_which_was_last),
		cmocka_unit_test(a_stop_of_ours_is_none_of_its_own_whenever_it_is_counted),
		cmocka_unit_test(where_the_kernel_does_not_tell_it_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
