/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame instructions: where the caller's registers are when a function is at some address. */
#ifndef PL_UNWIND_CFI_H
#define PL_UNWIND_CFI_H

#include "expression.h"
#include "fde.h"

enum pl_cfi_kind {
	PL_CFI_UNSAID,
	PL_CFI_UNDEFINED,
	PL_CFI_SAME,
	PL_CFI_AT,	      /* in memory at CFA + offset */
	PL_CFI_IS,	      /* CFA + offset; of the CFA itself: register + offset */
	PL_CFI_REGISTER,      /* in another register */
	PL_CFI_AT_EXPRESSION, /* in memory at the value of an expression */
	PL_CFI_IS_EXPRESSION,
};

struct pl_cfi_rule {
	enum pl_cfi_kind kind;
	uint8_t reg;
	int64_t offset;
	struct pl_expression expression;
};

/** The rules that hold at one address. */
struct pl_cfi_row {
	struct pl_cfi_rule cfa; /* IS or IS_EXPRESSION; UNSAID: none was given */
	struct pl_cfi_rule regs[PL_REGISTERS_MAX];
};

/** Those of the function @p f at @p pc; each instruction is a step. False: the instructions make no sense, or are too
 * many. */
bool pl_cfi_row_at(const struct pl_fde *f, struct pl_mem *mem, pl_addr pc, size_t *steps, struct pl_cfi_row *ret);

#endif
