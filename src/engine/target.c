/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine: what a session may know of a process, on top of src/os. Any thread. */
#include "target.h"

#include <errno.h>
#include <sys/wait.h>

#include "proc.h"
#include "spawn.h"

struct plumb_error *pl_target_launch(char *const argv[], pid_t *ret)
{
	return pl_spawn(argv, ret);
}

struct plumb_error *pl_target_check(pid_t pid)
{
	return pl_proc_check(pid);
}

void pl_target_program(pid_t pid, char *buf, size_t size)
{
	pl_proc_program(pid, buf, size);
}

void pl_target_command(pid_t pid, char *buf, size_t size)
{
	pl_proc_command(pid, buf, size);
}

int pl_target_reap(pid_t pid)
{
	int status;
	pid_t r;

	do
		r = waitpid(pid, &status, 0);
	while ((r < 0 && errno == EINTR) || (r == pid && !WIFEXITED(status) && !WIFSIGNALED(status)));
	return r == pid ? status : -1;
}
