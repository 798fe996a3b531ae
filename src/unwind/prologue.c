/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem. Source: Intel SDM, volume 2: PUSH (50 + r), SUB (83 /5 ib, 81 /5 id), TEST (85 /r),
 * Jcc (70 + cc, 0f 80 + cc). */
#include "prologue.h"

#include <string.h>

#include "steps.h"

#define CODE_BYTES 40
#define PUSHED_MAX 8
#define STEPS	   100 /* a read of memory that nobody has a copy of */

/* The numbers of registers in instructions, as those of DWARF. */
static const uint8_t dwarf[] = {PL_X86_64_RAX, PL_X86_64_RCX, PL_X86_64_RDX, PL_X86_64_RBX,
				PL_X86_64_RSP, PL_X86_64_RBP, PL_X86_64_RSI, PL_X86_64_RDI};

/* What it has put on the stack. */
struct pushed {
	unsigned regs[PUSHED_MAX], count;
	uint64_t room; /* and how much it has left free */
};

/* test %REGISTER,%REGISTER, or a jump if that is so; returns its bytes, 0: it is none. */
static size_t looked(const uint8_t *code)
{
	if ((code[0] & 0xf8) == 0x48 && code[1] == 0x85 && code[2] >= 0xc0)
		return 3;
	if (code[0] == 0x85 && code[1] >= 0xc0)
		return 2;
	if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		return 6;
	return (code[0] & 0xf0) == 0x70 ? 2 : 0;
}

static size_t pushes(const uint8_t *code, struct pushed *p)
{
	const size_t prefix = code[0] == 0x41;
	const unsigned n = code[prefix] - 0x50u;

	if (n > 7 || p->count == PUSHED_MAX || (!prefix && dwarf[n] == PL_X86_64_RSP))
		return 0;
	p->regs[p->count++] = prefix ? PL_X86_64_R8 + n : dwarf[n];
	return prefix + 1;
}

/* sub $N,%rsp of a number that is not negative. */
static size_t makes_room(const uint8_t *code, struct pushed *p)
{
	uint32_t n;

	if (code[0] != 0x48 || code[2] != 0xec || (code[1] != 0x83 && code[1] != 0x81))
		return 0;
	memcpy(&n, code + 3, sizeof n);
	if (code[1] == 0x83)
		n = code[3];
	p->room = n;
	return n > (code[1] == 0x83 ? INT8_MAX : INT32_MAX) || n % 8 ? 0 : code[1] == 0x83 ? 4 : 7;
}

/* The instructions in the @p len bytes: a look at the arguments, pushes, room. What comes then is something else. */
static void run(const uint8_t code[static CODE_BYTES + 8], size_t len, struct pushed *p)
{
	size_t i = 0, n;

	while (i < len && (n = looked(code + i)))
		i += n;
	while (i < len && (n = pushes(code + i, p)))
		i += n;
	if (i < len && !makes_room(code + i, p))
		p->room = 0;
}

/* The caller's, where it has pushed those of @p p. */
static bool take_back(struct pl_unwinder *u, const struct pushed *p, struct pl_registers *regs)
{
	uint64_t sp, v;

	if (!pl_register_get(regs, u->arch->sp, &sp))
		return false;
	sp += p->room;
	for (unsigned i = p->count; i-- > 0; sp += 8) {
		if (!pl_mem_get_u64(u->mem, sp, &v))
			return false;
		if (u->arch->preserved >> p->regs[i] & 1)
			pl_register_set(regs, p->regs[i], v);
	}
	if (!pl_mem_get_u64(u->mem, sp, &v))
		return false;
	pl_register_set(regs, u->arch->pc, v);
	pl_register_set(regs, u->arch->sp, sp + 8);
	return true;
}

bool pl_prologue_follow(struct pl_unwinder *u, const struct pl_native_frame *f, bool entered, struct pl_registers *regs)
{
	uint8_t code[CODE_BYTES + 8] = {0};
	struct pl_registers to = *regs;
	struct pushed p = {.count = 0};

	if (!u->code || u->arch != &pl_unwind_x86_64 || !f->function || f->pc < f->function ||
	    !pl_steps_take(&u->steps, STEPS))
		return false;
	const size_t len = f->pc - f->function < CODE_BYTES ? (size_t)(f->pc - f->function) : CODE_BYTES;
	struct plumb_error *err = entered && len ? pl_mem_read(u->code, f->function, code, len) : NULL;
	plumb_error_destroy(err);
	if (err)
		return false;
	run(code, entered ? len : 0, &p);
	to.known &= u->arch->preserved | UINT64_C(1) << u->arch->sp;
	if (!take_back(u, &p, &to))
		return false;
	*regs = to;
	return true;
}
