/* SPDX-License-Identifier: Apache-2.0 */
/* The sampling thread's own trie of stacks: node = (parent, code, offset, opcode). Names and lines come later, on the
 * consumer's side. Node 0 is the empty stack. */
#ifndef PL_TRIE_H
#define PL_TRIE_H

#include <stdint.h>

#include "error.h"
#include "map.h"
#include "vec.h"

struct pl_node {
	uint32_t parent, code;
	int32_t offset;
	uint16_t opcode; /* 1 + the opcode there; 0: not asked for */
};

struct pl_trie {
	PL_VEC(struct pl_node) nodes;
	struct pl_map index;
	size_t max; /* nodes beside node 0; 0: no limit */
};

struct plumb_error *pl_trie_init(struct pl_trie *t) PLUMB_MUST_CHECK;
void pl_trie_deinit(struct pl_trie *t);
/** Errors: pl_err_limit, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_trie_child(struct pl_trie *t, uint32_t parent, uint32_t code, int32_t offset, uint16_t opcode,
				  uint32_t *ret) PLUMB_MUST_CHECK;

#endif
