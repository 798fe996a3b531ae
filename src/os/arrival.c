/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; see arrival.h. */
#include "arrival.h"

#include "last_run.h"
#include "own_tid.h"

#define PROMPT_ONES 4	 /* one in so many is not later than prompt_ns */
#define STEP_NS	    1000 /* besides a sixteenth of what is known */

/* A quantile of those before: it stays where for each that is not later three are. */
static void note_how_late(struct pl_arrival *a, uint64_t late_ns)
{
	uint64_t up = a->prompt_ns / 16 + STEP_NS, down = up * (PROMPT_ONES - 1);

	if (late_ns > a->prompt_ns)
		a->prompt_ns += up;
	else
		a->prompt_ns -= a->prompt_ns < down ? a->prompt_ns : down;
	a->late = late_ns > a->prompt_ns + a->prompt_ns / 4;
}

void pl_arrival_note(struct pl_arrival *a, uint64_t late_ns)
{
	note_how_late(a, late_ns);
	if (!a->wanted || !pl_last_run_at(0, pl_own_tid(), &a->at_ns))
		a->at_ns = 0;
	a->wanted -= a->wanted > 0;
}

enum pl_arrival_took pl_arrival_took(struct pl_arrival *a, pid_t pid, pid_t tid)
{
	uint64_t lost_ns;

	a->wanted = PL_ARRIVALS_NOTED;
	if (!a->at_ns || !pl_last_run_at(pid, tid, &lost_ns))
		return PL_ARRIVAL_UNKNOWN;
	if (lost_ns != a->at_ns)
		return PL_ARRIVAL_DID_NOT;
	return a->late ? PL_ARRIVAL_TOOK_LATE : PL_ARRIVAL_TOOK;
}
