/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel really lets us do, tried on a child of our own (layer os). Any thread. A setting says what should be
 * allowed; seccomp filters and security modules are known by their effect only. */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char sign[] = "plumb";

static int try_readv(pid_t pid)
{
	char copy[sizeof sign];
	struct iovec local = {.iov_base = copy, .iov_len = sizeof copy};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)sign, .iov_len = sizeof sign};
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return n < 0 ? errno : n == (ssize_t)sizeof sign ? 0 : EIO;
}

static int try_mem(pid_t pid)
{
	char path[32], copy[sizeof sign];

	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	ssize_t n = pread(fd, copy, sizeof copy, (off_t)(uintptr_t)sign);
	int failed = n < 0 ? errno : n == (ssize_t)sizeof sign ? 0 : EIO;
	close(fd);
	return failed;
}

static int try_pidfd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void wait_in_child(pid_t parent, int end)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent && read(end, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static void collect(pid_t pid)
{
	kill(pid, SIGKILL); /* seized or not: it ends */
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

struct plumb_error *pl_host_try(struct pl_host_trial *ret)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot make a pipe");
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		close(fds[1]);
		wait_in_child(parent, fds[0]);
	}
	int failed = errno;
	close(fds[0]);
	if (pid > 0) {
		*ret = (struct pl_host_trial){.readv = try_readv(pid), .mem = try_mem(pid), .pidfd = try_pidfd(pid)};
		ret->seize = ptrace(PTRACE_SEIZE, pid, 0, 0) ? errno : 0;
		collect(pid);
	}
	close(fds[1]);
	return pid > 0 ? NULL : pl_error_errno(PLUMB_ERR_SYSTEM, failed, "cannot start a process");
}
