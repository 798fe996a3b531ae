/* SPDX-License-Identifier: Apache-2.0 */
/* The call tree of formats that keep the order in which frames were first seen. Inside the layer only.
 *
 * Frames that differ only in what the format does not show share a node. What a node got in each thread and with each
 * opcode is in its entries, one for each stack of the profile in each thread: memory follows stacks, not samples. */
#ifndef PL_SAMPLE_TREE_H
#define PL_SAMPLE_TREE_H

#include "profile.h"
#include "row_index.h"
#include "sum.h"
#include "vec.h"

#define PL_TREE_NONE UINT32_MAX

struct pl_tree_key {
	uint32_t file, name; /* string ids */
	int32_t line;	     /* the one that ran, or the first of the function */
};

/** A node; numbered parents first. Node 0 is the root and not a frame. */
struct pl_tree_node {
	uint32_t parent, key;
	uint32_t first_child, last_child, next; /* in the order of first sight */
	uint32_t first_entry, last_entry;
	uint64_t self, total;
};

/** A stack as seen in a thread; numbered parents first, in the order of first sight. */
struct pl_tree_entry {
	uint32_t stack, thread, parent, node;
	uint32_t next; /* of this node */
	bool left_out; /* its frame is not shown: only `self` counts for its node */
	uint64_t self, total;
};

struct pl_sample_tree {
	const struct plumb_profile *p;
	PL_VEC(struct pl_tree_key) keys;
	PL_VEC(struct pl_tree_node) nodes;
	PL_VEC(struct pl_tree_entry) entries;
	uint32_t *key_of;		    /* location -> key, PL_TREE_NONE: left out */
	struct pl_strtab *identifiers;	    /* only by function */
	struct pl_row_index children, seen; /* nodes by parent and key; entries by stack and thread */
	PL_VEC(uint32_t) path;
};

enum pl_tree_by {
	PL_TREE_BY_LINE,     /* frames are lines of functions */
	PL_TREE_BY_FUNCTION, /* frames are functions, told apart by their first lines */
};

/** @p names_full: qualified names. To be released with pl_sample_tree_deinit, also after an error. */
struct plumb_error *pl_sample_tree_init(struct pl_sample_tree *t, const struct plumb_profile *p, enum pl_tree_by by,
					bool names_full) PLUMB_MUST_CHECK;
void pl_sample_tree_deinit(struct pl_sample_tree *t);
/** Count @p samples of @p stack in @p thread, any number that tells threads apart. */
struct plumb_error *pl_sample_tree_add(struct pl_sample_tree *t, uint32_t stack, uint32_t thread,
				       uint64_t samples) PLUMB_MUST_CHECK;
/** After the last sample: fill in the sums. The root's total is that of all stacks with a frame to show. */
void pl_sample_tree_finish(struct pl_sample_tree *t);

/** The nodes in depth-first order, without recursion: the node after @p node, skipping what is below it if @p skip.
 * PL_TREE_NONE at the end. */
uint32_t pl_sample_tree_next(const struct pl_sample_tree *t, uint32_t node, bool skip);

#endif
