/* SPDX-License-Identifier: Apache-2.0 */
#include "stage.h"

#include "unit.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOUR_S 3600

static bool is_child; /* it waits as long as we want it to */

static void wait_on(time_t since_s, const char *what)
{
	if (!is_child && unit_now_s() - since_s > PATIENCE_S)
		fail_msg("waited in vain for %s", what);
}

void *stage_share(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

pid_t stage_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		is_child = true;
		alarm(HOUR_S);
	}
	return pid;
}

void stage_set(stage_word *w, uint32_t value)
{
	atomic_store(w, value);
	syscall(SYS_futex, w, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void stage_await(stage_word *w, uint32_t value)
{
	time_t start = unit_now_s();
	struct timespec second = {.tv_sec = 1};

	for (uint32_t v; (v = atomic_load(w)) < value;) {
		wait_on(start, "a word in shared memory");
		syscall(SYS_futex, w, FUTEX_WAIT, v, &second, NULL, 0);
	}
}

_Noreturn void stage_block(void)
{
	for (;;)
		pause();
}

void stage_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool task_file(pid_t pid, pid_t tid, const char *name, char *buf, size_t size)
{
	char path[80];

	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

char stage_state(pid_t pid, pid_t tid)
{
	char buf[1024];

	if (!task_file(pid, tid, "stat", buf, sizeof buf))
		return 0;
	const char *p = strrchr(buf, ')');
	return p && p[1] ? p[2] : 0;
}

void stage_await_state(pid_t pid, pid_t tid, const char *states)
{
	time_t start = unit_now_s();

	for (char c; (c = stage_state(pid, tid)) != states[0] && !(c && strchr(states, c));) {
		wait_on(start, "the state of a thread");
		sched_yield();
	}
}

int stage_tracer(pid_t pid, pid_t tid)
{
	char buf[4096];
	const char *p = task_file(pid, tid, "status", buf, sizeof buf) ? strstr(buf, "TracerPid:") : NULL;

	return p ? atoi(p + 10) : -1;
}

bool stage_ended(pid_t pid)
{
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	bool ended = p.fd < 0 || poll(&p, 1, PATIENCE_S * 1000) == 1;

	if (p.fd >= 0)
		close(p.fd);
	return ended;
}

void stage_await_count(const _Atomic uint64_t *count, uint64_t value)
{
	time_t start = unit_now_s();

	while (atomic_load(count) <= value) {
		wait_on(start, "a counter");
		sched_yield();
	}
}
