/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"

#define NOBODY 65534

const char *fake_path(const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s", FAKE_DIR, name);
	return buf;
}

static void read_text(int fd, char *buf, size_t size)
{
	size_t len = 0;
	for (ssize_t n; len + 1 < size && (n = read(fd, buf + len, size - 1 - len)) > 0;)
		len += (size_t)n;
	buf[len] = '\0';
}

struct fake fake_start(const char *path, char *const argv[])
{
	int fds[2];
	char text[128], fd_text[16], *const alone[] = {(char *)path, NULL};
	struct fake f = {0};
	assert_int_equal(pipe(fds), 0);
	f.pid = fork();
	assert_true(f.pid >= 0);
	if (f.pid == 0) {
		close(fds[0]);
		snprintf(fd_text, sizeof fd_text, "%d", fds[1]);
		setenv("READY_FD", fd_text, 1);
		execv(path, argv ? argv : alone);
		_exit(127);
	}
	close(fds[1]);
	read_text(fds[0], text, sizeof text);
	close(fds[0]);
	if (sscanf(text, "%lx %lx %lx", &f.runtime, &f.code_type, &f.version) != 3)
		fail_msg("%s did not start", path);
	return f;
}

void fake_end(struct fake *f)
{
	kill(f->pid, SIGKILL);
	assert_int_equal(waitpid(f->pid, NULL, 0), f->pid);
}

static void become_nobody(void)
{
	if (geteuid() != 0)
		return;
	if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1); /* as after an exec */
}

void run_unprivileged(void (*work)(int out, const void *arg), const void *arg, char *buf, size_t size)
{
	int fds[2], status;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[0]);
		become_nobody();
		work(fds[1], arg);
		_exit(0);
	}
	close(fds[1]);
	read_text(fds[0], buf, size);
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
