/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; see identity.h. */
#include "identity.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_fd.h"
#include "priv.h"
#include "proc_file.h"

static struct plumb_error *gone(pid_t pid)
{
	return pl_error(PLUMB_ERR_NO_PROCESS, "there is no process with pid %d", (int)pid);
}

struct plumb_error *pl_identity_read(pid_t pid, struct pl_proc_stat *ret)
{
	errno = 0;
	if (pl_proc_stat_read(pid, ret))
		return NULL;
	/* Whoever looks again may find a descriptor that has come free. */
	if (pl_out_of_descriptors(errno))
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot look at pid %d", (int)pid);
	struct plumb_error *err = pl_proc_check(pid);
	return err ? err : gone(pid);
}

/* The number may have changed hands before the descriptor was opened. */
static struct plumb_error *check_same(const struct pl_proc_stat *st)
{
	struct pl_proc_stat again;
	struct plumb_error *err = pl_identity_read(st->pid, &again);

	return !err && again.start_ticks != st->start_ticks ? gone(st->pid) : err;
}

struct plumb_error *pl_identity_open(const struct pl_proc_stat *st, int *ret)
{
	int fd = PL_OWN_FD((int)syscall(SYS_pidfd_open, st->pid, 0));

	if (fd < 0 && errno == ESRCH)
		return pl_error(PLUMB_ERR_NO_PROCESS, "there is no process %d", (int)st->pid);
	if (fd < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS))
		return pl_priv_explain_call("pidfd_open", "5.3", errno);
	if (fd < 0)
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot follow process %d", (int)st->pid);
	struct plumb_error *err = check_same(st);
	if (err)
		pl_own_fd_close(fd);
	else
		*ret = fd;
	return err;
}
