/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>

#include "row_index.h"

/* The row whose key is @p key, keys[] being the table; UINT32_MAX: none. */
static uint32_t find(const struct pl_row_index *x, const uint64_t *keys, uint64_t key, uint32_t hash)
{
	size_t at = pl_row_index_start(x, hash);
	uint32_t row;
	while (pl_row_index_next(x, hash, &at, &row))
		if (keys[row] == key)
			return row;
	return UINT32_MAX;
}

static void an_empty_index_finds_nothing(void **state)
{
	struct pl_row_index x = {0};
	uint64_t keys[1] = {0};
	pl_row_index_expect(&x, 7);
	assert_int_equal(find(&x, keys, 0, 0), UINT32_MAX);
	pl_row_index_deinit(&x);
}

static void every_row_is_found_by_its_key_and_no_other(void **state)
{
	enum { ROWS = 50000 };
	struct pl_row_index x = {0};
	uint64_t *keys = calloc(ROWS, sizeof *keys);
	assert_non_null(keys);
	for (uint32_t i = 0; i < ROWS; i++) {
		keys[i] = 0x7f0000000000 + (uint64_t)i * 4096;
		assert_int_equal(find(&x, keys, keys[i], pl_row_hash(keys[i], 0)), UINT32_MAX);
		assert_true(pl_row_index_add(&x, pl_row_hash(keys[i], 0), i));
	}
	for (uint32_t i = 0; i < ROWS; i++)
		assert_int_equal(find(&x, keys, keys[i], pl_row_hash(keys[i], 0)), i);
	assert_int_equal(find(&x, keys, 1, pl_row_hash(1, 0)), UINT32_MAX);
	assert_int_equal(x.len, ROWS);
	pl_row_index_deinit(&x);
	free(keys);
}

static void a_cleared_index_is_empty_and_can_be_filled_again(void **state)
{
	const uint32_t fills[] = {5000, 3, 200, 0, 7}; /* the second is few for what the first made of it */
	struct pl_row_index x = {0};
	uint64_t keys[5000];
	for (size_t f = 0; f < sizeof fills / sizeof *fills; f++) {
		for (uint32_t i = 0; i < fills[f]; i++) {
			keys[i] = i * 7 + f;
			assert_int_equal(find(&x, keys, keys[i], pl_row_hash(keys[i], 0)), UINT32_MAX);
			assert_true(pl_row_index_add(&x, pl_row_hash(keys[i], 0), i));
		}
		for (uint32_t i = 0; i < fills[f]; i++)
			assert_int_equal(find(&x, keys, keys[i], pl_row_hash(keys[i], 0)), i);
		pl_row_index_clear(&x);
		assert_int_equal(x.len, 0);
	}
	pl_row_index_deinit(&x);
}

/* All in one place, and that is the last slot: the search goes on at the first. */
static void rows_of_one_hash_are_told_apart_by_their_keys(void **state)
{
	struct pl_row_index x = {0};
	uint64_t keys[100];
	for (uint32_t i = 0; i < 100; i++) {
		keys[i] = i * 3;
		assert_true(pl_row_index_add(&x, UINT32_MAX, i));
	}
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(find(&x, keys, i * 3, UINT32_MAX), i);
	assert_int_equal(find(&x, keys, 1, UINT32_MAX), UINT32_MAX);
	pl_row_index_deinit(&x);
}

static void what_was_reserved_needs_no_growing(void **state)
{
	struct pl_row_index x = {0};
	uint64_t keys[1000];
	assert_true(pl_row_index_reserve(&x, 1000));
	size_t cap = x.cap;
	for (uint32_t i = 0; i < 1000; i++) {
		keys[i] = i;
		assert_true(pl_row_index_add(&x, pl_row_hash(i, 1), i));
	}
	assert_int_equal(x.cap, cap);
	assert_int_equal(find(&x, keys, 999, pl_row_hash(999, 1)), 999);
	assert_false(pl_row_index_reserve(&x, SIZE_MAX / 16));
	pl_row_index_deinit(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_index_finds_nothing),
		cmocka_unit_test(a_cleared_index_is_empty_and_can_be_filled_again),
		cmocka_unit_test(every_row_is_found_by_its_key_and_no_other),
		cmocka_unit_test(rows_of_one_hash_are_told_apart_by_their_keys),
		cmocka_unit_test(what_was_reserved_needs_no_growing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
