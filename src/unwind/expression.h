/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF expressions, as far as unwinding needs them: the PLT, signal trampolines, realigned stacks. */
#ifndef PL_UNWIND_EXPRESSION_H
#define PL_UNWIND_EXPRESSION_H

#include "arch.h"
#include "mem.h"
#include "steps.h"

/** Bytes @p from to @p to of the target's memory. */
struct pl_expression {
	pl_addr from, to;
};

/** @p start: the value on the stack at the beginning; NULL: none. Each operation is a step. False: it needs what is not
 * known, is not well formed, or takes too long. */
bool pl_expression_eval(const struct pl_expression *e, struct pl_mem *mem, const struct pl_registers *regs,
			const uint64_t *start, size_t *steps, uint64_t *ret);

#endif
