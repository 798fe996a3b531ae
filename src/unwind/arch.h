/* SPDX-License-Identifier: Apache-2.0 */
/* What unwinding must know of a processor: its registers by their DWARF numbers. To add one: a row in arch.c, and who
 * fills in its registers (os/registers.h). */
#ifndef PL_UNWIND_ARCH_H
#define PL_UNWIND_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define PL_REGISTERS_MAX 33 /* aarch64: x0 to x30, sp, pc */

struct pl_unwind_arch {
	uint16_t machine; /* e_machine of its ELF files */
	uint8_t count;
	uint8_t sp, fp, pc; /* pc: the column of the return address */
	uint64_t preserved; /* a bit for each register that a function gives back as it was */
	uint32_t below_sp;  /* bytes below the stack pointer that a function may use, or has just given up */
};

extern const struct pl_unwind_arch pl_unwind_x86_64;

/* x86-64, by DWARF numbers. */
enum pl_x86_64 {
	PL_X86_64_RAX,
	PL_X86_64_RDX,
	PL_X86_64_RCX,
	PL_X86_64_RBX,
	PL_X86_64_RSI,
	PL_X86_64_RDI,
	PL_X86_64_RBP,
	PL_X86_64_RSP,
	PL_X86_64_R8,
	PL_X86_64_R15 = PL_X86_64_R8 + 7,
	PL_X86_64_RIP,
	PL_X86_64_COUNT,
};

/** The registers of one frame, as far as they are known. */
struct pl_registers {
	uint64_t value[PL_REGISTERS_MAX];
	uint64_t known; /* a bit for each */
};

static inline bool pl_register_get(const struct pl_registers *r, unsigned n, uint64_t *ret)
{
	if (n >= PL_REGISTERS_MAX || !(r->known >> n & 1))
		return false;
	*ret = r->value[n];
	return true;
}

static inline void pl_register_set(struct pl_registers *r, unsigned n, uint64_t value)
{
	r->value[n] = value;
	r->known |= UINT64_C(1) << n;
}

#endif
