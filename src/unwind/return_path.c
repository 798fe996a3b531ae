/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem. Source: Intel SDM, volume 2: RET (c3), LEAVE (c9), JMP (e9, eb), MOV (8b), POP. */
#include "return_path.h"

#include "call.h"
#include "effect.h"
#include "steps.h"

#define WINDOW	     256
#define WINDOWS_MAX  64
#define INSTRUCTIONS 2000
#define STEPS	     100 /* a read of memory that nobody has a copy of */

/* The number of a register in instructions, as that of DWARF. */
static unsigned dwarf(unsigned n)
{
	static const uint8_t first[] = {PL_X86_64_RAX, PL_X86_64_RCX, PL_X86_64_RDX, PL_X86_64_RBX,
					PL_X86_64_RSP, PL_X86_64_RBP, PL_X86_64_RSI, PL_X86_64_RDI};

	return n < PL_X86_64_R8 ? first[n] : n;
}

struct way {
	struct pl_unwinder *u;
	struct pl_registers regs;
	uint64_t sp, start; /* the stack pointer on the way; where it is now: what it pushes is not there yet */
	pl_addr at, window; /* at: the next instruction; window: what `code` has */
	size_t len;
	unsigned windows;
	uint8_t code[WINDOW + PL_INSTRUCTION_MAX];
};

/* Where code ends soon there is less in a row. */
static bool read_window(struct way *w)
{
	for (size_t len = WINDOW; len >= 16; len /= 4) {
		if (w->windows++ == WINDOWS_MAX || !pl_steps_take(&w->u->steps, STEPS))
			return false;
		if (!pl_mem_get(w->u->code, w->at, w->code, len))
			continue;
		w->window = w->at;
		w->len = len;
		return true;
	}
	return false;
}

static bool next(struct way *w, struct pl_instruction *ret)
{
	const bool there = w->len && w->at >= w->window && w->at - w->window <= w->len - 1 &&
			   (w->len < WINDOW || w->window + w->len - w->at >= PL_INSTRUCTION_MAX);

	if (!there && !read_window(w))
		return false;
	const size_t at = w->at - w->window;
	for (size_t i = w->len; i < w->len + PL_INSTRUCTION_MAX; i++)
		w->code[i] = 0;
	if (!pl_steps_take(&w->u->steps, 1) || !pl_instruction_read(w->code + at, ret) || at + ret->len > w->len)
		return false;
	w->at += ret->len;
	return true;
}

static bool get_back(struct way *w, unsigned n, uint64_t at)
{
	uint64_t v;

	w->regs.known &= ~(UINT64_C(1) << dwarf(n));
	if (at < w->start)
		return true;
	if (!pl_mem_get_u64(w->u->mem, at, &v))
		return false;
	if (w->u->arch->preserved >> dwarf(n) & 1)
		pl_register_set(&w->regs, dwarf(n), v);
	return true;
}

static void forget(struct way *w, uint16_t written)
{
	for (unsigned n = 0; n < 16; n++)
		if (written >> n & 1)
			w->regs.known &= ~(UINT64_C(1) << dwarf(n));
}

static bool leave(struct way *w)
{
	uint64_t fp;

	if (!pl_register_get(&w->regs, w->u->arch->fp, &fp) || fp < w->sp)
		return false;
	w->sp = fp + 8;
	return get_back(w, 5, fp);
}

/* mov N(%rsp),%REGISTER */
static bool is_load(const struct pl_instruction *in)
{
	return in->map == PL_MAP_ONE_BYTE && in->opcode == 0x8b && in->at_sp && in->rex & 8 && in->mod != 3;
}

static bool give(struct way *w, const struct pl_instruction *in, uint64_t bytes)
{
	const unsigned n = (in->opcode & 7) | (in->rex & 1 ? 8 : 0);
	const uint64_t at = w->sp;

	w->sp += bytes;
	return in->has_modrm || get_back(w, n, at); /* add, or pop */
}

/* Of those that leave: jumps that may be taken or not lead to a return, either way. */
static bool follow_jump(struct way *w, const struct pl_instruction *in)
{
	if (in->map == PL_MAP_0F || pl_is_between(in, 0x70, 0x7f) || pl_is_between(in, 0xe0, 0xe3))
		return true;
	if (in->opcode != 0xe9 && in->opcode != 0xeb)
		return false;
	w->at += (uint64_t)in->constant;
	return true;
}

/* Behind ud2, hlt and int it does not go on: what stands there is another function, or none. */
static bool ends(const struct pl_instruction *in)
{
	return in->map == PL_MAP_0F
		       ? in->opcode == 0x0b && !in->vector
		       : in->map == PL_MAP_ONE_BYTE && (in->opcode == 0xf4 || pl_is_between(in, 0xcc, 0xcd));
}

/* False: it is not told what it does. */
static bool run(struct way *w, const struct pl_instruction *in)
{
	uint64_t bytes;

	switch (pl_effect_of(in, &bytes)) {
	case PL_EFFECT_NOTHING:
		forget(w, pl_effect_written(in));
		return !is_load(in) || get_back(w, in->reg, w->sp + (uint64_t)(int64_t)in->displacement);
	case PL_EFFECT_PUSHES:
	case PL_EFFECT_MAKES_ROOM:
		w->sp -= bytes;
		return true;
	case PL_EFFECT_GIVES:
	case PL_EFFECT_GIVES_FP:
		return give(w, in, bytes);
	case PL_EFFECT_LEAVES:
		return follow_jump(w, in);
	default:
		return in->map == PL_MAP_ONE_BYTE && in->opcode == 0xc9 && leave(w);
	}
}

static bool to_return(struct way *w)
{
	struct pl_instruction in;

	for (int i = 0; i < INSTRUCTIONS; i++) {
		if (!next(w, &in))
			return false;
		if (in.map == PL_MAP_ONE_BYTE && in.opcode == 0xc3)
			return true;
		if (ends(&in) || !run(w, &in))
			return false;
	}
	return false;
}

bool pl_return_path_follow(struct pl_unwinder *u, const struct pl_native_frame *f, struct pl_registers *regs)
{
	struct way w = {.u = u, .regs = *regs, .at = f->pc};
	uint64_t pc;

	if (!(f->flags & PL_NATIVE_EXACT_PC) || !u->code || u->arch != &pl_unwind_x86_64 ||
	    !pl_register_get(regs, u->arch->sp, &w.sp))
		return false;
	w.start = w.sp;
	w.regs.known &= u->arch->preserved;
	if (!to_return(&w) || w.sp < w.start || !pl_mem_get_u64(u->mem, w.sp, &pc) || !pl_call_before(u->code, pc))
		return false;
	pl_register_set(&w.regs, u->arch->pc, pc);
	pl_register_set(&w.regs, u->arch->sp, w.sp + 8);
	*regs = w.regs;
	return true;
}
