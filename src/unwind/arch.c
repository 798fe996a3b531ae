/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Source: System V ABI, AMD64 supplement, figure 3.36 (numbers) and 3.2.1 (who preserves what). */
#include "arch.h"

#include <elf.h>

#define BIT(n) (UINT64_C(1) << (n))
#define R12    (PL_X86_64_R8 + 4)

/* rbx, rbp and r12 to r15. Below the stack pointer are the 128 bytes of the red zone, and what an epilogue has just
 * popped: compilers do not say that a register is back before the function returns. */
const struct pl_unwind_arch pl_unwind_x86_64 = {
	.machine = EM_X86_64,
	.count = PL_X86_64_COUNT,
	.sp = PL_X86_64_RSP,
	.fp = PL_X86_64_RBP,
	.pc = PL_X86_64_RIP,
	.preserved = BIT(PL_X86_64_RBX) | BIT(PL_X86_64_RBP) | BIT(R12) | BIT(R12 + 1) | BIT(R12 + 2) | BIT(R12 + 3),
	.below_sp = 256,
};
