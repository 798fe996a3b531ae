/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads that are shown do at this moment, and what they wait for: as `plumb dump` tells it. */
#ifndef THREAD_WAITS_H
#define THREAD_WAITS_H

#include <plumb/plumb.h>

#define WAITS_MAX 128 /* threads that are asked for at a time */

struct waits_thread {
	int pid;
	uint64_t tid;
};

struct waits {
	struct plumb_dump *dump; /* NULL: nothing is known */
	uint64_t due_ms;	 /* when it is asked again */
	int late;		 /* so often, one after the other, there was no answer in time */
};

/** Whether it is time to ask: once a second, and so seldom that it takes a hundredth of a core at most. */
bool waits_due(const struct waits *w);
/** Ask of these. No thread is stopped for it. What was told before is gone, also with an error. */
void waits_ask(struct waits *w, const struct waits_thread *threads, size_t count);
/** What is known of a thread. False: nothing. Text of others; it lives until it is asked again. */
bool waits_of(const struct waits *w, int pid, uint64_t tid, struct plumb_dump_thread *ret);
/** Nothing is known any more. */
void waits_forget(struct waits *w);

#endif
