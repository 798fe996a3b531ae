/* SPDX-License-Identifier: Apache-2.0 */
/* Ids with gaps. */
#include "idmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void ids_are_found_and_gaps_are_not(void **state)
{
	const uint32_t spans[][2] = {{5, 8}, {8, 10}, {100, 101}, {4000000000u, 4000000003u}, {UINT32_MAX, UINT32_MAX}};
	struct pl_idmap m = {0};
	uint32_t value = 0;
	assert_false(pl_idmap_get(&m, 0, &value));
	for (int i = 0; i < 4; i++) {
		for (uint32_t id = spans[i][0]; id < spans[i][1]; id++)
			assert_true(pl_idmap_append(&m, id, id + 55));
	}
	assert_true(pl_idmap_append(&m, UINT32_MAX, 1));
	assert_true(m.next == 1ull << 32);
	const uint32_t there[] = {5, 7, 8, 9, 100, 4000000000u, 4000000002u};
	const uint32_t lost[] = {0, 4, 10, 99, 101, 3999999999u, 4000000003u, UINT32_MAX - 1};
	for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
		assert_true(pl_idmap_get(&m, there[i], &value));
		assert_int_equal(value, there[i] + 55);
	}
	for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
		assert_false(pl_idmap_get(&m, lost[i], &value));
	assert_true(pl_idmap_get(&m, UINT32_MAX, &value) && value == 1);
	assert_int_equal(m.spans.len, 4); /* neighbours share one */
	pl_idmap_deinit(&m);
}

static void every_other_id_can_be_lost(void **state)
{
	struct pl_idmap m = {0};
	uint32_t value = 0;
	for (uint32_t id = 0; id < 2000; id += 2)
		assert_true(pl_idmap_append(&m, id, id));
	for (uint32_t id = 0; id < 2000; id++) {
		assert_int_equal(pl_idmap_get(&m, id, &value), id % 2 == 0);
		assert_true(id % 2 || value == id);
	}
	pl_idmap_deinit(&m);
}

/* Rows that were known already lead back, and a marker takes an id between two rows. */
static void values_need_not_be_neighbours(void **state)
{
	const uint32_t values[] = {7, 8, 9, 9, 11, 12, 3, 4, UINT32_MAX, 0};
	struct pl_idmap m = {0};
	uint32_t value = 0;
	for (uint32_t id = 0; id < 10; id++)
		assert_true(pl_idmap_append(&m, id + 20, values[id]));
	for (uint32_t id = 0; id < 10; id++)
		assert_true(pl_idmap_get(&m, id + 20, &value) && value == values[id]);
	assert_int_equal(m.spans.len, 6);
	pl_idmap_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_found_and_gaps_are_not),
		cmocka_unit_test(every_other_id_can_be_lost),
		cmocka_unit_test(values_need_not_be_neighbours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
