/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine is: it samples a target and fills a profile. Engines know no output format. docs/design/016-engines.md
 *
 * Threads: open, start, take_error and close are called by one thread at a time, wait by the consumer thread of the
 * session, take by one at a time, the rest by any. The sampling itself runs in a thread of the engine's own that does
 * nothing else; take() takes over what it found, resolves names and lines into the profile's tables and hands each
 * sample to the sink. */
#ifndef PL_ENGINE_H
#define PL_ENGINE_H

#include <math.h>
#include <sys/types.h>

#include "profile.h"
#include "stop_policy.h"

struct plumb_tags;

/* Of a core, and of the time of a program that is stopped. */
#define PL_USUAL_OVERHEAD 0.2
/* Of what our cgroup may use, where that is less: the program is mostly in the same one, and has what we leave. */
#define PL_QUOTA_OVERHEAD 0.05

/** What a program has said with plumb.event(). */
struct pl_engine_event {
	uint64_t time_ns; /* of the session */
	uint64_t tid;	  /* 0: not known */
	uint64_t lost;	  /* how many were lost; then there is no text, and nothing else is told */
	uint32_t pid, name_len, labels_len;
	char *text; /* the name, then labels: names and values in turn, each with a NUL. Whoever is told frees it */
};
typedef void pl_engine_event_fn(void *ctx, struct pl_engine_event *e);

struct pl_engine_options {
	/* Whom: these processes, each once. Borrowed while the engine lives */
	const pid_t *pids;
	size_t pid_count;
	/* What cannot be sampled is left out, and @p err goes to this function; but the last one is told by open() if
	 * none is left. NULL: for one process */
	void (*refused)(void *ctx, pid_t pid, struct plumb_error *err);
	void *refused_ctx;
	/* Is told of events in take(); NULL: nobody is. Not of those of our own process */
	pl_engine_event_fn *event;
	void *event_ctx;
	bool own;	    /* it is ours: plumb runs in it */
	bool launched;	    /* our child, perhaps not yet running Python: wait for one to appear */
	bool subprocesses;  /* sample their descendants, too */
	uint64_t period_ns; /* 0: as fast as possible */
	/* The rate falls until sampling costs no more than this share. 0: PL_USUAL_OVERHEAD for the rounds alone, but
	 * as fast as possible they may cost what they do; INFINITY: no limit */
	double max_overhead;
	double quota;  /* of processors that we may use, whatever for; 0: all */
	bool priority; /* before other programs */
	enum pl_mode mode;
	enum pl_stop_policy stop;
	bool jitter;
	bool opcodes; /* 3.11+: tell which instruction each frame runs */
	bool tasks; /* show what an asyncio task does below the coroutines that await it, and for how long tasks wait */
	bool native;	     /* the frames of C, C++ and Rust, too */
	bool kernel;	     /* with them: where in the kernel those are that are blocked */
	bool native_threads; /* with them: threads that run no Python, too */
	bool sources;	     /* keep the texts of the files that functions come from */
	bool locks; /* in wall mode: which locks are waited for, and who holds them; sums have no place for it */
	uint64_t seed;
	uint64_t duration_ns;	    /* 0: no limit */
	const char *const *threads; /* names or decimal tids; NULL: all. Borrowed while the engine lives */
	size_t thread_count;
	const struct plumb_tags *tags; /* NULL: none. Borrowed as well */
	const int *hidden, *tids;      /* kernel tids: not these; only these, NULL: all. Borrowed as above */
	size_t hidden_count, tid_count;
	size_t max_nodes;  /* stacks and codes that are told apart */
	uint64_t cycle_ns; /* tell the consumer when so much time is over, again and again; 0: no cycles */
};

/** Of processors that we may use: as pl_engine_options.quota. */
double pl_engine_quota(void);

/** How much of a core sampling may cost before the rate falls: a share, 0 no limit. */
static inline double pl_overhead_limit(const struct pl_engine_options *o)
{
	double of_quota = o->quota > 0 ? PL_QUOTA_OVERHEAD * o->quota : PL_USUAL_OVERHEAD;
	double usual = !o->period_ns ? 0 : of_quota < PL_USUAL_OVERHEAD ? of_quota : PL_USUAL_OVERHEAD;
	double limit = o->max_overhead ? o->max_overhead : usual;

	return isfinite(limit) ? limit : 0;
}

/** For which share of its time the program may stand still before the rate falls; 0 no limit. Whoever wants each thread
 * stopped at each sample gets it, and whoever wants none stopped gets samples as fast as possible. */
static inline double pl_still_limit(const struct pl_engine_options *o)
{
	double most = PL_STILL_PERMILLE / 1000.0, limit = pl_overhead_limit(o);
	bool asked = o->stop == PL_STOP_ALWAYS && !o->native; /* which takes stops for its own sake */

	if (limit == 0)
		return o->max_overhead == 0 && o->stop != PL_STOP_NEVER && !asked ? most : 0;
	return !asked && most < limit ? most : limit;
}

/** What an engine can be told while it samples. */
enum pl_order_kind {
	PL_ORDER_PAUSE, /* no more samples; time stands still */
	PL_ORDER_RESUME,
	PL_ORDER_PERIOD,
	PL_ORDER_TELL,	       /* bring the figures up to date */
	PL_ORDER_TELL_THREADS, /* and what is known of the threads */
};
struct pl_order {
	enum pl_order_kind kind;
	uint64_t period_ns;
};

struct pl_engine_stats {
	bool ended;	   /* the sampling thread is done */
	bool target_ended; /* all processes that were asked for; their descendants may go on */
	bool found_python;
	bool paused;
	uint32_t threads, processes; /* being sampled */
	uint64_t elapsed_ns, ticks, taken_ns, missed_ns, losses[PL_LOSSES], stops, stopped_ns;
	uint64_t used_cpu_ns; /* by the processes, while they were sampled; 0: not known */
	uint64_t halted_ns;   /* for which a signal or a debugger had stopped the process that was asked for first */
	uint64_t suspended_ns,
		suspended_at_ns; /* for which we stood still ourselves, all in all; when the last time began */
	uint64_t period_ns;	 /* as it is now */
	uint64_t told_ns;	 /* CLOCK_MONOTONIC at elapsed_ns */
	uint64_t cpu_ns;	 /* of the sampling thread and of the consumer */
	struct pl_refusals refusals;
};

typedef struct plumb_error *pl_engine_sample_fn(void *ctx, const struct pl_sample *s);

/** What an engine tells beside Python frames; a set. */
enum pl_engine_can {
	PL_CAN_NATIVE = 1,  /* frames of C, C++ and Rust */
	PL_CAN_KERNEL = 2,  /* those of the kernel */
	PL_CAN_OFF_CPU = 4, /* each wait as one sample, with its length and its reason */
};

struct pl_engine; /* private to each engine */

struct pl_engine_ops {
	const char *name;
	/** What could it tell here? A set of enum pl_engine_can. Asked before a program is started; changes nothing.
	 * Errors: why it cannot sample as @p o asks for. */
	struct plumb_error *(*probe)(const struct pl_engine_options *o, unsigned *can_ret);
	/** Find the targets and their Pythons. Not launched: all errors of plumb_session_attach() are told here. */
	struct plumb_error *(*open)(const struct pl_engine_options *o, struct pl_engine **ret);
	/** Begin to sample; samples' time counts from here. */
	struct plumb_error *(*start)(struct pl_engine *e);
	/** Wait up to @p timeout_ms (-1: no limit) until there is much to take, or something to tell. */
	void (*wait)(struct pl_engine *e, int timeout_ms);
	/** Move what was sampled into the tables of @p p and give each sample, not counted yet, to @p fn. Errors: of
	 * @p fn, PLUMB_ERR_NO_MEMORY. */
	struct plumb_error *(*take)(struct pl_engine *e, struct plumb_profile *p, pl_engine_sample_fn *fn, void *ctx);
	/** Of a moment ago; a thread is counted before take() gives its first sample. */
	void (*stats)(struct pl_engine *e, struct pl_engine_stats *ret);
	/** Returns when it has been done, or sampling has ended. */
	void (*order)(struct pl_engine *e, struct pl_order order);
	void (*stop)(struct pl_engine *e); /* async-signal-safe */
	/** The sampling thread runs or waits for a processor, and for nothing else. Consumer. */
	bool (*ready)(struct pl_engine *e);
	/** The sampling thread does not come back: it has ended for whoever asks, and is left behind. The engine is not
	 * closed afterwards, and what it has borrowed stays. Consumer. */
	void (*leave)(struct pl_engine *e);
	/** Why no Python was sampled; NULL if there was one, or nothing is known. Owner: caller. */
	struct plumb_error *(*take_error)(struct pl_engine *e);
	void (*close)(struct pl_engine *e);
};

/** All there are, the one to be preferred first; ends with NULL. Who has another table (a test) links that instead. */
extern const struct pl_engine_ops *const pl_engines[];
extern const struct pl_engine_ops pl_engine_remote;

/** The engine called @p name, if it can do what @p o asks for; NULL or "auto": the first one that can. Errors:
 * PLUMB_ERR_INVALID: there is none of that name, or it does not tell what is to be shown; those of its probe. */
struct plumb_error *pl_engine_choose(const char *name, const struct pl_engine_options *o,
				     const struct pl_engine_ops **ret) PLUMB_MUST_CHECK;

#endif
