/* SPDX-License-Identifier: Apache-2.0 */
/* Coroutines and generators that are suspended: what they wait for. For asyncio.c. */
#ifndef PL_AWAIT_H
#define PL_AWAIT_H

#include "buf.h"
#include "frame.h"
#include "value.h"

/** What a coroutine waits for, one step after the other. */
struct pl_await {
	bool cut;      /* longer than the maximum, or not readable to its end */
	pl_addr inner; /* what the innermost frame waits for, if that has no frame; 0: nothing, or not known */
};

/**
 * Append the frames of the coroutine @p coro and of all that it waits for, outermost first, at most @p max. A coroutine
 * that runs gives one frame. Follows coroutines, generators, asynchronous generators, and the objects that await makes
 * of them. @p v: for the names of types. Errors: PLUMB_ERR_NO_MEMORY, PLUMB_ERR_TARGET_EXITED.
 */
struct plumb_error *pl_await_chain(struct pl_values *v, pl_addr coro, size_t max, pl_frame_vec *frames,
				   struct pl_await *ret) PLUMB_MUST_CHECK;

#endif
