/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of threads, of a real interpreter: what is done follows their number. */
#include "unit.h"

#include <stdio.h>

#include "clock.h"
#include "counted.h"
#include "python.h"
#include "remote.h"

#define THREADS 96

static void start(struct python *p, const char *exe, unsigned threads)
{
	char script[512], line[16];

	snprintf(script, sizeof script,
		 "import os, threading, time\n"
		 "threading.stack_size(65536)\n"
		 "def wait(): time.sleep(3600)\n"
		 "for i in range(%u):\n"
		 "    t = threading.Thread(target=wait)\n"
		 "    t.daemon = True\n"
		 "    t.start()\n"
		 "os.write(1, b'ready\\n')\n"
		 "wait()\n",
		 threads);
	python_start(p, exe, script);
	python_hear(p, line, sizeof line);
}

static struct pl_engine *open_engine(const struct python *p, unsigned threads)
{
	const struct pl_engine_options o = {.pid = p->pid, .period_ns = 1000000, .stop = PL_STOP_NEVER};
	struct pl_engine *e;

	assert_ok(pl_engine_remote.open(&o, &e));
	await (e->room.threads == threads + 1)
		assert_ok(pl_sampled_refresh(e, e->root, pl_clock_monotonic_ns()));
	return e;
}

/* That are all known. */
static void list_threads(void *exe, unsigned threads)
{
	struct python p;

	start(&p, exe, threads);
	struct pl_engine *e = open_engine(&p, threads);
	counted_begin();
	assert_ok(pl_sampled_refresh(e, e->root, pl_clock_monotonic_ns()));
	counted_end();
	assert_int_equal(e->room.threads, threads + 1);
	pl_engine_remote.close(e);
	python_end(&p);
}

/* That are all new. */
static void meet_threads(void *exe, unsigned threads)
{
	struct python p;

	start(&p, exe, threads);
	counted_begin();
	struct pl_engine *e = open_engine(&p, threads);
	counted_end();
	pl_engine_remote.close(e);
	python_end(&p);
}

static void lists_of_threads_that_are_known(void **state)
{
	counted_linear(list_threads, (void *)(uintptr_t)python_exe(0), THREADS);
}

static void lists_of_threads_that_are_new(void **state)
{
	counted_linear(meet_threads, (void *)(uintptr_t)python_exe(0), THREADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_threads_that_are_known),
		cmocka_unit_test(lists_of_threads_that_are_new),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
