/* SPDX-License-Identifier: Apache-2.0 */
/* Having threads of one target stand still, by a stop or by standing on their processor: how much of it is allowed,
 * what it came to, and the stops that have not come about yet. docs/design/002-true-stacks.md, 009-standing-beside.md
 */
#ifndef PL_STOPPER_H
#define PL_STOPPER_H

#include <sys/types.h>

#include "beside.h"
#include "pause.h"
#include "still.h"
#include "stop_policy.h"
#include "vec.h"

struct pl_thread_sampler;

/** Who wants to know of each thread that is stopped: is called while it is, when its stack was read whole. In a list as
 * long as he wants. */
struct pl_stop_taker {
	void (*take)(void *ctx, struct pl_thread_sampler *thread);
	void *ctx;
	struct pl_stop_taker *next; /* the list's */
};

struct pl_stopper {
	enum pl_stop_policy policy;
	uint64_t started_ns;	    /* CLOCK_MONOTONIC */
	uint64_t stops, stopped_ns; /* the time includes that in which we stood beside one */
	uint64_t refused;	    /* times that the budget had nothing left for one */
	struct pl_beside *beside;   /* the engine's; NULL: nobody stands beside */
	uint32_t beside_rounds;	    /* since we stood beside a thread of it */
	struct pl_still still;	    /* by default: which of the two ways */
	uint64_t refused_until_ns;  /* the kernel did not let us stop a thread: not before then again */
	uint64_t spared_until_ns;   /* pl_stopper_spare */
	struct pl_refusals refusals;
	PL_VEC(struct pl_pause)
	late;		 /* must be settled, also when their thread has ended: it is not gone before we let it go */
	bool exit_known; /* the main thread ended in our hands */
	struct pl_stop_taker *takers;
};
/** A Python was found; after an exec once more. @p beside is borrowed. */
void pl_stopper_begin(struct pl_stopper *s, enum pl_stop_policy policy, struct pl_beside *beside, uint64_t now);
void pl_stopper_deinit(struct pl_stopper *s);
/** It was forked at @p at and has not executed a program, which it may be about to do: it is not stopped within a
 * second of that. Who is traced while he executes gets no rights of a set-user-ID program, and nobody else may trace
 * him. */
void pl_stopper_spare(struct pl_stopper *s, uint64_t at);

/** For how long no thread can be stopped nor stood beside, after what was taken; 0: it can. */
uint64_t pl_stopper_spent_for_ns(const struct pl_stopper *s, uint64_t now);

/** Are the policy, the costs and the budget for standing beside one more thread? No right is needed. */
bool pl_stopper_may_stand_beside(struct pl_stopper *s, uint64_t now);
/** Are the policy, the costs and the budget for one more stop? */
bool pl_stopper_may(struct pl_stopper *s, uint64_t now);
/** Threads of this target may still be stood beside: it is worth while to stay on their processor. */
bool pl_stopper_stands_beside(const struct pl_stopper *s, uint64_t now);
/** What standing beside a thread, for one sample, took of the program's time. */
void pl_stopper_stood_beside(struct pl_stopper *s, uint64_t ns);
/** Stop a thread; if it is stopped, pl_stopper_release has to follow. A refusal is noted; without memory for a late
 * stop it is one that nobody is to blame for. */
enum pl_pause_result pl_stopper_stop(struct pl_stopper *s, pid_t pid, pid_t tid, struct pl_pause *ret);
void pl_stopper_release(struct pl_stopper *s, struct pl_pause *pause);
/** The same. A stop that has not come about is not waited for: pl_stopper_settle lets go of it. */
void pl_stopper_release_at_once(struct pl_stopper *s, struct pl_pause *pause);
/** Has a stop of this thread not come about yet? Until we let it go, it runs no code of its own. */
bool pl_stopper_holds(const struct pl_stopper *s, pid_t tid);
/** Has that stop come about by now? The thread stands until it is settled. */
bool pl_stopper_has_come(struct pl_stopper *s, pid_t tid);
/** Let go of late stops that have come about. True if none is left. */
bool pl_stopper_settle(struct pl_stopper *s);
/** The kernel has told, at @p at, that a stop has come about. */
void pl_stopper_told(struct pl_stopper *s, uint64_t at);
/** How long to wait before the next try: the longer a stop has not come about, the longer it can wait for us. */
uint64_t pl_stopper_patience_ns(const struct pl_stopper *s, uint64_t now);

/** @p t stays the caller's. */
void pl_stopper_add_taker(struct pl_stopper *s, struct pl_stop_taker *t);
/** Nothing if it is not in the list. */
void pl_stopper_remove_taker(struct pl_stopper *s, const struct pl_stop_taker *t);
/** @p thread is stopped, and its stack was read whole: all who want to know. */
void pl_stopper_let_take(const struct pl_stopper *s, struct pl_thread_sampler *thread);

void pl_refusals_add(struct pl_refusals *to, const struct pl_refusals *from);

#endif
