/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. Taking the registers and the stack of a thread. Quick, because the thread may be
 * stopped meanwhile. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "registers.h"

#define STACK_MAX  (2u << 20)
#define STACK_STEP (64u << 10)
#define PAGE	   4096u

void pl_native_taken_deinit(struct pl_native_taken *t)
{
	free(t->stack);
	pl_vec_deinit(&t->frames);
	*t = (struct pl_native_taken){0};
}

size_t pl_native_taken_python(const struct pl_native_taken *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->frames.len; i++)
		n += t->frames.data[i].kind == PL_FRAME_PYTHON;
	return n;
}

struct plumb_error *pl_native_create(pid_t pid, struct pl_mem *live, const struct pl_py *py, bool all, uint64_t end_ns,
				     struct pl_native **ret)
{
	struct pl_native *n = calloc(1, sizeof *n);

	if (!n)
		return &pl_err_no_memory;
	n->py = py;
	n->all = all;
	n->steps = PL_UNWIND_STEPS;
	n->end_ns = end_ns;
	struct plumb_error *err = pl_native_place_init(&n->place, pid, live);
	if (err)
		pl_native_destroy(n);
	else
		*ret = n;
	return err;
}

void pl_native_destroy(struct pl_native *n)
{
	if (!n)
		return;
	pl_native_place_deinit(&n->place);
	pl_demangler_deinit(&n->demangler);
	free(n);
}

uint32_t pl_native_image_of_python(const struct pl_native *n)
{
	uint32_t i = pl_native_place_owner(&n->place, n->py->runtime);

	return i != PL_NO_IMAGE ? i : pl_native_place_owner(&n->place, n->py->interp_head);
}

bool pl_native_is_late(const struct pl_native *n)
{
	return pl_clock_monotonic_ns() >= n->end_ns;
}

/* As many of the @p len bytes as can be read in a row, in steps of @p step, which end where pages do. */
static size_t read_steps(struct pl_native *n, pl_addr from, uint8_t *to, size_t len, size_t step)
{
	size_t done = 0;

	while (done < len) {
		size_t here = step - (from + done) % step;

		here = here < len - done ? here : len - done;
		if (!pl_mem_get(n->place.live, from + done, to + done, here))
			break;
		done += here;
	}
	return done;
}

/* All of it in one read if that can be. A mapping can hold the stacks of several threads, with pages between them that
 * nobody may touch (glibc 2.42: MADV_GUARD_INSTALL): then it is what is in front of these. */
static bool copy_stack(struct pl_native *n, pl_addr from, struct pl_native_taken *ret)
{
	uint64_t room = pl_native_place_room(&n->place, from);
	size_t len = room == 0 ? STACK_STEP : room < STACK_MAX ? (size_t)room : STACK_MAX;

	ret->stack = malloc(len);
	if (!ret->stack)
		return false;
	ret->at = from;
	ret->len = len;
	if (pl_mem_get(n->place.live, from, ret->stack, len))
		return true;
	ret->len = read_steps(n, from, ret->stack, len, STACK_STEP);
	size_t rest = len - ret->len < STACK_STEP ? len - ret->len : STACK_STEP;
	ret->len += read_steps(n, from + ret->len, ret->stack + ret->len, rest, PAGE);
	return ret->len > 0;
}

static bool copy_frames(const pl_frame_vec *frames, struct pl_native_taken *ret)
{
	if (!frames || !frames->len)
		return true;
	ret->frames.data = malloc(frames->len * sizeof *frames->data);
	if (!ret->frames.data)
		return false;
	memcpy(ret->frames.data, frames->data, frames->len * sizeof *frames->data);
	ret->frames.len = ret->frames.cap = frames->len;
	return true;
}

/* With the registers there already. */
static void take(struct pl_native *n, const struct pl_native_thread *t, struct pl_native_taken *ret)
{
	uint64_t sp;

	ret->cframe = t->cframe;
	ret->taken = pl_register_get(&ret->regs, pl_unwind_x86_64.sp, &sp) && sp > pl_unwind_x86_64.below_sp &&
		     copy_stack(n, sp - pl_unwind_x86_64.below_sp, ret) && copy_frames(t->frames, ret);
}

void pl_native_take_blocked(struct pl_native *n, const struct pl_native_thread *t, const struct pl_activity_info *info,
			    struct pl_native_taken *ret)
{
	pl_native_taken_deinit(ret);
	if (!info->sp || !info->pc)
		return;
	pl_register_set(&ret->regs, pl_unwind_x86_64.sp, info->sp);
	pl_register_set(&ret->regs, pl_unwind_x86_64.pc, info->pc);
	take(n, t, ret);
	if (n->kernel && ret->taken)
		pl_kernel_stack_read(n->place.pid, t->tid, info, &ret->kernel);
}

void pl_native_take_stopped(struct pl_native *n, const struct pl_native_thread *t, struct pl_native_taken *ret)
{
	uint64_t words[PL_DWARF_REGISTERS];

	pl_native_taken_deinit(ret);
	if (!pl_registers_read(t->tid, words))
		return;
	for (unsigned i = 0; i < PL_DWARF_REGISTERS; i++)
		pl_register_set(&ret->regs, i, words[i]);
	take(n, t, ret);
}
