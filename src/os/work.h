/* SPDX-License-Identifier: Apache-2.0 */
/* What looking through the files and the memory of others may cost. Whoever made them chose how much there is to look
 * at, so work is counted, and ends at what the asker allows: one for each byte that is looked at, or for what takes
 * about as long, a nanosecond at most. Time itself would be no measure: on a busy machine less would be found. */
#ifndef PL_WORK_H
#define PL_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct pl_work {
	uint64_t most, spent;
	bool ran_out; /* something was left out: it would have taken more */
};

#define PL_WORK_KEPT 16u	 /* bytes are found that were read before */
#define PL_WORK_CALL 1024u	 /* a short system call */
#define PL_WORK_OPEN (16u << 10) /* a file is found and opened */

/** May so much more be done? Then it counts as done. What is too much is left out, and less may still be done. */
static inline bool pl_work_spend(struct pl_work *w, uint64_t units)
{
	if (w->spent > w->most || units > w->most - w->spent) {
		w->ran_out = true;
		return false;
	}
	w->spent += units;
	return true;
}

/** So much had to be done. */
static inline void pl_work_note(struct pl_work *w, uint64_t units)
{
	w->spent += units;
}

#endif
