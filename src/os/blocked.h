/* SPDX-License-Identifier: Apache-2.0 */
/* What a blocked thread waits for: from the number and the arguments of its system call to facts. */
#ifndef PL_BLOCKED_H
#define PL_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "file_locks.h"
#include "mem.h"
#include "thread_clock.h"

#define PL_BLOCKED_FDS 16

enum pl_blocked_on {
	PL_ON_NOTHING, /* nothing that can be named */
	PL_ON_FD,
	PL_ON_FDS,
	PL_ON_TIME,
	PL_ON_FUTEX, /* a lock, a condition, another thread */
	PL_ON_CHILD,
	PL_ON_FILE_LOCK,
	PL_ON_SIGNAL,
	PL_ON_PATH,
};

struct pl_blocked {
	const char *call; /* "epoll_wait"; static; NULL: a call that has no row in our table */
	int number;
	enum pl_blocked_on on;
	int fd;			 /* -1: none */
	int fds[PL_BLOCKED_FDS]; /* poll, select: what is waited for */
	uint32_t fd_count;	 /* in fds */
	uint32_t fd_total;
	pl_addr futex;
	pid_t child;	   /* 0: any, < 0: any of that process group */
	pid_t lock_holder; /* 0 unknown */
	bool limited;	   /* it waits for a time at most */
	uint64_t limit_ns; /* relative: that time as it was asked for; 0: not known */
	bool left_known;   /* absolute: */
	int64_t left_ns;   /* what is left of it; negative: over */
	char path[256];
};

/** Never fails: arguments that cannot be read leave their facts out. @p info->syscall must be >= 0. @p mem is the
 * target's memory. @p pid 0: it lives no more, nothing is looked up in /proc, nor in @p locks, and
 * no clock of now says what is left. */
void pl_blocked_describe(pid_t pid, struct pl_mem *mem, struct pl_file_locks *locks,
			 const struct pl_activity_info *info, struct pl_blocked *ret);
/** Does a call of fcntl wait for a lock on the file? */
bool pl_blocked_locks_file(const struct pl_activity_info *fcntl);

#endif
