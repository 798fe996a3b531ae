/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of programs that are simulated, for comparisons: hundreds of them, of 30 s each, cost a second. */
#ifndef TEST_MODEL_SIMULATED_H
#define TEST_MODEL_SIMULATED_H

#include "diff.h"
#include "support.h"

#define MS		    1000000ull
#define SIMULATED_FUNCTIONS 16
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true /* seeds are fixed: what thousands of recordings tell is told without sanitizers */
#else
#define SANITIZED false
#endif

/* A program of functions f0, f1, ... below main -> loop. It stays in a function for `dwell` samples on average: 1 makes
 * independent samples. f0 takes a fifth, times `slow`; the last ones very little. */
struct program {
	double dwell, slow;
	bool periodic; /* goes round through its functions every 40 ms instead of at random */
};

/** @p samples of it, at 1 kHz. Caller destroys. */
struct plumb_profile *simulate(const struct program *g, uint64_t seed, unsigned samples);
/** A run of the program to its end: of so many ms if it is not slow, times @p speed of the machine. */
struct plumb_profile *simulate_run(const struct program *g, uint64_t seed, unsigned ms, double speed);

struct pl_diff compare(struct plumb_profile *const *before, size_t n, struct plumb_profile *const *after, size_t m,
		       const struct pl_diff_options *o);
const char *name_of(const struct pl_diff *d, uint32_t row);
/** The row of the function, and of the line unless that is 0. Fails the test if there is none. */
const struct pl_diff_row *find_row(const struct pl_diff *d, const char *name, int32_t line);

#endif
