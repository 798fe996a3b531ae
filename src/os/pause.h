/* SPDX-License-Identifier: Apache-2.0 */
/* Stop one running thread for some microseconds. Seize, interrupt, read, detach: nothing of us stays in the target
 * between two stops, so its signals, its job control and other tracers never meet us (measured: as fast as staying
 * attached).
 *
 * Only for threads that run: interrupting a thread that is blocked makes calls such as epoll_wait return EINTR. All
 * calls on one thread must come from the same thread of ours (ptrace's rule). */
#ifndef PL_PAUSE_H
#define PL_PAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum pl_pause_result {
	PL_PAUSE_STOPPED,
	/* Not stopped yet, but it runs no more code of its own before it does: it waits for a CPU or is inside the
	 * kernel, and the way back leads into the stop. Its memory can be read as if it were stopped. */
	PL_PAUSE_HELD,
	PL_PAUSE_REFUSED, /* not permitted, another tracer is there, or it is about to end: refusal.h finds out */
	PL_PAUSE_GONE,
};

struct pl_pause {
	pid_t pid, tid;	   /* an exec gives the thread that does it the number of the process */
	int signo;	   /* to deliver on release: it arrived together with the stop */
	uint64_t asked_ns; /* when it was asked to stop */
	uint64_t since_ns; /* it has stood still since this moment at the earliest */
	bool stopped;
	bool exited; /* GONE: the thread ended while we held it; a child of ours is left for its parent to wait for */
};

/** Stop the thread @p tid of process @p pid. */
enum pl_pause_result pl_pause_stop(struct pl_pause *p, pid_t pid, pid_t tid);
/** Wait for the stop, after HELD, up to @p limit_ns. True: it is stopped, and its registers can be read. */
bool pl_pause_await(struct pl_pause *p, uint64_t limit_ns);
/**
 * Let it run on, detached. After HELD: waits for the stop for up to a millisecond.
 * @return false if it has still not stopped: call again now and then, until true; it must not be forgotten.
 */
bool pl_pause_release(struct pl_pause *p);
/** As pl_pause_release, without waiting. */
bool pl_pause_try_release(struct pl_pause *p);

#endif
