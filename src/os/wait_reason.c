/* SPDX-License-Identifier: Apache-2.0 */
/* For what a blocked thread waits (layer os). Any thread. Asked once for each wait, so that what it takes is little;
 * the arguments of the call are the target's, and no more than numbers here. docs/design/021-reasons-of-waits.md */
#include "wait_reason.h"

#include "blocked.h"
#include "syscalls.h"
#include "thread_state.h"

enum pl_reason pl_wait_reason_of_fd(enum pl_fd_kind kind)
{
	static const enum pl_reason reasons[] = {
		[PL_FD_UNKNOWN] = PL_REASON_OTHER, [PL_FD_FILE] = PL_REASON_FILE,
		[PL_FD_FOLDER] = PL_REASON_FILE,   [PL_FD_TERMINAL] = PL_REASON_TERMINAL,
		[PL_FD_DEVICE] = PL_REASON_OTHER,  [PL_FD_PIPE] = PL_REASON_PIPE,
		[PL_FD_SOCKET] = PL_REASON_SOCKET, [PL_FD_EPOLL] = PL_REASON_POLL,
		[PL_FD_EVENT] = PL_REASON_OTHER,   [PL_FD_TIMER] = PL_REASON_SLEEP,
		[PL_FD_SIGNAL] = PL_REASON_SIGNAL, [PL_FD_INOTIFY] = PL_REASON_FILE,
		[PL_FD_PIDFD] = PL_REASON_CHILD,   [PL_FD_OTHER] = PL_REASON_OTHER,
	};

	return reasons[kind];
}

static enum pl_reason of_fd(pid_t pid, pid_t tid, int fd)
{
	return pl_wait_reason_of_fd(pl_fd_kind_of(pid, tid, fd));
}

/* With a time limit sockets are waited for in poll, and Python before 3.11 sleeps in select. */
static enum pl_reason of_several(pid_t pid, pid_t tid, struct pl_mem *mem, const struct pl_activity_info *info)
{
	struct pl_blocked b;

	pl_blocked_describe(pid, mem, NULL, info, &b); /* calls for several descriptors lock no files */
	if (b.on == PL_ON_TIME)
		return PL_REASON_SLEEP;
	return b.fd_total == 1 && b.fd_count == 1 ? of_fd(pid, tid, b.fds[0]) : PL_REASON_POLL;
}

/* In no call: a page is fetched for it, or somebody has stopped it. */
static enum pl_reason outside_calls(pid_t pid, pid_t tid)
{
	struct pl_thread_state state;

	pl_thread_state_read(pid, tid, &state);
	return state.letter == 'D' || state.letter == 'S' ? PL_REASON_PAGE_FAULT : PL_REASON_OTHER;
}

enum pl_reason pl_wait_reason(pid_t pid, pid_t tid, struct pl_mem *mem, const struct pl_activity_info *info)
{
	const struct pl_call *call = info->syscall >= 0 ? pl_call_find(info->syscall) : NULL;

	if (info->syscall < 0)
		return outside_calls(pid, tid);
	if (!call)
		return PL_REASON_OTHER;
	if (call->kind == PL_CALL_POLL || call->kind == PL_CALL_SELECT)
		return of_several(pid, tid, mem, info);
	if (call->kind == PL_CALL_FCNTL && !pl_blocked_locks_file(info))
		return of_fd(pid, tid, (int)info->args[0]);
	return call->reason == PL_REASON_UNKNOWN ? of_fd(pid, tid, (int)info->args[0]) : (enum pl_reason)call->reason;
}
