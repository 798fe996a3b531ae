/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of frames of one thread. */
#ifndef PL_FRAME_H
#define PL_FRAME_H

#include "threads.h"

#define PL_MAX_FRAMES 65536

enum pl_frame_kind {
	PL_FRAME_PYTHON,
	PL_FRAME_SHIM, /* C called Python here (3.12+ shim frames); has no code */
};

struct pl_frame {
	pl_addr addr, previous;
	pl_addr code;  /* PyCodeObject, tag bits cleared; 0 for a shim */
	pl_addr instr; /* 3.11+: instruction pointer; <= 3.10: f_lasti (in bytes, may be (pl_addr)-1 before the first
			  instruction) */
	uint32_t tlbc_index; /* free-threaded 3.14+; else 0 */
	uint8_t owner;	     /* raw owner byte; 0 where the release has none */
	uint8_t kind;	     /* enum pl_frame_kind */
	bool entry;	     /* a C eval loop begins at this frame (3.11 is_entry, shims, every frame <= 3.10) */
	bool freed;	     /* <= 3.10: nobody refers to it; its words are those of its last call */
};

typedef PL_VEC(struct pl_frame) pl_frame_vec;

/** Is it a generator's, as far as the frame itself tells? */
static inline bool pl_frame_of_generator(const struct pl_py *py, const struct pl_frame *f)
{
	return f->owner == py->layout.owner_generator && f->owner != PL_NO_OWNER;
}

/** Is `instr` the address of an instruction, so that its opcode can be read there? */
static inline bool pl_frame_instr_is_address(const struct pl_py *py)
{
	return py->layout.frame_model != PL_FRAME_OBJECT;
}

/** Is there a frame without code where C calls Python? */
static inline bool pl_frame_has_shims(const struct pl_py *py)
{
	return py->layout.frame_model == PL_FRAME_CURRENT ||
	       (py->layout.frame_model == PL_FRAME_CFRAME && py->layout.frame.is_entry == PL_NONE);
}

/** The bytes pl_frame_read reads: so that a caller can fetch them together with others. */
struct pl_range pl_frame_range(const struct pl_py *py, pl_addr addr);

/** Parse one frame, freed or not. Errors: pl_err_unreadable, pl_err_corrupt (alignment, owner, previous == addr). */
struct plumb_error *pl_frame_read(struct pl_mem *mem, const struct pl_py *py, pl_addr addr,
				  struct pl_frame *ret) PLUMB_MUST_CHECK;

/** As pl_frame_read, of the bytes of pl_frame_range(). Errors: pl_err_corrupt. */
struct plumb_error *pl_frame_parse(const struct pl_py *py, const uint8_t *raw, pl_addr addr,
				   struct pl_frame *ret) PLUMB_MUST_CHECK;

/** The outer part of a chain as it was walked before, if its bytes have not changed since; len 0: there is none. */
struct pl_frame_tail {
	const struct pl_frame *frames; /* innermost first; they stay the caller's */
	size_t len;
	pl_addr root;
};

/**
 * Walk from ts->frame to the root, innermost first, appended to @p ret (shims included). Prefetches the live data-stack
 * chunk. Checks as it goes: owner, alignment, no cycle, none is freed, thread-owned frames have `previous` below
 * themselves in the same chunk or outside it. Bounded by PL_MAX_FRAMES.
 * @param root_ret address of the outermost frame reached; compare it with the root known from earlier walks (or
 * base_frame). Errors: as pl_frame_read, PLUMB_ERR_LIMIT; the frames walked so far stay in @p ret.
 * @param tail when the walk comes to its first frame, the rest is taken from it; may be NULL.
 */
struct plumb_error *pl_frame_walk(struct pl_mem *mem, const struct pl_py *py, const struct pl_tstate *ts,
				  const struct pl_frame_tail *tail, pl_frame_vec *ret,
				  pl_addr *root_ret) PLUMB_MUST_CHECK;

#endif
