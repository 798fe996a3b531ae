/* SPDX-License-Identifier: Apache-2.0 */
/* The native frames of a thread, between its Python frames, for a dump. docs/design/013-native-stacks.md */
#ifndef PL_NATIVE_WEAVE_H
#define PL_NATIVE_WEAVE_H

#include "dump_model.h"
#include "dump_source.h"
#include "native.h"

/**
 * Put the native frames between the Python frames of @p t and tell in it what came of that. @p shown: for each Python
 * frame that was taken, the innermost first, 1 + its position in t->frames; 0: it is hidden. @p sources NULL: without
 * source lines.
 * Errors: PLUMB_ERR_NO_MEMORY.
 */
struct plumb_error *pl_native_weave(struct pl_native *n, const struct pl_native_taken *taken, struct pl_dump *d,
				    struct pl_dump_sources *sources, const pl_dump_shown_vec *shown,
				    struct pl_dump_thread *t) PLUMB_MUST_CHECK;

#endif
