/* SPDX-License-Identifier: Apache-2.0 */
/* Code that no table describes, but of which is known where its function begins: what it has put on the stack by then
 * stands in its first instructions. JIT compilers leave out the tables of functions that raise nothing. x86-64. */
#ifndef PL_UNWIND_PROLOGUE_H
#define PL_UNWIND_PROLOGUE_H

#include "unwind.h"

/**
 * From the registers of a frame that runs, or goes on, at @p f's pc in the function that begins at f->function to those
 * of its caller. @p entered: it has run what it begins with, as far as it stands before pc; else it is on a way around
 * that, on which it has put nothing on the stack. Whether that is so is for whoever asks to see. False: it begins
 * otherwise, or cannot be read; *regs are as they were.
 */
bool pl_prologue_follow(struct pl_unwinder *u, const struct pl_native_frame *f, bool entered,
			struct pl_registers *regs);

#endif
