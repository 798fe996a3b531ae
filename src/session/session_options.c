/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: are a session's options in range, and what they are for an engine. */
#include "session_parts.h"

#include <math.h>
#include <unistd.h>

#include "clock.h"
#include "given.h"

static uint64_t fresh_seed(void)
{
	return pl_clock_real_ns() * 0x9e3779b97f4a7c15ull ^ (uint64_t)getpid();
}

struct plumb_error *pl_session_check_rate(double rate_hz)
{
	if (rate_hz == 0 || (rate_hz >= 0.01 && rate_hz <= 1e6))
		return NULL;
	return pl_error(PLUMB_ERR_INVALID, "a rate of %g per second is out of range: 0.01 to 1,000,000, or max",
			rate_hz);
}

uint64_t pl_session_period_ns(double rate_hz)
{
	return rate_hz > 0 ? (uint64_t)(1e9 / rate_hz) : 0;
}

/* Registers are to be had of a thread that is stopped or blocked, and of no other. */
static struct plumb_error *check_native(const struct plumb_session_options *o)
{
	if (o->stop == PLUMB_STOP_NEVER)
		return pl_error(PLUMB_ERR_INVALID,
				"native frames of a thread that runs cannot be read without stopping "
				"it");
	return NULL;
}

static struct plumb_error *check_native_threads(const struct plumb_session_options *o)
{
	if (o->native == PLUMB_NATIVE_NONE)
		return pl_error(PLUMB_ERR_INVALID,
				"threads that run no Python have native frames alone: they are shown with these only");
	if (o->mode == PLUMB_MODE_GIL)
		return pl_error_hint(pl_error(PLUMB_ERR_INVALID, "a thread that runs no Python never has the GIL"),
				     "sample threads without Python in mode wall or cpu");
	return NULL;
}

static struct plumb_error *check_ranges(const struct plumb_session_options *o)
{
	struct plumb_error *err = pl_session_check_rate(o->rate_hz);

	if (err)
		return err;
	if (o->max_overhead != 0 && o->max_overhead != INFINITY && !(o->max_overhead >= 0.0001 && o->max_overhead <= 1))
		return pl_error(PLUMB_ERR_INVALID, "an overhead of %g %% is out of range: 0.01 to 100",
				100 * o->max_overhead);
	if (o->until != 0 && !(o->until >= 0.0001 && o->until <= 1))
		return pl_error(PLUMB_ERR_INVALID, "an interval of %g points is out of range: 0.01 to 100",
				100 * o->until);
	if (o->kernel && o->native == PLUMB_NATIVE_NONE)
		return pl_error(PLUMB_ERR_INVALID, "frames of the kernel are shown with native frames only");
	if (o->native_threads && (err = check_native_threads(o)))
		return err;
	return o->native != PLUMB_NATIVE_NONE ? check_native(o) : NULL;
}

struct plumb_error *pl_session_take_options(const struct plumb_session_options *o, struct plumb_session_options *ret)
{
	struct plumb_error *err = pl_given_session(o, ret);

	return err ? err : check_ranges(ret);
}

struct pl_engine_options pl_session_engine_options(const struct plumb_session_options *o)
{
	return (struct pl_engine_options){
		.subprocesses = o->subprocesses == PLUMB_SUBPROCESSES_YES,
		.period_ns = pl_session_period_ns(o->rate_hz),
		.max_overhead = o->max_overhead,
		.quota = pl_engine_quota(),
		.priority = o->priority,
		.opcodes = o->opcodes,
		.tasks = o->tasks,
		.native = o->native != PLUMB_NATIVE_NONE,
		.kernel = o->kernel,
		.native_threads = o->native_threads,
		.sources = !o->no_sources,
		.locks = !o->no_recording,
		.mode = (enum pl_mode)o->mode,
		.stop = (enum pl_stop_policy)o->stop,
		.jitter = !o->no_jitter,
		.seed = o->has_seed ? o->seed : fresh_seed(),
		.duration_ns = o->duration_ns,
		.threads = o->thread_count ? o->threads : NULL,
		.thread_count = o->thread_count,
		.hidden = o->hidden,
		.hidden_count = o->hidden_count,
		.tids = o->tids,
		.tid_count = o->tid_count,
		.max_nodes = o->max_nodes ? o->max_nodes : PLUMB_MAX_NODES,
		.cycle_ns = o->cycle_ns,
	};
}
