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

#define SPIN_NS	   25000ull
#define HELD_NS	   120000ull /* far longer than an interrupt takes to reach another CPU */
#define RELEASE_NS 1000000ull
#define NAP_NS	   20000l

enum look { LOOK_STOPPED, LOOK_NOT_YET, LOOK_GONE };

static enum look look(struct pl_pause *p)
{
	int status;
	pid_t r = waitpid(p->tid, &status, __WALL | WNOHANG);

	if (r == 0 || (r < 0 && errno == EINTR))
		return LOOK_NOT_YET;
	if (r < 0)
		return LOOK_GONE;
	if (!WIFSTOPPED(status)) {
		p->exited = true;
		p->wait_status = status;
		return LOOK_GONE;
	}
	/* A stop with no event in the upper half is a signal on its way to the thread: pass it on when we let go. */
	p->signo = status >> 16 ? 0 : WSTOPSIG(status);
	p->stopped = true;
	return LOOK_STOPPED;
}

static enum look wait_stopped(struct pl_pause *p, uint64_t limit_ns)
{
	uint64_t start = pl_clock_monotonic_ns(), now = start;
	enum look r;

	p->since_ns = start;
	while ((r = look(p)) == LOOK_NOT_YET && now - start < limit_ns) {
		p->since_ns = now;
		if (now - start > SPIN_NS)
			nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
		now = pl_clock_monotonic_ns();
	}
	return r;
}

enum pl_pause_result pl_pause_stop(struct pl_pause *p, pid_t tid)
{
	*p = (struct pl_pause){.tid = tid};
	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return errno == ESRCH ? PL_PAUSE_GONE : PL_PAUSE_REFUSED;
	/* A failure means that it is ending: the event to wait for is then its exit. */
	(void)ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	switch (wait_stopped(p, HELD_NS)) {
	case LOOK_STOPPED:
		return PL_PAUSE_STOPPED;
	case LOOK_NOT_YET:
		return PL_PAUSE_HELD;
	case LOOK_GONE:
		break;
	}
	return PL_PAUSE_GONE;
}

/* False: it was killed while it was stopped (or another thread execs). It is ours still, and not gone before we wait
 * for it. */
static bool detach(struct pl_pause *p)
{
	p->stopped = false;
	return ptrace(PTRACE_DETACH, p->tid, 0, (void *)(intptr_t)p->signo) == 0;
}

static bool release_after(struct pl_pause *p, enum look l)
{
	if (l == LOOK_NOT_YET)
		return false;
	if (l == LOOK_STOPPED && !detach(p))
		return look(p) == LOOK_GONE;
	return true;
}

bool pl_pause_release(struct pl_pause *p)
{
	return release_after(p, p->stopped ? LOOK_STOPPED : wait_stopped(p, RELEASE_NS));
}

bool pl_pause_try_release(struct pl_pause *p)
{
	return release_after(p, p->stopped ? LOOK_STOPPED : look(p));
}
