/* SPDX-License-Identifier: Apache-2.0 */
/* What all processes that are open together may take: a process takes two descriptors, and so does each thread. */
#ifndef PL_ROOM_H
#define PL_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#define PL_MAX_SAMPLED_THREADS 4000 /* threads at once, in all processes, beside main threads */

#define PL_MAX_NATIVE_THREADS 1000 /* threads that run no Python find room while there are fewer threads than this */

struct pl_room {
	uint64_t max_files;	     /* that we may open for them */
	uint32_t processes, threads; /* that are open */
};

/** Take the descriptors that the hard limit allows. */
void pl_room_raise(void);
/** How many are left, by the number of one that was opened just now; those of our own process are the program's:
 * @p own, and it is left most of them. */
void pl_room_measure(struct pl_room *r, int fd, bool own);
/** For one more process, or for one more thread? */
bool pl_room_for_one(const struct pl_room *r);
/** For one more thread that runs no Python? Half of the descriptors are left to those that do. */
bool pl_room_for_native(const struct pl_room *r);

#endif
