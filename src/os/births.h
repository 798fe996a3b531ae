/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes have been born lately? Without rights and without a trace of us in anybody.
 *
 * The kernel tells the number it gave out last at the end of /proc/loadavg; reading that takes half a microsecond. Only
 * if it has moved the new numbers are looked at, each once (3 us), and once or twice again if nobody is there yet. What
 * that may miss (a /proc/loadavg that lies, as in some containers; more births than can be looked at) a sweep over all
 * of /proc finds, a few entries at a time. */
#ifndef PL_BIRTHS_H
#define PL_BIRTHS_H

#include "proc.h"

#define PL_BIRTHS_PER_LOOK 64

struct pl_births;

/** Births after that of @p since, a process that has not lived for long; and a sweep over what lives already is begun.
 * Errors: PLUMB_ERR_SYSTEM (no /proc). */
struct plumb_error *pl_births_create(pid_t since, struct pl_births **ret) PLUMB_MUST_CHECK;
void pl_births_destroy(struct pl_births *b);
/** Ask for news. Cheap: call it as often as news matter. */
void pl_births_look(struct pl_births *b, uint64_t now_ns);

enum pl_birth {
	PL_BIRTH_NONE,	/* no more for now */
	PL_BIRTH_NEW,	/* a number that has just been given out: a process, or a thread of one; in their order */
	PL_BIRTH_LATE,	/* the same, out of order: it could not be seen at first */
	PL_BIRTH_SWEPT, /* a process that lives, new or not */
};
/** The next one. At most PL_BIRTHS_PER_LOOK are looked at for each pl_births_look(), 0.2 ms. */
enum pl_birth pl_births_next(struct pl_births *b, uint64_t now_ns, struct pl_proc_stat *ret);
/** Sweep now, not when it is time; or once more when the sweep that is under way is over. */
void pl_births_sweep(struct pl_births *b);
/** Not once more. */
void pl_births_enough(struct pl_births *b);
/** A sweep found what should have been told as new: from now on sweep all the time. */
void pl_births_distrust(struct pl_births *b);
/** A sweep is under way. */
bool pl_births_sweeping(const struct pl_births *b);

#endif
