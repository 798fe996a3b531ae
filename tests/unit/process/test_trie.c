/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>

#include "trie.h"

static uint32_t child(struct pl_trie *t, uint32_t parent, uint32_t code, int32_t offset)
{
	uint32_t id = UINT32_MAX;

	assert_ok(pl_trie_child(t, parent, code, offset, 0, &id));
	assert_true(id < t->nodes.len);
	assert_int_equal(t->nodes.data[id].parent, parent);
	assert_int_equal(t->nodes.data[id].code, code);
	assert_int_equal(t->nodes.data[id].offset, offset);
	return id;
}

static void equal_stacks_share_a_node(void **state)
{
	struct pl_trie t;
	assert_ok(pl_trie_init(&t));
	uint32_t a = child(&t, 0, 0, 0), b = child(&t, a, 1, 8);
	assert_int_not_equal(a, 0); /* node 0 is the empty stack */
	assert_int_equal(child(&t, 0, 0, 0), a);
	assert_int_equal(child(&t, a, 1, 8), b);
	assert_int_equal(t.nodes.len, 3);
	pl_trie_deinit(&t);
}

static void parent_code_and_offset_each_make_another_stack(void **state)
{
	struct pl_trie t;
	assert_ok(pl_trie_init(&t));
	uint32_t ids[] = {child(&t, 0, 1, 2), child(&t, 0, 2, 1), child(&t, 0, 1, -1), child(&t, 0, 1, -2),
			  child(&t, 1, 1, 2), child(&t, 1, 0, 2), child(&t, 2, 1, 2)};
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(ids[i], ids[k]);
	pl_trie_deinit(&t);
}

static void parents_come_before_their_children(void **state)
{
	struct pl_trie t;
	uint32_t seed = 7;
	assert_ok(pl_trie_init(&t));
	for (int i = 0; i < 100000; i++) {
		seed = seed * 1103515245 + 12345;
		uint32_t parent = (seed >> 8) % (uint32_t)t.nodes.len;
		assert_true(child(&t, parent, seed >> 28, (int32_t)(seed >> 24 & 3) - 1) > parent);
	}
	for (size_t i = 1; i < t.nodes.len; i++)
		assert_int_equal(child(&t, t.nodes.data[i].parent, t.nodes.data[i].code, t.nodes.data[i].offset), i);
	pl_trie_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_share_a_node),
		cmocka_unit_test(parent_code_and_offset_each_make_another_stack),
		cmocka_unit_test(parents_come_before_their_children),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
