/* SPDX-License-Identifier: Apache-2.0 */
/* Code that no table describes, but that only gives back its stack and returns: these very instructions say what a
 * table would. Trampolines are such code: what a JIT compiler or `python -X perf` puts between two functions. x86-64.
 */
#ifndef PL_UNWIND_EPILOGUE_H
#define PL_UNWIND_EPILOGUE_H

#include "unwind.h"

/**
 * From the registers of a frame that runs, or goes on, at @p f's pc to those of its caller. @p f: its flags, too:
 * behind a return address there must be a call. False: it does something else, or cannot be read; *regs are as they
 * were.
 */
bool pl_epilogue_follow(struct pl_unwinder *u, const struct pl_native_frame *f, struct pl_registers *regs);

#endif
