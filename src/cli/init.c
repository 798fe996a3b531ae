/* SPDX-License-Identifier: Apache-2.0 */
/* Being the first process of a pid namespace. Layer cli. One thread.
 *
 * Such a process inherits all orphans, which stay zombies until it waits for them. It is a process of its own, which
 * has no other children than plumb and them, so that it may wait for any: in plumb that would take the ends and stops
 * of children that others of its threads wait for. When it ends, the kernel kills whatever is left. */
#include "init.h"

#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "signals.h"

/* Blocked they wait for us, also those that the kernel keeps from a first process that does not handle them. */
static void awaited(sigset_t *ret)
{
	signals_of_program(ret);
	sigaddset(ret, SIGCHLD);
}

pid_t init_fork(void)
{
	sigset_t wanted, before;

	if (getpid() != 1)
		return 0;
	awaited(&wanted);
	sigprocmask(SIG_BLOCK, &wanted, &before);
	pid_t child = fork();
	if (child <= 0)
		sigprocmask(SIG_SETMASK, &before, NULL);
	else
		prctl(PR_SET_NAME, "plumb-init");
	return child;
}

/* Whether the child is among those that have ended. */
static bool reap(pid_t child, int *status)
{
	bool found = false;
	pid_t pid;
	int of;

	while ((pid = waitpid(-1, &of, WNOHANG)) > 0)
		if (pid == child) {
			found = true;
			*status = of;
		}
	return found;
}

/* What the child itself sends to its group has reached it. */
static void pass_on(pid_t child, const siginfo_t *info)
{
	if (signals_is_hangup(info))
		sigqueue(child, SIGHUP, (union sigval){.sival_int = SIGNALS_HANGUP});
	else if (!signals_from_terminal(info) && info->si_pid != child)
		kill(child, info->si_signo);
}

int init_look_after(pid_t child)
{
	sigset_t wanted;
	int status = 0;

	awaited(&wanted);
	for (;;) {
		siginfo_t info;
		int signo = sigwaitinfo(&wanted, &info);

		if (signo == SIGCHLD && reap(child, &status))
			return status;
		if (signo > 0 && signo != SIGCHLD)
			pass_on(child, &info);
	}
}
