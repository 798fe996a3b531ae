/* SPDX-License-Identifier: Apache-2.0 */
/* The remote engine's parts and who owns what. What it knows of one process is process/python_process.h.
 *
 *   sampling_thread.c  the clock, orders
 *   round.c    every thread of every process once;  gil_holders.c  those that hold a GIL
 *   mode.c     what --mode means
 *   tree.c     which processes there are: children come, processes end             } sampling thread only
 *   search.c   when to look for the Python of one process
 *   sampled.c  what sampling has with each thread
 *   task_looks.c  how long tasks wait: --tasks
 *   send.c     handing over to the consumer;  cpu_time.c  in CPU mode, when the run time is known
 *   budget.c   --max-overhead;  schedule.c  when the next tick is due              }
 *   queue.c    from the sampling thread to the consumer;  orders.c  to the sampling thread;  wake_up.c  waking either
 *   resolve.c  the consumer: names and lines, into the profile                     consumer thread only
 *   tagged.c   stacks with a tag                                                   consumer thread only
 *   source_texts.c  the source files that they are of                                   consumer thread only
 *   remote.c   the ops: open, start, stop, close
 *
 * docs/design/003-process-trees.md, 012-one-process.md */
#ifndef PL_REMOTE_H
#define PL_REMOTE_H

#include <pthread.h>
#include <stddef.h>

#include "births.h"
#include "budget.h"
#include "engine.h"
#include "find_python.h"
#include "mode.h"
#include "orders.h"
#include "python_process.h"
#include "queue.h"
#include "target_file.h"
#include "task_waits.h"

#define PL_MAX_TARGETS 1000 /* processes followed at once */

/** Handed to the consumer, who frees it. */
struct pl_thread_info {
	uint32_t index, process; /* numbers in the output */
	uint64_t tid, cpu_ns;
	bool main, cpu_known;
	char name[128];
};

/** The same. Sent when its first thread is known, when it has executed another program, and when it has ended. */
struct pl_process_info {
	uint32_t index, pid, parent;
	uint64_t start_ns; /* since boot; with the pid it names the process */
	uint64_t came_ns, ended_ns;
	bool ended;
	uint32_t view_number; /* grows with each change of the view */
	struct pl_file_view view;
	char python[PL_VERSION_TEXT];
	char name[128], command[4096]; /* of the program */
};

/** Looking for a Python in a process that runs none, or none yet. */
struct pl_search {
	uint64_t next_ns, pause_ns; /* when to look at the process again */
	bool wanted;		    /* its files are to be looked into */
	bool costly;		    /* ... which takes so long that it has to wait for its turn */
	uint64_t full_ns;	    /* when to look into its files again though it seems to be the same program */
	struct pl_proc_stat seen;   /* at the last look */
	uint64_t dev, ino;	    /* of the program then */
	bool inherited;		    /* what is found is the parent's, and not tried yet */
	struct pl_find find;
};

/** One process: the one that was asked for, or a descendant of it. */
struct pl_target {
	struct pl_engine *engine;	 /* whose it is */
	struct pl_python_process python; /* alive while attached, but for its pid */
	pid_t parent, session;
	uint64_t start_ticks;
	int pid_fd;			      /* -1: as exit_fd */
	uint64_t came_ns;		      /* CLOCK_MONOTONIC */
	uint32_t index;			      /* number in the output */
	bool announced;			      /* as the program it is now */
	bool known;			      /* to the consumer */
	bool met;			      /* a tick has met a thread of it */
	bool halted;			      /* stopped by a signal or a debugger, when we looked last: */
	uint64_t halt_look_ns, halt_round_ns; /* CLOCK_MONOTONIC, and the round after it */

	struct pl_file_view view; /* before the codes were seen that were not sent yet; only with options.sources */
	uint32_t view_number;	  /* 0: not known */

	struct pl_stood_still still;

	struct pl_search search;
	bool attached;
	bool forked;	      /* it ran its parent's program when we attached */
	size_t first;	      /* of its threads in the next round; may be beyond the last */
	uint64_t listed_tick; /* in which round the lists were read last */
	struct pl_task_waits waits;
};

/** CPU mode: a sample that waits for its share of the run time. */
struct pl_waiting_sample {
	uint64_t time_ns;
	uint64_t weight_ns; /* what it stands for if the kernel tells no run time: a budget changes the period */
	struct pl_raw_sample sample;
};

/** A thread, and what sampling has with it. */
struct pl_sampled {
	struct pl_thread_sampler sampler; /* first: the list of threads knows nothing else */
	struct pl_target *target;	  /* whose thread it is */
	uint32_t index;			  /* number in the output */
	bool wanted, announced;
	PL_VEC(struct pl_waiting_sample) waiting; /* cpu_time.c */
};

_Static_assert(offsetof(struct pl_sampled, sampler) == 0, "the list hands out the thread sampler");

static inline struct pl_sampled *pl_sampled_of(struct pl_thread_sampler *thread)
{
	return (struct pl_sampled *)thread;
}

/** A process that was followed and has just ended: its children may still turn up. */
struct pl_past {
	pid_t pid;
	uint64_t ended_ns;
};

struct pl_resolver;

struct pl_engine {
	struct pl_engine_options options;
	struct pl_queue queue;
	struct pl_resolver *resolver;

	pthread_t thread;
	bool started;
	struct pl_wake_up wake_up; /* sent for orders and to stop */
	int exit_fd;		   /* an epoll of all pid_fds; -1: our own process, which we do not outlive */
	atomic_bool stopping, left;
	struct pl_orders orders;
	_Atomic uint64_t consumer_cpu_ns;

	pthread_mutex_t lock; /* guards stats and error */
	struct pl_engine_stats stats;
	struct plumb_error *error;

	/* the sampling thread's */
	struct pl_tables tables;
	PL_VEC(struct pl_target *) targets;
	struct pl_target *root;	  /* the one that was asked for; in `targets` until it has ended */
	struct pl_births *births; /* NULL: children are not followed */
	PL_VEC(struct pl_past) past;
	uint32_t told_children, swept_children; /* how they were found */
	uint64_t opened_boot_ns;
	pid_t root_session;    /* once it has ended: */
	uint64_t over_next_ns; /* when to ask whether the rest is over, too */
	uint64_t looks_ns;     /* up to when looks into files have used up their share of time */
	uint64_t costly_ns;    /* when it is the next one's turn whose files take long */
	uint32_t next_process, next_thread, attached_count;
	struct pl_room room;
	struct pl_engine_stats now;	      /* copied to stats now and then */
	struct pl_beside beside;	      /* which processor the sampling thread keeps to */
	uint64_t start_ns;		      /* a pause moves it */
	uint64_t paused_ns;		      /* with now.paused: since when */
	uint64_t gone_stops, gone_stopped_ns; /* of targets that have ended */
	struct pl_refusals gone_refusals;
	uint32_t sent_nodes, sent_codes, judged_codes;
};

/* sampling_thread.c */
void *pl_sampling_thread_main(void *engine);
/** Let the figures of `now` be seen. */
void pl_sampling_thread_publish(struct pl_engine *e, uint64_t now);

/* round.c */
void pl_round(struct pl_engine *e, uint64_t now, uint64_t weight_ns);
/** Sample thread number @p i of @p t; it may leave. */
enum pl_round_result pl_round_one(struct pl_engine *e, struct pl_target *t, size_t i, uint64_t weight_ns);
/** Each thread once. */
enum pl_round_result pl_round_all(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns);

/* task_looks.c */
/** With options.tasks: go on looking at the tasks of @p t. */
void pl_waits_look(struct pl_engine *e, struct pl_target *t, uint64_t now);

/* gil_holders.c */
/** Who holds a GIL, once for each. */
enum pl_round_result pl_round_holders(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns);
/** Without a GIL nobody holds it: nothing would ever be sampled. */
struct plumb_error *pl_gil_check(pid_t pid, struct pl_mem *mem, const struct pl_py *py) PLUMB_MUST_CHECK;

/* send.c */
/** Tell the consumer about a process, with its program unless it has ended. */
void pl_send_process(struct pl_engine *e, struct pl_target *t, bool ended, uint64_t now);
/** Note how the process sees files: before any code of it is. */
void pl_send_look_at_view(struct pl_engine *e, struct pl_target *t);
/** Judge the codes that were met since the last call, all of them by the thread @p tid: whose files are they? */
void pl_send_judge_codes(struct pl_engine *e, struct pl_target *t, pid_t tid);
/** What we know of a thread; of its process first. */
void pl_send_thread(struct pl_engine *e, struct pl_sampled *thread);
/** What a tick found; @p s: NULL, nothing. */
void pl_send_sample(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t weight_ns);
/** A sample of @p time_ns whose weight is known. */
void pl_send_weighed(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t time_ns,
		     uint64_t weight_ns);

/** Tasks were looked at: what some of them waited for; the time that this stands for, and what could not be read. */
void pl_send_wait(struct pl_engine *e, struct pl_sampled *thread, const struct pl_tasks_waiting *wait);
void pl_send_look(struct pl_engine *e, uint64_t stands_ns, uint64_t lost_ns);

/* cpu_time.c */
/** A tick without a sample (@p s: NULL) or with one, which waits until its weight is known. */
void pl_cpu_time_send(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t now,
		      uint64_t weight_ns);
/** All that still waits: nothing more will be known of this thread. */
void pl_cpu_time_rest(struct pl_engine *e, struct pl_sampled *thread);

/* tree.c */
/** Begin with the process of the options. Errors: PLUMB_ERR_NO_PROCESS, PLUMB_ERR_SYSTEM. */
struct plumb_error *pl_tree_open(struct pl_engine *e) PLUMB_MUST_CHECK;
void pl_tree_close(struct pl_engine *e);
/** Look for children that have been born. */
void pl_tree_look(struct pl_engine *e, uint64_t now);
/** Part with those that have ended. */
void pl_tree_reap(struct pl_engine *e, uint64_t now);
void pl_tree_end(struct pl_engine *e, struct pl_target *t, uint64_t now);
/** Nothing is left that sampling should wait for. False between two looks. */
bool pl_tree_over(struct pl_engine *e, uint64_t now);

/* search.c */
/** Try once, with no more than @p work. Afterwards t->attached, or an error: PLUMB_ERR_NOT_READY, PLUMB_ERR_NOT_PYTHON,
 * ... */
struct plumb_error *pl_search_attach(struct pl_engine *e, struct pl_target *t, struct pl_work *work) PLUMB_MUST_CHECK;
/** Forget its Python: it has ended or runs another program. */
void pl_search_detach(struct pl_engine *e, struct pl_target *t);
/** @p t was forked from @p parent, and is what that is unless it has executed a program since. */
void pl_search_inherit(struct pl_target *t, const struct pl_target *parent);
/** Look, if it is time. *ret: why there is no Python; NULL if there is, or if nothing was tried. */
void pl_search_step(struct pl_engine *e, struct pl_target *t, uint64_t now, struct plumb_error **ret);

/* sampled.c */
/** What the list of threads is used for; its user is the target. */
extern const struct pl_thread_list_use pl_sampled_use;
/** Read the lists of interpreters and threads; begin to sample new ones. */
struct plumb_error *pl_sampled_refresh(struct pl_engine *e, struct pl_target *t, uint64_t now) PLUMB_MUST_CHECK;
/** All threads of a process that the consumer knows, with their CPU times as they are now. */
void pl_sampled_announce_all(struct pl_engine *e, struct pl_target *t, uint64_t now);

/* resolve.c */
/** With the texts of files if there are to be sources, those of tags below the stacks that bear one, and max_nodes
 * threads: further ones are one row. 0: no limit. */
struct plumb_error *pl_resolver_create(const struct pl_engine_options *o, struct pl_resolver **ret) PLUMB_MUST_CHECK;
void pl_resolver_destroy(struct pl_resolver *r);
struct plumb_error *pl_resolver_take(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p,
				     pl_engine_sample_fn *fn, void *ctx) PLUMB_MUST_CHECK;
/** After some of these: read the files that they have named for the first time. @p all: nothing comes any more. */
struct plumb_error *pl_resolver_read_texts(struct pl_resolver *r, struct plumb_profile *p, bool all) PLUMB_MUST_CHECK;

#endif
