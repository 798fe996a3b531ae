/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/model: what refine.c asks of each stack. */
#ifndef PL_MODEL_REFINE_PARTS_H
#define PL_MODEL_REFINE_PARTS_H

#include "refine.h"

/* Of a stack node. */
enum pl_sieve_flag {
	PL_SIEVE_OUT = 1,	/* samples on this stack do not pass */
	PL_SIEVE_FRAME_OUT = 2, /* they pass, and its innermost frame is left out */
};

/** By frames and labels: kinds, modules, tags, focus, ignore. *ret: one set of flags for each stack, NULL if none was
 * asked for; the caller frees. */
struct plumb_error *pl_sieve_frames(const struct plumb_profile *p, const struct pl_refine *o,
				    uint8_t **ret) PLUMB_MUST_CHECK;
/** Subtrees of @p p lighter than @p min_share lose their frames. */
struct plumb_error *pl_sieve_shares(const struct plumb_profile *p, double min_share, uint8_t **ret) PLUMB_MUST_CHECK;

#endif
