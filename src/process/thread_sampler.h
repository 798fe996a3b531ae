/* SPDX-License-Identifier: Apache-2.0 */
/* A thread sampler: what is known of one thread, and a sample of it whenever it is asked for. Decides how its stack is
 * proved:
 *
 *   blocked, and not run since         -> the last sample still holds; nothing is read
 *   blocked                            -> its stack stands still: read, EXACT
 *   running, stable                    -> read; a steady reading is EXACT
 *   stopped by us, and not run since   -> with native frames, the last sample still holds, too
 *   running, unstable or not steady    -> stop it for some microseconds and read, STOPPED
 *   ... but nothing may be stopped     -> stand on its processor and read, EXACT (os/beside.h)
 *   ... but that cannot be had         -> DOUBTFUL (steady by chance) or PARTIAL (what stood throughout: outer.h)
 *   of a core                          -> nothing moves: read, EXACT; what is damaged is PARTIAL, as far as it goes
 *
 * A thread counts as unstable from the first reading that fails its proof until STABLE_AFTER readings in a row have
 * passed: a single steady reading of a thread that calls and returns all the time proves little, and taking it when it
 * happens to succeed would prefer the code that stands still. docs/design/002-true-stacks.md, 009-standing-beside.md */
#ifndef PL_THREAD_SAMPLER_H
#define PL_THREAD_SAMPLER_H

#include <sys/types.h>

#include "bursts.h"
#include "leaves.h"
#include "lock_looks.h"
#include "outer.h"
#include "ready_time.h"
#include "stopper.h"
#include "thread_clock.h"

#define PL_STABLE_AFTER 16

struct pl_core;

/** A sample before its names are known. */
struct pl_raw_sample {
	uint32_t node, tag; /* tag: 0 is none */
	uint16_t state;
	uint8_t quality, marker; /* marker: enum pl_marker */
	bool task_untold;	 /* it ran a task, and is shown on its thread's stack */
	bool native_untold;	 /* native frames were asked for, and it has none */
};

enum pl_marker { PL_MARKER_NONE, PL_MARKER_MOVING, PL_MARKER_GC, PL_MARKER_NO_FRAME, PL_MARKER_FOLDED };

struct pl_thread_sampler {
	struct pl_stack_reader stack; /* all zeros: it runs no Python */
	struct pl_outer outer;	      /* of the samples that are not proved whole */
	struct pl_thread_clock clock;
	pid_t pid, tid;
	uint64_t ident; /* pthread_t; 0 of one that runs no Python */
	bool main;
	bool listed; /* in the list that is being read */
	/* The same thread in the next newer and the next older interpreter it has been in; NULL where there is none.
	 * One that runs code in another interpreter waits in the older one, below. */
	struct pl_thread_sampler *newer, *older;
	struct pl_thread_sampler *alike; /* while lists are read: one more of the same ident; NULL: no other */
	char name[128];
	uint8_t name_tries;
	uint64_t name_next_ns; /* when to look for its name again */
	uint64_t cpu_ns;       /* CPU time from came_ns to clocked_ns */
	uint64_t came_ns, clocked_ns;

	struct pl_run_counters counters; /* at the last tick */
	struct pl_run_counters first;	 /* when it was first seen */
	struct pl_bursts bursts;
	struct pl_leaves leaves;    /* where only what runs counts */
	struct pl_ready_time ready; /* who takes its samples asks it */
	bool counted;		    /* the kernel gives counters */
	bool still;		    /* it was blocked; `last` holds while counters.runs does not move */
	bool stood;		    /* in a stop of ours; so it does after that, while it waits for a CPU */
	bool unstable;
	bool seen_unstable;    /* not only taken for one because nothing is known of it yet */
	uint32_t counted_node; /* where it was at the last steady reading that was counted */
	pl_addr counted_instr;
	uint64_t counted_run_ns;
	uint8_t probes;
	uint8_t steady_run;   /* steady readings in a row while unstable */
	uint64_t activity_ns; /* when we last asked the kernel what it does */
	struct pl_raw_sample last;
	struct pl_awaits awaits;      /* while it is still */
	struct pl_thread_holds holds; /* lock_looks.c */
	uint64_t ran_ns; /* run time that has become known; whoever gives it to samples takes it from here */
};

enum pl_take_result {
	PL_TAKE_SAMPLE,	    /* *ret is a sample */
	PL_TAKE_NOTHING,    /* nothing to sample: it did not run, and only threads that do are asked for */
	PL_TAKE_UNREADABLE, /* a loss */
	PL_TAKE_GONE,	    /* the thread has ended */
	PL_TAKE_EXITED,	    /* the process has ended or runs another program */
	PL_TAKE_UNPROVED = PL_TAKE_NOTHING, /* of one way to prove a stack (prove.h), never of a tick */
};

void pl_thread_sampler_init(struct pl_thread_sampler *thread, struct pl_reader *r, pid_t pid, pid_t tid,
			    const struct pl_tstate *ts, const struct pl_interp *interp);
/** The same of a core. */
void pl_thread_sampler_init_of_core(struct pl_thread_sampler *thread, struct pl_reader *r, const struct pl_core *core,
				    pid_t tid, const struct pl_tstate *ts, const struct pl_interp *interp);
void pl_thread_sampler_deinit(struct pl_thread_sampler *thread);

/** A thread without a thread state runs no Python: its samples have native frames, or none. */
void pl_thread_sampler_init_native(struct pl_thread_sampler *thread, pid_t pid, pid_t tid);
static inline bool pl_thread_sampler_is_native(const struct pl_thread_sampler *thread)
{
	return !thread->stack.tstate;
}
/** It has got a thread state, or lost the one it had; it stays the same thread, and what it has run is counted on. */
void pl_thread_sampler_get_state(struct pl_thread_sampler *thread, struct pl_reader *r, const struct pl_tstate *ts,
				 const struct pl_interp *interp);
void pl_thread_sampler_lose_state(struct pl_thread_sampler *thread);
/** It is not the sampler of this thread in its interpreter any more. */
void pl_thread_sampler_unlink(struct pl_thread_sampler *thread);

/** Is this the interpreter that the thread is in, as far as its frames tell? Of those it runs frames in, the newest. */
bool pl_thread_sampler_innermost(const struct pl_thread_sampler *thread, struct pl_reader *r);
/** One tick in which the thread is in another interpreter. */
void pl_thread_sampler_skip(struct pl_thread_sampler *thread);

/** @p c is what the kernel said of it at @p now. */
void pl_thread_sampler_clocked(struct pl_thread_sampler *thread, const struct pl_run_counters *c, uint64_t now);

/** It stands in a stop of ours: how often it has run by now. False: the kernel does not tell. */
bool pl_thread_sampler_count_standing(struct pl_thread_sampler *thread);

/** Nothing is sampled until pl_thread_sampler_resume: what it runs meanwhile does not count. */
void pl_thread_sampler_pause(struct pl_thread_sampler *thread);
void pl_thread_sampler_resume(struct pl_thread_sampler *thread);

/** Is it likely to block before a stop reaches it? Then it is not to be stopped: an interrupted epoll_wait returns
 * EINTR. Not known without run counters. */
bool pl_thread_sampler_blocks_soon(struct pl_thread_sampler *thread);

/** One tick. @p running_only: a thread counts while it runs, by the time for which it does; one that is known not to
 * have run is not read. */
enum pl_take_result pl_thread_sampler_take(struct pl_thread_sampler *thread, struct pl_reader *r,
					   struct pl_stopper *stopper, bool running_only, struct pl_reading *reading,
					   struct pl_raw_sample *ret);
/** One tick for @p taker, who wants what only a stop tells: a thread that runs is stopped, unless the policy is never
 * to do so, and he is called while it is. Whether there is budget left for that is for the caller to ask; what it takes
 * says nothing of what samples cost. */
enum pl_take_result pl_thread_sampler_take_stopped(struct pl_thread_sampler *thread, struct pl_reader *r,
						   struct pl_stopper *stopper, struct pl_stop_taker *taker,
						   struct pl_reading *reading, struct pl_raw_sample *ret);

#endif
