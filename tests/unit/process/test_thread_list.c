/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of threads, of a real interpreter: what is done follows their number. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "counted.h"
#include "python.h"
#include "python_process.h"
#include "words.h"

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

/* Each thread of two computes for 50 ms and waits; the second one is started when the first one is known. */
static const char computing[] =
	"import os, sys, threading, time\n"
	"def compute(word):\n"
	"    began = time.clock() if sys.version_info < (3,) else time.process_time()\n"
	"    while (time.clock() if sys.version_info < (3,) else time.process_time()) < began + 0.05: pass\n"
	"    os.write(1, word)\n"
	"    time.sleep(3600)\n"
	"for word in b'ready\\n', b'done\\n':\n"
	"    t = threading.Thread(target=compute, args=(word,))\n"
	"    t.daemon = True\n"
	"    t.start()\n"
	"    os.read(0, 1)\n";

static void what_a_new_thread_ran_before_it_was_found_counts(void **state)
{
	const char *exe;

	for (size_t i = 0; (exe = python_exe(i)); i++) {
		struct pl_python_process *process;
		struct python p;
		char line[16];

		python_start(&p, exe, computing);
		python_hear(&p, line, sizeof line);
		assert_ok(pl_python_process_open(p.pid, PL_STOP_NEVER, &process));
		const struct pl_thread_list *list = &process->threads;
		await (list->samplers.len == 2)
			assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
		const uint64_t before = list->samplers.data[1]->ran_ns;
		python_say(&p, "x");
		python_hear(&p, line, sizeof line);
		await (list->samplers.len == 3)
			assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
		assert_true(list->samplers.data[2]->ran_ns > 45000000);
		assert_int_equal(list->samplers.data[1]->ran_ns, before);
		pl_python_process_close(process);
		python_end(&p);
	}
}

/* ---- threads that run no Python ---- */

#define NATIVES 24

/* Says whether there are any: none without ctypes. They wait by then. */
static bool start_with_natives(struct python *p, const char *exe, unsigned natives)
{
	char script[1024], line[16];

	snprintf(script, sizeof script,
		 "import os, threading, time\n"
		 "started = []\n"
		 "try:\n"
		 "    import ctypes\n"
		 "    c = ctypes.CDLL(None)\n"
		 "    started = [ctypes.c_ulong() for i in range(%u)]\n"
		 "    for t in started: assert c.pthread_create(ctypes.byref(t), None, c.pause, None) == 0\n"
		 "except ImportError:\n"
		 "    pass\n"
		 "def waits(tid):\n"
		 "    with open('/proc/self/task/%%s/stat' %% tid) as stat: return ') S ' in stat.read()\n"
		 "while sum(map(waits, os.listdir('/proc/self/task'))) < len(started): time.sleep(0)\n"
		 "os.write(1, b'ready\\n' if started else b'without\\n')\n"
		 "time.sleep(3600)\n",
		 natives);
	python_start(p, exe, script);
	python_hear(p, line, sizeof line);
	return strcmp(line, "ready") == 0;
}

static size_t count_natives(const struct pl_thread_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->samplers.len; i++)
		n += pl_thread_sampler_is_native(list->samplers.data[i]);
	return n;
}

/* It waits for a signal, as its sample says; where is not known, as native frames were not asked for. */
static void take_native(struct pl_python_process *process, struct pl_thread_sampler *thread)
{
	struct pl_reading reading;
	struct pl_raw_sample sample;

	assert_int_equal(pl_thread_sampler_take(thread, &process->reader, &process->stopper, false, &reading, &sample),
			 PL_TAKE_SAMPLE);
	assert_int_equal(sample.state, pl_reason_state(PL_REASON_SIGNAL));
	assert_int_equal(sample.node, 0);
	assert_int_equal(sample.marker, PL_MARKER_MOVING);
	assert_int_equal(sample.quality, PL_PARTIAL);
}

static void check_natives(struct pl_python_process *process, size_t natives)
{
	struct pl_thread_list *list = &process->threads;

	assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
	assert_int_equal(list->samplers.len, 1);
	list->natives = true;
	for (int i = 0; i < 2; i++) { /* those that are known stay */
		assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
		assert_int_equal(list->samplers.len, 1 + natives);
		assert_int_equal(count_natives(list), natives);
		assert_int_equal(list->refused, 0);
	}
	for (size_t i = 1; i < list->samplers.len; i++) {
		assert_true(list->samplers.data[i]->name[0]);
		take_native(process, list->samplers.data[i]);
	}
}

static void threads_that_run_no_python_are_listed_if_they_are_asked_for(void **state)
{
	const char *exe;

	for (size_t i = 0; (exe = python_exe(i)); i++) {
		struct pl_python_process *process;
		struct python p;

		if (start_with_natives(&p, exe, 3)) {
			assert_ok(pl_python_process_open(p.pid, PL_STOP_NEVER, &process));
			check_natives(process, 3);
			pl_python_process_close(process);
		}
		python_end(&p);
	}
}

static void threads_that_run_python_find_room_beside_many_that_do_not(void **state)
{
	struct pl_python_process *process;
	struct python p;

	if (start_with_natives(&p, python_exe(0), NATIVES)) {
		assert_ok(pl_python_process_open(p.pid, PL_STOP_NEVER, &process));
		process->threads.natives = true;
		process->threads.room->max_files = NATIVES; /* half of that for natives, at two a thread */
		assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
		assert_in_range(count_natives(&process->threads), 1, NATIVES / 4);
		assert_int_equal(process->threads.refused, NATIVES - count_natives(&process->threads));
		assert_true(pl_room_for_one(process->threads.room));
		pl_python_process_close(process);
	}
	python_end(&p);
}

static void list_natives(void *exe, unsigned natives)
{
	struct pl_python_process *process;
	struct python p;

	if (start_with_natives(&p, exe, natives)) {
		assert_ok(pl_python_process_open(p.pid, PL_STOP_NEVER, &process));
		process->threads.natives = true;
		assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
		counted_begin();
		assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
		counted_end();
		assert_int_equal(count_natives(&process->threads), natives);
		pl_python_process_close(process);
	}
	python_end(&p);
}

static void lists_of_threads_that_run_no_python(void **state)
{
	counted_linear(list_natives, (void *)(uintptr_t)python_exe(0), THREADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_threads_that_are_known),
		cmocka_unit_test(lists_of_threads_that_are_new),
		cmocka_unit_test(a_state_that_is_being_set_up_is_not_taken_for_its_creators),
		cmocka_unit_test(what_a_new_thread_ran_before_it_was_found_counts),
		cmocka_unit_test(threads_that_run_no_python_are_listed_if_they_are_asked_for),
		cmocka_unit_test(threads_that_run_python_find_room_beside_many_that_do_not),
		cmocka_unit_test(lists_of_threads_that_run_no_python),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
