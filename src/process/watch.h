/* SPDX-License-Identifier: Apache-2.0 */
/* One watched thread, and a sample of it whenever it is asked for. Decides how its stack is proved:
 *
 *   blocked, and not run since         -> the last sample still holds; nothing is read
 *   blocked                            -> its stack stands still: read, EXACT
 *   running, calm                      -> read; a steady reading is EXACT
 *   running, moving or not steady      -> stop it for some microseconds and read, STOPPED
 *   ... but nothing may be stopped     -> stand on its processor and read, EXACT (os/beside.h)
 *   ... but that cannot be had         -> DOUBTFUL (steady by chance) or PARTIAL (what stood throughout: outer.h)
 *
 * A thread counts as moving from the first reading that fails its proof until CALM_AFTER readings in a row have passed:
 * a single steady reading of a thread that calls and returns all the time proves little, and taking it when it happens
 * to succeed would prefer the code that stands still. docs/design/002-true-stacks.md, 009-standing-beside.md */
#ifndef PL_WATCH_H
#define PL_WATCH_H

#include <sys/types.h>

#include "bursts.h"
#include "outer.h"
#include "stopper.h"
#include "thread_clock.h"

#define PL_CALM_AFTER 16

/** A sample before its names are known. */
struct pl_raw_sample {
	uint32_t node, tag;		/* tag: 0 is none */
	uint8_t state, quality, marker; /* marker: enum pl_marker */
	bool task_untold;		/* it ran a task, and is shown on its thread's stack */
};

enum pl_marker { PL_MARKER_NONE, PL_MARKER_MOVING, PL_MARKER_GC, PL_MARKER_NO_FRAME, PL_MARKER_FOLDED };

struct pl_watch {
	struct pl_stack_reader stack;
	struct pl_outer outer; /* of the samples that are not proved whole */
	struct pl_thread_clock clock;
	pid_t pid, tid;
	uint64_t ident; /* pthread_t */
	bool main;
	bool listed; /* in the list that is being read */
	/* The same thread in the next newer and the next older interpreter it has been in; NULL where there is none.
	 * One that runs code in another interpreter waits in the older one, below. */
	struct pl_watch *newer, *older;
	struct pl_watch *alike; /* while lists are read: one more of the same ident; NULL: no other */
	char name[128];
	uint8_t name_tries;
	uint64_t name_next_ns; /* when to look for its name again */
	uint64_t cpu_ns;       /* CPU time from came_ns to clocked_ns */
	uint64_t came_ns, clocked_ns;

	struct pl_run_counters counters; /* at the last tick */
	struct pl_run_counters first;	 /* when it was first seen */
	struct pl_bursts bursts;
	bool counted; /* the kernel gives counters */
	bool still;   /* it was blocked; `last` holds while counters.runs does not move */
	bool moving;
	bool seen_moving;      /* not only taken for one because nothing is known of it yet */
	uint32_t counted_node; /* where it was at the last steady reading that was counted */
	pl_addr counted_instr;
	uint64_t counted_run_ns;
	uint8_t probes;
	uint8_t steady_run;   /* steady readings in a row while moving */
	uint64_t activity_ns; /* when we last asked the kernel what it does */
	struct pl_raw_sample last;
	uint64_t ran_ns; /* run time that has become known; whoever gives it to samples takes it from here */
};

enum pl_watch_result {
	PL_WATCH_SAMPLE,     /* *ret is a sample */
	PL_WATCH_NOTHING,    /* nothing to sample: it did not run, and only threads that do are asked for */
	PL_WATCH_UNREADABLE, /* a loss */
	PL_WATCH_GONE,	     /* the thread has ended */
	PL_WATCH_EXITED,     /* the process has ended or runs another program */
	PL_WATCH_UNPROVED = PL_WATCH_NOTHING, /* of one way to prove a stack (prove.h), never of a tick */
};

void pl_watch_init(struct pl_watch *w, struct pl_reader *r, pid_t pid, pid_t tid, const struct pl_tstate *ts,
		   const struct pl_interp *interp);
void pl_watch_deinit(struct pl_watch *w);

/** Is this the interpreter that the thread is in, as far as its frames tell? Of those it runs frames in, the newest. */
bool pl_watch_innermost(const struct pl_watch *w, struct pl_reader *r);
/** One tick in which the thread is in another interpreter. */
void pl_watch_skip(struct pl_watch *w);

/** @p c is what the kernel said of it at @p now. */
void pl_watch_clocked(struct pl_watch *w, const struct pl_run_counters *c, uint64_t now);

/** Nothing is sampled until pl_watch_resume: what it runs meanwhile does not count. */
void pl_watch_pause(struct pl_watch *w);
void pl_watch_resume(struct pl_watch *w);

/** One tick. @p running_only: a thread counts while it runs, by the time for which it does; one that is known not to
 * have run is not read. */
enum pl_watch_result pl_watch_sample(struct pl_watch *w, struct pl_reader *r, struct pl_stopper *stopper,
				     bool running_only, struct pl_reading *reading, struct pl_raw_sample *ret);

#endif
