/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. See aside.h. What is done has a thread, and that a process that shares its memory.
 *
 * We may run in the program itself, and it must not feel anything of this:
 *   - Whoever reads takes on rights, and may stand in the kernel for ever. A thread of the program must do neither: the
 *     C library changes the rights of a program in all of its threads, by a signal for which it waits, and aborts where
 *     one thread may not what the others may; and a program with such a thread does not come to its end. So that is a
 *     process.
 *   - It tells nobody of its end, and only who asks for it in particular waits for it (__WALL): the program's SIGCHLD
 *     and wait() are for its own children.
 *   - It is made without the C library's fork, whose handlers are the program's, and copies no memory, which takes long
 *     and makes each page of the program fault.
 *   - It has the storage of a thread (errno) in common with its maker, which waits for it meanwhile and for nothing
 * else.
 *   - It has none of our files, so nobody who waits for the end of one waits for a file system; and closes none, which
 *     can mean something to a file system. */
#include "aside.h"

#include <errno.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "debug.h"
#include "own_fd.h"

#define STACK_BYTES  (512u << 10) /* of the process; what it calls has large buffers */
#define THREAD_BYTES (256u << 10)

static int process_main(void *aside)
{
	struct pl_aside *a = aside;

	if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) != 0)
		return 1;
	prctl(PR_SET_NAME, a->ops->name);
	a->ops->process(a);
	a->ran = true;
	return 0;
}

/* The thread sleeps where each signal reaches it. */
static void run_process(struct pl_aside *a)
{
	alignas(16) char stack[STACK_BYTES];

	/* Its descriptors are its own, and who kills it would leave a lock of ours behind, too. */
	pl_own_fd_elsewhere(true);
	pid_t pid = clone(process_main, stack + sizeof stack, CLONE_VM | CLONE_FILES, a);
	while (pid >= 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	pl_own_fd_elsewhere(false);
}

void pl_aside_leave(struct pl_aside *a)
{
	if (atomic_fetch_sub(&a->users, 1) > 1)
		return;
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	a->ops->free(a);
}

static void *thread_main(void *aside)
{
	struct pl_aside *a = aside;

	prctl(PR_SET_NAME, a->ops->name);
	a->refused = a->ops->before && !a->ops->before(a);
	if (!a->refused)
		run_process(a);
	pthread_mutex_lock(&a->lock);
	a->done = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pl_aside_leave(a);
	return NULL;
}

static bool start_thread(struct pl_aside *a)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES + THREAD_BYTES);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int failed = pthread_create(&thread, &attr, thread_main, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return !failed;
}

void pl_aside_init(struct pl_aside *a, const struct pl_aside_ops *ops)
{
	pthread_condattr_t attr;

	*a = (struct pl_aside){.ops = ops, .users = 1};
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->changed, &attr);
	pthread_condattr_destroy(&attr);
}

bool pl_aside_start(struct pl_aside *a)
{
	atomic_fetch_add(&a->users, 1);
	if (start_thread(a))
		return true;
	atomic_fetch_sub(&a->users, 1);
	return false;
}

bool pl_aside_wait(struct pl_aside *a, uint64_t until_ns)
{
	struct timespec until = {.tv_sec = (time_t)(until_ns / PL_NS_PER_S), .tv_nsec = (long)(until_ns % PL_NS_PER_S)};

	pthread_mutex_lock(&a->lock);
	while (!a->done && pthread_cond_timedwait(&a->changed, &a->lock, &until) == 0)
		;
	bool done = a->done;
	pthread_mutex_unlock(&a->lock);
	return done;
}

bool pl_asker_may(const struct pl_asker *k)
{
	return k->left_behind < PL_ASIDE_MOST_LEFT;
}

bool pl_asker_begin(struct pl_asker *k, struct pl_aside *a)
{
	if (!pl_aside_start(a)) {
		pl_aside_leave(a);
		return false;
	}
	k->asked = a;
	k->asked_ns = pl_clock_monotonic_ns();
	pl_debug(PL_DEBUG_PROCESS, "aside: %s begins", a->ops->name);
	return true;
}

enum pl_asked pl_asker_wait(struct pl_asker *k, int timeout_ms, int patience_ms)
{
	uint64_t until = pl_clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000;
	uint64_t silent = k->asked_ns + (uint64_t)patience_ms * 1000000;
	bool done = pl_aside_wait(k->asked, until < silent ? until : silent);

	if (!done && until < silent)
		return PL_ASKED_PENDING;
	if (done && (k->asked->ran || k->asked->refused))
		return PL_ASKED_DONE;
	k->left_behind++;
	pl_debug(PL_DEBUG_PROCESS, "aside: %s does not come back; %d were left behind", k->asked->ops->name,
		 k->left_behind);
	return PL_ASKED_SILENT;
}

void pl_asker_end(struct pl_asker *k)
{
	if (k->asked)
		pl_aside_leave(k->asked);
	k->asked = NULL;
}
