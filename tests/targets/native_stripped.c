/* SPDX-License-Identifier: Apache-2.0 */
/* A function that is exported, and one that only symbols name. */
#include <stdint.h>

static __attribute__((noinline)) uint64_t inner_work(uint64_t n)
{
	uint64_t x = n + 1;

	for (uint64_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

uint64_t outer_work(uint64_t n)
{
	return inner_work(n) + inner_work(n / 2);
}
