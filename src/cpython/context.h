/* SPDX-License-Identifier: Apache-2.0 */
/* The current context of a thread (contextvars, 3.7+), and the tag that is set in it. */
#ifndef PL_CONTEXT_H
#define PL_CONTEXT_H

#include <plumb/tags.h>

#include "mem.h"

/** What changes when a thread enters another context or sets a variable: the same words, the same variables. */
struct pl_context {
	pl_addr addr; /* 0: the thread has none yet */
	pl_addr vars; /* its HAMT, which never changes */
};

/** Untouched on error. */
struct plumb_error *pl_context_read(struct pl_mem *mem, const struct plumb_tags *t, pl_addr tstate,
				    struct pl_context *ret) PLUMB_MUST_CHECK;
/** The number of the tag in it; 0: none. Untouched on error. */
struct plumb_error *pl_context_tag(struct pl_mem *mem, const struct plumb_tags *t, const struct pl_context *c,
				   uint32_t *ret) PLUMB_MUST_CHECK;

#endif
