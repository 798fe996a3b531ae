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
	PL_PAUSE_REFUSED, /* not permitted, or another tracer is there */
	PL_PAUSE_LATE,	  /* did not stop in time (uninterruptible sleep); settles by itself, see pl_pause_settle */
	PL_PAUSE_GONE,
};

struct pl_pause {
	pid_t tid;
	int signo;    /* to deliver on resume: it arrived together with the stop */
	uint64_t since_ns; /* STOPPED: it has stood still since this moment at the earliest */
	bool pending; /* a LATE stop is still to come */
	bool exited;  /* GONE: the thread ended while we held it, wait_status says how */
	int wait_status;
};

enum pl_pause_result pl_pause_stop(struct pl_pause *p, pid_t tid);
/** Let it run on, detached. Only after PL_PAUSE_STOPPED. */
void pl_pause_resume(struct pl_pause *p);
/** After PL_PAUSE_LATE: call now and then until it returns true; the thread is then free again. */
bool pl_pause_settle(struct pl_pause *p);

#endif
