/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem. Source: Intel SDM, volume 2: PUSH, POP, SUB, ADD, MOV, LEAVE, CALL, JMP, Jcc, RET. */
#include "frame_pointer.h"

#include <string.h>

#include "instruction.h"
#include "steps.h"

#define BEGIN_BYTES 512
#define NEXT_BYTES  64
#define STEPS	    100	 /* a read of memory that nobody has a copy of */
#define PROBED	    4096 /* where there is more, each page is touched, then comes the rest */

/* Numbers of registers in instructions, and of operations of 80 to 83. */
enum { SP = 4, FP = 5, ADD = 0, SUB = 5 };

enum effect {
	NOTHING,
	PUSHES,	    /* `bytes` */
	MAKES_ROOM, /* of `bytes` on the stack */
	GIVES,	    /* `bytes` of the stack back */
	GIVES_FP,   /* and the caller's frame pointer */
	SETS_FP,    /* to the stack pointer */
	LEAVES,	    /* another instruction may be next */
	UNTOLD,	    /* the stack pointer is anywhere */
};

struct reader {
	uint8_t code[BEGIN_BYTES + PL_INSTRUCTION_MAX];
	size_t at, len;
	uint64_t bytes; /* of the stack, by the last instruction */
};

static bool is_register(const struct pl_instruction *in, unsigned n)
{
	return in->has_modrm && in->mod == 3 && in->rm == n;
}

static bool is_between(const struct pl_instruction *in, uint8_t from, uint8_t to)
{
	return in->opcode >= from && in->opcode <= to;
}

static bool leaves(const struct pl_instruction *in)
{
	return is_between(in, 0x70, 0x7f) || in->opcode == 0xc3 || in->opcode == 0xe8 || in->opcode == 0xe9 ||
	       in->opcode == 0xeb || (in->opcode == 0xff && in->reg >= 2 && in->reg <= 5);
}

static bool is_pop_of_sp(const struct pl_instruction *in)
{
	return in->opcode == 0x5c && !in->rex;
}

/* In a way that is not told here. */
static bool moves_sp(const struct pl_instruction *in)
{
	return in->opcode == 0xc9 || in->opcode == 0x8f || (in->opcode == 0xff && in->reg == 6) || is_pop_of_sp(in) ||
	       is_register(in, SP) || (in->has_modrm && in->reg == SP && (in->opcode == 0x8b || in->opcode == 0x8d));
}

/* add or sub $N,%rsp of whole words */
static bool is_sum(const struct pl_instruction *in, unsigned operation)
{
	return (in->opcode == 0x81 || in->opcode == 0x83) && in->reg == operation && is_register(in, SP) &&
	       in->rex == 0x48 && in->constant > 0 && in->constant % 8 == 0;
}

static enum effect effect_of(const struct pl_instruction *in, uint64_t *bytes)
{
	if (in->map == PL_MAP_0F)
		return is_between(in, 0x80, 0x8f) ? LEAVES : NOTHING;
	*bytes = is_sum(in, SUB) || is_sum(in, ADD) ? (uint64_t)in->constant : 8;
	if (in->opcode == 0x89 && in->reg == SP && is_register(in, FP) && in->rex == 0x48)
		return SETS_FP;
	if (is_between(in, 0x50, 0x57) || in->opcode == 0x68 || in->opcode == 0x6a)
		return PUSHES;
	if (is_sum(in, SUB))
		return MAKES_ROOM;
	if (in->opcode == 0x5d && !in->rex)
		return GIVES_FP;
	if (leaves(in))
		return LEAVES;
	if (is_sum(in, ADD) || (is_between(in, 0x58, 0x5f) && !is_pop_of_sp(in)))
		return GIVES;
	return moves_sp(in) ? UNTOLD : NOTHING;
}

/* False: there is no further one, or it is not known. */
static bool next(struct reader *r, enum effect *ret)
{
	struct pl_instruction in;

	if (r->at >= r->len || !pl_instruction_read(r->code + r->at, &in))
		return false;
	r->at += in.len;
	*ret = effect_of(&in, &r->bytes);
	return true;
}

static bool read_code(struct pl_unwinder *u, pl_addr from, size_t len, struct reader *ret)
{
	*ret = (struct reader){.len = len};
	struct plumb_error *err =
		pl_steps_take(&u->steps, STEPS) ? pl_mem_read(u->mem, from, ret->code, len) : &pl_err_limit;
	plumb_error_destroy(err);
	return !err;
}

/* What it gives back of the stack next: of a function that has called, what it has pushed for that. True: up to the
 * caller's frame pointer. */
static bool gives_back(struct reader *r, uint64_t *ret)
{
	enum effect e = NOTHING;

	*ret = 0;
	while (next(r, &e) && (e == NOTHING || e == GIVES))
		*ret += e == GIVES ? r->bytes : 0;
	return e == GIVES_FP;
}

/* What it takes when it begins, once it has set its frame pointer. False: it has not, or that is not told. */
static bool takes(struct reader *r, uint64_t *ret)
{
	enum effect e = NOTHING;
	bool made = false;

	*ret = 0;
	while (next(r, &e) && e != SETS_FP)
		;
	if (e != SETS_FP)
		return false;
	while (!made && r->at < r->len && e != LEAVES) {
		if (!next(r, &e) || (e != NOTHING && e != PUSHES && e != MAKES_ROOM && e != LEAVES))
			return false;
		*ret += e == PUSHES || e == MAKES_ROOM ? r->bytes : 0;
		made = e == MAKES_ROOM && r->bytes < PROBED;
	}
	return true;
}

bool pl_frame_pointer_by_code(struct pl_unwinder *u, const struct pl_native_frame *f, pl_addr *ret)
{
	uint64_t given = 0, taken;
	struct reader r;

	if (u->arch != &pl_unwind_x86_64 || !f->function || f->pc <= f->function)
		return false;
	if (read_code(u, f->pc, NEXT_BYTES, &r) && gives_back(&r, &given)) {
		*ret = f->sp + given;
		return true;
	}
	const size_t len = f->pc - f->function < BEGIN_BYTES ? (size_t)(f->pc - f->function) : BEGIN_BYTES;
	if (!read_code(u, f->function, len, &r) || !takes(&r, &taken))
		return false;
	*ret = f->sp + given + taken;
	return true;
}
