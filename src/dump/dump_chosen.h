/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads a dump is of. Same rules as dump.h. */
#ifndef PL_DUMP_CHOSEN_H
#define PL_DUMP_CHOSEN_H

#include "dump.h"
#include "python_process.h"

/** The tids that were asked for. All zeros: all threads were. */
struct pl_dump_chosen {
	bool some; /* only these: */
	PL_VEC(uint64_t) tids;
};

/**
 * What @p o asks for, of the threads that @p p has listed. Errors: PLUMB_ERR_NO_THREAD, if one that is given by a word
 * is not there; what is given by its tid may have ended.
 */
struct plumb_error *pl_dump_choose(const struct pl_dump_options *o, const struct pl_python_process *p,
				   struct pl_dump_chosen *ret) PLUMB_MUST_CHECK;
bool pl_dump_is_chosen(const struct pl_dump_chosen *c, uint64_t tid);

#endif
