/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem; allocates only to grow vectors. */
#include "resume.h"

#include "call.h"
#include "cfi.h"
#include "frame_pointer.h"
#include "prologue.h"
#include "steps.h"

#define DISTANCE_MAX 1024
#define SEARCH_BYTES 16384 /* of the stack, for a frame pointer */
#define TRY_STEPS    8	   /* to see that a place is no good */

struct resume {
	struct pl_unwinder *u;
	const pl_addr *anchors;
	size_t n, next; /* next: the first that no frame has yet */
	struct pl_landing *landing;
	pl_native_frame_vec *ret;
};

/* ---- what is learnt ---------------------------------------------------------------------------------------------- */

static void learn_saved(struct resume *r, const struct pl_native_frame *f)
{
	struct pl_unwinder *u = r->u;
	struct pl_landing *l = r->landing;
	struct pl_cfi_row row;
	struct pl_fde fde;
	pl_addr place = pl_native_frame_place(f);

	l->saved = 0;
	if (f->image >= u->image_count || !pl_fde_find(&u->images[f->image], u->mem, place, &fde) ||
	    !pl_cfi_row_at(&fde, u->mem, place, &u->steps, &row))
		return;
	for (unsigned i = 0; i < u->arch->count; i++) {
		if (row.regs[i].kind != PL_CFI_AT)
			continue;
		l->saved |= UINT64_C(1) << i;
		l->offset[i] = row.regs[i].offset;
	}
}

/* Frames from @p first on and the anchors that lie in them, in order. False: one lies at another distance than the
 * others do. */
static bool take_anchors(struct resume *r, size_t first, bool learn)
{
	for (size_t i = first; i < r->ret->len; i++) {
		const struct pl_native_frame *f = &r->ret->data[i];

		while (r->next < r->n && r->anchors[r->next] < f->sp)
			r->next++; /* in no frame at all: for who joins them to see */
		if (r->next == r->n || !pl_native_frame_has(f, r->anchors[r->next]))
			continue;
		const pl_addr anchor = r->anchors[r->next++];
		const uint64_t distance = f->cfa - anchor;
		if (r->landing->distance && r->landing->distance != distance)
			return false;
		if (!r->landing->distance && learn && !(f->flags & PL_NATIVE_GUESSED))
			r->landing->distance = distance;
		if (!r->landing->saved && learn && !(f->flags & (PL_NATIVE_RESUMED | PL_NATIVE_GUESSED)))
			learn_saved(r, f);
		if (!r->landing->below && !(f->flags & (PL_NATIVE_RESUMED | PL_NATIVE_GUESSED | PL_NATIVE_EXACT_PC)))
			r->landing->below = anchor - f->sp;
	}
	return true;
}

/* ---- trying ------------------------------------------------------------------------------------------------------ */

static bool may_try(struct resume *r)
{
	return pl_steps_take(&r->u->steps, TRY_STEPS);
}

/* Is it what a call would return to? */
static bool follows_a_call(struct resume *r, pl_addr pc)
{
	return pl_unwind_image_at(r->u->images, r->u->image_count, pc - 1) && pl_call_before(r->u->mem, pc);
}

/* The registers of the caller of the evaluation that ends at @p cfa, as far as they are known. Before anything was
 * learnt, its frame pointer is looked for where code that keeps one has it: whatever that leads to must land. */
static bool registers_behind(struct resume *r, pl_addr cfa, struct pl_registers *ret)
{
	const struct pl_unwind_arch *arch = r->u->arch;
	const struct pl_landing *l = r->landing;
	uint64_t v;

	*ret = (struct pl_registers){0};
	for (unsigned i = 0; i < arch->count; i++)
		if (l->saved >> i & 1 && pl_mem_get_u64(r->u->mem, cfa + (uint64_t)l->offset[i], &v))
			pl_register_set(ret, i, v);
	if (!l->saved && pl_mem_get_u64(r->u->mem, cfa - 16, &v))
		pl_register_set(ret, arch->fp, v);
	if (!pl_mem_get_u64(r->u->mem, cfa - 8, &v))
		return false;
	pl_register_set(ret, arch->pc, v);
	pl_register_set(ret, arch->sp, cfa);
	return true;
}

static bool caller_of(struct resume *r, pl_addr cfa, struct pl_registers *ret)
{
	return registers_behind(r, cfa, ret) && follows_a_call(r, ret->value[r->u->arch->pc]);
}

/* Unwind from @p regs to the anchor @p k, and no further: does it land there? Of none that is left: at the root. What
 * is found is left in r->ret. */
static bool lands(struct resume *r, struct pl_registers *regs, uint8_t flags, size_t k, uint64_t distance,
		  enum pl_unwind_end *end)
{
	size_t first = r->ret->len;
	bool last = k >= r->n;

	*end = pl_unwind(r->u, regs, flags, last ? UINT64_MAX : r->anchors[k], r->ret);
	if (last)
		return *end == PL_UNWIND_ROOT;
	if (*end != PL_UNWIND_PASSED || r->ret->len == first)
		return false;
	return r->ret->data[r->ret->len - 1].cfa == r->anchors[k] + distance;
}

static void mark_guessed(struct resume *r, size_t first)
{
	for (size_t i = first; i < r->ret->len; i++)
		r->ret->data[i].flags |= PL_NATIVE_GUESSED;
}

/* A frame pointer, where the code has no table: then it points to where its caller's was saved. */
static bool try_frame_pointer(struct resume *r, struct pl_registers *regs, enum pl_unwind_end *end)
{
	const struct pl_unwind_arch *arch = r->u->arch;
	struct pl_registers to = {0};
	size_t first = r->ret->len;
	uint64_t fp, saved, pc, sp;

	if (!pl_register_get(regs, arch->fp, &fp) || !pl_register_get(regs, arch->sp, &sp) || fp < sp || fp % 8 ||
	    !r->landing->distance || r->next >= r->n || fp > r->anchors[r->next] ||
	    !pl_mem_get_u64(r->u->mem, fp, &saved) || !pl_mem_get_u64(r->u->mem, fp + 8, &pc))
		return false;
	pl_register_set(&to, arch->fp, saved);
	pl_register_set(&to, arch->pc, pc);
	pl_register_set(&to, arch->sp, fp + 16);
	if (!follows_a_call(r, pc) || !lands(r, &to, 0, r->next, r->landing->distance, end)) {
		r->ret->len = first;
		return false;
	}
	r->ret->data[first - 1].cfa = fp + 16;
	mark_guessed(r, first);
	*regs = to;
	return true;
}

/* Is there a frame of an evaluation to land at? Else it is the root. */
static bool has_landing(const struct resume *r)
{
	return r->landing->distance && r->next < r->n;
}

/* With the frame pointer @p fp in the frame that could not be unwound for want of one. */
static bool try_frame_pointer_at(struct resume *r, pl_addr fp, struct pl_registers *regs, enum pl_unwind_end *end)
{
	const struct pl_native_frame lost = r->ret->data[r->ret->len - 1];
	struct pl_registers to = *regs;
	size_t first = r->ret->len - 1;

	pl_register_set(&to, r->u->arch->fp, fp);
	r->ret->len = first;
	if (!lands(r, &to, lost.flags, has_landing(r) ? r->next : r->n, r->landing->distance, end)) {
		r->ret->data[first] = lost; /* it was there: there is room */
		r->ret->len = first + 1;
		return false;
	}
	mark_guessed(r, first);
	*regs = to;
	return true;
}

/* The frame of an evaluation itself: no other lies so far below an anchor, as each callee of it lies further below. */
static bool is_at_anchor(struct resume *r, const struct pl_native_frame *lost)
{
	const struct pl_landing *l = r->landing;

	return l->below && l->distance >= 16 && r->anchors[r->next] - lost->sp == l->below;
}

/* By the call that leads to the function that @p lost is in, where its code does not tell how large its frame is. The
 * words on the stack may be left from earlier calls, so if there are two places none is taken. */
static bool find_direct_call(struct resume *r, const struct pl_native_frame *lost, const struct pl_registers *regs,
			     pl_addr *ret)
{
	const pl_addr anchor = r->anchors[r->next];
	const pl_addr to = anchor - lost->sp < SEARCH_BYTES ? anchor : lost->sp + SEARCH_BYTES;
	const struct pl_native_frame kept = *lost;
	const size_t first = r->ret->len - 1;
	enum pl_unwind_end end;
	size_t found = 0;
	uint64_t pc;

	for (pl_addr at = kept.sp; at < to && found < 2 && may_try(r); at += 8) {
		struct pl_registers trial = *regs;

		if (!pl_mem_get_u64(r->u->mem, at + 8, &pc) || !pl_call_leads_to(r->u->mem, pc, kept.function) ||
		    !try_frame_pointer_at(r, at, &trial, &end))
			continue;
		found++;
		*ret = at;
		r->ret->len = first + 1;
		r->ret->data[first] = kept;
	}
	return found == 1;
}

static bool follows_a_call_at(struct resume *r, pl_addr at)
{
	uint64_t pc;

	return pl_mem_get_u64(r->u->mem, at, &pc) && follows_a_call(r, pc);
}

/* The kernel does not tell it of a blocked thread. That what it leads to lands is no proof of it: so may the return
 * address of an earlier call, which is still on the stack, or that of an outer frame. So the frame must be known for
 * one of the interpreter's, or its code must say how large it is, or one call alone may lead to its function. */
static bool find_frame_pointer(struct resume *r, struct pl_registers *regs, enum pl_unwind_end *end)
{
	const struct pl_native_frame lost = r->ret->data[r->ret->len - 1];
	uint64_t fp;

	if (pl_register_get(regs, r->u->arch->fp, &fp))
		return false;
	if (has_landing(r) && is_at_anchor(r, &lost))
		return try_frame_pointer_at(r, r->anchors[r->next] + r->landing->distance - 16, regs, end);
	if (pl_frame_pointer_by_code(r->u, &lost, &fp) && follows_a_call_at(r, fp + 8) &&
	    try_frame_pointer_at(r, fp, regs, end))
		return true;
	*end = PL_UNWIND_REGISTER;
	return has_landing(r) && find_direct_call(r, &lost, regs, &fp) && try_frame_pointer_at(r, fp, regs, end);
}

/* What the function has pushed, where the code has no table but it is known where it begins. That leads to a call, and
 * lands. */
static bool try_prologue(struct resume *r, struct pl_registers *regs, enum pl_unwind_end *end)
{
	const struct pl_native_frame lost = r->ret->data[r->ret->len - 1];
	const size_t first = r->ret->len;
	uint64_t pc, cfa;

	if (!lost.function || *end != PL_UNWIND_NO_TABLE || (r->next < r->n && !r->landing->distance))
		return false;
	for (int entered = 1; entered >= 0 && may_try(r); entered--) {
		struct pl_registers to = *regs;

		if (pl_prologue_follow(r->u, &lost, entered, &to) && pl_register_get(&to, r->u->arch->pc, &pc) &&
		    pl_register_get(&to, r->u->arch->sp, &cfa) && follows_a_call(r, pc) &&
		    lands(r, &to, 0, r->next, r->landing->distance, end)) {
			r->ret->data[first - 1].cfa = cfa;
			*regs = to;
			return true;
		}
		r->ret->len = first;
	}
	*end = PL_UNWIND_NO_TABLE;
	return false;
}

/* Has the caller of the evaluation the registers that the frames of others tell? Not all of these save the same ones.
 */
static bool is_behind(struct resume *r, pl_addr cfa, const struct pl_registers *regs)
{
	struct pl_registers to;

	if (!r->landing->saved || !registers_behind(r, cfa, &to))
		return false;
	for (unsigned i = 0; i < r->u->arch->count; i++)
		if (to.known & regs->known & UINT64_C(1) << i && regs->value[i] != to.value[i])
			return false;
	return true;
}

/* Code of a compiler that tells nothing of it, as that of CPython's is (3.14), and that an evaluation itself has
 * called: where all evaluations have their stack pointer then. So it is if no other frame can lie between the two. */
static bool try_evaluation(struct resume *r, struct pl_registers *regs, enum pl_unwind_end *end)
{
	const struct pl_landing *l = r->landing;
	const struct pl_native_frame lost = r->ret->data[r->ret->len - 1];
	const size_t first = r->ret->len;
	struct pl_registers to = {0};
	uint64_t pc;

	if (*end != PL_UNWIND_NO_IMAGE || !has_landing(r) || !l->below || l->distance < 16)
		return false;
	const pl_addr anchor = r->anchors[r->next], sp = anchor - l->below;
	if (!pl_mem_get_u64(r->u->mem, sp - 8, &pc) || !follows_a_call(r, pc) ||
	    !pl_call_is_only(r->u, lost.sp, sp - 8))
		return false;
	pl_register_set(&to, r->u->arch->pc, pc);
	pl_register_set(&to, r->u->arch->sp, sp);
	pl_register_set(&to, r->u->arch->fp, anchor + l->distance - 16);
	if (lands(r, &to, 0, r->next, l->distance, end) && r->ret->len == first + 1 &&
	    is_behind(r, anchor + l->distance, &to)) {
		r->ret->data[first - 1].cfa = sp;
		*regs = to;
		return true;
	}
	r->ret->len = first;
	*end = PL_UNWIND_NO_IMAGE;
	return false;
}

/* From the frame that the anchor @p k lies in to its caller. */
static bool try_anchor(struct resume *r, size_t k, uint64_t distance, struct pl_registers *regs,
		       enum pl_unwind_end *end)
{
	pl_addr anchor = r->anchors[k], cfa = anchor + distance;
	const struct pl_native_frame f = {.sp = anchor, .cfa = cfa, .image = PL_NO_IMAGE, .flags = PL_NATIVE_RESUMED};
	struct pl_registers to;
	size_t first = r->ret->len;

	if (!caller_of(r, cfa, &to) || !pl_vec_push(r->ret, f))
		return false;
	if (!lands(r, &to, 0, k + 1, distance, end)) {
		r->ret->len = first;
		return false;
	}
	*regs = to;
	return true;
}

/* No frame with an anchor was found by the tables: which distance leads from one anchor to the next one? */
static bool try_distances(struct resume *r, size_t k, struct pl_registers *regs, enum pl_unwind_end *end)
{
	if (k + 1 >= r->n)
		return false;
	for (uint64_t d = 8; d <= DISTANCE_MAX && may_try(r); d += 8)
		if (try_anchor(r, k, d, regs, end))
			return true;
	return false;
}

/* False: nothing leads on. */
static bool go_on(struct resume *r, struct pl_registers *regs, enum pl_unwind_end *end)
{
	if (r->ret->len &&
	    (try_prologue(r, regs, end) || try_evaluation(r, regs, end) || try_frame_pointer(r, regs, end) ||
	     (*end == PL_UNWIND_REGISTER && find_frame_pointer(r, regs, end))))
		return true;
	for (; r->next < r->n && may_try(r); r->next++) {
		if (r->landing->distance ? try_anchor(r, r->next, r->landing->distance, regs, end)
					 : try_distances(r, r->next, regs, end))
			return true;
	}
	return false;
}

static bool is_final(enum pl_unwind_end end)
{
	return end == PL_UNWIND_ROOT || end == PL_UNWIND_LIMIT || end == PL_UNWIND_NO_MEMORY;
}

static enum pl_unwind_end walk(struct resume *r, struct pl_registers *regs)
{
	enum pl_unwind_end end = pl_unwind(r->u, regs, PL_NATIVE_EXACT_PC, UINT64_MAX, r->ret);
	size_t first = 0;

	while (take_anchors(r, first, true) && !is_final(end)) {
		enum pl_unwind_end stuck = end;

		first = r->ret->len;
		if (end == PL_UNWIND_PASSED)
			end = pl_unwind(r->u, regs, 0, UINT64_MAX, r->ret);
		else if (!go_on(r, regs, &end))
			return stuck;
	}
	return end;
}

enum pl_unwind_end pl_unwind_on(struct pl_unwinder *u, struct pl_registers *regs, const pl_addr *anchors, size_t n,
				struct pl_landing *landing, pl_native_frame_vec *ret)
{
	const struct pl_registers start = *regs;
	struct resume r = {u, anchors, n, 0, landing, ret};
	bool known = landing->distance != 0;
	enum pl_unwind_end end = walk(&r, regs);

	if (known || !landing->distance || u->steps == 0)
		return end;
	/* What was learnt on the way may lead further where it began. */
	for (size_t i = 0; i < ret->len; i++) {
		if (!(ret->data[i].flags & PL_NATIVE_RESUMED))
			continue;
		*regs = start;
		ret->len = 0;
		r.next = 0;
		return walk(&r, regs);
	}
	return end;
}
