/* SPDX-License-Identifier: Apache-2.0 */
/* Which way of having a thread stand still is the cheaper one: to stop it, or to stand beside it
 * (docs/design/009-standing-beside.md). Pure arithmetic; sampling thread only, one for each process.
 *
 * On a quiet machine a stop is cheaper. Where other programs want the processors, the thread stays stopped for as long
 * as we wait for ours, and whoever stands on its processor does not wait. So each way is charged with what it took of
 * the program's time, and the other way is taken once that was clearly more than the other one would have cost. What is
 * known of the other way gets old: now and then it is tried. */
#ifndef PL_STILL_H
#define PL_STILL_H

#include <stdbool.h>
#include <stdint.h>

enum pl_still_way { PL_STILL_STOP, PL_STILL_BESIDE, PL_STILL_WAYS };

/* All zeros: stops, until they are found to be dear. */
struct pl_still {
	enum pl_still_way way;	       /* to be taken now */
	double cost_ns[PL_STILL_WAYS]; /* of a sample, on average; 0: not known yet */
	double spent_ns;	       /* since this way was taken */
	double regret_ns;	       /* of it, more than the other way would have cost */
};

/** A sample that was taken in way @p way held the program up for @p ns. */
void pl_still_note(struct pl_still *s, enum pl_still_way way, uint64_t ns);

/** @p way cannot be had: the other one, for now. */
void pl_still_failed(struct pl_still *s, enum pl_still_way way);

#endif
