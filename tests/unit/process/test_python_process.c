/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is opened by itself, as dumps and the doctor do. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "python.h"
#include "python_process.h"
#include "stage.h"

/* One more thread. */
static const char script[] = "import os, threading, time\n"
			     "t = threading.Thread(target=time.sleep, args=(3600,), name='other')\n"
			     "t.daemon = True\n"
			     "t.start()\n"
			     "os.write(1, b'ready\\n')\n"
			     "time.sleep(3600)\n";

static size_t open_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static struct pl_thread_sampler *find(const struct pl_python_process *p, const char *name)
{
	for (size_t i = 0; i < p->threads.samplers.len; i++)
		if (strcmp(p->threads.samplers.data[i]->name, name) == 0)
			return p->threads.samplers.data[i];
	return NULL;
}

static void check_threads(struct python *p, void *ctx)
{
	struct pl_python_process *process;
	struct pl_reading reading;
	struct pl_raw_sample s;
	size_t before = open_descriptors();

	assert_ok(pl_python_process_open(p->pid, PL_STOP_AUTO, &process));
	assert_int_equal(process->threads.samplers.len, 0); /* they are listed when somebody asks */
	await (find(process, "MainThread") && find(process, "other"))
		assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
	assert_int_equal(process->threads.room->threads, 2);
	for (size_t i = 0; i < 2; i++) {
		struct pl_thread_sampler *thread = process->threads.samplers.data[i];

		stage_await_state(p->pid, thread->tid, "S");
		await (pl_thread_sampler_take(thread, &process->reader, &process->stopper, false, &reading, &s) ==
			       PL_TAKE_SAMPLE &&
		       s.quality == PL_EXACT)
			continue;
		assert_true(s.node != 0);
		assert_ptr_equal(pl_thread_list_of_tid(&process->threads, thread->tid), thread);
		assert_ptr_equal(pl_thread_list_of_state(&process->threads, thread->stack.tstate), thread);
		assert_int_equal(pl_thread_list_interp_number(&process->threads, thread->stack.interp.addr), 0);
		assert_int_equal(pl_thread_list_interp(&process->threads, 0)->addr, thread->stack.interp.addr);
	}
	assert_null(pl_thread_list_of_tid(&process->threads, getpid()));
	assert_null(pl_thread_list_of_state(&process->threads, 0));
	assert_null(pl_thread_list_interp(&process->threads, 1));
	assert_int_equal(process->stopper.stops, 0);
	pl_python_process_close(process);
	assert_int_equal(open_descriptors(), before);
}

static void its_threads_are_listed_named_and_read(void **state)
{
	python_each(script, check_threads, NULL);
}

static void assert_refused(pid_t pid, enum plumb_error_code code)
{
	struct pl_python_process *process = NULL;
	size_t before = open_descriptors();
	struct plumb_error *err = pl_python_process_open(pid, PL_STOP_NEVER, &process);

	assert_int_equal(plumb_error_code(err), code);
	assert_null(process);
	assert_int_equal(open_descriptors(), before);
	plumb_error_destroy(err);
}

static void what_is_no_python_is_told(void **state)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_refused(getpid(), PLUMB_ERR_NOT_PYTHON);
	stage_kill(child);
	assert_refused(child, PLUMB_ERR_NO_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_threads_are_listed_named_and_read),
		cmocka_unit_test(what_is_no_python_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
