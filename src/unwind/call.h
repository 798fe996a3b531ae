/* SPDX-License-Identifier: Apache-2.0 */
/* Calls, by what stands before the place that they return to; and which words on the stack can be such places. x86-64.
 */
#ifndef PL_UNWIND_CALL_H
#define PL_UNWIND_CALL_H

#include "unwind.h"

/** Does a call stand before @p pc? @p mem: of code. */
bool pl_call_before(struct pl_mem *mem, pl_addr pc);
/** Does it lead to @p function and nowhere else? */
bool pl_call_leads_to(struct pl_mem *mem, pl_addr pc, pl_addr function);

/**
 * A frame reaches down to @p sp, and its callee returns to what lies at @p at. Is that the only frame between the two?
 * Each frame has the place on the stack that it returns by, so it is if no word there is what a call returns to; but
 * code that only has to return, and does so by @p at, is passed through. Each word is some steps. False also where that
 * cannot be told.
 */
bool pl_call_is_only(struct pl_unwinder *u, pl_addr sp, pl_addr at);

#endif
