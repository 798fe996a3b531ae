/* SPDX-License-Identifier: Apache-2.0 */
/* The table of system calls in which threads wait (layer os). Pure data; numbers come from the headers of the
 * architecture we run on, which is the target's. Newer architectures have fewer of the old calls, older headers fewer
 * of the new ones. */
#include "syscalls.h"

#include <stddef.h>
#include <sys/syscall.h>

static const struct pl_call calls[] = {
	{SYS_read, "read", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_readv, "readv", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_pread64, "pread", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_preadv, "preadv", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_preadv2, "preadv2", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_write, "write", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_writev, "writev", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_pwrite64, "pwrite", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_pwritev, "pwritev", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_pwritev2, "pwritev2", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_sendfile, "sendfile", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_splice, "splice", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_tee, "tee", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_copy_file_range, "copy_file_range", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_getdents64, "getdents", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_fsync, "fsync", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_fdatasync, "fdatasync", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_syncfs, "syncfs", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_ftruncate, "ftruncate", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_fallocate, "fallocate", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_fstat, "fstat", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_close, "close", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_ioctl, "ioctl", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_accept, "accept", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_SOCKET},
	{SYS_accept4, "accept4", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_SOCKET},
	{SYS_connect, "connect", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_SOCKET},
	{SYS_recvfrom, "recv", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_SOCKET},
	{SYS_recvmsg, "recvmsg", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_SOCKET},
	{SYS_recvmmsg, "recvmmsg", PL_CALL_FD, PL_TIME_SPEC, 4, PL_REASON_SOCKET},
	{SYS_sendto, "send", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_SOCKET},
	{SYS_sendmsg, "sendmsg", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_SOCKET},
	{SYS_sendmmsg, "sendmmsg", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_SOCKET},
	{SYS_mq_timedsend, "mq_timedsend", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_mq_timedreceive, "mq_timedreceive", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
	{SYS_flock, "flock", PL_CALL_FLOCK, PL_TIME_NONE, 0, PL_REASON_LOCK},
	{SYS_fcntl, "fcntl", PL_CALL_FCNTL, PL_TIME_NONE, 0, PL_REASON_LOCK},
#ifdef SYS_io_uring_enter
	{SYS_io_uring_enter, "io_uring_enter", PL_CALL_FD, PL_TIME_NONE, 0, PL_REASON_UNKNOWN},
#endif
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, "epoll_wait", PL_CALL_FD, PL_TIME_MS, 3, PL_REASON_UNKNOWN},
#endif
	{SYS_epoll_pwait, "epoll_wait", PL_CALL_FD, PL_TIME_MS, 3, PL_REASON_UNKNOWN},
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, "epoll_wait", PL_CALL_FD, PL_TIME_SPEC, 3, PL_REASON_UNKNOWN},
#endif
#ifdef SYS_poll
	{SYS_poll, "poll", PL_CALL_POLL, PL_TIME_MS, 2, PL_REASON_POLL},
#endif
	{SYS_ppoll, "poll", PL_CALL_POLL, PL_TIME_SPEC, 2, PL_REASON_POLL},
#ifdef SYS_select
	{SYS_select, "select", PL_CALL_SELECT, PL_TIME_VAL, 4, PL_REASON_POLL},
#endif
	{SYS_pselect6, "select", PL_CALL_SELECT, PL_TIME_SPEC, 4, PL_REASON_POLL},
	{SYS_nanosleep, "nanosleep", PL_CALL_SLEEP, PL_TIME_SPEC, 0, PL_REASON_SLEEP},
	{SYS_clock_nanosleep, "clock_nanosleep", PL_CALL_SLEEP, PL_TIME_CLOCK_NANOSLEEP, 2, PL_REASON_SLEEP},
	{SYS_futex, "futex", PL_CALL_FUTEX, PL_TIME_FUTEX, 3, PL_REASON_LOCK},
	{SYS_wait4, "wait4", PL_CALL_WAIT, PL_TIME_NONE, 0, PL_REASON_CHILD},
	{SYS_waitid, "waitid", PL_CALL_WAITID, PL_TIME_NONE, 0, PL_REASON_CHILD},
#ifdef SYS_vfork
	{SYS_vfork, "vfork", PL_CALL_VFORK, PL_TIME_NONE, 0, PL_REASON_CHILD},
#endif
	{SYS_clone, "clone", PL_CALL_VFORK, PL_TIME_NONE, 0, PL_REASON_CHILD},
#ifdef SYS_clone3
	{SYS_clone3, "clone3", PL_CALL_VFORK, PL_TIME_NONE, 0, PL_REASON_CHILD},
#endif
#ifdef SYS_pause
	{SYS_pause, "pause", PL_CALL_SIGNAL, PL_TIME_NONE, 0, PL_REASON_SIGNAL},
#endif
	{SYS_rt_sigsuspend, "sigsuspend", PL_CALL_SIGNAL, PL_TIME_NONE, 0, PL_REASON_SIGNAL},
	{SYS_rt_sigtimedwait, "sigtimedwait", PL_CALL_SIGNAL, PL_TIME_SPEC, 2, PL_REASON_SIGNAL},
	{SYS_openat, "openat", PL_CALL_PATH, PL_TIME_NONE, 0, PL_REASON_FILE},
#ifdef SYS_open
	{SYS_open, "open", PL_CALL_PATH_OLD, PL_TIME_NONE, 0, PL_REASON_FILE},
#endif
#ifdef SYS_newfstatat
	{SYS_newfstatat, "stat", PL_CALL_PATH, PL_TIME_NONE, 0, PL_REASON_FILE},
#endif
	{SYS_statx, "statx", PL_CALL_PATH, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_execve, "execve", PL_CALL_PATH_OLD, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_semop, "semop", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_LOCK},
	{SYS_semtimedop, "semtimedop", PL_CALL_OTHER, PL_TIME_SPEC, 3, PL_REASON_LOCK},
	{SYS_msgrcv, "msgrcv", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_OTHER},
	{SYS_msgsnd, "msgsnd", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_OTHER},
	{SYS_io_getevents, "io_getevents", PL_CALL_OTHER, PL_TIME_SPEC, 4, PL_REASON_FILE},
	{SYS_sync, "sync", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_msync, "msync", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_FILE},
	{SYS_mmap, "mmap", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_PAGE_FAULT},
	{SYS_munmap, "munmap", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_PAGE_FAULT},
	{SYS_madvise, "madvise", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_PAGE_FAULT},
	{SYS_exit_group, "exit_group", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_OTHER},
	{SYS_sched_yield, "sched_yield", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_OTHER},
	/* After a stop the kernel goes on with a sleep under this name; what it waited for is not told. */
	{SYS_restart_syscall, "restart_syscall", PL_CALL_OTHER, PL_TIME_NONE, 0, PL_REASON_OTHER},
};

const struct pl_call *pl_call_find(long number)
{
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}
