/* SPDX-License-Identifier: Apache-2.0 */
/* The remote engine's parts and who owns what:
 *
 *   sampler.c  the sampling thread: the clock, the rounds
 *   roster.c   which threads there are, what they are called                    } sampling thread only
 *   watch.c    one thread, one tick;  reading.c one reading;  snapshot.c the copy }
 *   resolve.c  the consumer: names and lines, into the profile                    consumer thread only
 *   remote.c   the ops: open, start, stop, close */
#ifndef PL_REMOTE_H
#define PL_REMOTE_H

#include <pthread.h>

#include "engine.h"
#include "queue.h"
#include "tid_map.h"
#include "watch.h"

/** Handed to the consumer, who frees it. */
struct pl_thread_info {
	uint32_t index, pid;
	uint64_t tid, cpu_ns;
	bool main, cpu_known;
	char name[128], python[16];
};

struct pl_roster {
	PL_VEC(struct pl_watch *) watches;
	pl_interp_vec interps; /* as last listed */
	uint32_t next_index;
	uint32_t tid_offset; /* <= 3.10: of tid in struct pthread; 0 not known yet */
	struct pl_tid_map tids;
	uint64_t listed_ns; /* when the lists were read last */
};

struct pl_resolver; /* resolve.c */

struct pl_engine {
	struct pl_engine_options options;
	struct pl_queue queue;
	struct pl_resolver *resolver;

	pthread_t thread;
	bool started;
	int stop_fd, pid_fd;

	pthread_mutex_t lock; /* guards stats and trouble */
	struct pl_engine_stats stats;
	struct plumb_error *trouble;

	/* the sampling thread's */
	struct pl_reader reader;
	bool attached;
	struct pl_roster roster;
	struct pl_stopper stopper;
	struct pl_engine_stats now; /* copied to stats once a round */
	uint64_t start_ns;
	uint32_t sent_nodes, sent_codes;
};

/* sampler.c */
void *pl_sampler_main(void *engine);
/** Find the Python in the target and prepare to read it. */
struct plumb_error *pl_sampler_attach(struct pl_engine *e) PLUMB_MUST_CHECK;
void pl_sampler_detach(struct pl_engine *e);
/** Send what still waits for its weight: nothing more will be known of this thread. */
void pl_sampler_part(struct pl_engine *e, struct pl_watch *w);

/* roster.c */
void pl_roster_deinit(struct pl_roster *r);
/** Read the lists of interpreters and threads; begin to watch new ones. */
struct plumb_error *pl_roster_refresh(struct pl_engine *e, uint64_t now) PLUMB_MUST_CHECK;
void pl_roster_remove(struct pl_engine *e, size_t i);
/** Tell the consumer what we know of a thread. */
void pl_roster_announce(struct pl_engine *e, struct pl_watch *w);

/* resolve.c */
struct plumb_error *pl_resolver_create(struct pl_resolver **ret) PLUMB_MUST_CHECK;
void pl_resolver_destroy(struct pl_resolver *r);
struct plumb_error *pl_resolver_take(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p,
				     pl_engine_sample_fn *fn, void *ctx) PLUMB_MUST_CHECK;

#endif
