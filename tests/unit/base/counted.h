/* SPDX-License-Identifier: Apache-2.0 */
/* Work as a number that is the same on every machine, for programs linked with counted.c, counted_lib and the --wrap
 * options of counted_link: each block of plumb's code that is run is one, and what the C library does with bytes is one
 * for each 16 of them. */
#ifndef PL_TEST_COUNTED_H
#define PL_TEST_COUNTED_H

#include <stdint.h>

struct counted {
	uint64_t work;
	uint64_t allocated; /* bytes, whether or not they were given back */
};

/** What has been counted since the program began. */
struct counted counted_now(void);

/** Fails unless @p scenario, given a file of four times the length, works and allocates about four times as much.
 * @p scenario is called with @p ctx and the number of items of the file that it makes, reads in between counted_begin()
 * and counted_end(), and frees. */
void counted_linear(void (*scenario)(void *ctx, unsigned items), void *ctx, unsigned items);
void counted_begin(void);
void counted_end(void);
/** One more, for a loop of a test: its own code is not counted. */
void counted_step(void);

#endif
