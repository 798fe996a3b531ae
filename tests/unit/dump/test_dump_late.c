/* SPDX-License-Identifier: Apache-2.0 */
/* A dump of more threads than there is time for: those that were looked at are shown, the others are counted. */

#include "dump.h"
#include "python.h"
#include "unit.h"

#define THREADS 24

static const char sleepers[] = "import threading, time\n"
			       "def sleeper():\n"
			       "    time.sleep(1000)\n"
			       "for _ in range(23):\n"
			       "    thread = threading.Thread(target=sleeper)\n"
			       "    thread.daemon = True\n"
			       "    thread.start()\n"
			       "print('ready', flush=True)\n"
			       "sleeper()\n";

static void dump_in(const struct python *p, uint64_t limit_ns, struct pl_dump **ret)
{
	const struct pl_dump_options options = {.locals = true, .limit_ns = limit_ns};

	assert_ok(pl_dump_create(ret));
	assert_ok(pl_dump_live(p->pid, &options, *ret));
	assert_int_equal((*ret)->processes.len, 1);
}

static void check(const char *exe)
{
	struct python p;
	struct pl_dump *d;

	if (python_sleeps(&p, exe, sleepers)) {
		dump_in(&p, 1, &d);
		const struct pl_dump_process *late = &d->processes.data[0];
		assert_in_range(late->threads.len, 1, 2); /* the first one, and who holds the GIL */
		assert_int_equal(late->threads.len + late->late, THREADS);
		assert_int_equal(late->locals_late, late->threads.len);
		assert_int_equal(late->unread, 0);
		pl_dump_destroy(d);
		dump_in(&p, 100000000000, &d);
		assert_int_equal(d->processes.data[0].threads.len, THREADS);
		assert_int_equal(d->processes.data[0].late, 0);
		assert_int_equal(d->processes.data[0].locals_late, 0);
		pl_dump_destroy(d);
	}
	python_end(&p);
}

static void what_there_is_no_time_for_is_counted_and_the_rest_is_shown(void **state)
{
	const char *exe;

	(void)state;
	for (size_t i = 0; (exe = python_exe(i)); i++)
		check(exe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_there_is_no_time_for_is_counted_and_the_rest_is_shown)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
