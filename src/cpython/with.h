/* SPDX-License-Identifier: Apache-2.0 */
/* The `with` statements that a frame stands inside. */
#ifndef PL_WITH_H
#define PL_WITH_H

#include "frame.h"
#include "value.h"

/** Called with the object of each statement: what was entered last comes last. */
typedef void pl_with_fn(void *ctx, pl_addr obj);

/**
 * The objects whose `__exit__` (`__aexit__`) is due when the frame leaves the block that it runs: those of `with` and
 * `async with`. One that is still being entered is not among them, unless that is awaited (3.12+). The frame must stand
 * still; what cannot be read is left out. False: no frame of this code is ever inside of one at this instruction.
 */
bool pl_with_each(struct pl_values *v, const struct pl_frame *f, pl_with_fn *fn, void *ctx);

/** Can a frame of this code stand inside of one? Much cheaper to ask once than each frame. */
bool pl_with_may_be(struct pl_values *v, pl_addr code);

#endif
