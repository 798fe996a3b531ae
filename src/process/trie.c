/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. */
#include "trie.h"

struct plumb_error *pl_trie_init(struct pl_trie *t)
{
	*t = (struct pl_trie){0};
	return pl_vec_push(&t->nodes, ((struct pl_node){0})) ? NULL : &pl_err_no_memory;
}

void pl_trie_deinit(struct pl_trie *t)
{
	pl_vec_deinit(&t->nodes);
	pl_map_deinit(&t->index);
}

struct plumb_error *pl_trie_child(struct pl_trie *t, uint32_t parent, uint32_t code, int32_t offset, uint16_t opcode,
				  uint32_t *ret)
{
	uint64_t k0 = ((uint64_t)parent << 32) | code, k1 = (uint64_t)opcode << 32 | (uint32_t)offset;

	if (pl_map_get(&t->index, k0, k1, ret))
		return NULL;
	if (t->nodes.len >= UINT32_MAX || (t->max && t->nodes.len > t->max))
		return &pl_err_limit;
	uint32_t id = (uint32_t)t->nodes.len;
	if (!pl_vec_reserve(&t->nodes, 1) || !pl_map_set(&t->index, k0, k1, id))
		return &pl_err_no_memory;
	t->nodes.data[t->nodes.len++] = (struct pl_node){parent, code, offset, opcode};
	*ret = id;
	return NULL;
}
