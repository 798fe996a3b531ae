/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem; allocates only to grow the caller's vector.
 *
 * Only the tables are followed, and code that does nothing but return (epilogue.c); nothing is guessed (that is
 * resume.c): a frame that is there was proved by the one before. Each frame lies above the one before on the stack, so
 * there are no cycles; only a signal handler may have had a stack of its own. */
#include "unwind.h"

#include "epilogue.h"
#include "return_path.h"
#include "rules.h"
#include "steps.h"

#define SIGNALS_MAX 16
#define FRAME_STEPS 40	/* the index, the heads of two descriptions, the registers */
#define OPEN_STEPS  600 /* an image */

enum step { STEP_ON, STEP_ROOT, STEP_FAILED };

struct walk {
	struct pl_unwinder *u;
	struct pl_registers *regs;
	struct pl_native_frame frame; /* the one to be unwound */
	enum pl_unwind_end end;	      /* after STEP_FAILED */
	unsigned signals;
};

static enum step fail(struct walk *w, enum pl_unwind_end end)
{
	w->end = w->u->steps ? end : PL_UNWIND_LIMIT;
	return STEP_FAILED;
}

static enum step find_cfa(struct walk *w, const struct pl_cfi_rule *rule, pl_addr *ret)
{
	uint64_t v;

	switch (rule->kind) {
	case PL_CFI_IS:
		if (!pl_register_get(w->regs, rule->reg, &v))
			return fail(w, PL_UNWIND_REGISTER);
		*ret = v + (uint64_t)rule->offset;
		return STEP_ON;
	case PL_CFI_IS_EXPRESSION:
		if (!pl_expression_eval(&rule->expression, w->u->mem, w->regs, NULL, &w->u->steps, ret))
			return fail(w, PL_UNWIND_REGISTER);
		return STEP_ON;
	default:
		return fail(w, PL_UNWIND_CORRUPT);
	}
}

/* The caller's register @p n; one that is nowhere is not known. False: it is in memory that cannot be read. */
static bool find_register(struct walk *w, const struct pl_cfi_rule *rule, unsigned n, pl_addr cfa,
			  struct pl_registers *to)
{
	uint64_t v, at;

	switch (rule->kind) {
	case PL_CFI_UNSAID:
		if (!(w->u->arch->preserved >> n & 1))
			return true;
		/* fall through */
	case PL_CFI_SAME:
		if (pl_register_get(w->regs, n, &v))
			pl_register_set(to, n, v);
		return true;
	case PL_CFI_AT:
		if (!pl_mem_get_u64(w->u->mem, cfa + (uint64_t)rule->offset, &v))
			return false;
		pl_register_set(to, n, v);
		return true;
	case PL_CFI_IS:
		pl_register_set(to, n, cfa + (uint64_t)rule->offset);
		return true;
	case PL_CFI_REGISTER:
		if (pl_register_get(w->regs, rule->reg, &v))
			pl_register_set(to, n, v);
		return true;
	case PL_CFI_AT_EXPRESSION:
		if (!pl_expression_eval(&rule->expression, w->u->mem, w->regs, &cfa, &w->u->steps, &at))
			return true;
		if (!pl_mem_get_u64(w->u->mem, at, &v))
			return false;
		pl_register_set(to, n, v);
		return true;
	case PL_CFI_IS_EXPRESSION:
		if (pl_expression_eval(&rule->expression, w->u->mem, w->regs, &cfa, &w->u->steps, &v))
			pl_register_set(to, n, v);
		return true;
	case PL_CFI_UNDEFINED:
		break;
	}
	return true;
}

/* All of them, as they are in the caller. None of a root's are asked for. */
static enum step find_registers(struct walk *w, const struct pl_cfi_row *row, const struct pl_fde *f, pl_addr cfa)
{
	const struct pl_unwind_arch *arch = w->u->arch;
	struct pl_registers to = {0};

	if (row->regs[arch->pc].kind == PL_CFI_UNDEFINED)
		return STEP_ROOT;
	for (unsigned n = 0; n < arch->count; n++)
		if (!find_register(w, &row->regs[n], n, cfa, &to))
			return fail(w, PL_UNWIND_UNREADABLE);
	if (row->regs[arch->sp].kind == PL_CFI_UNSAID)
		pl_register_set(&to, arch->sp, cfa);
	uint64_t pc, sp;
	if (f->pc_column != arch->pc || !pl_register_get(&to, arch->pc, &pc) || !pl_register_get(&to, arch->sp, &sp))
		return fail(w, PL_UNWIND_REGISTER);
	if (pc == 0)
		return STEP_ROOT;
	*w->regs = to;
	return STEP_ON;
}

/* A frame lies above its callee. */
static bool grows(struct walk *w, bool signal, pl_addr cfa)
{
	if (signal)
		return ++w->signals <= SIGNALS_MAX;
	return cfa > w->frame.sp && cfa % 8 == 0;
}

/* As by the tables. Nothing of the registers is changed before all of it was read. */
static enum step step_by_rule(struct walk *w, const struct pl_unwind_rule *rule)
{
	const struct pl_unwind_arch *arch = w->u->arch;
	uint64_t saved[PL_RULE_SAVED], cfa;

	w->frame.image = rule->image;
	w->frame.function = rule->function;
	if (!pl_register_get(w->regs, rule->cfa_register, &cfa))
		return rule->root ? STEP_ROOT : fail(w, PL_UNWIND_REGISTER);
	cfa += (uint64_t)(int64_t)rule->cfa_offset;
	if (!grows(w, rule->signal, cfa))
		return fail(w, PL_UNWIND_CORRUPT);
	w->frame.cfa = cfa;
	w->frame.flags |= rule->signal ? PL_NATIVE_SIGNAL : 0;
	if (rule->root)
		return STEP_ROOT;
	for (unsigned i = 0; i < rule->saved; i++) {
		if (!pl_mem_get_u64(w->u->mem, cfa + (uint64_t)(int64_t)rule->at[i].offset, &saved[i]))
			return fail(w, PL_UNWIND_UNREADABLE);
		if (rule->at[i].reg == arch->pc && saved[i] == 0)
			return STEP_ROOT;
	}
	w->regs->known &= arch->preserved & ~(UINT64_C(1) << arch->sp);
	pl_register_set(w->regs, arch->sp, cfa);
	for (unsigned i = 0; i < rule->saved; i++)
		pl_register_set(w->regs, rule->at[i].reg, saved[i]);
	return STEP_ON;
}

/* Where there is no table. @p end: why not. */
static enum step step_by_epilogue(struct walk *w, enum pl_unwind_end end)
{
	const struct pl_unwind_arch *arch = w->u->arch;
	struct pl_registers to = *w->regs;
	uint64_t cfa, pc;

	if (!(pl_epilogue_follow(w->u, &w->frame, &to) ||
	      (end == PL_UNWIND_NO_TABLE && pl_return_path_follow(w->u, &w->frame, &to))) ||
	    !pl_register_get(&to, arch->sp, &cfa) || !grows(w, false, cfa) || !pl_register_get(&to, arch->pc, &pc) ||
	    pc == 0)
		return fail(w, end);
	w->frame.cfa = cfa;
	w->frame.flags |= PL_NATIVE_RETURNS;
	*w->regs = to;
	return STEP_ON;
}

static enum step step_by_tables(struct walk *w, pl_addr place)
{
	struct pl_unwinder *u = w->u;
	pl_addr cfa;
	struct pl_unwind_image *i = pl_unwind_image_at(u->images, u->image_count, place);
	struct pl_cfi_row row;
	struct pl_fde f;

	if (!i)
		return step_by_epilogue(w, PL_UNWIND_NO_IMAGE);
	w->frame.image = (uint32_t)(i - u->images);
	if (!i->opened && !pl_steps_take(&u->steps, OPEN_STEPS))
		return fail(w, PL_UNWIND_LIMIT);
	pl_unwind_image_open(i, u->mem, u->arch);
	if (!i->head)
		return fail(w, PL_UNWIND_NO_IMAGE);
	if (!pl_fde_find(i, u->mem, place, &f)) {
		w->frame.function = pl_unwind_image_function(i, place);
		return step_by_epilogue(w, PL_UNWIND_NO_TABLE);
	}
	w->frame.function = f.start;
	if (!pl_cfi_row_at(&f, u->mem, place, &u->steps, &row))
		return fail(w, PL_UNWIND_CORRUPT);
	pl_unwind_rules_keep(u->rules, u->arch, place, w->frame.image, &f, &row);
	enum step s = find_cfa(w, &row.cfa, &cfa);
	if (s != STEP_ON)
		return row.regs[u->arch->pc].kind == PL_CFI_UNDEFINED ? STEP_ROOT : s;
	if (!grows(w, f.signal, cfa))
		return fail(w, PL_UNWIND_CORRUPT);
	w->frame.cfa = cfa;
	w->frame.flags |= f.signal ? PL_NATIVE_SIGNAL : 0;
	return find_registers(w, &row, &f, cfa);
}

static enum step step(struct walk *w)
{
	pl_addr place = pl_native_frame_place(&w->frame);
	const struct pl_unwind_rule *rule = pl_unwind_rules_get(w->u->rules, place);

	return rule ? step_by_rule(w, rule) : step_by_tables(w, place);
}

static bool start_frame(struct walk *w, uint8_t flags)
{
	const struct pl_unwind_arch *arch = w->u->arch;

	w->frame = (struct pl_native_frame){.image = PL_NO_IMAGE, .flags = flags};
	return pl_register_get(w->regs, arch->pc, &w->frame.pc) && pl_register_get(w->regs, arch->sp, &w->frame.sp);
}

enum pl_unwind_end pl_unwind(struct pl_unwinder *u, struct pl_registers *regs, uint8_t flags, pl_addr until,
			     pl_native_frame_vec *ret)
{
	struct walk w = {.u = u, .regs = regs};
	enum step s = STEP_ON;

	while (s == STEP_ON) {
		if (ret->len == PL_NATIVE_FRAMES_MAX || !pl_steps_take(&u->steps, FRAME_STEPS))
			return PL_UNWIND_LIMIT;
		if (!start_frame(&w, flags))
			return PL_UNWIND_REGISTER;
		if (w.frame.sp > until)
			return PL_UNWIND_PASSED;
		s = step(&w);
		if (!pl_vec_push(ret, w.frame))
			return PL_UNWIND_NO_MEMORY;
		flags = w.frame.flags & PL_NATIVE_SIGNAL ? PL_NATIVE_EXACT_PC : 0;
	}
	return s == STEP_ROOT ? PL_UNWIND_ROOT : w.end;
}
