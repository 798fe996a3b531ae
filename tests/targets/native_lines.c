/* SPDX-License-Identifier: Apache-2.0 */
/* Three loops on known lines, of which one is compiled into its caller. It tells how long each of them has run. */
#include <stdint.h>
#include <time.h>

static uint64_t times[3];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline __attribute__((always_inline)) uint64_t turned(uint64_t x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005u + (x >> 33) + 1442695040888963407u; /* inlined loop */
	return x;
}

__attribute__((noinline)) uint64_t loops(uint64_t x, uint64_t n)
{
	uint64_t began = now();

	for (uint64_t i = 0; i < 3 * n; i++)
		x ^= x << 13, x ^= x >> 7, x ^= x << 17; /* first loop */
	uint64_t first = now();
	for (uint64_t i = 0; i < n; i++)
		x ^= x << 13, x ^= x >> 7, x ^= x << 17; /* second loop */
	uint64_t second = now();
	times[0] += first - began;
	times[1] += second - first;
	return x;
}

__attribute__((noinline)) uint64_t works(uint64_t x, uint64_t n)
{
	x = loops(x, n); /* call */
	uint64_t began = now();
	x = turned(x, 2 * n); /* call of the inlined one */
	times[2] += now() - began;
	return x;
}

void times_of(uint64_t ret[3])
{
	for (int i = 0; i < 3; i++)
		ret[i] = times[i];
}
