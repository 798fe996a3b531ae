/* SPDX-License-Identifier: Apache-2.0 */
/* PTRACE_SEIZE + PTRACE_INTERRUPT + PTRACE_DETACH on one thread. Layer os; must be called from one thread of ours.
 *
 * Waiting: a thread on another CPU stops in about 10 us, less than it takes us to sleep and wake, so a short spin comes
 * first; a thread that needs our own CPU can only stop when we sleep, so the spin is short. A tracer that dies
 * detaches: the kernel resumes the target. */
#include "pause.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "clock.h"

#define SPIN_NS	      25000ull
#define SLEEP_NS      20000l
#define TIME_LIMIT_NS 1000000ull

/* 1: stopped, 0: not yet, -1: gone */
static int look(struct pl_pause *p)
{
	int status;
	pid_t r = waitpid(p->tid, &status, __WALL | WNOHANG);

	if (r == 0 || (r < 0 && errno == EINTR))
		return 0;
	if (r < 0)
		return -1;
	if (!WIFSTOPPED(status)) {
		p->exited = true;
		p->wait_status = status;
		return -1;
	}
	/* A stop with no event in the upper half is a signal on its way to the thread: pass it on when we let go. */
	p->signo = status >> 16 ? 0 : WSTOPSIG(status);
	return 1;
}

static int wait_stopped(struct pl_pause *p)
{
	uint64_t start = pl_clock_monotonic_ns(), now = start;
	int r;

	p->since_ns = start;
	while ((r = look(p)) == 0 && now - start < TIME_LIMIT_NS) {
		p->since_ns = now;
		if (now - start > SPIN_NS)
			nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
		now = pl_clock_monotonic_ns();
	}
	return r;
}

enum pl_pause_result pl_pause_stop(struct pl_pause *p, pid_t tid)
{
	*p = (struct pl_pause){.tid = tid};
	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return errno == ESRCH ? PL_PAUSE_GONE : PL_PAUSE_REFUSED;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0)) {
		p->pending = true; /* it is ending: its exit is the event that settles it */
		return PL_PAUSE_LATE;
	}
	int r = wait_stopped(p);
	if (r < 0)
		return PL_PAUSE_GONE;
	p->pending = r == 0;
	return r ? PL_PAUSE_STOPPED : PL_PAUSE_LATE;
}

void pl_pause_resume(struct pl_pause *p)
{
	/* ESRCH: killed while it was stopped; the kernel has taken it from us already. */
	(void)ptrace(PTRACE_DETACH, p->tid, 0, (void *)(intptr_t)p->signo);
}

bool pl_pause_settle(struct pl_pause *p)
{
	if (!p->pending)
		return true;
	int r = look(p);
	if (r == 0)
		return false;
	if (r > 0)
		pl_pause_resume(p);
	p->pending = false;
	return true;
}
