/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that looks at the clock all the time, for bench/own_pauses.py: for how long it did not run each time, and
 * why. It never waits for anything, so where it has given up its processor, somebody has stopped it; else it was
 * preempted. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#define GAP_NS 2000 /* between two looks at the clock there are 20 to 100 ns */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Look for @p seconds. Returns how many pauses were stops, *preempted how many were not; ret has the first @p room. */
uint64_t watch_clock(double seconds, uint64_t *ret, uint64_t room, uint64_t *preempted)
{
	const uint64_t end_ns = now_ns() + (uint64_t)(seconds * 1e9);
	struct rusage before, after;
	uint64_t stops = 0, last = now_ns(), now;

	*preempted = 0;
	getrusage(RUSAGE_THREAD, &before);
	for (last = now_ns(); (now = now_ns()) < end_ns; last = now) {
		if (now - last < GAP_NS)
			continue;
		getrusage(RUSAGE_THREAD, &after);
		if (after.ru_nvcsw == before.ru_nvcsw)
			*preempted += after.ru_nivcsw != before.ru_nivcsw;
		else if (stops++ < room)
			ret[stops - 1] = now - last;
		before = after;
		now = now_ns();
	}
	return stops;
}
