/* SPDX-License-Identifier: Apache-2.0 */
/* Time and seeded randomness (layer base). Any thread; a generator belongs to one thread. The clocks asked for here
 * exist on every Linux, so that clock_gettime cannot fail. */
#include "clock.h"

#include <time.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t = {0};
	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * PL_NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t pl_clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t pl_clock_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

uint64_t pl_clock_thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t pl_clock_process_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t pl_rng_next(struct pl_rng *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

double pl_rng_unit(struct pl_rng *r)
{
	return (double)(pl_rng_next(r) >> 11) * 0x1p-53;
}
