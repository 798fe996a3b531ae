/* SPDX-License-Identifier: Apache-2.0 */
/* What threads were doing, counted as CPython's collectors count: over all observations, also of threads without a
 * stack. Inside the layer only. */
#ifndef PL_THREAD_FIGURES_H
#define PL_THREAD_FIGURES_H

#include "json.h"
#include "profile.h"
#include "vec.h"

struct pl_figures {
	uint64_t has_gil, on_cpu, gil_requested, unknown, has_exception, total, gc;
	bool seen;
};

struct pl_thread_figures {
	const struct plumb_profile *p;
	uint64_t *tids; /* sorted, each once */
	uint32_t tid_count;
	uint32_t *rank_of;	      /* thread of the profile -> index in tids */
	uint8_t *marks;		      /* of stacks: what is in them */
	struct pl_figures all, *each; /* each: by rank */
	PL_VEC(uint32_t) order;	      /* ranks, first seen first */
	uint64_t ticks, gc_ticks;
	uint64_t tick_time_ns, tick_samples; /* of the tick that is being counted */
	bool tick_gc;
};

/** To be released with pl_thread_figures_deinit, also after an error. */
struct plumb_error *pl_thread_figures_init(struct pl_thread_figures *f, const struct plumb_profile *p) PLUMB_MUST_CHECK;
void pl_thread_figures_deinit(struct pl_thread_figures *f);
struct plumb_error *pl_thread_figures_add(struct pl_thread_figures *f, const struct pl_sample *s) PLUMB_MUST_CHECK;
/** After the last sample. */
void pl_thread_figures_finish(struct pl_thread_figures *f);
/** Is it a stack of tasks, which was made of what waits for what and not seen in a thread? */
bool pl_thread_figures_is_task(const struct pl_thread_figures *f, uint32_t stack);
/** The members "thread_stats" and "per_thread_stats". */
void pl_thread_figures_write(const struct pl_thread_figures *f, struct pl_json *j);

#endif
