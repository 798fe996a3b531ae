/* SPDX-License-Identifier: Apache-2.0 */
/* How the threads of a dump are put in order and counted. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_counts_once_however_many_interpreters_it_was_in),
		cmocka_unit_test(nothing_has_no_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
