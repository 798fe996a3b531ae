/* SPDX-License-Identifier: Apache-2.0 */
/* Code that no table describes, in a file: hand-written assembler. Its instructions from here to where it returns tell
 * how much of the stack it gives back, whichever way it takes, as at one place in a function the stack pointer is
 * always as far below what it returns by. x86-64. */
#ifndef PL_UNWIND_RETURN_PATH_H
#define PL_UNWIND_RETURN_PATH_H

#include "unwind.h"

/** From the registers of a frame that runs at @p f's pc to those of its caller, where a call stands before that. A
 * register that it may have changed, and does not give back on this way, is not known then. False: there is an
 * instruction on the way that is not known, calls, or moves the stack pointer by what is not told; or the way is too
 * long; or it is a frame that has called: not every call returns, and what stands behind one that does not may be
 * anything. *regs are as they were. */
bool pl_return_path_follow(struct pl_unwinder *u, const struct pl_native_frame *f, struct pl_registers *regs);

#endif
