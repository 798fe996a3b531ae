/* SPDX-License-Identifier: Apache-2.0 */
/* Random profiles that hold what hurts formats: nasty names, many processes and threads, all states and qualities,
 * every kind of frame, columns, recursion, empty stacks, odd weights, losses. */
#ifndef TEST_RANDOM_RECORDING_H
#define TEST_RANDOM_RECORDING_H

#include "profile.h"

struct random_shape {
	uint64_t seed;
	uint32_t samples;
	bool wide;	 /* nearly every sample has a stack of its own, names are tame: for measuring */
	bool plain;	 /* tame names, states and weights as a real recording has them */
	uint32_t stacks; /* only wide; not 0: so many, which come evenly over time and come again as those of a program
			    do */
	bool program; /* only with stacks: functions call a few others from a few lines, and a thread runs its own part
			 of the tree: what a profile of a large program looks like to a compressor */
	uint64_t span_ns; /* not 0: the time over which the samples are spread */
};

/** Fill @p p (empty) but for its counts and give each sample to @p fn, whose first error ends it. Equal shapes, equal
 * samples. */
struct plumb_error *random_recording(const struct random_shape *shape, struct plumb_profile *p, pl_sample_fn *fn,
				     void *ctx) PLUMB_MUST_CHECK;

#endif
