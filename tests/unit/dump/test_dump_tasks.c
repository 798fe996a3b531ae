/* SPDX-License-Identifier: Apache-2.0 */
/* A dump of what looks like tasks that take long to read: it ends, and has the stacks. */

#include "dump.h"
#include "python.h"
#include "stage.h"
#include "unit.h"

#define LIMIT_NS 50000000ull /* to read them all takes some hundred times as long */

static void check(const char *exe)
{
	const struct pl_dump_options options = {.stop = PL_STOP_NEVER, .limit_ns = LIMIT_NS};
	struct pl_dump *d;
	struct python p;

	if (python_sleeps(&p, exe, python_like_tasks)) {
		assert_ok(pl_dump_create(&d));
		assert_ok(pl_dump_live(p.pid, &options, d));
		assert_int_equal(d->processes.len, 1);
		assert_int_equal(d->processes.data[0].threads.len, 1);
		assert_int_not_equal(d->processes.data[0].tasks_lost, 0);
		pl_dump_destroy(d);
	}
	python_end(&p);
}

static void tasks_that_take_too_long_are_lost_and_no_stacks(void **state)
{
	const char *exe;

	for (size_t i = 0; (exe = python_exe(i)); i++)
		check(exe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(tasks_that_take_too_long_are_lost_and_no_stacks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
