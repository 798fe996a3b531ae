/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with --wrap=malloc,calloc,realloc: a session and a dump of a real interpreter with their first allocation
 * failing, then their second, ... whichever thread makes it. Nothing crashes, leaks (the sanitizer build looks) or
 * hangs; what cannot go on says that there is no memory, and the interpreter runs on. */
#include "unit.h"

#include <fcntl.h>
#include <plumb/dump.h>
#include <plumb/plumb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing.h"
#include "first_python.h"

#define LIMIT_MS   20000
#define SAMPLED_NS 5000000

struct scene {
	char dir[64], path[96];
	pid_t pid;
	int sink;
	unsigned long whole, failed; /* runs */
};

/* Threads that wait, one that works, a task that sleeps, and variables of several types. */
static const char script[] = "import sys, threading, time\n"
			     "class Point:\n"
			     "    def __init__(self): self.x, self.name = 1, 'two'\n"
			     "def wait(lock, items, point): lock.acquire()\n"
			     "def inner(n): return sum(range(n))\n"
			     "def work():\n"
			     "    while True: inner(50)\n"
			     "lock = threading.Lock()\n"
			     "lock.acquire()\n"
			     "for i in range(3):\n"
			     "    t = threading.Thread(target=wait, args=(lock, [1, {'a': b'c'}], Point()))\n"
			     "    t.daemon = True\n"
			     "    t.start()\n"
			     "sys.stdout.write('ready\\n')\n"
			     "sys.stdout.flush()\n"
			     "work()\n";

static void start_python(struct scene *s)
{
	char line[8] = "";
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	s->pid = fork();
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], STDOUT_FILENO);
		execl(python(), python(), "-S", "-E", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	assert_true(s->pid > 0 && read(fds[0], line, sizeof line) > 0 && line[0] == 'r');
	close(fds[0]);
}

static int set_up(void **state)
{
	static struct scene s;

	s = (struct scene){.dir = "/tmp/plumb-memory-XXXXXX"};
	if (!mkdtemp(s.dir))
		return -1;
	snprintf(s.path, sizeof s.path, "%s/recording.plumb", s.dir);
	s.sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	start_python(&s);
	*state = &s;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *s = *state;

	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	close(s->sink);
	unlink(s->path);
	return rmdir(s->dir); /* nothing else was left there */
}

/* True if all went well; anything but a want of memory fails the test. */
static bool well(struct plumb_error *err)
{
	if (err && plumb_error_code(err) != PLUMB_ERR_NO_MEMORY)
		fail_msg("%s", plumb_error_message(err));
	plumb_error_destroy(err);
	return !err;
}

static bool sample(struct scene *s)
{
	struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;
	struct plumb_report_options look = PLUMB_REPORT_OPTIONS_INIT;
	struct plumb_session *session;
	struct plumb_status st;
	struct plumb_result result;

	o.output = s->path;
	o.rate_hz = 0;
	o.duration_ns = SAMPLED_NS;
	o.subprocesses = PLUMB_SUBPROCESSES_YES;
	if (!well(plumb_session_attach(&o, s->pid, &session)))
		return false;
	plumb_session_wait(session, LIMIT_MS, &st);
	assert_true(st.ended);
	bool ok = well(plumb_session_finish(session, &result));
	look.format = "json";
	ok = ok && result.found_python && well(plumb_profile_write(plumb_session_profile(session), &look, s->sink));
	plumb_session_destroy(session);
	return ok;
}

static bool dump(struct scene *s)
{
	struct plumb_dump_options o = PLUMB_DUMP_OPTIONS_INIT;
	struct plumb_dump_look look = PLUMB_DUMP_LOOK_INIT;
	struct plumb_dump *d;

	o.locals = true;
	if (!well(plumb_dump_create(&o, &d)))
		return false;
	bool ok = well(plumb_dump_add(d, s->pid)) && well(plumb_dump_write(d, &look, s->sink));
	plumb_dump_destroy(d);
	return ok;
}

/* A failure need not be the end: a thread that cannot be watched now is found again later. */
static void count(struct scene *s, bool ok)
{
	s->whole += ok;
	s->failed += !ok;
	assert_true(ok || failing_happened());
	assert_int_equal(waitpid(s->pid, NULL, WNOHANG), 0);
}

static void run_session(void *ctx)
{
	count(ctx, sample(ctx));
}

static void run_dump(void *ctx)
{
	count(ctx, dump(ctx));
}

static void sessions_survive(void **state)
{
	struct scene *s = *state;

	failing_each(run_session, s, 100);
	assert_true(s->whole > 0 && s->failed > 20);
}

static void dumps_survive(void **state)
{
	struct scene *s = *state;

	failing_each(run_dump, s, 100);
	assert_true(s->whole > 0 && s->failed > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sessions_survive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dumps_survive, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
