/* SPDX-License-Identifier: Apache-2.0 */
/* How the threads of a dump are put in order and counted, and which of them wait for one another. */
#include "dump_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void add(struct pl_dump_process *p, struct pl_dump_thread t)
{
	assert_true(pl_vec_push(&p->threads, t));
}

static void a_thread_counts_once_however_many_interpreters_it_was_in(void **state)
{
	struct pl_dump_process p = {0};

	(void)state;
	add(&p, (struct pl_dump_thread){.tid = 12, .python = true, .interpreter = 2});
	add(&p, (struct pl_dump_thread){.tid = 11});
	add(&p, (struct pl_dump_thread){.tid = 10, .python = true, .main = true, .interpreter = 1});
	add(&p, (struct pl_dump_thread){.tid = 12, .python = true});
	add(&p, (struct pl_dump_thread){.tid = 13, .beyond = true});
	add(&p, (struct pl_dump_thread){.tid = 10, .python = true, .main = true});
	pl_dump_sort_threads(&p);
	const uint64_t tids[] = {10, 10, 12, 12, 11, 13}, interpreters[] = {0, 1, 0, 2, 0, 0};
	for (size_t i = 0; i < p.threads.len; i++) {
		assert_int_equal(p.threads.data[i].tid, tids[i]);
		assert_int_equal(p.threads.data[i].interpreter, interpreters[i]);
	}
	struct pl_dump_thread_counts n = pl_dump_count_threads(&p);
	assert_int_equal(n.python, 2);
	assert_int_equal(n.states, 4);
	assert_int_equal(n.native, 1);
	assert_int_equal(n.beyond, 1);
	pl_dump_process_deinit(&p);
}

static void nothing_has_no_threads(void **state)
{
	struct pl_dump_process p = {0};

	(void)state;
	pl_dump_sort_threads(&p);
	struct pl_dump_thread_counts n = pl_dump_count_threads(&p);
	assert_int_equal(n.python + n.states + n.native + n.beyond, 0);
}

/* Thread @p tid waits for something that @p holder has, or does; 0: nobody that is known. */
static void add_waiting(struct pl_dump_process *p, uint64_t tid, uint64_t holder)
{
	const struct pl_dump_awaited a = {.what = PL_DUMP_FOR_LOCK, .object = tid, .holder = holder};

	assert_true(pl_vec_push(&p->awaited, a));
	add(p,
	    (struct pl_dump_thread){.tid = tid, .python = true, .awaited = (uint32_t)p->awaited.len, .waits_on = true});
}

static void assert_ring(const struct pl_dump_process *p, size_t i, const uint64_t *tids, size_t n)
{
	assert_int_equal(p->deadlocks.data[i].members.len, n);
	for (size_t k = 0; k < n; k++)
		assert_int_equal(p->threads.data[p->deadlocks.data[i].members.data[k]].tid, tids[k]);
}

static void rings_are_found_and_what_leads_to_them_is_none(void **state)
{
	struct pl_dump_process p = {0};

	(void)state;
	add_waiting(&p, 1, 2); /* leads to the ring of 2, 3, 4 */
	add_waiting(&p, 2, 3);
	add_waiting(&p, 3, 4);
	add_waiting(&p, 4, 2);
	add_waiting(&p, 5, 5);
	add_waiting(&p, 6, 5); /* leads to 5, which waits for itself */
	add_waiting(&p, 7, 8); /* ends at somebody who waits for nothing */
	add(&p, (struct pl_dump_thread){.tid = 8, .python = true});
	add_waiting(&p, 9, 0);
	add_waiting(&p, 10, 99); /* a thread that is not there */
	assert_int_equal(plumb_error_code(pl_dump_find_deadlocks(&p)), PLUMB_OK);
	assert_int_equal(p.deadlocks.len, 2);
	assert_ring(&p, 0, (const uint64_t[]){2, 3, 4}, 3);
	assert_ring(&p, 1, (const uint64_t[]){5}, 1);
	for (size_t i = 0; i < p.awaited.len; i++)
		assert_int_equal(p.awaited.data[i].waiters, 1);
	pl_dump_process_deinit(&p);
}

/* @p change one of two threads that wait for each other: no deadlock any more. */
static void assert_no_ring(void (*change)(struct pl_dump_thread *))
{
	struct pl_dump_process p = {0};

	add_waiting(&p, 1, 2);
	add_waiting(&p, 2, 1);
	change(&p.threads.data[1]);
	assert_int_equal(plumb_error_code(pl_dump_find_deadlocks(&p)), PLUMB_OK);
	assert_int_equal(p.deadlocks.len, 0);
	pl_dump_process_deinit(&p);
}

static void gives_up_in_time(struct pl_dump_thread *t)
{
	t->wait.limited = true;
}

static void has_run_since(struct pl_dump_thread *t)
{
	t->waits_on = false;
}

static void waits_for_nothing(struct pl_dump_thread *t)
{
	t->awaited = 0;
}

static void who_does_not_wait_for_ever_is_in_no_ring(void **state)
{
	(void)state;
	assert_no_ring(gives_up_in_time);
	assert_no_ring(has_run_since);
	assert_no_ring(waits_for_nothing);
}

/* It is there once for each interpreter, and waits in one of them. */
static void a_thread_of_two_interpreters_is_in_a_ring_once(void **state)
{
	struct pl_dump_process p = {0};

	(void)state;
	add(&p, (struct pl_dump_thread){.tid = 1, .python = true, .interpreter = 1});
	add_waiting(&p, 1, 2);
	add_waiting(&p, 2, 1);
	assert_int_equal(plumb_error_code(pl_dump_find_deadlocks(&p)), PLUMB_OK);
	assert_int_equal(p.deadlocks.len, 1);
	assert_ring(&p, 0, (const uint64_t[]){1, 2}, 2);
	pl_dump_process_deinit(&p);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* A task of id @p id that waits for the ends of others: their ids, up to a 0. */
static struct pl_dump_task *add_task(struct pl_dump_process *p, uint64_t id, const uint64_t *needs)
{
	struct pl_dump_task t = {.id = id, .doing = PL_TASK_DOES_WAIT};

	for (; *needs; needs++)
		assert_true(pl_vec_push(&t.needs, *needs));
	assert_true(pl_vec_push(&p->tasks, t));
	return &p->tasks.data[p->tasks.len - 1];
}

#define NEEDS(...) ((const uint64_t[]){__VA_ARGS__, 0})

/* The last task waits for a lock that the task at @p holder has, too. */
static void let_wait_for_lock(struct pl_dump_process *p, uint32_t holder)
{
	const struct pl_dump_task_awaited a = {.thing = {.what = PL_DUMP_FOR_LOCK, .object = p->task_awaited.len},
					       .holder = holder + 1};

	assert_true(pl_vec_push(&p->task_awaited, a));
	pl_dump_add_task_waiter(p, (uint32_t)p->tasks.len - 1, (uint32_t)p->task_awaited.len - 1);
}

static void assert_task_ring(const struct pl_dump_process *p, size_t i, const uint64_t *ids, size_t n)
{
	assert_int_equal(p->task_deadlocks.data[i].members.len, n);
	for (size_t k = 0; k < n; k++)
		assert_int_equal(p->tasks.data[p->task_deadlocks.data[i].members.data[k]].id, ids[k]);
}

static void rings_of_tasks_are_found_through_tasks_that_wait_for_several(void **state)
{
	struct pl_dump_process p = {0};

	(void)state;
	add_task(&p, 1, NEEDS(7, 2)); /* leads to the ring of 2, 3, 4, and to 7, which waits for nobody */
	add_task(&p, 2, NEEDS(7, 99, 3));
	add_task(&p, 3, NEEDS(0));
	let_wait_for_lock(&p, 3);
	add_task(&p, 4, NEEDS(1000, 2));
	add_task(&p, 5, NEEDS(5));
	add_task(&p, 6, NEEDS(7, 8)); /* 8 leads to 7 */
	add_task(&p, 7, NEEDS(0));
	add_task(&p, 8, NEEDS(7));
	for (int again = 0; again < 2; again++) {
		assert_int_equal(plumb_error_code(pl_dump_find_task_deadlocks(&p)), PLUMB_OK);
		assert_int_equal(p.task_deadlocks.len, 2);
		assert_task_ring(&p, 0, (const uint64_t[]){2, 3, 4}, 3);
		assert_task_ring(&p, 1, (const uint64_t[]){5}, 1);
	}
	pl_dump_process_deinit(&p);
}

static void a_task_that_does_not_wait_for_ever_is_in_no_ring(void **state)
{
	(void)state;
	for (int change = 0; change < 3; change++) {
		struct pl_dump_process p = {0};

		add_task(&p, 1, NEEDS(2));
		struct pl_dump_task *t = add_task(&p, 2, NEEDS(1));
		t->limited = change == 1;
		if (change == 2)
			t->doing = PL_TASK_IS_READY;
		assert_int_equal(plumb_error_code(pl_dump_find_task_deadlocks(&p)), PLUMB_OK);
		assert_int_equal(p.task_deadlocks.len, change == 0);
		pl_dump_process_deinit(&p);
	}
}

static void the_waiters_of_a_thing_are_in_order(void **state)
{
	struct pl_dump_process p = {0};
	const struct pl_dump_task_awaited a = {.thing.what = PL_DUMP_FOR_ITEM};

	(void)state;
	assert_true(pl_vec_push(&p.task_awaited, a));
	for (uint32_t i = 0; i < 3; i++) {
		add_task(&p, i + 1, NEEDS(0));
		pl_dump_add_task_waiter(&p, i, 0);
	}
	assert_int_equal(p.task_awaited.data[0].thing.waiters, 3);
	uint32_t at = p.task_awaited.data[0].first_waiter;
	for (uint32_t i = 0; i < 3; i++, at = p.tasks.data[at - 1].next_waiter)
		assert_int_equal(at, i + 1);
	assert_int_equal(at, 0);
	pl_dump_process_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_counts_once_however_many_interpreters_it_was_in),
		cmocka_unit_test(nothing_has_no_threads),
		cmocka_unit_test(rings_are_found_and_what_leads_to_them_is_none),
		cmocka_unit_test(who_does_not_wait_for_ever_is_in_no_ring),
		cmocka_unit_test(a_thread_of_two_interpreters_is_in_a_ring_once),
		cmocka_unit_test(rings_of_tasks_are_found_through_tasks_that_wait_for_several),
		cmocka_unit_test(a_task_that_does_not_wait_for_ever_is_in_no_ring),
		cmocka_unit_test(the_waiters_of_a_thing_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
