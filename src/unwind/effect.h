/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction does to the stack pointer, and which registers it may change. x86-64. */
#ifndef PL_UNWIND_EFFECT_H
#define PL_UNWIND_EFFECT_H

#include "instruction.h"

enum pl_effect {
	PL_EFFECT_NOTHING,
	PL_EFFECT_PUSHES,     /* `bytes` */
	PL_EFFECT_MAKES_ROOM, /* of `bytes` on the stack */
	PL_EFFECT_GIVES,      /* `bytes` of the stack back */
	PL_EFFECT_GIVES_FP,   /* and the caller's frame pointer */
	PL_EFFECT_SETS_FP,    /* to the stack pointer */
	PL_EFFECT_LEAVES,     /* another instruction may be next */
	PL_EFFECT_UNTOLD,     /* the stack pointer is anywhere */
};

enum pl_effect pl_effect_of(const struct pl_instruction *in, uint64_t *bytes);

/** Of registers by their numbers in instructions, the bits of those that it may write: too many rather than too few. */
uint16_t pl_effect_written(const struct pl_instruction *in);

static inline bool pl_is_between(const struct pl_instruction *in, uint8_t from, uint8_t to)
{
	return in->opcode >= from && in->opcode <= to;
}

#endif
