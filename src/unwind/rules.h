/* SPDX-License-Identifier: Apache-2.0 */
/* How frames are unwound, by the place of their code: what was found in the tables once is kept. Most places come again
 * with the next sample. Only rules of the plain form are kept: the CFA is a register and an offset, the caller's
 * registers are on the stack or where they were; or it has none. */
#ifndef PL_UNWIND_RULES_H
#define PL_UNWIND_RULES_H

#include "cfi.h"

#define PL_RULE_SAVED 8

struct pl_unwind_rule {
	pl_addr place;	  /* of code; 0: none */
	pl_addr function; /* where it begins */
	uint32_t image;	  /* position */
	int32_t cfa_offset;
	uint8_t cfa_register, saved;
	bool signal;
	bool root; /* it says that it has no caller */
	struct {
		uint8_t reg;
		int32_t offset; /* from the CFA */
	} at[PL_RULE_SAVED];	/* `saved` of them; that of the return address is one */
};

struct pl_unwind_rules;

/** Errors: PLUMB_ERR_NO_MEMORY. Owner of *ret: caller. */
struct plumb_error *pl_unwind_rules_create(struct pl_unwind_rules **ret) PLUMB_MUST_CHECK;
void pl_unwind_rules_destroy(struct pl_unwind_rules *r);
/** What is mapped may have changed. */
void pl_unwind_rules_forget(struct pl_unwind_rules *r);

/** NULL: none is known for code at @p place, or @p r is NULL. Until the next call of any of these. */
const struct pl_unwind_rule *pl_unwind_rules_get(const struct pl_unwind_rules *r, pl_addr place);
/** Keep what was found of @p place, if it is of the plain form. @p r may be NULL. */
void pl_unwind_rules_keep(struct pl_unwind_rules *r, const struct pl_unwind_arch *arch, pl_addr place, uint32_t image,
			  const struct pl_fde *f, const struct pl_cfi_row *row);

#endif
