/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/session: a session, and which file does what with it.
 *
 *   session.c   making one, ending it;  whom.c  the processes that it is of
 *   reset.c     counting from anew;  session_snapshot.c  copies of what it counted so far
 *   consumer.c  taking over what was sampled; the consumer thread; status
 *   session_events.c  what happened meanwhile
 *   record.c    its recording, and what went wrong
 *   until.c     ending it when the shares are known
 *   since.c     the figures since counting began;  cycles.c  what each stretch of time counted
 *   control.c   orders from any thread; the child of a fork
 *   session_options.c  what was asked for
 *
 * Each calls only those below it.
 *
 * Threads: the caller's, any number; the consumer; the engine's sampling thread. Whoever holds `work` is the consumer
 * for that time: profile, writer and counts belong to it. `lock` guards what plumb_session_wait() shows, and is held
 * for a moment only. `ordering` is taken before `work`, and that before `lock`. */
#ifndef PL_SESSION_PARTS_H
#define PL_SESSION_PARTS_H

#include <plumb/plumb.h>

#include <pthread.h>
#include <stdatomic.h>

#include "capture.h"
#include "cycles.h"
#include "engine.h"
#include "hottest.h"
#include "session_events.h"

/** When counting began: with the session, or at plumb_session_reset(). */
struct pl_session_since {
	struct pl_engine_stats stats; /* of the engine then */
	uint64_t real_ns, cpu_ns;
	PL_VEC(uint64_t) thread_cpu_ns; /* by thread of the profile */
	bool reset;
};

struct plumb_session {
	struct pl_engine_options options;
	int *tids;	/* what options.hidden and options.tids point into */
	pid_t *pids;	/* what options.pids points into */
	pid_t pid;	/* the first of them that is sampled; it names the recording */
	size_t refused; /* in front of it, as they could not be */
	size_t hinted;	/* of all that could not be: for which it was looked what they have started */
	void (*tell_refused)(void *ctx, int pid, const struct plumb_error *why);
	void *tell_ctx;
	struct pl_target_tags *tags; /* what options.tags is of, if they are another process's */
	unsigned generation;	     /* of the process that began it: forks.h */
	const struct pl_engine_ops *ops;
	struct pl_engine *engine;
	char program[128];
	atomic_bool reaped; /* its id may be another process's by now. Read in signal handlers */
	int wait_status;
	pthread_t consumer;
	bool consuming;

	pthread_mutex_t ordering; /* who gives the engine an order: it is not closed meanwhile */
	pthread_mutex_t work;
	struct plumb_profile *profile;
	struct pl_capture_writer *writer; /* NULL: nothing is written, or writing failed */
	char *path;
	bool named;		     /* the recording, after the Python program */
	bool force;		     /* it may replace what plumb did not write */
	atomic_bool hurry;	     /* it was asked to end */
	int silent_turns;	     /* of the consumer, in which the sampling thread was to end and said nothing:
					READY_SHARE each, or 1 where it was ready */
	bool left;		     /* behind: that thread, and the engine with all that it has borrowed */
	struct plumb_error *failure; /* first thing that went wrong in the consumer */
	struct pl_hottest hot;	     /* by the function of the innermost frame: for the status line */
	uint64_t chunk_ns,
		chunk_wait_ns; /* when the last chunk was written; how long the next one waits: 0 before samples */
	uint64_t samples, by_quality[PL_QUALITIES];
	struct pl_engine_stats stats; /* the latest */
	double until;		      /* half width at which the sampling ends; 0: it does not */
	uint64_t next_look_ns;	      /* of the sampling, at it, */
	int known_looks;	      /* and how many in a row found it */
	struct pl_session_since since;
	struct pl_cycles cycles;
	struct pl_session_events events;
	bool broken; /* records were lost in the middle: nothing after them can be understood */

	pthread_mutex_t lock;
	pthread_cond_t ended_cond;
	struct plumb_status status;
	char hottest[256], shown[256];
};

/* session_options.c */
/** As pl_given_session, and in range. */
struct plumb_error *pl_session_take_options(const struct plumb_session_options *o,
					    struct plumb_session_options *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_session_check_rate(double rate_hz) PLUMB_MUST_CHECK;
uint64_t pl_session_period_ns(double rate_hz);
struct pl_engine_options pl_session_engine_options(const struct plumb_session_options *o);

/* whom.c */
/** It is to sample these processes, each once. What cannot be sampled is told, and left out. Errors: of the last one,
 * if none is left. */
struct plumb_error *pl_session_choose_whom(struct plumb_session *s, const int *pids, size_t count) PLUMB_MUST_CHECK;
/** It is to sample the process whose number comes into s->pids[0]. */
struct plumb_error *pl_session_choose_child(struct plumb_session *s) PLUMB_MUST_CHECK;
/** The engine has them. */
void pl_session_know_whom(struct plumb_session *s);

/* control.c */
/** Are we in a child of the process that began it? Then none of its threads is there, and nothing of it means anything.
 */
bool pl_session_forked(const struct plumb_session *s);
struct plumb_error *pl_session_check_forked(const struct plumb_session *s) PLUMB_MUST_CHECK;
/** Whether the program that was launched has ended; false of one that was not. Async-signal-safe. */
bool pl_session_program_ended(const struct plumb_session *s);
/** Give the engine an order and wait until it is done; with time at a standstill only one that changes that. */
void pl_session_order(struct plumb_session *s, struct pl_order order);

/* consumer.c */
/** Take over what was sampled until now. Under `work`. */
void pl_session_take(struct plumb_session *s);
void *pl_session_consume(void *session);

/* until.c */
/** The widest half width of the shares that the report's tree shows, 1 where there are none. Under `work`. */
double pl_session_half_width(const struct plumb_session *s);
/** Whether the sampling ended because it is as narrow as was asked for. */
bool pl_session_is_known(const struct plumb_session *s);
/** Look whether it is as narrow as was asked for, if it is time to, and end the sampling then. Under `work`. */
void pl_session_end_when_known(struct plumb_session *s);

/* since.c */
/** What the engine says, since counting began. */
struct pl_engine_stats pl_session_stats_since(const struct plumb_session *s);
uint64_t pl_session_cost_ns(const struct plumb_session *s);
/** Make the figures of @p p, the session's profile or a copy, those since counting began. */
void pl_session_fit(const struct plumb_session *s, struct plumb_profile *p);

/* record.c */
/** Keep the first thing that went wrong. */
void pl_session_failed(struct plumb_session *s, struct plumb_error *err);
struct plumb_error *pl_session_open_recording(struct plumb_session *s, const char *path) PLUMB_MUST_CHECK;
/** Write what has come if it is time. */
void pl_session_write_chunk(struct plumb_session *s, uint64_t now);
/** A shell script or a launcher was started, and now a Python has turned up. Only a name that we chose is changed. */
void pl_session_name_after_python(struct plumb_session *s);
/** Without the recording the profile still grows: the report comes all the same. */
void pl_session_writing_failed(struct plumb_session *s, struct plumb_error *err);
/** @p worth_it: something was recorded; else nothing is left of it, and what was there before is. */
void pl_session_finish_recording(struct plumb_session *s, bool worth_it);

#endif
