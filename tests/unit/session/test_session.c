/* SPDX-License-Identifier: Apache-2.0 */
/* Through the public header alone. */
#include "unit.h"

#include <fcntl.h>
#include <math.h>
#include <plumb/plumb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "first_python.h"

static char dir[64], path[96];

static int set_up(void **state)
{
	strcpy(dir, "/tmp/plumb-session-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof path, "%s/recording.plumb", dir);
	return 0;
}

static int tear_down(void **state)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	int pid;

	while (f && fscanf(f, "%d", &pid) == 1) { /* of a test that failed */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	if (f)
		fclose(f);
	unlink(path);
	return rmdir(dir); /* nothing else was left there */
}

/* What spins, for a time, or until SIGUSR1 comes; it then does what it was told. */
#define SPIN	    "def spin():\n    while True: pass\nspin()\n"
#define THEN(what)  "import os, signal, sys\nsignal.signal(signal.SIGUSR1, lambda *a: " what ")\n"
#define SPIN_FOR(s) "import time\nend = time.time() + " s "\ndef spin():\n    while time.time() < end: pass\nspin()\n"

static struct plumb_session_options options(void)
{
	struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;

	o.output = path;
	return o;
}

static struct plumb_session *launch(const struct plumb_session_options *o, const char *script)
{
	struct plumb_session *s;

	assert_ok(plumb_session_launch(o, (char *[]){python(), "-S", "-E", "-c", (char *)script, NULL}, &s));
	return s;
}

static struct plumb_status wait_end(struct plumb_session *s)
{
	struct plumb_status st;

	plumb_session_wait(s, PATIENCE_S * 1000, &st);
	assert_true(st.ended);
	return st;
}

/* Until there are samples. */
static struct plumb_status wait_samples(struct plumb_session *s)
{
	struct plumb_status st = {0};

	await (st.samples > 0) {
		plumb_session_wait(s, 1, &st);
		assert_false(st.ended);
	}
	return st;
}

/* What it does from some moment on; before that it starts, which may take long on a busy machine. */
static void wait_hottest(struct plumb_session *s, const char *function)
{
	struct plumb_status st = {.hottest = ""};

	await (strcmp(st.hottest, function) == 0) {
		plumb_session_wait(s, 20, &st);
		assert_false(st.ended);
	}
}

static bool exists(const char *file)
{
	return access(file, F_OK) == 0;
}

static void assert_recording(bool with_spin)
{
	struct plumb_recording_info info;
	struct plumb_profile *p;
	struct plumb_report_options o = PLUMB_REPORT_OPTIONS_INIT;
	char text[16384];
	int fds[2];

	assert_ok(plumb_profile_open(path, &info, &p));
	assert_true(info.complete && info.ignored_bytes == 0 && info.damaged_chunks == 0);
	assert_int_equal(pipe(fds), 0);
	o.format = "collapsed";
	assert_ok(plumb_profile_write(p, &o, fds[1]));
	close(fds[1]);
	ssize_t n = read(fds[0], text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fds[0]);
	if (with_spin)
		assert_non_null(strstr(text, "spin"));
	plumb_profile_destroy(p);
}

static pid_t start(char *const argv[], int *out_fd)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], 1);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	*out_fd = fds[0];
	return pid;
}

static void end(pid_t pid, int out_fd)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(out_fd);
}

/* A stop that the sampling thread has asked for and not waited for is told, whatever is asked, until that thread, which
 * has been joined, has gone for the kernel, too: then it is over. */
static void assert_runs(pid_t pid)
{
	siginfo_t info;

	do {
		info = (siginfo_t){0};
		assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	} while (info.si_pid && info.si_code == CLD_TRAPPED);
	assert_int_equal(info.si_pid, 0);
}

/* Runs when this returns. */
static pid_t start_spinning(int *out_fd)
{
	char byte;
	pid_t pid = start((char *[]){python(), "-S", "-E", "-c", "import os\nos.write(1, b'x')\n" SPIN, NULL}, out_fd);

	assert_int_equal(read(*out_fd, &byte, 1), 1);
	return pid;
}

static void a_program_is_sampled_until_its_end_and_its_status_is_told(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s = launch(&o, THEN("os._exit(7)") SPIN);
	struct plumb_result r;
	wait_hottest(s, "spin");
	plumb_session_signal(s, SIGUSR1);
	wait_end(s);
	assert_ok(plumb_session_finish(s, &r));
	assert_true(r.launched && r.target_ended && r.found_python);
	assert_true(WIFEXITED(r.wait_status) && WEXITSTATUS(r.wait_status) == 7);
	assert_string_equal(r.recording, path);
	assert_int_equal(plumb_session_reap(s), r.wait_status);
	assert_int_equal(waitpid(r.pid, NULL, WNOHANG), -1);
	assert_non_null(plumb_session_profile(s));
	plumb_session_destroy(s);
	assert_recording(true);
}

/* It has all our descriptors for as long as it lives. */
static void a_child_of_a_fork_makes_no_end_come_twice(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s = launch(&o, THEN("os._exit(7)") SPIN);
	struct plumb_result r;

	wait_hottest(s, "spin");
	pid_t child = fork();
	if (child == 0)
		for (;;)
			pause();
	plumb_session_signal(s, SIGUSR1);
	wait_end(s);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_ok(plumb_session_finish(s, &r));
	assert_true(WIFEXITED(r.wait_status) && WEXITSTATUS(r.wait_status) == 7);
	plumb_session_destroy(s);
	assert_recording(true);
}

static void a_program_that_dies_by_a_signal_is_told_so(void **state)
{
	static const int signals[] = {SIGTERM, SIGKILL};
	for (size_t i = 0; i < 2; i++) {
		struct plumb_session_options o = options();
		struct plumb_session *s = launch(&o, SPIN);
		struct plumb_result r;
		wait_samples(s);
		plumb_session_signal(s, signals[i]);
		wait_end(s);
		assert_ok(plumb_session_finish(s, &r));
		assert_true(r.target_ended && WIFSIGNALED(r.wait_status) && WTERMSIG(r.wait_status) == signals[i]);
		plumb_session_signal(s, SIGKILL); /* too late: nothing happens */
		plumb_session_destroy(s);
	}
}

static void stopping_ends_the_sampling_and_not_the_program(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s = launch(&o, SPIN);
	struct plumb_result r;
	wait_samples(s);
	wait_hottest(s, "spin");
	plumb_session_stop(s);
	wait_end(s);
	assert_ok(plumb_session_finish(s, &r));
	assert_true(!r.target_ended && r.found_python);
	assert_runs(r.pid);
	plumb_session_signal(s, SIGTERM);
	int status = plumb_session_reap(s);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	plumb_session_destroy(s);
	assert_recording(true);
}

static void a_duration_ends_the_sampling(void **state)
{
	struct plumb_session_options o = options();
	o.duration_ns = 300000000;
	struct plumb_session *s = launch(&o, SPIN);
	struct plumb_status st = wait_end(s);
	struct plumb_result r;
	assert_true(st.elapsed_ns >= 300000000);
	assert_ok(plumb_session_finish(s, &r));
	assert_false(r.target_ended);
	plumb_session_signal(s, SIGKILL);
	assert_true(WIFSIGNALED(plumb_session_reap(s)));
	plumb_session_destroy(s);
}

static void finish_ends_what_was_not_stopped(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s = launch(&o, SPIN);
	struct plumb_result r;
	wait_samples(s);
	wait_hottest(s, "spin");
	assert_ok(plumb_session_finish(s, &r));
	assert_false(r.target_ended);
	plumb_session_signal(s, SIGKILL);
	(void)plumb_session_reap(s);
	plumb_session_destroy(s);
	assert_recording(true);
}

static void the_numbers_of_a_status_belong_together(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s = launch(&o, SPIN);
	struct plumb_result r;
	struct plumb_status st = wait_samples(s);
	assert_true(st.found_python && st.threads == 1 && st.elapsed_ns > 0);
	assert_ok(plumb_session_finish(s, &r));
	plumb_session_signal(s, SIGKILL);
	(void)plumb_session_reap(s);
	plumb_session_destroy(s);
}

static void a_session_may_be_dropped_without_finish(void **state)
{
	int out;
	pid_t pid = start_spinning(&out);
	struct plumb_session_options o = options();
	struct plumb_session *s;
	assert_ok(plumb_session_attach(&o, pid, &s));
	plumb_session_destroy(s);
	assert_runs(pid);
	plumb_session_destroy(NULL);
	end(pid, out);
}

static void a_running_program_is_attached_to_and_left_alone_again(void **state)
{
	static const enum plumb_stop stops[] = {PLUMB_STOP_AUTO, PLUMB_STOP_NEVER, PLUMB_STOP_ALWAYS};
	static const enum plumb_mode modes[] = {PLUMB_MODE_WALL, PLUMB_MODE_CPU, PLUMB_MODE_GIL};
	int out;
	pid_t pid = start_spinning(&out);
	for (size_t i = 0; i < 9; i++) {
		struct plumb_session_options o = options();
		struct plumb_session *s;
		struct plumb_result r;
		struct plumb_status st;
		o.stop = stops[i % 3];
		o.mode = modes[i / 3];
		assert_ok(plumb_session_attach(&o, pid, &s));
		wait_hottest(s, "spin");
		plumb_session_stop(s);
		plumb_session_wait(s, -1, &st);
		assert_true(st.ended);
		assert_ok(plumb_session_finish(s, &r));
		assert_true(!r.launched && !r.target_ended && r.pid == pid);
		plumb_session_destroy(s);
		assert_recording(true);
		assert_runs(pid);
	}
	end(pid, out);
}

static void the_end_of_an_attached_program_ends_the_session(void **state)
{
	int out;
	pid_t pid = start_spinning(&out);
	struct plumb_session_options o = options();
	struct plumb_session *s;
	struct plumb_result r;
	int status;
	assert_ok(plumb_session_attach(&o, pid, &s));
	wait_hottest(s, "spin");
	kill(pid, SIGTERM);
	wait_end(s);
	assert_ok(plumb_session_finish(s, &r));
	assert_true(r.target_ended && !r.launched);
	assert_int_equal(waitpid(pid, &status, 0), pid); /* its status is its parent's, not the session's */
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	plumb_session_destroy(s);
	assert_recording(true);
	close(out);
}

static void a_disk_that_fills_up_is_told_and_the_profile_is_there_all_the_same(void **state)
{
	struct rlimit before, little;
	struct plumb_session_options o = options();
	struct plumb_session *s = launch(&o, SPIN);
	struct plumb_result r;
	struct plumb_report_options ro = PLUMB_REPORT_OPTIONS_INIT;
	wait_samples(s);
	/* The next chunk does not fit any more. */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	little = before;
	little.rlim_cur = 40;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	plumb_session_stop(s);
	wait_end(s);
	struct plumb_error *err = plumb_session_finish(s, &r);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	assert_non_null(strstr(plumb_error_message(err), path));
	assert_code(err, PLUMB_ERR_WRITE_FAILED);
	assert_true(r.found_python);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_ok(plumb_profile_write(plumb_session_profile(s), &ro, null));
	close(null);
	plumb_session_signal(s, SIGKILL);
	(void)plumb_session_reap(s);
	plumb_session_destroy(s);
}

static void a_disk_that_is_full_is_told_at_once(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s;
	o.output = "/dev/full";
	assert_code(plumb_session_launch(&o, (char *[]){python(), "-S", "-E", "-c", SPIN, NULL}, &s),
		    PLUMB_ERR_WRITE_FAILED);
	assert_true(exists("/dev/full"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* what was started is not left behind */
}

static void an_output_that_cannot_be_made_is_told_and_nothing_runs_on(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s;
	o.output = "/no/such/folder/x.plumb";
	assert_code(plumb_session_launch(&o, (char *[]){python(), "-S", "-E", "-c", SPIN, NULL}, &s),
		    PLUMB_ERR_WRITE_FAILED);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* what was started is not left behind */
}

static void a_program_that_is_not_python_leaves_no_recording(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s;
	struct plumb_result r;
	assert_ok(plumb_session_launch(&o, (char *[]){"sh", "-c", "read x; exit 3", NULL}, &s));
	struct plumb_status st;
	plumb_session_wait(s, 100, &st);
	plumb_session_signal(s, SIGTERM);
	wait_end(s);
	struct plumb_error *err = plumb_session_finish(s, &r);
	assert_true(r.target_ended && !r.found_python);
	assert_false(exists(path));
	if (err)
		assert_code(err, PLUMB_ERR_NOT_PYTHON);
	plumb_session_destroy(s);
}

static void what_is_no_file_of_ours_is_not_removed(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s;
	struct plumb_result r;
	struct stat st;
	assert_int_equal(mkfifo(path, 0600), 0);
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_ok(plumb_session_launch(&o, (char *[]){"true", NULL}, &s));
	wait_end(s);
	plumb_error_destroy(plumb_session_finish(s, &r));
	assert_false(r.found_python);
	plumb_session_destroy(s);
	assert_int_equal(lstat(path, &st), 0); /* as root it could be /dev/null */
	close(fd);
}

static void attaching_to_what_is_not_python_says_what_it_is(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s;
	int out;
	pid_t pid = start((char *[]){"/bin/sh", "-c", "echo x; read y </dev/zero", NULL}, &out);
	char byte;
	assert_int_equal(read(out, &byte, 1), 1);
	struct plumb_error *err = plumb_session_attach(&o, pid, &s);
	assert_non_null(strstr(plumb_error_message(err), "sh"));
	assert_code(err, PLUMB_ERR_NOT_PYTHON);
	assert_false(exists(path));
	end(pid, out);
	assert_code(plumb_session_attach(&o, pid, &s), PLUMB_ERR_NO_PROCESS);
	assert_code(plumb_session_attach(&o, -1, &s), PLUMB_ERR_NO_PROCESS);
	assert_code(plumb_session_attach(&o, 0, &s), PLUMB_ERR_NO_PROCESS);
}

static void what_cannot_be_started_is_told(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s;
	assert_code(plumb_session_launch(&o, (char *[]){"plumb-no-such-command", NULL}, &s), PLUMB_ERR_NOT_FOUND);
	assert_code(plumb_session_launch(&o, (char *[]){"/tmp", NULL}, &s), PLUMB_ERR_NOT_EXECUTABLE);
	assert_code(plumb_session_launch(&o, (char *[]){NULL}, &s), PLUMB_ERR_INVALID);
	assert_false(exists(path));
}

static void keep_refused(void *ctx, int pid, const struct plumb_error *why)
{
	int *pids = ctx;

	assert_int_not_equal(plumb_error_code(why), 0);
	*(pids[0] ? &pids[1] : &pids[0]) = pid;
}

/* This process is no Python, and there is none with the number 0 or -1. */
static void who_cannot_be_sampled_is_told_but_for_the_last(void **state)
{
	static const int whom[] = {-1, 0, 0, -1};
	struct plumb_session_options o = options();
	struct plumb_session *s;
	int refused[3] = {0}, own[] = {-1, getpid()};

	o.refused = keep_refused;
	o.refused_ctx = refused;
	assert_code(plumb_session_attach_all(&o, own, 2, &s), PLUMB_ERR_NOT_PYTHON);
	assert_int_equal(refused[0], -1);
	assert_int_equal(refused[1], 0);
	refused[0] = 0;
	assert_code(plumb_session_attach_all(&o, whom, 4, &s), PLUMB_ERR_NO_PROCESS);
	assert_int_equal(refused[0], -1);
	assert_int_equal(refused[1], 0);
	o.refused = NULL;
	assert_code(plumb_session_attach_all(&o, whom, 4, &s), PLUMB_ERR_NO_PROCESS);
	assert_false(exists(path));
}

static void nobody_and_tags_of_several_are_refused(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s;
	int whom[] = {getpid(), getppid()};

	assert_code(plumb_session_attach_all(&o, whom, 0, &s), PLUMB_ERR_INVALID);
	o.tags_at = 4096;
	assert_code(plumb_session_attach_all(&o, whom, 2, &s), PLUMB_ERR_INVALID);
}

static void rates_out_of_range_are_refused(void **state)
{
	static const double bad[] = {-1, 0.001, 1000001, INFINITY, -INFINITY, NAN};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct plumb_session_options o = options();
		struct plumb_session *s;
		o.rate_hz = bad[i];
		assert_code(plumb_session_launch(&o, (char *[]){"true", NULL}, &s), PLUMB_ERR_INVALID);
		assert_code(plumb_session_attach(&o, getpid(), &s), PLUMB_ERR_INVALID);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void as_fast_as_possible_and_very_slowly_work(void **state)
{
	int out;
	pid_t pid = start_spinning(&out);
	struct plumb_session_options o = options();
	struct plumb_session *s;
	struct plumb_result r;
	o.rate_hz = 0;
	assert_ok(plumb_session_attach(&o, pid, &s));
	wait_hottest(s, "spin");
	assert_ok(plumb_session_finish(s, &r));
	plumb_session_destroy(s);
	assert_recording(true);
	o.rate_hz = 0.01;
	o.no_jitter = true;
	assert_ok(plumb_session_attach(&o, pid, &s));
	assert_ok(plumb_session_finish(s, &r)); /* does not wait for the next sample, 50 s from now */
	struct plumb_status st;
	plumb_session_wait(s, 0, &st);
	assert_true(st.ended && st.ticks == 0);
	plumb_session_destroy(s);
	end(pid, out);
}

static int lowest_free_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void no_descriptor_and_no_child_is_left_behind(void **state)
{
	int before = lowest_free_descriptor();
	for (int i = 0; i < 5; i++) {
		struct plumb_session_options o = options();
		struct plumb_session *s;
		struct plumb_result r;
		if (i % 2 == 0) {
			s = launch(&o, "import threading\n" SPIN_FOR("0.2"));
		} else {
			assert_ok(plumb_session_launch(&o, (char *[]){"true", NULL}, &s));
		}
		wait_end(s);
		plumb_error_destroy(plumb_session_finish(s, &r));
		plumb_session_destroy(s);
	}
	await (lowest_free_descriptor() == before) /* who reads source files may be on its way out */
		continue;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Executes its argument, in the middle of other things. */
#define BECOME                                                                                                         \
	THEN("os.execv(sys.executable, ['python', '-S', '-E', '-c', sys.argv[1]])")                                    \
	"import threading\n"                                                                                           \
	"def churn():\n    while True: [f() for f in [lambda: 1] * 3]\n"                                               \
	"t = threading.Thread(target=churn)\nt.daemon = True\nt.start()\n"                                             \
	"def before():\n    while True: pass\nbefore()\n"

static void a_program_that_becomes_another_is_sampled_on(void **state)
{
	struct plumb_session_options o = options();
	for (int i = 0; i < 5; i++) {
		struct plumb_session *s;
		struct plumb_result r;
		char *argv[] = {python(), "-S", "-E", "-c", BECOME, THEN("os._exit(0)") SPIN, NULL};
		assert_ok(plumb_session_launch(&o, argv, &s));
		wait_hottest(s, "before");
		plumb_session_signal(s, SIGUSR1);
		wait_hottest(s, "spin");
		plumb_session_signal(s, SIGUSR1);
		wait_end(s);
		assert_ok(plumb_session_finish(s, &r));
		if (!r.target_ended || r.wait_status)
			print_message("ended %d, status %#x\n", r.target_ended, (unsigned)r.wait_status);
		assert_true(r.target_ended && r.wait_status == 0);
		plumb_session_destroy(s);
		assert_recording(true);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_program_is_sampled_until_its_end_and_its_status_is_told),
		T(a_child_of_a_fork_makes_no_end_come_twice),
		T(a_program_that_dies_by_a_signal_is_told_so),
		T(stopping_ends_the_sampling_and_not_the_program),
		T(a_duration_ends_the_sampling),
		T(finish_ends_what_was_not_stopped),
		T(the_numbers_of_a_status_belong_together),
		T(a_session_may_be_dropped_without_finish),
		T(a_running_program_is_attached_to_and_left_alone_again),
		T(the_end_of_an_attached_program_ends_the_session),
		T(a_disk_that_fills_up_is_told_and_the_profile_is_there_all_the_same),
		T(a_disk_that_is_full_is_told_at_once),
		T(an_output_that_cannot_be_made_is_told_and_nothing_runs_on),
		T(a_program_that_is_not_python_leaves_no_recording),
		T(what_is_no_file_of_ours_is_not_removed),
		T(attaching_to_what_is_not_python_says_what_it_is),
		T(what_cannot_be_started_is_told),
		T(who_cannot_be_sampled_is_told_but_for_the_last),
		T(nobody_and_tags_of_several_are_refused),
		T(rates_out_of_range_are_refused),
		T(as_fast_as_possible_and_very_slowly_work),
		T(no_descriptor_and_no_child_is_left_behind),
		T(a_program_that_becomes_another_is_sampled_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
