/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of threads, of a real interpreter: what is done follows their number. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "counted.h"
#include "python.h"
#include "python_process.h"

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

static struct pl_python_process *open_process(const struct python *p, unsigned threads)
{
	struct pl_python_process *process;

	assert_ok(pl_python_process_open(p->pid, PL_STOP_NEVER, &process));
	await (process->threads.samplers.len == threads + 1)
		assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
	return process;
}

/* That are all known. */
static void list_threads(void *exe, unsigned threads)
{
	struct python p;

	start(&p, exe, threads);
	struct pl_python_process *process = open_process(&p, threads);
	counted_begin();
	assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
	counted_end();
	assert_int_equal(process->threads.samplers.len, threads + 1);
	pl_python_process_close(process);
	python_end(&p);
}

/* That are all new. */
static void meet_threads(void *exe, unsigned threads)
{
	struct python p;

	start(&p, exe, threads);
	counted_begin();
	struct pl_python_process *process = open_process(&p, threads);
	counted_end();
	pl_python_process_close(process);
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

/* Up to 3.11 it bears the number of its creator, the older one of both. */
static void a_state_that_is_being_set_up_is_not_taken_for_its_creators(void **state)
{
	const char *exe,
		*script = "import os, time\n"
			  "try:\n"
			  "    import ctypes\n"
			  "    api = ctypes.pythonapi\n"
			  "    api.PyInterpreterState_Head.restype = api.PyThreadState_New.restype = ctypes.c_void_p\n"
			  "    api.PyThreadState_New(ctypes.c_void_p(api.PyInterpreterState_Head()))\n"
			  "    said = b'ready\\n'\n"
			  "except Exception:\n"
			  "    said = b'without\\n'\n"
			  "os.write(1, said)\n"
			  "time.sleep(3600)\n";

	for (size_t i = 0; (exe = python_exe(i)); i++) {
		struct pl_python_process *process;
		struct python p;
		char line[16];

		python_start(&p, exe, script);
		python_hear(&p, line, sizeof line);
		if (strcmp(line, "ready") == 0) {
			assert_ok(pl_python_process_open(p.pid, PL_STOP_NEVER, &process));
			assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
			struct pl_thread_list *list = &process->threads;
			assert_int_equal(list->samplers.len, 1);
			assert_int_not_equal(list->samplers.data[0]->stack.tstate, list->interps.data[0].threads_head);
			pl_python_process_close(process);
		}
		python_end(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_threads_that_are_known),
		cmocka_unit_test(lists_of_threads_that_are_new),
		cmocka_unit_test(a_state_that_is_being_set_up_is_not_taken_for_its_creators),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
