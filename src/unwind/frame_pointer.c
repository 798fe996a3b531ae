/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem. Source: Intel SDM, volume 2: PUSH, POP, SUB, ADD, MOV, LEAVE, CALL, JMP, Jcc, RET. */
#include "frame_pointer.h"

#include <string.h>

#include "effect.h"
#include "steps.h"

#define BEGIN_BYTES 512
#define NEXT_BYTES  64
#define STEPS	    100	 /* a read of memory that nobody has a copy of */
#define PROBED	    4096 /* where there is more, each page is touched, then comes the rest */

struct reader {
	uint8_t code[BEGIN_BYTES + PL_INSTRUCTION_MAX];
	size_t at, len;
	uint64_t bytes; /* of the stack, by the last instruction */
};

/* False: there is no further one, or it is not known. */
static bool next(struct reader *r, enum pl_effect *ret)
{
	struct pl_instruction in;

	if (r->at >= r->len || !pl_instruction_read(r->code + r->at, &in))
		return false;
	r->at += in.len;
	*ret = pl_effect_of(&in, &r->bytes);
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
	enum pl_effect e = PL_EFFECT_NOTHING;

	*ret = 0;
	while (next(r, &e) && (e == PL_EFFECT_NOTHING || e == PL_EFFECT_GIVES))
		*ret += e == PL_EFFECT_GIVES ? r->bytes : 0;
	return e == PL_EFFECT_GIVES_FP;
}

/* What it takes when it begins, once it has set its frame pointer. False: it has not, or that is not told. */
static bool takes(struct reader *r, uint64_t *ret)
{
	enum pl_effect e = PL_EFFECT_NOTHING;
	bool made = false;

	*ret = 0;
	while (next(r, &e) && e != PL_EFFECT_SETS_FP)
		;
	if (e != PL_EFFECT_SETS_FP)
		return false;
	while (!made && r->at < r->len && e != PL_EFFECT_LEAVES) {
		if (!next(r, &e) || (e != PL_EFFECT_NOTHING && e != PL_EFFECT_PUSHES && e != PL_EFFECT_MAKES_ROOM &&
				     e != PL_EFFECT_LEAVES))
			return false;
		*ret += e == PL_EFFECT_PUSHES || e == PL_EFFECT_MAKES_ROOM ? r->bytes : 0;
		made = e == PL_EFFECT_MAKES_ROOM && r->bytes < PROBED;
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
