/* SPDX-License-Identifier: Apache-2.0 */
/* The current context of a thread (contextvars, 3.7+), and the tag that is set in it. */
#ifndef PL_CONTEXT_H
#define PL_CONTEXT_H

#include "mem.h"

/** Where the running Python has what leads to a tag; hostile as all else. Offsets and types as in <plumb/tags.h>. */
struct pl_context_layout {
	pl_addr var, value_type;			 /* the ContextVar, and the type of the objects that are tags */
	pl_addr bitmap_type, array_type, collision_type; /* of a HAMT's nodes */
	uint32_t hash;					 /* of the ContextVar */
	uint32_t context, vars, root, type;		 /* offsets */
	uint32_t header;				 /* what a node and a number follow */
};

/** What changes when a thread enters another context or sets a variable: the same words, the same variables. */
struct pl_context {
	pl_addr addr; /* 0: the thread has none yet */
	pl_addr vars; /* its HAMT, which never changes */
};

/** Untouched on error. */
struct plumb_error *pl_context_read(struct pl_mem *mem, const struct pl_context_layout *t, pl_addr tstate,
				    struct pl_context *ret) PLUMB_MUST_CHECK;
/** The number of the tag in it; 0: none. Untouched on error. */
struct plumb_error *pl_context_tag(struct pl_mem *mem, const struct pl_context_layout *t, const struct pl_context *c,
				   uint32_t *ret) PLUMB_MUST_CHECK;

#endif
