/* SPDX-License-Identifier: Apache-2.0 */
/* What unwinding may cost. Whoever made the tables chose how much there is to read in them, so steps are counted: about
 * one for each read of memory, and for each instruction. Time itself would be no measure: on a busy machine less would
 * be found. */
#ifndef PL_UNWIND_STEPS_H
#define PL_UNWIND_STEPS_H

#include <stdbool.h>
#include <stddef.h>

/** May @p n more be made? Then they count as made; else none is left. */
static inline bool pl_steps_take(size_t *left, size_t n)
{
	bool may = n <= *left;

	*left = may ? *left - n : 0;
	return may;
}

#endif
