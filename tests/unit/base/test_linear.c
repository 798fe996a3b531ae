/* SPDX-License-Identifier: Apache-2.0 */
/* Tables cost what is put into them, also for names and ids that somebody chose to meet in one slot. The ones here meet
 * under hashes without a key, which plumb once had: their steps can be undone, so that names are made from hashes. */
#include "unit.h"

#include <string.h>

#include "counted.h"
#include "map.h"
#include "row_index.h"
#include "strtab.h"
#include "vec.h"

#define ITEMS 2048u

#define M1     0xff51afd7ed558ccdull
#define M2     0xc4ceb9fe1a85ec53ull
#define GOLDEN 0x9e3779b97f4a7c15ull

/* Of an odd number, modulo 2^64. Each step doubles the bits that are right. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

/* Undoes h ^= h >> shift, for half of the bits or more. */
static uint64_t unfold(uint64_t h, int shift)
{
	return h ^ (h >> shift);
}

/* Eight bytes whose hash was 0 in its lower half. */
static uint64_t name_that_met_others(uint32_t i)
{
	uint64_t folded = (uint64_t)i << 32 | i;

	return unfold(folded * inverse(M2), 32) * inverse(M1) ^ 8 * GOLDEN;
}

static void add_names(void *ctx, unsigned items)
{
	struct pl_strtab *t;

	counted_begin();
	assert_ok(pl_strtab_create(&t));
	for (uint32_t i = 1; i <= items; i++) {
		uint64_t name = name_that_met_others(i);
		uint32_t id;
		assert_ok(pl_strtab_add(t, &name, sizeof name, &id));
		assert_int_equal(id, i);
	}
	counted_end();
	pl_strtab_destroy(t);
}

static void names_that_were_made_to_meet_cost_no_more(void **state)
{
	counted_linear(add_names, NULL, ITEMS);
}

/* A key whose hash was a multiple of 2^40. */
static uint64_t key_that_met_others(uint32_t i)
{
	uint64_t h = unfold((uint64_t)i << 40, 33);

	return unfold(unfold(h * inverse(M2), 33) * inverse(M1), 33);
}

static void add_keys(void *ctx, unsigned items)
{
	struct pl_map m = PL_MAP_INIT;
	uint32_t v;

	counted_begin();
	for (uint32_t i = 1; i <= items; i++) {
		assert_false(pl_map_get(&m, key_that_met_others(i), 0, &v));
		assert_true(pl_map_set(&m, key_that_met_others(i), 0, i));
	}
	counted_end();
	pl_map_deinit(&m);
}

static void keys_that_were_made_to_meet_cost_no_more(void **state)
{
	counted_linear(add_keys, NULL, ITEMS);
}

/* A key whose hash was 0 in its upper half, of which the table was. */
static uint64_t row_that_met_others(uint32_t i)
{
	return unfold((uint64_t)i * inverse(M2), 32) * inverse(M1);
}

static void add_rows(void *ctx, unsigned items)
{
	struct pl_row_index x = {0};
	PL_VEC(uint64_t) rows = {0};

	counted_begin();
	for (uint32_t i = 1; i <= items; i++) {
		uint64_t key = row_that_met_others(i);
		uint32_t hash = pl_row_hash(key, 0), row;
		for (size_t at = pl_row_index_start(&x, hash); pl_row_index_next(&x, hash, &at, &row);) {
			assert_true(rows.data[row] != key);
			counted_step();
		}
		assert_true(pl_row_index_add(&x, hash, i - 1) && pl_vec_push(&rows, key));
	}
	counted_end();
	pl_row_index_deinit(&x);
	pl_vec_deinit(&rows);
}

static void rows_that_were_made_to_meet_cost_no_more(void **state)
{
	counted_linear(add_rows, NULL, ITEMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_were_made_to_meet_cost_no_more),
		cmocka_unit_test(keys_that_were_made_to_meet_cost_no_more),
		cmocka_unit_test(rows_that_were_made_to_meet_cost_no_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
