/* SPDX-License-Identifier: Apache-2.0 */
/* What may take for ever is done aside: by a process of its own, which can be left behind. A file system that does not
 * answer (a network's, one in user space) holds up whoever asks it, and no signal helps. */
#ifndef PL_ASIDE_H
#define PL_ASIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PL_ASIDE_MOST_LEFT 3 /* of those of one asker that do not come back: then nobody is asked any more */

struct pl_aside;

struct pl_aside_ops {
	const char *name; /* of the thread and of the process */
	/* In a thread of ours: is it to be done? Optional (NULL). */
	bool (*before)(struct pl_aside *a);
	/* In the process. It has our memory and none of our descriptors. */
	void (*process)(struct pl_aside *a);
	/* By whoever leaves it last. */
	void (*free)(struct pl_aside *a);
};

/** One thing that is done. Embed as the first member. */
struct pl_aside {
	const struct pl_aside_ops *ops;
	atomic_int users; /* who asks, and the thread */
	bool refused;	  /* by before() */
	bool ran;	  /* the process came to its end */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done; /* nothing more will come of it */
};

/** The caller uses it from now on. */
void pl_aside_init(struct pl_aside *a, const struct pl_aside_ops *ops);
/** False: it cannot be begun. */
bool pl_aside_start(struct pl_aside *a);
/** Wait until it is done, or until @p until_ns of the monotonic clock. */
bool pl_aside_wait(struct pl_aside *a, uint64_t until_ns);
/** The caller is done with it. */
void pl_aside_leave(struct pl_aside *a);

/** Who has such things done, one at a time. Embed; all 0. One thread. */
struct pl_asker {
	struct pl_aside *asked; /* NULL: nothing is being done */
	uint64_t asked_ns;
	int left_behind;
};

enum pl_asked { PL_ASKED_PENDING, PL_ASKED_DONE, PL_ASKED_SILENT };

/** False: nobody can be asked any more. */
bool pl_asker_may(const struct pl_asker *k);
/** Begin @p a, which is the asker's from now on. False: it cannot be begun, and is gone. */
bool pl_asker_begin(struct pl_asker *k, struct pl_aside *a);
/** Wait for @p timeout_ms at most. What has not come @p patience_ms after it was begun, or comes to no end, is silent
 * and counts as left behind. */
enum pl_asked pl_asker_wait(struct pl_asker *k, int timeout_ms, int patience_ms);
/** Done with what was asked, if there is something: who still does it is left behind. */
void pl_asker_end(struct pl_asker *k);

#endif
