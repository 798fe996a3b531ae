/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/task/TID/schedstat and .../syscall, kept open and re-read with pread. Layer os; one thread at a time.
 * Does not interpret system calls; does not stop anything. */
#include "thread_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"

static int open_task_file(pid_t pid, pid_t tid, const char *name)
{
	char path[80];

	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	return PL_OWN_FD(open(path, O_RDONLY | O_CLOEXEC));
}

void pl_thread_clock_open(struct pl_thread_clock *c, pid_t pid, pid_t tid)
{
	c->noted = NULL;
	c->schedstat_fd = open_task_file(pid, tid, "schedstat");
	c->syscall_fd = open_task_file(pid, tid, "syscall");
	c->schedstat = pl_file_id(c->schedstat_fd);
	c->syscall = pl_file_id(c->syscall_fd);
}

void pl_thread_clock_of_core(struct pl_thread_clock *c, const struct pl_core_thread *noted)
{
	*c = (struct pl_thread_clock){.schedstat_fd = -1, .syscall_fd = -1, .noted = noted};
}

void pl_thread_clock_close(struct pl_thread_clock *c)
{
	pl_own_fd_close_as(c->schedstat_fd, &c->schedstat);
	pl_own_fd_close_as(c->syscall_fd, &c->syscall);
	c->schedstat_fd = c->syscall_fd = -1;
}

static ssize_t reread(int fd, char *buf, size_t size)
{
	ssize_t n = pread(fd, buf, size - 1, 0);

	if (n >= 0)
		buf[n] = '\0';
	return n;
}

enum pl_clock_result pl_thread_clock_counters(const struct pl_thread_clock *c, struct pl_run_counters *ret)
{
	char buf[80], *p = buf, *end;

	if (c->schedstat_fd < 0)
		return PL_CLOCK_UNKNOWN;
	ssize_t n = reread(c->schedstat_fd, buf, sizeof buf);
	if (n < 0)
		return errno == ESRCH ? PL_CLOCK_GONE : PL_CLOCK_UNKNOWN;
	/* "run_ns delay_ns runs\n"; a kernel without scheduler statistics prints "0 0 0" */
	uint64_t run_ns = strtoull(p, &end, 10);
	p = end;
	uint64_t delay_ns = strtoull(p, &end, 10);
	p = end;
	uint64_t runs = strtoull(p, &end, 10);
	if (end == p || runs == 0)
		return PL_CLOCK_UNKNOWN;
	*ret = (struct pl_run_counters){.run_ns = run_ns, .runs = runs, .delay_ns = delay_ns};
	return PL_CLOCK_OK;
}

/* "running" | "-1 0xSP 0xPC" | "NR 0xA0 ... 0xA5 0xSP 0xPC" */
static enum pl_activity parse_activity(const char *buf, struct pl_activity_info *ret)
{
	char *end;

	if (buf[0] == 'r')
		return PL_ACTIVITY_RUNNING;
	long nr = strtol(buf, &end, 10);
	if (end == buf)
		return PL_ACTIVITY_UNKNOWN;
	if (!ret)
		return PL_ACTIVITY_BLOCKED;
	memset(ret, 0, sizeof *ret);
	ret->syscall = nr >= 0 && nr < 100000 ? (int)nr : -1;
	for (int i = 0; ret->syscall >= 0 && i < 6; i++)
		ret->args[i] = strtoull(end, &end, 16);
	ret->sp = strtoull(end, &end, 16);
	ret->pc = strtoull(end, &end, 16);
	return PL_ACTIVITY_BLOCKED;
}

static enum pl_activity noted_activity(const struct pl_core_thread *noted, struct pl_activity_info *ret)
{
	if (!noted->in_call)
		return PL_ACTIVITY_RUNNING;
	if (ret)
		*ret = noted->call;
	return PL_ACTIVITY_BLOCKED;
}

enum pl_activity pl_thread_clock_activity(const struct pl_thread_clock *c, struct pl_activity_info *ret)
{
	char buf[256];

	if (c->noted)
		return noted_activity(c->noted, ret);
	if (c->syscall_fd < 0)
		return PL_ACTIVITY_UNKNOWN;
	if (reread(c->syscall_fd, buf, sizeof buf) < 0)
		return errno == ESRCH ? PL_ACTIVITY_GONE : PL_ACTIVITY_UNKNOWN;
	return parse_activity(buf, ret);
}
