/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem. Source: Intel SDM, volume 2: ADD (83 /0 ib, 81 /0 id), POP (58 + r), RET (c3), CALL
 * (e8, ff /2). */
#include "epilogue.h"

#include <string.h>

#include "steps.h"

#define CALL_BYTES 5 /* the longest that is looked for */
#define CODE_BYTES 24
#define STEPS	   100 /* a read of memory that nobody has a copy of */

/* The numbers of registers in instructions, as those of DWARF. */
static const uint8_t dwarf[] = {PL_X86_64_RAX, PL_X86_64_RCX, PL_X86_64_RDX, PL_X86_64_RBX,
				PL_X86_64_RSP, PL_X86_64_RBP, PL_X86_64_RSI, PL_X86_64_RDI};

static bool pop(struct pl_unwinder *u, uint64_t *sp, uint64_t *ret)
{
	bool ok = pl_mem_get_u64(u->mem, *sp, ret);

	*sp += sizeof *ret;
	return ok;
}

/* add $N,%rsp of a number that is not negative; returns its bytes, 0: it is none. */
static size_t added(const uint8_t *code, size_t left, uint64_t *ret)
{
	uint32_t n;

	if (left < 7 || code[0] != 0x48 || code[2] != 0xc4)
		return 0;
	if (code[1] == 0x83) {
		*ret = code[3];
		return code[3] <= INT8_MAX ? 4 : 0;
	}
	memcpy(&n, code + 3, sizeof n);
	*ret = n;
	return code[1] == 0x81 && n <= INT32_MAX ? 7 : 0;
}

/* pop %REGISTER, but of the stack pointer. */
static size_t popped(const uint8_t *code, size_t left, unsigned *ret)
{
	const size_t prefix = left > 1 && code[0] == 0x41;
	const unsigned n = code[prefix] - 0x58u;

	if (n > 7 || (!prefix && dwarf[n] == PL_X86_64_RSP))
		return 0;
	*ret = prefix ? PL_X86_64_R8 + n : dwarf[n];
	return prefix + 1;
}

static bool run(struct pl_unwinder *u, const uint8_t *code, struct pl_registers *regs)
{
	uint64_t sp, n, v;
	unsigned reg;

	if (!pl_register_get(regs, PL_X86_64_RSP, &sp))
		return false;
	for (size_t i = 0, len; i < CODE_BYTES && code[i] != 0xc3; i += len) {
		if ((len = added(code + i, CODE_BYTES - i, &n))) {
			sp += n;
		} else if ((len = popped(code + i, CODE_BYTES - i, &reg))) {
			if (!pop(u, &sp, &v))
				return false;
			pl_register_set(regs, reg, v);
		} else {
			return false;
		}
		if (i + len >= CODE_BYTES)
			return false;
	}
	if (!pop(u, &sp, &v))
		return false;
	pl_register_set(regs, PL_X86_64_RSP, sp);
	pl_register_set(regs, PL_X86_64_RIP, v);
	return true;
}

static bool is_call(const uint8_t *before)
{
	const uint8_t opcode = before[CALL_BYTES - 2], modrm = before[CALL_BYTES - 1];

	return before[0] == 0xe8 || (opcode == 0xff && (modrm >> 3 & 7) == 2 && modrm >> 6 == 3);
}

bool pl_epilogue_follow(struct pl_unwinder *u, const struct pl_native_frame *f, struct pl_registers *regs)
{
	uint8_t code[CALL_BYTES + CODE_BYTES];
	struct pl_registers to = *regs;

	if (!u->code || u->arch != &pl_unwind_x86_64 || !pl_steps_take(&u->steps, STEPS))
		return false;
	struct plumb_error *err = pl_mem_read(u->code, f->pc - CALL_BYTES, code, sizeof code);
	plumb_error_destroy(err);
	if (err || (!(f->flags & PL_NATIVE_EXACT_PC) && !is_call(code)))
		return false;
	to.known &= u->arch->preserved | UINT64_C(1) << PL_X86_64_RSP;
	if (!run(u, code + CALL_BYTES, &to))
		return false;
	*regs = to;
	return true;
}
