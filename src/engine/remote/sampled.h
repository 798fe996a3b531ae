/* SPDX-License-Identifier: Apache-2.0 */
/* What sampling has with each thread of a process. Which there are is known by the list (thread_list.h). Sampling
 * thread only. */
#ifndef PL_SAMPLED_H
#define PL_SAMPLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "thread_list.h"
#include "thread_sampler.h"
#include "vec.h"

struct pl_engine;
struct pl_target;

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

/** What the list of threads is used for; its user is the target. */
extern const struct pl_thread_list_use pl_sampled_use;
/** Read the lists of interpreters and threads; begin to sample new ones. */
struct plumb_error *pl_sampled_refresh(struct pl_engine *e, struct pl_target *t, uint64_t now) PLUMB_MUST_CHECK;
/** All threads of a process that the consumer knows, with their CPU times as they are now. */
void pl_sampled_announce_all(struct pl_engine *e, struct pl_target *t, uint64_t now);

#endif
