/* SPDX-License-Identifier: Apache-2.0 */
/* From the registers of a thread that stands still to its native frames. docs/design/013-native-stacks.md */
#ifndef PL_UNWIND_H
#define PL_UNWIND_H

#include "image_in_memory.h"
#include "vec.h"

#define PL_NATIVE_FRAMES_MAX 32768
#define PL_NO_IMAGE	     UINT32_MAX

enum pl_native_flags {
	PL_NATIVE_EXACT_PC = 1, /* `pc` is what runs next: innermost, or interrupted; else it is a return address */
	PL_NATIVE_SIGNAL = 2,	/* the kernel called this frame's callee, a signal handler */
	PL_NATIVE_GUESSED = 4,	/* found by a frame pointer; what follows landed on an anchor (resume.h) */
	PL_NATIVE_RESUMED = 8,	/* found by its anchor alone, `pc` is 0; frames before it are missing */
	PL_NATIVE_RETURNS = 16, /* it has no table; all that it has left to do is to return */
};

struct pl_native_frame {
	pl_addr pc, sp;
	pl_addr cfa;	  /* where it ends on the stack; 0: not known, as it could not be unwound */
	pl_addr function; /* where its code begins, by the unwind tables; 0: not known */
	uint32_t image;	  /* position; PL_NO_IMAGE: code that is in none */
	uint8_t flags;
};
typedef PL_VEC(struct pl_native_frame) pl_native_frame_vec;

/** An address inside the call that it stands for: of a return address, the call before it. */
static inline pl_addr pl_native_frame_place(const struct pl_native_frame *f)
{
	return f->flags & PL_NATIVE_EXACT_PC ? f->pc : f->pc - 1;
}

enum pl_unwind_end {
	PL_UNWIND_ROOT,	      /* the outermost frame, which says of itself that it is */
	PL_UNWIND_NO_TABLE,   /* the last frame's code has no unwind table */
	PL_UNWIND_NO_IMAGE,   /* the last frame's code is in no image: made by a JIT compiler, or no code at all */
	PL_UNWIND_UNREADABLE, /* beyond the copy of the stack, or torn */
	PL_UNWIND_REGISTER,   /* it takes a register that is not known */
	PL_UNWIND_CORRUPT,    /* tables or stack make no sense */
	PL_UNWIND_PASSED,     /* it has come to where it was to end */
	PL_UNWIND_LIMIT,      /* too many frames, or no steps are left */
	PL_UNWIND_NO_MEMORY,
};

struct pl_unwind_rules;

struct pl_unwinder {
	struct pl_mem *mem; /* the stack, as it was at one moment, and the images */
	const struct pl_unwind_arch *arch;
	struct pl_unwind_image *images; /* sorted, not overlapping */
	size_t image_count;
	size_t steps;		       /* that may still be made, by all calls together (steps.h) */
	struct pl_unwind_rules *rules; /* of these images (rules.h); NULL: none are kept */
	struct pl_mem *code;	       /* instructions, also those in no image; NULL: none are looked at */
};

/** Unwind from @p regs, the innermost frame first, appended to @p ret, until a frame lies above @p until. @p flags: of
 * the first one: PL_NATIVE_EXACT_PC or 0. Where it ends otherwise than at the root, @p regs are those of the last
 * frame.
 */
enum pl_unwind_end pl_unwind(struct pl_unwinder *u, struct pl_registers *regs, uint8_t flags, pl_addr until,
			     pl_native_frame_vec *ret);

/* For one thread: some tenths of a second at most. So many frames as there may be take a third of it. */
#define PL_UNWIND_STEPS 4000000

#endif
