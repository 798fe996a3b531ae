/* SPDX-License-Identifier: Apache-2.0 */
/* Where the frame pointer of a function points that keeps one, by its instructions. Those that come next give back what
 * lies between it and the stack pointer; or those that it begins with have taken that. x86-64. */
#ifndef PL_UNWIND_FRAME_POINTER_H
#define PL_UNWIND_FRAME_POINTER_H

#include "unwind.h"

/** For the frame @p f, whose function is known: the frame pointer. False: the function begins otherwise, or takes what
 * its instructions do not tell, or cannot be read. */
bool pl_frame_pointer_by_code(struct pl_unwinder *u, const struct pl_native_frame *f, pl_addr *ret);

#endif
