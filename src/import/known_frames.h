/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a file that were read before, by their text, and those of the stack that is being read. */
#ifndef PL_KNOWN_FRAMES_H
#define PL_KNOWN_FRAMES_H

#include "known_texts.h"
#include "vec.h"

struct pl_known_frame {
	uint32_t location;
	bool gc; /* it is the collector of garbage */
};

/** All zero at first. */
struct pl_known_frames {
	struct pl_known_texts texts; /* -> location << 1, and 1 if it is the collector */
};

typedef PL_VEC(uint32_t) pl_ids;

static inline void pl_known_frames_deinit(struct pl_known_frames *k)
{
	pl_known_texts_deinit(&k->texts);
}

/* Asked of each frame of a file: so they stand here. */
static inline bool pl_known_frames_find(const struct pl_known_frames *k, struct pl_span text, uint32_t hash,
					struct pl_known_frame *ret)
{
	uint64_t value;

	if (!pl_known_find(&k->texts, text, hash, &value))
		return false;
	*ret = (struct pl_known_frame){.location = (uint32_t)(value >> 1), .gc = value & 1};
	return true;
}

static inline struct plumb_error *pl_known_frames_add(struct pl_known_frames *k, struct pl_span text, uint32_t hash,
						      struct pl_known_frame frame)
{
	return pl_known_add(&k->texts, text, hash, (uint64_t)frame.location << 1 | frame.gc);
}

/** To the stack that is being read; *gc is set if one of its frames is the collector. */
static inline struct plumb_error *pl_known_frame_push(struct pl_known_frame frame, pl_ids *stack, bool *gc)
{
	*gc = *gc || frame.gc;
	return pl_vec_push(stack, frame.location) ? NULL : &pl_err_no_memory;
}

#endif
