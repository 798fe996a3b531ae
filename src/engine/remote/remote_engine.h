/* SPDX-License-Identifier: Apache-2.0 */
/* The remote engine: its parts, who owns what, and what they share. Each part has a header of its name; this one is for
 * those that need the engine's own fields. What it knows of one process is process/python_process.h.
 *
 *   sampling_thread.c  the clock, orders;  suspension.c  whether plumb itself stood still
 *   round.c    every thread of every process once;  gil_holders.c  those that hold a GIL
 *   mode.c     what --mode means
 *   tree.c     which processes there are: children come, processes end             } sampling thread only
 *   search.c   when to look for the Python of one process
 *   sampled.c  what sampling has with each thread
 *   task_looks.c  how long tasks wait: --tasks;  lock_samples.c  who holds the locks that threads wait for
 *   event_looks.c  what processes say with plumb.event()
 *   send.c     handing over to the consumer;  cpu_time.c  in CPU mode, when the run time is known
 *   budget.c   --max-overhead;  schedule.c  when the next tick is due              }
 *   queue.c    from the sampling thread to the consumer;  orders.c  to the sampling thread;  wake_up.c  waking either
 *   resolve.c  the consumer: names and lines, into the profile                     consumer thread only
 *   named_codes.c  functions of the profile for the code that was sampled           consumer thread only
 *   tagged.c   stacks with a tag                                                   consumer thread only
 *   pool_task.c   what workers of pools work on, as tags                           consumer thread only
 *   native_symbols.c  the names of native functions                                consumer thread only
 *   source_texts.c  the files that they come from                                  consumer thread only
 *   remote.c   the ops: open, start, stop, close
 *
 * docs/design/003-process-trees.md, 012-one-process.md */
#ifndef PL_REMOTE_ENGINE_H
#define PL_REMOTE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "beside.h"
#include "births.h"
#include "codes.h"
#include "engine.h"
#include "late_news.h"
#include "orders.h"
#include "queue.h"
#include "reading.h"
#include "room.h"
#include "suspension.h"
#include "vec.h"
#include "wake_up.h"

struct pl_event_room;
struct pl_resolver;
struct pl_target;

/** A process that was followed and has just ended: its children may still turn up. */
struct pl_past {
	pid_t pid;
	uint64_t ended_ns;
};

struct pl_engine {
	struct pl_engine_options options;
	struct pl_queue queue;
	struct pl_resolver *resolver;

	pthread_t thread;
	bool started;
	struct pl_wake_up wake_up; /* sent for orders and to stop */
	int exit_fd;		   /* an epoll of all pid_fds; -1: our own process, which we do not outlive */
	atomic_bool stopping, left;
	_Atomic pid_t tid; /* of the thread; 0: it has not begun */
	struct pl_orders orders;
	_Atomic uint64_t consumer_cpu_ns;

	pthread_mutex_t lock; /* guards stats and error */
	struct pl_engine_stats stats;
	struct plumb_error *error;

	/* the sampling thread's */
	struct pl_tables tables;
	PL_VEC(struct pl_target *) targets;
	size_t asked;		  /* of them were asked for and have not ended */
	struct pl_births *births; /* NULL: children are not followed */
	PL_VEC(struct pl_past) past;
	uint32_t told_children, swept_children; /* how they were found */
	uint64_t opened_boot_ns;
	PL_VEC(pid_t) sessions; /* of those that were asked for and have ended */
	uint64_t over_next_ns;	/* once all have: when to ask whether the rest is over, too */
	size_t search_first;	/* of the targets, whom to look at first */
	uint64_t looks_ns;	/* up to when looks into files have used up their share of time */
	uint64_t costly_ns;	/* when it is the next one's turn whose files take long */
	uint64_t waits_ns;	/* up to when looks at tasks have used up theirs */
	uint32_t next_process, next_thread, attached_count;
	struct pl_room room;
	struct pl_engine_stats now;	  /* copied to stats now and then */
	struct pl_event_room *event_room; /* NULL: there was no event */
	uint64_t events_lost;		  /* that are not told yet */
	uint64_t events_from_ns;	  /* time of the session when the last pause ended; 0: there was none */
	struct pl_beside beside;	  /* which processor the sampling thread keeps to */
	uint64_t start_ns;		  /* a pause moves it */
	struct pl_suspension suspension;
	uint64_t looked_ns, stood_ns; /* in this round: when its clock was looked at (0: there is none), for how long
					 we stood still */
	uint64_t paused_ns;	      /* with now.paused: since when */
	uint64_t gone_stops, gone_stopped_ns; /* of targets that have ended */
	uint64_t gone_used_ns;		      /* CPU time */
	uint64_t used_told_ns;		      /* CLOCK_MONOTONIC */
	struct pl_refusals gone_refusals;
	struct pl_late_news late_news;
	uint32_t sent_nodes, sent_codes, judged_codes, sent_modules;
};

#endif
