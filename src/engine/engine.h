/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine is: it samples a target and fills a profile. Engines know no output format.
 *
 * Threads: open, poll, stats, stop and close are called by one consumer thread of the session (stats and stop by any).
 * The sampling itself runs in a thread of the engine's own that does nothing else; poll() takes over what it found,
 * resolves names and lines into the profile's tables and hands each sample to the sink. */
#ifndef PL_ENGINE_H
#define PL_ENGINE_H

#include <sys/types.h>

#include "profile.h"

enum pl_stop_policy { PL_STOP_AUTO, PL_STOP_NEVER, PL_STOP_ALWAYS };

struct pl_engine_options {
	pid_t pid;
	bool launched;	     /* our child, perhaps not yet running Python: wait for one to appear */
	bool subprocesses;   /* sample its descendants, too */
	uint64_t period_ns;  /* 0: as fast as possible */
	double max_overhead; /* the rate falls until sampling costs no more than this share; 0: no limit */
	enum pl_mode mode;
	enum pl_stop_policy stop;
	bool jitter;
	bool opcodes; /* 3.11+: tell which instruction each frame runs */
	uint64_t seed;
	uint64_t duration_ns;	    /* 0: no limit */
	const char *const *threads; /* names or decimal tids; NULL: all. Borrowed while the engine lives */
	size_t thread_count;
};

/** Stops that the kernel did not allow. */
struct pl_refusals {
	uint64_t by_cause[PL_REFUSALS]; /* enum pl_refused */
	char why[320];			/* the last one in words, "" if there was none */
};

struct pl_engine_stats {
	bool ended;	   /* the sampling thread is done */
	bool target_ended; /* the process that was asked for; its descendants may go on */
	bool found_python;
	uint32_t threads, processes; /* being sampled */
	uint64_t elapsed_ns, ticks, taken_ns, missed_ns, losses[PL_LOSSES], stops, stopped_ns;
	struct pl_refusals refusals;
};

typedef struct plumb_error *pl_engine_sample_fn(void *ctx, const struct pl_sample *s);

struct pl_engine; /* private to each engine */

struct pl_engine_ops {
	const char *name;
	/** Find the target and its Python. Not launched: all errors of plumb_session_attach() are told here. */
	struct plumb_error *(*open)(const struct pl_engine_options *o, struct pl_engine **ret);
	/** Begin to sample; samples' time counts from here. */
	struct plumb_error *(*start)(struct pl_engine *e);
	/** Wait up to @p timeout_ms for samples, move them into @p p and call @p fn for each. Returns NULL when the
	 * wait timed out or something was handed over. Errors: of @p fn, PLUMB_ERR_NO_MEMORY. */
	struct plumb_error *(*poll)(struct pl_engine *e, struct plumb_profile *p, int timeout_ms,
				    pl_engine_sample_fn *fn, void *ctx);
	void (*stats)(struct pl_engine *e, struct pl_engine_stats *ret);
	void (*stop)(struct pl_engine *e); /* async-signal-safe */
	/** Why no Python was sampled; NULL if there was one, or nothing is known. Owner: caller. */
	struct plumb_error *(*trouble)(struct pl_engine *e);
	void (*close)(struct pl_engine *e);
};

extern const struct pl_engine_ops pl_engine_remote;

#endif
