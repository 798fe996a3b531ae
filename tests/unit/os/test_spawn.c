/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "proc_file.h"
#include "spawn.h"

static char dir[] = "/tmp/plumb-spawn-XXXXXX";

static int set_up(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	DIR *d = opendir(dir);
	for (const struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	return rmdir(dir);
}

static char *make_file(const char *name, const void *bytes, size_t len, mode_t mode)
{
	static char path[128];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

static char *make_text(const char *name, const char *text, mode_t mode)
{
	return make_file(name, text, strlen(text), mode);
}

static struct plumb_error *spawn(char *const argv[], pid_t *ret)
{
	struct plumb_signals now;
	pl_spawn_signals(&now);
	return pl_spawn(argv, &now, ret);
}

static int run(char *const argv[])
{
	pid_t pid = -1;
	int status = -1;
	assert_ok(spawn(argv, &pid));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void assert_fails(char *command, enum plumb_error_code code, const char *part)
{
	pid_t pid = -7;
	struct plumb_error *err = spawn((char *[]){command, NULL}, &pid);
	if (plumb_error_code(err) != code || !strstr(plumb_error_message(err), part))
		fail_msg("got %s: \"%s\", wanted \"%s\"", plumb_error_name(plumb_error_code(err)),
			 plumb_error_message(err), part);
	plumb_error_destroy(err);
	assert_int_equal(pid, -7);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left behind */
}

static void a_program_gets_its_arguments_and_returns_its_status(void **state)
{
	assert_int_equal(run((char *[]){"sh", "-c", "exit $#", "sh", "a", "b c", "", NULL}), 3);
	assert_int_equal(run((char *[]){"/bin/sh", "-c", "test \"$0\" = name || exit 9", "name", NULL}), 0);
}

static void what_is_not_there_is_not_found(void **state)
{
	assert_fails("plumb-no-such-command", PLUMB_ERR_NOT_FOUND, "no command 'plumb-no-such-command'");
	assert_fails("/nowhere/program", PLUMB_ERR_NOT_FOUND, "no file '/nowhere/program'");
	assert_fails("", PLUMB_ERR_NOT_FOUND, "no command ''");
	assert_fails("/dev/null/x", PLUMB_ERR_NOT_FOUND, "no file");
}

static void what_is_there_and_cannot_run_is_told_why(void **state)
{
	static const char junk[] = "\x7f"
				   "ELF\0\0\0\0\1\2\3";
	assert_fails("/tmp", PLUMB_ERR_NOT_EXECUTABLE, "'/tmp' is a directory");
	assert_fails(make_text("plain", "text\n", 0644), PLUMB_ERR_NOT_EXECUTABLE, "permission denied");
	assert_fails(make_file("junk", junk, sizeof junk, 0755), PLUMB_ERR_NOT_EXECUTABLE, "in no format");
}

static void a_missing_interpreter_is_named(void **state)
{
	assert_fails(make_text("script", "#! /no/such/python3 -u\n", 0755), PLUMB_ERR_NOT_FOUND, "/no/such/python3");
}

static void a_script_without_a_first_line_runs_in_the_shell(void **state)
{
	char *path = make_text("shell", "exit $(($# + 40))\n", 0755);
	assert_int_equal(run((char *[]){path, "a", "b", NULL}), 42);
	assert_int_equal(run((char *[]){make_text("nothing", "", 0755), NULL}), 0);
}

static void path_is_searched_like_a_shell_does(void **state)
{
	char *old = strdup(getenv("PATH")), path[512];
	char sub[64];
	snprintf(sub, sizeof sub, "%s/sub", dir);
	assert_int_equal(mkdir(sub, 0755), 0);
	make_text("tool", "not executable\n", 0644);
	make_text("sub/tool", "#!/bin/sh\nexit 5\n", 0755);
	snprintf(path, sizeof path, "/nowhere:%s:%s:/bin:/usr/bin", dir, sub);
	setenv("PATH", path, 1);
	assert_int_equal(run((char *[]){"tool", NULL}), 5); /* the one that may not run is passed over */
	snprintf(path, sizeof path, "%s:/nowhere", dir);
	setenv("PATH", path, 1);
	assert_fails("tool", PLUMB_ERR_NOT_EXECUTABLE, "permission denied");
	assert_fails("sub", PLUMB_ERR_NOT_EXECUTABLE, "is a directory");
	setenv("PATH", "", 1);
	assert_int_equal(run((char *[]){"true", NULL}), 0); /* the usual places */
	setenv("PATH", old, 1);
	snprintf(path, sizeof path, "%s/tool", sub);
	unlink(path);
	rmdir(sub);
	free(old);
}

static void on_signal(int signo)
{
}

static uint64_t bit(int signo)
{
	return 1ull << (signo - 1);
}

/* What the kernel knows of the signals of a program that was started with these. */
static void assert_begins(const struct plumb_signals *signals, uint64_t ignored, uint64_t blocked)
{
	char path[512], status[4096];
	pid_t pid;
	fake_path("fake_plain", path, sizeof path);
	assert_ok(pl_spawn((char *[]){path, NULL}, signals, &pid));
	assert_true(pl_proc_file(pid, "status", status, sizeof status) > 0);
	assert_int_equal(pl_proc_status_number(status, "SigBlk", 16, 99), blocked);
	assert_int_equal(pl_proc_status_number(status, "SigIgn", 16, 99), ignored);
	assert_int_equal(pl_proc_status_number(status, "SigCgt", 16, 99) & 0x7fffffff, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void forget_signals(void)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
}

static void signals_are_ignored_and_blocked_as_was_asked(void **state)
{
	struct plumb_signals now, other;
	sigset_t some, after;
	forget_signals();
	sigemptyset(&some);
	sigaddset(&some, SIGINT);
	sigaddset(&some, SIGUSR1);
	sigprocmask(SIG_BLOCK, &some, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGRTMAX, SIG_IGN);
	signal(SIGUSR2, on_signal);
	signal(SIGCHLD, on_signal);
	pl_spawn_signals(&now);
	assert_begins(&now, bit(SIGPIPE) | bit(SIGHUP) | bit(SIGRTMAX), bit(SIGINT) | bit(SIGUSR1));
	sigemptyset(&other.ignored);
	sigaddset(&other.ignored, SIGUSR2);
	sigaddset(&other.ignored, SIGCHLD);
	sigemptyset(&other.blocked);
	sigaddset(&other.blocked, SIGTERM);
	assert_begins(&other, bit(SIGUSR2) | bit(SIGCHLD), bit(SIGTERM));
	sigprocmask(SIG_SETMASK, NULL, &after); /* ours is what it was */
	assert_true(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGTERM));
	forget_signals();
}

static void descriptors_of_ours_do_not_leak(void **state)
{
	char path[512], link[64];
	pid_t pid;
	int own = open("/dev/null", O_RDONLY | O_CLOEXEC);
	fake_path("fake_plain", path, sizeof path);
	assert_ok(spawn((char *[]){path, NULL}, &pid));
	for (int fd = 3; fd < 64; fd++) {
		struct stat st;
		snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)pid, fd);
		int flags = fcntl(fd, F_GETFD);
		bool expected = flags >= 0 && !(flags & FD_CLOEXEC);
		/* An exec closes them one by one, and that which tells us of it need not be the last. */
		if (expected)
			assert_int_equal(lstat(link, &st), 0);
		else
			await (lstat(link, &st) != 0)
				continue;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(own);
}

static void without_a_command_there_is_nothing_to_run(void **state)
{
	pid_t pid;
	assert_code(spawn((char *[]){NULL}, &pid), PLUMB_ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_gets_its_arguments_and_returns_its_status),
		cmocka_unit_test(what_is_not_there_is_not_found),
		cmocka_unit_test(what_is_there_and_cannot_run_is_told_why),
		cmocka_unit_test(a_missing_interpreter_is_named),
		cmocka_unit_test(a_script_without_a_first_line_runs_in_the_shell),
		cmocka_unit_test(path_is_searched_like_a_shell_does),
		cmocka_unit_test(signals_are_ignored_and_blocked_as_was_asked),
		cmocka_unit_test(descriptors_of_ours_do_not_leak),
		cmocka_unit_test(without_a_command_there_is_nothing_to_run),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
