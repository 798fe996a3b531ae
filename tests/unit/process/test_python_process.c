/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is opened by itself, as dumps and the doctor do. */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

/* In a call that it stays in: whoever waits for the GIL, which is a futex, will run again. */
static bool rests(const struct pl_thread_sampler *thread)
{
	struct pl_activity_info info;

	return pl_thread_clock_activity(&thread->clock, &info) == PL_ACTIVITY_BLOCKED && info.syscall != SYS_futex;
}

static bool all_rest(const struct pl_python_process *p)
{
	for (size_t i = 0; i < p->threads.samplers.len; i++)
		if (!rests(p->threads.samplers.data[i]))
			return false;
	return true;
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

		await (rests(thread))
			continue;
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

/* The same with a thread in another interpreter, where a release has a module for that. Its core goes to its directory.
 */
static const char core_script[] = "import os, resource, threading, time\n"
				  "os.chdir(os.environ['PLUMB_CORE_DIR'])\n"
				  "hard = resource.getrlimit(resource.RLIMIT_CORE)[1]\n"
				  "resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))\n"
				  "def start(target, *args):\n"
				  "    t = threading.Thread(target=target, args=args)\n"
				  "    t.daemon = True\n"
				  "    t.start()\n"
				  "start(time.sleep, 3600)\n"
				  "try:\n"
				  "    import _xxsubinterpreters as other\n"
				  "    start(other.run_string, other.create(), 'import time; time.sleep(3600)')\n"
				  "    n = 4\n"
				  "except ImportError:\n"
				  "    n = 2\n"
				  "os.write(1, b'%d\\n' % n)\n"
				  "time.sleep(3600)\n";

/* Number by thread state. */
struct numbers {
	size_t len;
	struct {
		pl_addr tstate;
		pid_t tid;
	} of[8];
};

static void note_numbers(const struct pl_python_process *p, struct numbers *ret)
{
	ret->len = 0;
	for (size_t i = 0; i < p->threads.samplers.len && i < 8; i++) {
		ret->of[ret->len].tstate = p->threads.samplers.data[i]->stack.tstate;
		ret->of[ret->len++].tid = p->threads.samplers.data[i]->tid;
	}
}

static void number_living(pid_t pid, size_t states, struct numbers *ret)
{
	struct pl_python_process *process;

	assert_ok(pl_python_process_open(pid, PL_STOP_NEVER, &process));
	await (process->threads.samplers.len >= states && all_rest(process))
		assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
	note_numbers(process, ret);
	pl_python_process_close(process);
}

/* False: the kernel has put it elsewhere. */
static bool find_core(const char *dir, char path[static 512])
{
	DIR *d = opendir(dir);
	bool found = false;

	assert_non_null(d);
	for (const struct dirent *e; !found && (e = readdir(d));) {
		found = strncmp(e->d_name, "core", 4) == 0;
		snprintf(path, 512, "%s/%s", dir, e->d_name);
	}
	closedir(d);
	return found;
}

static void compare_with_core(const char *path, const struct numbers *living)
{
	struct pl_python_process *process;
	struct numbers dead;

	assert_ok(pl_python_process_open_core(path, NULL, true, &process));
	assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
	note_numbers(process, &dead);
	assert_int_equal(dead.len, living->len);
	for (size_t i = 0; i < dead.len; i++) {
		assert_true(dead.of[i].tstate == living->of[i].tstate);
		assert_int_equal(dead.of[i].tid, living->of[i].tid);
		assert_true(dead.of[i].tid > 0);
	}
	pl_python_process_close(process);
}

static void check_core(const char *exe, const char *dir, size_t *checked)
{
	struct python p;
	char line[16], path[512];
	struct numbers living;

	python_start(&p, exe, core_script);
	python_hear(&p, line, sizeof line);
	if (python_attach(&p)) {
		number_living(p.pid, (size_t)(line[0] - '0'), &living);
		kill(p.pid, SIGABRT);
		await (stage_ended(p.pid))
			continue;
		if (find_core(dir, path)) {
			compare_with_core(path, &living);
			unlink(path);
			(*checked)++;
		}
	}
	python_end(&p);
}

/* Up to 3.10 the number is in the C library's descriptor of the thread, at a place that is found anew. */
static void threads_of_a_core_have_their_numbers(void **state)
{
	char dir[] = "/tmp/plumb-core-XXXXXX";
	const char *exe;
	size_t checked = 0;

	assert_non_null(mkdtemp(dir));
	setenv("PLUMB_CORE_DIR", dir, 1);
	for (size_t i = 0; (exe = python_exe(i)); i++)
		check_core(exe, dir, &checked);
	rmdir(dir);
	if (!checked) {
		print_message("the kernel writes no cores into the directory of a program here\n");
		skip();
	}
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
		cmocka_unit_test(threads_of_a_core_have_their_numbers),
		cmocka_unit_test(what_is_no_python_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
