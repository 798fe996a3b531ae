/* SPDX-License-Identifier: Apache-2.0 */
/* What <plumb/...> offers, on a real interpreter, with its first allocation failing, then its second, ... whichever
 * thread makes it; and with all failing from the first on, from the second, ... Nothing crashes, leaks (the sanitizer
 * build looks) or hangs; what cannot go on says that there is no memory, and the interpreter runs on. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <plumb/doctor.h>
#include <plumb/dump.h>
#include <plumb/plumb.h>
#include <plumb/processes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing.h"
#include "first_python.h"

#define SAMPLED_NS 5000000

struct scene {
	char dir[64], path[96];
	pid_t pid;
	int sink;
	unsigned long whole, failed; /* runs */
};

/* Threads that wait, one that works for a third of its time (all of it would be half of what the test costs), a task
 * that sleeps, and variables of several types. */
static const char script[] = "import sys, threading, time\n"
			     "class Point:\n"
			     "    def __init__(self): self.x, self.name = 1, 'two'\n"
			     "def wait(lock, items, point): lock.acquire()\n"
			     "def inner(n): return sum(range(n))\n"
			     "def work():\n"
			     "    while True:\n"
			     "        for i in range(200): inner(50)\n"
			     "        time.sleep(0.0005)\n"
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

/* True if all went well; anything but a want of memory fails the test, whether we say so or the kernel's words do. What
 * was not built needs none. */
static bool well(struct plumb_error *err)
{
	if (err && plumb_error_code(err) == PLUMB_ERR_NOT_BUILT) {
		plumb_error_destroy(err);
		return true;
	}
	if (err && plumb_error_code(err) != PLUMB_ERR_NO_MEMORY && !strstr(plumb_error_message(err), strerror(ENOMEM)))
		fail_msg("%s", plumb_error_message(err));
	plumb_error_destroy(err);
	return !err;
}

static struct plumb_session_options session_options(const struct scene *s)
{
	struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;

	o.output = s->path;
	o.rate_hz = 0;
	o.duration_ns = SAMPLED_NS;
	o.subprocesses = PLUMB_SUBPROCESSES_YES;
	return o;
}

static bool finish(struct scene *s, struct plumb_session *session, struct plumb_result *ret)
{
	struct plumb_report_options look = PLUMB_REPORT_OPTIONS_INIT;
	struct plumb_status st;

	plumb_session_wait(session, PATIENCE_S * 1000, &st);
	assert_true(st.ended);
	look.format = "json";
	struct plumb_error *err = plumb_session_finish(session, ret);
	return well(err) &&
	       (!ret->found_python || well(plumb_profile_write(plumb_session_profile(session), &look, s->sink)));
}

static bool sample(struct scene *s)
{
	struct plumb_session_options o = session_options(s);
	struct plumb_session *session;
	struct plumb_result result;

	if (!well(plumb_session_attach(&o, s->pid, &session)))
		return false;
	bool ok = finish(s, session, &result);
	ok = ok && result.found_python;
	plumb_session_destroy(session);
	return ok;
}

static struct plumb_error *see(void *ctx, const struct plumb_tree_node *node)
{
	return NULL;
}

static bool view(const struct plumb_profile *p)
{
	struct plumb_report_options o = PLUMB_REPORT_OPTIONS_INIT;
	struct plumb_view_totals totals = {.size = sizeof totals};
	struct plumb_view *v;
	size_t count;
	const char *sentence;

	if (!well(plumb_view_open(p, &o, &v)))
		return false;
	bool ok = well(plumb_view_functions(v, &count));
	ok = well(plumb_view_tree(v, PLUMB_VIEW_TREE_OWN, 0, &count)) && ok;
	ok = well(plumb_view_threads(v, &count)) && ok;
	ok = well(plumb_view_processes(v, &count)) && ok;
	ok = well(plumb_view_labels(v, &count)) && ok;
	ok = well(plumb_view_reasons(v, &count)) && ok;
	ok = well(plumb_view_totals(v, &totals)) && ok;
	ok = well(plumb_view_sentence(v, true, &sentence)) && ok;
	plumb_view_close(v);
	return ok;
}

/* What was asked for, if @p err does not say that there was no memory for it; NULL afterwards. */
static bool look_at(struct plumb_error *err, struct plumb_profile **p)
{
	if (!well(err))
		return false;
	bool ok = !*p || (well(plumb_profile_walk(*p, see, NULL)) && view(*p));
	plumb_profile_destroy(*p);
	*p = NULL;
	return ok;
}

/* Nothing is written: what was counted is asked for while it is. */
static bool ask(struct plumb_session *session)
{
	struct plumb_profile *p = NULL;
	uint64_t end_ns, from_ns = 0, to_ns = UINT64_MAX;
	bool ok = look_at(plumb_session_snapshot(session, &p), &p);

	ok = look_at(plumb_session_recent(session, &p), &p) && ok;
	ok = look_at(plumb_session_last(session, SAMPLED_NS, &p), &p) && ok;
	ok = look_at(plumb_session_between(session, &from_ns, &to_ns, &p), &p) && ok;
	plumb_session_pause(session);
	ok = well(plumb_session_set_rate(session, 2000)) && ok;
	plumb_session_reset(session);
	plumb_session_resume(session);
	return look_at(plumb_session_cycle(session, &end_ns, &p), &p) && ok;
}

static bool sample_unwritten(struct scene *s)
{
	struct plumb_session_options o = session_options(s);
	struct plumb_session *session;
	struct plumb_result result;
	struct plumb_profile *p = NULL;
	int hidden = 1;

	o.no_recording = true;
	o.cycle_ns = SAMPLED_NS / 3;
	o.hidden = &hidden;
	o.hidden_count = 1;
	o.max_nodes = 100;
	if (!well(plumb_session_attach(&o, s->pid, &session)))
		return false;
	bool ok = ask(session);
	ok = finish(s, session, &result) && ok && result.found_python;
	ok = look_at(plumb_session_snapshot(session, &p), &p) && ok;
	ok = well(plumb_profile_save_as(plumb_session_profile(session), s->path, true)) && ok;
	plumb_session_destroy(session);
	return ok;
}

/* The program ends by itself, however little of it could be sampled; on a busy machine it may do so before it is seen.
 */
static bool launch(struct scene *s)
{
	char *argv[] = {(char *)python(),
			(char *)"-S",
			(char *)"-E",
			(char *)"-c",
			(char *)"import time; time.sleep(0.04)",
			NULL};
	struct plumb_session_options o = session_options(s);
	struct plumb_session *session;
	struct plumb_result result;

	o.duration_ns = 0;
	if (!well(plumb_session_launch(&o, argv, &session)))
		return false;
	bool ok = finish(s, session, &result);
	assert_int_equal(plumb_session_reap(session), 0);
	plumb_session_destroy(session);
	return ok;
}

/* The threads of a dump, of which one was asked for. */
static bool look_at_thread(struct scene *s)
{
	const uint64_t tid = (uint64_t)s->pid;
	const char *const main_thread = "MainThread";
	struct plumb_dump_options o = PLUMB_DUMP_OPTIONS_INIT;
	struct plumb_dump_thread t = {.size = sizeof t};
	struct plumb_dump *d;
	size_t count;

	o.stop = PLUMB_STOP_NEVER;
	o.no_source = true;
	o.threads = &tid;
	o.thread_count = 1;
	o.thread_words = &main_thread;
	o.thread_word_count = 1;
	if (!well(plumb_dump_create(&o, &d)))
		return false;
	bool ok = well(plumb_dump_add(d, s->pid)) && well(plumb_dump_threads(d, &count));
	assert_true(!ok || failing_happened() ||
		    (count == 1 && plumb_dump_thread_at(d, 0, &t) && t.tid == tid && t.pid == s->pid && *t.doing &&
		     !plumb_dump_thread_at(d, 1, &t)));
	plumb_dump_destroy(d);
	return ok;
}

static bool dump(struct scene *s, bool native)
{
	struct plumb_dump_options o = PLUMB_DUMP_OPTIONS_INIT;
	struct plumb_dump_look text = PLUMB_DUMP_LOOK_INIT, json = PLUMB_DUMP_LOOK_INIT;
	struct plumb_dump *d;

	o.locals = true;
	o.native = native;
	json.json = true;
	if (!well(plumb_dump_create(&o, &d)))
		return false;
	bool ok = well(plumb_dump_add(d, s->pid)) && well(plumb_dump_write(d, &text, s->sink)) &&
		  well(plumb_dump_write(d, &json, s->sink));
	plumb_dump_destroy(d);
	return ok;
}

/* The recording is that of the last session. */
static bool report(struct scene *s)
{
	struct plumb_report_options look = PLUMB_REPORT_OPTIONS_INIT;
	struct plumb_profile *p;
	struct plumb_format f;

	if (!well(plumb_profile_open(s->path, NULL, &p)))
		return false;
	bool ok = true;
	for (size_t i = 0; ok && plumb_format_at(i, &f); i++) {
		look.format = f.name;
		ok = well(plumb_profile_write(p, &look, s->sink));
	}
	plumb_profile_destroy(p);
	return ok;
}

static bool examine(struct scene *s)
{
	struct plumb_doctor *d;
	struct plumb_processes *found, *all;
	size_t refused;
	bool ok = well(plumb_doctor_examine(s->pid, &d));

	if (ok) {
		assert_true(plumb_doctor_works(d) || failing_happened());
		plumb_doctor_destroy(d);
	}
	if (!well(plumb_processes_find("no-such-name", &found)))
		return false;
	plumb_processes_destroy(found);
	if (!well(plumb_processes_pythons(&all, &refused)))
		return false;
	plumb_processes_destroy(all);
	return ok;
}

/* A failure need not be the end: a thread that cannot be sampled now is found again later. */
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

static void run_unwritten(void *ctx)
{
	count(ctx, sample_unwritten(ctx));
}

static void run_launch(void *ctx)
{
	count(ctx, launch(ctx));
}

static void run_dump(void *ctx)
{
	count(ctx, dump(ctx, false));
}

static void run_native_dump(void *ctx)
{
	count(ctx, dump(ctx, true));
}

static void run_look_at_thread(void *ctx)
{
	count(ctx, look_at_thread(ctx));
}

static void run_report(void *ctx)
{
	count(ctx, report(ctx));
}

static void run_examine(void *ctx)
{
	count(ctx, examine(ctx));
}

static void survives(struct scene *s, void (*scenario)(void *), long step)
{
	s->whole = s->failed = 0;
	failing_some(scenario, s, step, FAILING_ONE);
	assert_true(s->whole > 0 && s->failed > 0);
	failing_some(scenario, s, step, FAILING_ALL_AFTER);
}

static void sessions_survive(void **state)
{
	struct scene *s = *state;

	failing_each(run_session, s, 100);
	assert_true(s->whole > 0 && s->failed > 20);
	failing_some(run_session, s, 9, FAILING_ALL_AFTER);
}

static void sessions_without_a_recording_survive(void **state)
{
	survives(*state, run_unwritten, 5);
}

static void launches_survive(void **state)
{
	survives(*state, run_launch, 9);
}

static void dumps_survive(void **state)
{
	struct scene *s = *state;

	failing_each(run_dump, s, 100);
	assert_true(s->whole > 0 && s->failed > 20);
	failing_some(run_dump, s, 5, FAILING_ALL_AFTER);
}

/* Each reads megabytes of debug information anew; each allocation of that fails in tests/unit/os/test_dwarf.c. */
static void native_dumps_survive(void **state)
{
	struct scene *s = *state;

	s->whole = s->failed = 0;
	failing_some(run_native_dump, s, 7, FAILING_ONE);
	assert_true(s->whole > 0 && s->failed > 0);
	failing_some(run_native_dump, s, 29, FAILING_ALL_AFTER);
}

static void looks_at_one_thread_survive(void **state)
{
	survives(*state, run_look_at_thread, 9);
}

static void reports_survive(void **state)
{
	assert_true(sample(*state));
	survives(*state, run_report, 3);
}

static void examinations_survive(void **state)
{
	survives(*state, run_examine, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sessions_survive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sessions_without_a_recording_survive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(launches_survive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dumps_survive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(native_dumps_survive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(looks_at_one_thread_survive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reports_survive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(examinations_survive, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
