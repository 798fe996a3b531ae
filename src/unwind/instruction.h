/* SPDX-License-Identifier: Apache-2.0 */
/* How long instructions of x86-64 are, and what most of them do to the stack: those of general registers, of SSE, AVX,
 * AVX-512 and x87. Whatever is not known ends the look. */
#ifndef PL_UNWIND_INSTRUCTION_H
#define PL_UNWIND_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PL_INSTRUCTION_MAX 15

enum pl_instruction_map {
	PL_MAP_ONE_BYTE,
	PL_MAP_0F,
	PL_MAP_0F38,
	PL_MAP_0F3A,
	PL_MAP_HALF /* 5 and 6 of AVX512-FP16 */
};

struct pl_instruction {
	size_t len;
	uint8_t rex; /* 0: none */
	enum pl_instruction_map map;
	uint8_t opcode;
	bool vector; /* encoded as AVX (VEX) or AVX-512 (EVEX) */
	bool has_modrm;
	uint8_t mod, reg, rm; /* with the bits that REX adds */
	uint8_t other;	      /* the register of the third operand of those as AVX */
	int64_t constant;     /* the last operand, if that is one of 8 or of 32 bits */
	int32_t displacement; /* of the operand in memory, if that is at the stack pointer and nothing else */
	bool at_sp;
};

/** The instruction at @p code, which has PL_INSTRUCTION_MAX bytes. False: none that is known here. */
bool pl_instruction_read(const uint8_t *code, struct pl_instruction *ret);

#endif
