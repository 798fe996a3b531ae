/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process: what a session may know of a program, on top of src/os. Any thread. */
#include "program.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include "priv.h"
#include "proc.h"
#include "spawn.h"

struct plumb_error *pl_program_launch(char *const argv[], const struct plumb_signals *signals, pid_t *ret)
{
	return pl_spawn(argv, signals, ret);
}

void pl_program_signals(struct plumb_signals *ret)
{
	pl_spawn_signals(ret);
}

struct plumb_error *pl_program_check(pid_t pid)
{
	return pl_proc_check(pid);
}

void pl_program_name(pid_t pid, char *buf, size_t size)
{
	pl_proc_program(pid, buf, size);
}

void pl_program_command(pid_t pid, char *buf, size_t size)
{
	pl_proc_command(pid, buf, size);
}

struct plumb_error *pl_program_all(pl_pid_vec *ret)
{
	pl_tid_vec pids = {0};
	struct plumb_error *err = pl_proc_all(&pids);

	if (!err)
		*ret = (pl_pid_vec){.data = pids.data, .len = pids.len, .cap = pids.cap};
	return err;
}

bool pl_program_is_called(pid_t pid, const char *name)
{
	return pl_proc_is_called(pid, name);
}

bool pl_program_is_python(pid_t pid)
{
	return pl_proc_is_python(pid);
}

bool pl_program_may_be_read(pid_t pid)
{
	return pl_proc_may_be_read(pid);
}

uint64_t pl_program_cpu_ns(pid_t pid)
{
	struct pl_proc_stat st;

	return pl_proc_stat_read(pid, &st) ? pl_proc_ticks_ns(st.cpu_ticks) : 0;
}

uint64_t pl_program_started_ns(pid_t pid)
{
	return pl_proc_started_ns(pid);
}

uint64_t pl_program_booted_real_ns(void)
{
	return pl_proc_booted_real_ns();
}

pid_t pl_program_parent(pid_t pid)
{
	struct pl_proc_stat st;

	return pl_proc_stat_read(pid, &st) ? st.parent : 0;
}

void pl_program_user(pid_t pid, char *buf, size_t size)
{
	pl_priv_user(pl_proc_owner(pid), buf, size);
}

/* A stop that another thread of ours has asked for, as it traces the program, is told whatever is asked. */
static bool is_end(const siginfo_t *info)
{
	return info->si_pid && info->si_code != CLD_TRAPPED;
}

bool pl_program_has_ended(pid_t pid)
{
	int before = errno; /* of whoever a signal handler has interrupted */
	siginfo_t info = {0};
	bool ended =
		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? is_end(&info) : errno == ECHILD;

	errno = before;
	return ended;
}

void pl_program_wait_end(pid_t pid)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	siginfo_t info;

	for (;;) {
		int r = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);

		if (r == 0 ? is_end(&info) : errno != EINTR)
			return;
		if (r == 0) /* until that thread has seen its stop */
			(void)nanosleep(&moment, NULL);
	}
}

int pl_program_reap(pid_t pid)
{
	int status;
	pid_t r;

	do
		r = waitpid(pid, &status, 0);
	while ((r < 0 && errno == EINTR) || (r == pid && !WIFEXITED(status) && !WIFSIGNALED(status)));
	return r == pid ? status : -1;
}
