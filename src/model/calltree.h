/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/model: the call tree behind the views. Stacks that differ only in what a row does not show (columns,
 * and lines unless rows are lines) share a node. Nodes are numbered parents first; node 0 is the root and not a frame.
 */
#ifndef PL_MODEL_CALLTREE_H
#define PL_MODEL_CALLTREE_H

#include "row_index.h"
#include "select.h"

/** What a row stands for. */
struct pl_call_key {
	uint32_t function;
	int32_t line; /* 0 unless rows are lines */
	bool library; /* of a tree of own functions: all frames of libraries that a call of this one led to */
};

struct pl_counts {
	uint64_t samples, weight_ns, on_cpu_ns;
};

struct pl_call_node {
	uint32_t parent, key;
	struct pl_counts self, total; /* total: with everything below */
};

/** Behind a growing table of nodes: (parent, key) -> node, and the room it has. */
struct pl_call_nodes {
	struct pl_row_index index;
	size_t cap;
};
/** The node for @p key below @p parent in @p nodes, appended if it is new. Errors: PLUMB_ERR_LIMIT,
 * PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_call_node_find(struct pl_call_nodes *known, struct pl_call_node **nodes, uint32_t *count,
				      uint32_t parent, uint32_t key, uint32_t *ret) PLUMB_MUST_CHECK;

struct pl_calltree {
	const struct pl_selection *selection;
	struct pl_call_node *nodes;
	uint32_t node_count;
	struct pl_call_key *keys;
	uint32_t key_count;
	uint32_t *node_of_stack; /* 0 for stacks without selected samples */
	uint32_t *repeats;	 /* of a tree of own functions, for each stack: how often its own function is called by
				  * itself there; else NULL */
};

struct pl_call_shares {
	struct pl_share self, total;
};

#define PL_NO_ROW UINT32_MAX

/** On success *ret borrows @p s and is to be released with pl_calltree_deinit. With @p library (one for each function
 * of the profile) it is the tree of own functions, see pl_view_own_tree(). */
struct plumb_error *pl_calltree_build(const struct pl_selection *s, bool lines, const bool *library,
				      struct pl_calltree *ret) PLUMB_MUST_CHECK;
void pl_calltree_deinit(struct pl_calltree *t);

/** Fill @p topmost (one per node): whether no node above it has the same key. Only those count for the inclusive figure
 * of a function, which a recursive function would otherwise get several times for one sample. */
struct plumb_error *pl_calltree_topmost(const struct pl_calltree *t, bool *topmost) PLUMB_MUST_CHECK;

/** Sums and intervals of @p row_count rows. Node n adds its own samples to row self_row[n] and its total to row
 * total_row[n], PL_NO_ROW: to none. @p rows is zeroed by the caller. */
struct plumb_error *pl_calltree_shares(const struct pl_calltree *t, const uint32_t *self_row, const uint32_t *total_row,
				       struct pl_call_shares *rows, uint32_t row_count) PLUMB_MUST_CHECK;

#endif
