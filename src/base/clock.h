/* SPDX-License-Identifier: Apache-2.0 */
/* Monotonic and wall time in nanoseconds; the seeded random numbers of the sampling clock. */
#ifndef PL_CLOCK_H
#define PL_CLOCK_H

#include <stdint.h>

#define PL_NS_PER_S 1000000000ull

uint64_t pl_clock_monotonic_ns(void);  /* CLOCK_MONOTONIC */
uint64_t pl_clock_real_ns(void);       /* CLOCK_REALTIME, for "recorded at" only */
uint64_t pl_clock_thread_cpu_ns(void); /* CPU time of the calling thread */
uint64_t pl_clock_process_cpu_ns(void);

/** splitmix64: small, seedable, good enough to place a sample inside its period. */
struct pl_rng {
	uint64_t state;
};
uint64_t pl_rng_next(struct pl_rng *r);
double pl_rng_unit(struct pl_rng *r); /* uniform in [0, 1) */

#endif
