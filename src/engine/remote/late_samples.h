/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that are kept back until the stop of their thread comes about, which tells their native frames. One thread of
 * a process at a time: no stop is begun while another one is still to come. Sampling thread only.
 * docs/design/013-native-stacks.md, "Stops that come late" */
#ifndef PL_LATE_SAMPLES_H
#define PL_LATE_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "sampled.h"

struct pl_engine;
struct pl_target;

/** Of a process. */
struct pl_late_samples {
	struct pl_sampled *thread; /* whose they are; NULL: nobody's */
	PL_VEC(struct pl_waiting_sample) kept;
};
void pl_late_samples_deinit(struct pl_late_samples *l);

/** Keep the sample if its thread is asked to stop and has not come to it. False: it is to be sent at once. */
bool pl_late_samples_keep(struct pl_target *t, struct pl_sampled *thread, const struct pl_raw_sample *s,
			  uint64_t time_ns, uint64_t weight_ns);
/** Let go of late stops that have come about, and send what was kept for them. True if none is left. */
bool pl_late_samples_settle(struct pl_engine *e, struct pl_target *t);
/** The stop of @p thread is not waited for any more: what was kept is sent as it is. */
void pl_late_samples_give_up(struct pl_engine *e, struct pl_sampled *thread);

#endif
