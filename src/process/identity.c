/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; see identity.h. */
#include "identity.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_fd.h"
#include "priv.h"

struct plumb_error *pl_identity_missing(pid_t pid)
{
	struct plumb_error *err = pl_proc_check(pid);

	return err ? err : pl_error(PLUMB_ERR_NO_PROCESS, "there is no process with pid %d", (int)pid);
}

/* The number may have changed hands before the descriptor was opened. */
static bool same_process(const struct pl_proc_stat *st)
{
	struct pl_proc_stat again;

	return pl_proc_stat_read(st->pid, &again) && again.start_ticks == st->start_ticks;
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
	if (!same_process(st)) {
		pl_own_fd_close(fd);
		return pl_identity_missing(st->pid);
	}
	*ret = fd;
	return NULL;
}
