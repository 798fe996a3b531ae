/* SPDX-License-Identifier: Apache-2.0 */
/* What a blocked thread waits for (layer os). Any thread. The arguments are the target's: pointers are read through
 * pl_mem, counts are bounded. Nothing is asked of the target. */
#include "blocked.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#include "descriptor.h"
#include "syscalls.h"

#define SELECT_MAX    1024
#define MAX_SECONDS   (100ll * 365 * 86400) /* a longer time is as good as none */
#define PATH_MAX_READ 256

struct question {
	pid_t pid;
	struct pl_mem *mem;
	struct pl_file_locks *locks;
	const struct pl_activity_info *info;
	const uint64_t *args;
	const struct pl_call *call;
	struct pl_blocked *ret;
};

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* struct timespec or timeval at @p addr. False: none, unreadable, or so long that it means "for ever". */
static bool read_time(struct question *q, pl_addr addr, bool micro, int64_t *ret_ns)
{
	int64_t words[2];

	if (!addr || pl_mem_read(q->mem, addr, words, sizeof words) || words[0] > MAX_SECONDS || words[0] < 0 ||
	    words[1] < 0 || words[1] >= 1000000000)
		return false;
	*ret_ns = words[0] * 1000000000 + words[1] * (micro ? 1000 : 1);
	return true;
}

static void set_limit(struct question *q, int64_t ns)
{
	q->ret->limited = true;
	q->ret->limit_ns = (uint64_t)ns;
}

/* What is left is so now: of who lives no more it would be other at each look, and on each machine. */
static void set_end(struct question *q, clockid_t clock, int64_t end_ns)
{
	struct timespec now;

	q->ret->limited = true;
	if (!q->pid || clock_gettime(clock, &now) != 0)
		return;
	q->ret->left_known = true;
	q->ret->left_ns = end_ns - (now.tv_sec * 1000000000 + now.tv_nsec);
}

static void time_of_futex(struct question *q)
{
	int op = (int)q->args[1], cmd = op & FUTEX_CMD_MASK;
	int64_t ns;

	if (!read_time(q, q->args[q->call->time_arg], false, &ns))
		return;
	if (cmd == FUTEX_WAIT)
		set_limit(q, ns);
	else
		set_end(q, op & FUTEX_CLOCK_REALTIME || cmd == FUTEX_LOCK_PI ? CLOCK_REALTIME : CLOCK_MONOTONIC, ns);
}

static void describe_time(struct question *q)
{
	uint64_t arg = q->args[q->call->time_arg];
	int64_t ns;

	switch ((enum pl_call_time)q->call->time) {
	case PL_TIME_NONE:
		break;
	case PL_TIME_MS:
		if ((int)arg >= 0)
			set_limit(q, (int64_t)(int)arg * 1000000);
		break;
	case PL_TIME_SPEC:
	case PL_TIME_VAL:
		if (read_time(q, arg, q->call->time == PL_TIME_VAL, &ns))
			set_limit(q, ns);
		break;
	case PL_TIME_CLOCK_NANOSLEEP:
		if (!read_time(q, arg, false, &ns))
			break;
		if (q->args[1] & TIMER_ABSTIME)
			set_end(q, (clockid_t)q->args[0], ns);
		else
			set_limit(q, ns);
		break;
	case PL_TIME_FUTEX:
		time_of_futex(q);
		break;
	}
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

static void set_fd(struct question *q, enum pl_blocked_on on)
{
	q->ret->on = on;
	q->ret->fd = (int)q->args[0];
}

static void add_fd(struct pl_blocked *b, int fd)
{
	if (b->fd_count < PL_BLOCKED_FDS)
		b->fds[b->fd_count++] = fd;
	b->fd_total++;
}

static void describe_poll(struct question *q)
{
	struct pollfd fds[PL_BLOCKED_FDS];
	uint64_t count = q->args[1] < PL_BLOCKED_FDS ? q->args[1] : PL_BLOCKED_FDS;

	q->ret->on = q->args[1] ? PL_ON_FDS : PL_ON_TIME;
	if (!count || pl_mem_read(q->mem, q->args[0], fds, count * sizeof *fds))
		return;
	for (uint64_t i = 0; i < count; i++)
		if (fds[i].fd >= 0)
			add_fd(q->ret, fds[i].fd);
	if (q->args[1] > count && q->args[1] <= INT_MAX)
		q->ret->fd_total += (uint32_t)(q->args[1] - count);
}

static void describe_select(struct question *q)
{
	uint64_t words[SELECT_MAX / 64] = {0}, set[SELECT_MAX / 64];
	int n = (int)q->args[0] > SELECT_MAX ? SELECT_MAX : (int)q->args[0];
	size_t bytes = n > 0 ? ((size_t)n + 63) / 64 * 8 : 0;

	for (int i = 1; i <= 3 && bytes; i++) {
		if (!q->args[i] || pl_mem_read(q->mem, q->args[i], set, bytes))
			continue;
		for (size_t w = 0; w < bytes / 8; w++)
			words[w] |= set[w];
	}
	for (int fd = 0; fd < n; fd++)
		if (words[fd / 64] >> (fd % 64) & 1)
			add_fd(q->ret, fd);
	q->ret->on = q->ret->fd_total ? PL_ON_FDS : PL_ON_TIME;
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

static void describe_file_lock(struct question *q)
{
	struct pl_fd_facts fd;

	set_fd(q, PL_ON_FILE_LOCK);
	if (!q->pid)
		return;
	pl_fd_look(q->pid, q->ret->fd, NULL, &fd);
	if (fd.inode)
		q->ret->lock_holder = pl_file_locks_holder(q->locks, q->pid, fd.device, fd.inode);
}

bool pl_blocked_locks_file(const struct pl_activity_info *fcntl)
{
	int command = (int)fcntl->args[1];

	return command == F_SETLKW || command == F_OFD_SETLKW;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static void describe_path(struct question *q, pl_addr addr)
{
	/* Up to the end of the page first: what follows it may not be there. */
	size_t len = PATH_MAX_READ - 1, page = 4096 - (size_t)(addr % 4096);

	q->ret->on = PL_ON_PATH;
	len = len < page ? len : page;
	if (pl_mem_read(q->mem, addr, q->ret->path, len))
		len = 0;
	q->ret->path[len] = '\0';
}

static void describe_waitid(struct question *q)
{
	q->ret->on = PL_ON_CHILD;
	if (q->args[0] == P_PID)
		q->ret->child = (pid_t)q->args[1];
	else if (q->args[0] == P_PGID)
		q->ret->child = -(pid_t)q->args[1];
	else if (q->args[0] == P_PIDFD)
		set_fd(&(struct question){.args = &q->args[1], .ret = q->ret}, PL_ON_CHILD);
}

static void describe_child(struct question *q)
{
	int pid = (int)q->args[0];

	q->ret->on = PL_ON_CHILD;
	q->ret->child = pid == -1 ? 0 : pid;
}

static void describe_object(struct question *q)
{
	switch ((enum pl_call_kind)q->call->kind) {
	case PL_CALL_OTHER:
		break;
	case PL_CALL_FD:
		set_fd(q, PL_ON_FD);
		break;
	case PL_CALL_POLL:
		describe_poll(q);
		break;
	case PL_CALL_SELECT:
		describe_select(q);
		break;
	case PL_CALL_SLEEP:
		q->ret->on = PL_ON_TIME;
		break;
	case PL_CALL_FUTEX:
		q->ret->on = PL_ON_FUTEX;
		q->ret->futex = q->args[0];
		break;
	case PL_CALL_WAIT:
		describe_child(q);
		break;
	case PL_CALL_WAITID:
		describe_waitid(q);
		break;
	case PL_CALL_FLOCK:
		describe_file_lock(q);
		break;
	case PL_CALL_FCNTL:
		if (pl_blocked_locks_file(q->info))
			describe_file_lock(q);
		else
			set_fd(q, PL_ON_FD);
		break;
	case PL_CALL_SIGNAL:
		q->ret->on = PL_ON_SIGNAL;
		break;
	case PL_CALL_PATH:
		describe_path(q, q->args[1]);
		break;
	case PL_CALL_PATH_OLD:
		describe_path(q, q->args[0]);
		break;
	case PL_CALL_VFORK:
		q->ret->on = PL_ON_CHILD;
		break;
	}
}

void pl_blocked_describe(pid_t pid, struct pl_mem *mem, struct pl_file_locks *locks,
			 const struct pl_activity_info *info, struct pl_blocked *ret)
{
	struct question q = {.pid = pid,
			     .mem = mem,
			     .locks = locks,
			     .info = info,
			     .args = info->args,
			     .call = pl_call_find(info->syscall),
			     .ret = ret};

	*ret = (struct pl_blocked){.number = info->syscall, .fd = -1};
	if (!q.call)
		return;
	ret->call = q.call->name;
	describe_object(&q);
	describe_time(&q);
}
