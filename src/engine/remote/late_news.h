/* SPDX-License-Identifier: Apache-2.0 */
/* Stops that are still to come, of all processes: while the sampling thread waits for its next tick it is told when one
 * has come about, as the thread stands from then on. Sampling thread only. */
#ifndef PL_LATE_NEWS_H
#define PL_LATE_NEWS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "thread_clock.h"

struct pl_engine;

struct pl_late_news {
	bool listens; /* to the kernel: a stop is to come, and SIGCHLD is ours */
	struct pl_thread_clock own;
	uint64_t delay_ns; /* for how long we had waited for a processor before we waited for news */
};
void pl_late_news_init(struct pl_late_news *n);
void pl_late_news_end(struct pl_late_news *n);

/** Let go of stops that have come about. For how long those that are left can wait for us; UINT64_MAX: there are none.
 */
uint64_t pl_late_news_settle(struct pl_engine *e, uint64_t now);
/** Before a wait for news: @p blocked are the signals that are not let in meanwhile. */
void pl_late_news_await(struct pl_late_news *n, sigset_t *blocked);
/** A signal has ended the wait: a stop may have come about just now. */
void pl_late_news_heard(struct pl_engine *e);
/** Sampling is over: what is still to come has a moment left. */
void pl_late_news_last(struct pl_engine *e);
/** A pause begins: whoever ordered it may stop all of us when it is answered, and nobody would let a thread go. So what
 * is still to come is awaited, but for no longer than seconds: in an uninterruptible call it may come never. */
void pl_late_news_pause(struct pl_engine *e);

#endif
