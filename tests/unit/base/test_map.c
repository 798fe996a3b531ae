/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>

#include "clock.h"
#include "map.h"

static void an_empty_map_has_nothing_to_find_or_remove(void **state)
{
	struct pl_map m = PL_MAP_INIT;
	uint32_t v = 9;
	assert_false(pl_map_get(&m, 0, 0, &v));
	assert_false(pl_map_remove(&m, 0, 0));
	pl_map_clear(&m);
	assert_int_equal(v, 9);
	pl_map_deinit(&m);
}

static void setting_again_overwrites(void **state)
{
	struct pl_map m = PL_MAP_INIT;
	uint32_t v;
	assert_true(pl_map_set(&m, 1, 2, 3));
	assert_true(pl_map_set(&m, 1, 2, 4));
	assert_int_equal(m.len, 1);
	assert_true(pl_map_get(&m, 1, 2, &v));
	assert_int_equal(v, 4);
	assert_false(pl_map_get(&m, 2, 1, &v));
	pl_map_deinit(&m);
}

static void clearing_forgets_all_and_the_map_works_on(void **state)
{
	struct pl_map m = PL_MAP_INIT;
	uint32_t v;
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(pl_map_set(&m, i, 0, (uint32_t)i));
	pl_map_clear(&m);
	assert_int_equal(m.len, 0);
	for (uint64_t i = 0; i < 1000; i++)
		assert_false(pl_map_get(&m, i, 0, &v));
	assert_true(pl_map_set(&m, 5, 0, 55));
	assert_true(pl_map_get(&m, 5, 0, &v) && v == 55);
	pl_map_deinit(&m);
}

static void addresses_spread_over_the_slots(void **state)
{
	struct pl_map m = PL_MAP_INIT;
	for (uint64_t i = 0; i < 50000; i++)
		assert_true(pl_map_set(&m, 0x7f0000000000 + i * 4096, 0, 0));
	size_t run = 0, longest = 0;
	for (size_t i = 0; i < m.cap; i++) {
		run = m.slots[i].used ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	assert_in_range(longest, 1, 200);
	pl_map_deinit(&m);
}

/* The same operations on the map and on a plain array; keys from a small range, so that they meet often. */
static void it_agrees_with_a_plain_array_under_random_operations(void **state)
{
	enum { KEYS = 3000 };
	uint32_t *value = calloc(KEYS, sizeof *value), got;
	struct pl_map m = PL_MAP_INIT;
	struct pl_rng rng = {.state = 42};
	size_t len = 0;
	for (int step = 0; step < 1000000; step++) {
		uint64_t r = pl_rng_next(&rng), key = r % KEYS, k0 = key % 7, k1 = key / 7;
		/* Phases of growth and of shrinking. */
		bool remove = (r >> 32) % 100 < (step / 100000 % 2 ? 70 : 30);
		if (remove) {
			assert_int_equal(pl_map_remove(&m, k0, k1), value[key] != 0);
			len -= value[key] != 0;
			value[key] = 0;
		} else {
			assert_true(pl_map_set(&m, k0, k1, (uint32_t)step + 1));
			len += value[key] == 0;
			value[key] = (uint32_t)step + 1;
		}
		uint64_t other = (r >> 16) % KEYS;
		assert_int_equal(pl_map_get(&m, other % 7, other / 7, &got), value[other] != 0);
		assert_true(!value[other] || got == value[other]);
		assert_int_equal(m.len, len);
	}
	for (uint64_t key = 0; key < KEYS; key++)
		assert_int_equal(pl_map_get(&m, key % 7, key / 7, &got), value[key] != 0);
	pl_map_deinit(&m);
	free(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_has_nothing_to_find_or_remove),
		cmocka_unit_test(setting_again_overwrites),
		cmocka_unit_test(clearing_forgets_all_and_the_map_works_on),
		cmocka_unit_test(addresses_spread_over_the_slots),
		cmocka_unit_test(it_agrees_with_a_plain_array_under_random_operations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
