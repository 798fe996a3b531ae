/* SPDX-License-Identifier: Apache-2.0 */
/* PTRACE_SEIZE + PTRACE_INTERRUPT + PTRACE_DETACH on one thread. Layer os; must be called from one thread of ours.
 *
 * Waiting: a thread on another CPU stops in about 10 us, less than it takes us to sleep and wake, so a short spin comes
 * first; a thread that needs our own CPU can only stop when we sleep, so the spin is short. Who sleeps wakes up to
 * look, and a thread that waits for a CPU may be waiting for milliseconds: so the longer it has taken, the longer are
 * the naps, by a share that bounds for how long a thread that has stopped is not noticed. A tracer that dies detaches:
 * the kernel resumes the target. */
#include "pause.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "proc.h"

#define SPIN_NS	   25000ull
#define HELD_NS	   120000ull /* far longer than an interrupt takes to reach another CPU */
#define RELEASE_NS 1000000ull
#define NAP_NS	   20000ull
#define NAP_SHARE  8 /* of the time that it has taken already */

enum look { LOOK_STOPPED, LOOK_NOT_YET, LOOK_GONE };

/* Ask it to stop; asking twice is no harm. False: we do not trace it. */
static bool interrupt(const struct pl_pause *p)
{
	return ptrace(PTRACE_INTERRUPT, p->tid, 0, 0) == 0 || errno != ESRCH;
}

/* What has become of it, without taking note of its end. */
static int peek(const struct pl_pause *p, siginfo_t *ret)
{
	ret->si_pid = 0; /* nothing yet */
	return waitid(P_PID, (id_t)p->tid, ret, WEXITED | WSTOPPED | __WALL | WNOHANG | WNOWAIT);
}

/* A thread that is not there any more has executed a program: it is still ours and bears the number of its process now;
 * perhaps it had that already when it was to be interrupted. */
static int wait_for(struct pl_pause *p, siginfo_t *ret)
{
	if (peek(p, ret) == 0)
		return 0;
	if (errno != ECHILD || p->tid == p->pid)
		return -1;
	p->tid = p->pid;
	return interrupt(p) ? peek(p, ret) : -1;
}

/* A thread that ends waits for us, its tracer, to notice. But how our own child has ended is for whoever of us started
 * it to hear, and can be heard only once. */
static void let_it_end(const struct pl_pause *p)
{
	struct pl_proc_stat st;

	if (p->tid == p->pid && pl_proc_stat_read(p->pid, &st) && st.parent == getpid())
		return;
	(void)waitpid(p->tid, NULL, __WALL | WNOHANG);
}

static enum look look(struct pl_pause *p)
{
	siginfo_t info;

	if (wait_for(p, &info))
		return errno == EINTR ? LOOK_NOT_YET : LOOK_GONE; /* ECHILD or, of interrupt(), ESRCH */
	if (info.si_pid == 0)
		return LOOK_NOT_YET;
	if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) {
		p->exited = true;
		let_it_end(p);
		return LOOK_GONE;
	}
	/* A stop with no event in the upper half is a signal on its way to the thread: pass it on when we let go. */
	p->signo = info.si_status >> 8 ? 0 : info.si_status;
	p->stopped = true;
	return LOOK_STOPPED;
}

static void nap(uint64_t waited_ns, uint64_t left_ns)
{
	uint64_t ns = waited_ns / NAP_SHARE;

	ns = ns < NAP_NS ? NAP_NS : ns;
	nanosleep(&(struct timespec){.tv_nsec = (long)(ns < left_ns ? ns : left_ns)}, NULL);
}

/* Up to limit_ns, which is less than a second, from now. */
static enum look wait_stopped(struct pl_pause *p, uint64_t limit_ns)
{
	uint64_t start = pl_clock_monotonic_ns(), now = start;
	enum look r;

	p->since_ns = start;
	while ((r = look(p)) == LOOK_NOT_YET && now - start < limit_ns) {
		p->since_ns = now;
		if (now - p->asked_ns > SPIN_NS)
			nap(now - p->asked_ns, start + limit_ns - now);
		now = pl_clock_monotonic_ns();
	}
	return r;
}

enum pl_pause_result pl_pause_stop(struct pl_pause *p, pid_t pid, pid_t tid)
{
	*p = (struct pl_pause){.pid = pid, .tid = tid, .asked_ns = pl_clock_monotonic_ns()};
	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return errno == ESRCH ? PL_PAUSE_GONE : PL_PAUSE_REFUSED;
	/* A failure means that it is ending: the event to wait for is then its exit. */
	(void)interrupt(p);
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

static bool detach(struct pl_pause *p)
{
	p->stopped = false;
	return ptrace(PTRACE_DETACH, p->tid, 0, (void *)(intptr_t)p->signo) == 0;
}

static bool release_after(struct pl_pause *p, enum look l)
{
	if (l == LOOK_STOPPED && detach(p))
		return true;
	/* It was killed while it was stopped. It is ours still, and not gone before we wait for it; unless another
	 * thread has executed a program, which ends all others and takes the number of the main thread. */
	if (l == LOOK_STOPPED)
		l = look(p);
	return l == LOOK_GONE || (l == LOOK_NOT_YET && !interrupt(p));
}

bool pl_pause_await(struct pl_pause *p, uint64_t limit_ns)
{
	return p->stopped || wait_stopped(p, limit_ns) == LOOK_STOPPED;
}

bool pl_pause_release(struct pl_pause *p)
{
	return release_after(p, p->stopped ? LOOK_STOPPED : wait_stopped(p, RELEASE_NS));
}

bool pl_pause_try_release(struct pl_pause *p)
{
	return release_after(p, p->stopped ? LOOK_STOPPED : look(p));
}
