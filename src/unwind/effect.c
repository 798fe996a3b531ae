/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure. Source: Intel SDM, volume 2. */
#include "effect.h"

/* Numbers of registers in instructions, and of operations of 80 to 83. */
enum { BX = 3, SP = 4, FP = 5, ADD = 0, SUB = 5 };

static bool is_register(const struct pl_instruction *in, unsigned n)
{
	return in->has_modrm && in->mod == 3 && in->rm == n;
}

static bool leaves(const struct pl_instruction *in)
{
	return pl_is_between(in, 0x70, 0x7f) || pl_is_between(in, 0xe0, 0xe3) || in->opcode == 0xc2 ||
	       in->opcode == 0xc3 || in->opcode == 0xe8 || in->opcode == 0xe9 || in->opcode == 0xeb ||
	       (in->opcode == 0xff && in->reg >= 2 && in->reg <= 5);
}

static bool is_pop_of_sp(const struct pl_instruction *in)
{
	return in->opcode == 0x5c && !in->rex;
}

/* In a way that is not told here. */
static bool moves_sp(const struct pl_instruction *in)
{
	return in->opcode == 0xc9 || in->opcode == 0x8f || in->opcode == 0x9c || in->opcode == 0x9d ||
	       (in->opcode == 0xff && in->reg == 6) || is_pop_of_sp(in) || is_register(in, SP) ||
	       (in->has_modrm && in->reg == SP && (in->opcode == 0x8b || in->opcode == 0x8d));
}

/* add or sub $N,%rsp of whole words */
static bool is_sum(const struct pl_instruction *in, unsigned operation)
{
	return (in->opcode == 0x81 || in->opcode == 0x83) && in->reg == operation && is_register(in, SP) &&
	       in->rex == 0x48 && in->constant > 0 && in->constant % 8 == 0;
}

/* Of those that are no vector code: their operands are general registers. */
static bool is_general_after_0f(const struct pl_instruction *in)
{
	return pl_is_between(in, 0x40, 0x4f) || pl_is_between(in, 0x90, 0x9f) || pl_is_between(in, 0xa3, 0xa5) ||
	       pl_is_between(in, 0xab, 0xad) || pl_is_between(in, 0xaf, 0xb1) || pl_is_between(in, 0xb3, 0xc1) ||
	       pl_is_between(in, 0xc7, 0xcf);
}

/* Those of vectors that have a general register for a result: cvt*2si, movmsk, movd, pmovmskb, pextrw, kmov. */
static bool has_general_result(const struct pl_instruction *in)
{
	return in->opcode == 0x2c || in->opcode == 0x2d || in->opcode == 0x50 || pl_is_between(in, 0x78, 0x79) ||
	       in->opcode == 0x7e || in->opcode == 0xc5 || in->opcode == 0xd7 || pl_is_between(in, 0x92, 0x93);
}

static bool writes_general(const struct pl_instruction *in)
{
	switch (in->map) {
	case PL_MAP_ONE_BYTE:
		return !pl_is_between(in, 0xd8, 0xdf);
	case PL_MAP_0F:
		return has_general_result(in) || (!in->vector && is_general_after_0f(in));
	case PL_MAP_0F38:
		return in->opcode >= 0xf0;
	case PL_MAP_0F3A:
		return pl_is_between(in, 0x14, 0x17) || in->opcode == 0xf0;
	case PL_MAP_HALF:
		break;
	}
	return has_general_result(in);
}

/* The register that is part of the opcode, where it has one: xchg, pop, mov of a constant, bswap. */
static uint16_t written_by_opcode(const struct pl_instruction *in)
{
	const bool one = in->map == PL_MAP_ONE_BYTE && (pl_is_between(in, 0x90, 0x97) ||
							pl_is_between(in, 0x58, 0x5f) || pl_is_between(in, 0xb0, 0xbf));
	const bool two = in->map == PL_MAP_0F && !in->vector && pl_is_between(in, 0xc8, 0xcf);

	return one || two ? (uint16_t)(1u << ((in->opcode & 7) | (in->rex & 1 ? 8 : 0))) : 0;
}

uint16_t pl_effect_written(const struct pl_instruction *in)
{
	uint16_t bits = written_by_opcode(in);

	if (in->map == PL_MAP_0F && in->opcode == 0xa2) /* cpuid */
		bits |= 1u << BX;
	if (!in->has_modrm || !writes_general(in))
		return bits;
	bits |= (uint16_t)(1u << in->reg);
	if (in->mod == 3)
		bits |= (uint16_t)(1u << in->rm);
	return in->vector ? bits | (uint16_t)(1u << in->other) : bits;
}

enum pl_effect pl_effect_of(const struct pl_instruction *in, uint64_t *bytes)
{
	if (in->map == PL_MAP_0F && !in->vector && pl_is_between(in, 0x80, 0x8f))
		return PL_EFFECT_LEAVES;
	if (in->map != PL_MAP_ONE_BYTE)
		return pl_effect_written(in) & 1u << SP ? PL_EFFECT_UNTOLD : PL_EFFECT_NOTHING;
	*bytes = is_sum(in, SUB) || is_sum(in, ADD) ? (uint64_t)in->constant : 8;
	if (in->opcode == 0x89 && in->reg == SP && is_register(in, FP) && in->rex == 0x48)
		return PL_EFFECT_SETS_FP;
	if (pl_is_between(in, 0x50, 0x57) || in->opcode == 0x68 || in->opcode == 0x6a)
		return PL_EFFECT_PUSHES;
	if (is_sum(in, SUB))
		return PL_EFFECT_MAKES_ROOM;
	if (in->opcode == 0x5d && !in->rex)
		return PL_EFFECT_GIVES_FP;
	if (leaves(in))
		return PL_EFFECT_LEAVES;
	if (is_sum(in, ADD) || (pl_is_between(in, 0x58, 0x5f) && !is_pop_of_sp(in)))
		return PL_EFFECT_GIVES;
	return moves_sp(in) ? PL_EFFECT_UNTOLD : PL_EFFECT_NOTHING;
}
