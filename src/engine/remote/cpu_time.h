/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample weighs in CPU mode. Sampling thread only. */
#ifndef PL_CPU_TIME_H
#define PL_CPU_TIME_H

#include <stdint.h>

struct pl_engine;
struct pl_raw_sample;
struct pl_sampled;

/** A tick without a sample (@p s: NULL) or with one, which waits until its weight is known. */
void pl_cpu_time_send(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t now,
		      uint64_t weight_ns);
/** All that still waits: nothing more will be known of this thread. */
void pl_cpu_time_rest(struct pl_engine *e, struct pl_sampled *thread);
/** The same, as it has ended, or runs another program. */
void pl_cpu_time_end(struct pl_engine *e, struct pl_sampled *thread);

#endif
