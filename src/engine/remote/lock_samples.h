/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of threads that wait for a lock: they are sent at the end of the round, with who held it. Sampling thread
 * only. */
#ifndef PL_LOCK_SAMPLES_H
#define PL_LOCK_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "thread_sampler.h"
#include "vec.h"

struct pl_engine;
struct pl_sampled;
struct pl_target;

struct pl_lock_sample {
	struct pl_sampled *thread;
	struct pl_raw_sample sample;
	uint64_t time_ns, weight_ns;
	uint32_t lock; /* position in the process's looks; UINT32_MAX: beyond what is asked */
};

/** Of the round. */
struct pl_lock_samples {
	PL_VEC(struct pl_lock_sample) list;
};

/** Take the sample if its thread waits for a lock. False: it is to be sent at once. */
bool pl_lock_samples_take(struct pl_target *t, struct pl_sampled *thread, const struct pl_raw_sample *s,
			  uint64_t time_ns, uint64_t weight_ns);
/** All threads have had their turn: send what was taken. */
void pl_lock_samples_send(struct pl_engine *e, struct pl_target *t);

#endif
