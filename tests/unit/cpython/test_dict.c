/* SPDX-License-Identifier: Apache-2.0 */
/* Dicts and ints made by hand, the damaged ones above all. The real ones are in the golden images: every thread there
 * is found by its name, with a shared, an inline, a materialized and a replaced __dict__. */
#include "unit.h"

#include "dict.h"
#include "fake.h"

/* A dict of one general table (entries with hashes) with room for @p slots. */
static pl_addr put_dict(struct fake *f, const struct pl_py *py, uint64_t slots, uint64_t count, pl_addr *keys_ret)
{
	const struct pl_layout *lay = &py->layout;
	pl_addr dict = fake_new(f, lay->dict.values + 8),
		keys = fake_new(f, lay->dictkeys.indices + slots + slots * 24);
	bool old = lay->dictkeys.kind == PL_NONE;

	fake_field(f, dict, lay->dict.keys, keys, 8);
	fake_field(f, keys, lay->dictkeys.log2_size, old ? slots : (uint64_t)__builtin_ctzll(slots), old ? 8 : 1);
	fake_field(f, keys, lay->dictkeys.log2_index_bytes, (uint64_t)__builtin_ctzll(slots), 1);
	fake_field(f, keys, lay->dictkeys.nentries, count, 8);
	*keys_ret = keys;
	return dict;
}

static void put_item(struct fake *f, const struct pl_py *py, pl_addr keys, uint64_t slots, unsigned i, pl_addr key,
		     pl_addr value)
{
	pl_addr entry = keys + py->layout.dictkeys.indices + slots + i * 24;

	fake_u64(f, entry + 8, key);
	fake_u64(f, entry + 16, value);
}

static void keys_are_found_past_holes_and_other_keys(void **state)
{
	for (int minor = 6; minor <= 15; minor++) {
		struct pl_py py = fake_py(minor);
		struct fake f;
		struct pl_dict d;
		pl_addr keys, value;
		fake_init(&f);
		pl_addr dict = put_dict(&f, &py, 64, 50, &keys);
		put_item(&f, &py, keys, 64, 0, fake_str(&f, &py, "_names"), 0x8880);
		put_item(&f, &py, keys, 64, 40, fake_str(&f, &py, "_name"), 0x9990);
		assert_ok(pl_dict_open(&f.mem, &py, dict, 0, &d));
		assert_int_equal(d.count, 50);
		assert_ok(pl_dict_find(&f.mem, &py, &d, "_name", &value));
		assert_int_equal(value, 0x9990);
		assert_ptr_equal(pl_dict_find(&f.mem, &py, &d, "_nam", &value), &pl_err_stale);
		fake_deinit(&f);
	}
}

static void values_of_a_split_table_are_in_their_own_array(void **state)
{
	struct pl_py py = fake_py(9);
	struct fake f;
	struct pl_dict d;
	pl_addr keys, value;

	fake_init(&f);
	pl_addr dict = put_dict(&f, &py, 8, 2, &keys), values = fake_new(&f, 16);
	put_item(&f, &py, keys, 8, 1, fake_str(&f, &py, "_name"), 0);
	fake_u64(&f, values + 8, 0x7770);
	fake_field(&f, dict, py.layout.dict.values, values, 8);
	assert_ok(pl_dict_open(&f.mem, &py, dict, 0, &d));
	assert_ok(pl_dict_find(&f.mem, &py, &d, "_name", &value));
	assert_int_equal(value, 0x7770);
	fake_deinit(&f);
}

static void damaged_tables_are_corrupt(void **state)
{
	for (int minor = 6; minor <= 15; minor++) {
		struct pl_py py = fake_py(minor);
		const struct pl_layout *lay = &py.layout;
		struct fake f;
		struct pl_dict d;
		pl_addr keys;
		fake_init(&f);
		pl_addr dict = put_dict(&f, &py, 8, 2, &keys);
		assert_ok(pl_dict_open(&f.mem, &py, dict, 0, &d));
		assert_ptr_equal(pl_dict_open(&f.mem, &py, dict, 0x5550, &d), &pl_err_corrupt); /* not of this type */
		fake_field(&f, keys, lay->dictkeys.nentries, 9, 8); /* more entries than slots */
		assert_ptr_equal(pl_dict_open(&f.mem, &py, dict, 0, &d), &pl_err_corrupt);
		fake_field(&f, keys, lay->dictkeys.nentries, 0, 8);
		fake_field(&f, keys, lay->dictkeys.log2_size, minor < 11 ? 7 : 60, 1);
		assert_ptr_equal(pl_dict_open(&f.mem, &py, dict, 0, &d), &pl_err_corrupt);
		fake_field(&f, dict, lay->dict.keys, 3, 8);
		assert_ptr_equal(pl_dict_open(&f.mem, &py, dict, 0, &d), &pl_err_corrupt);
		fake_deinit(&f);
	}
}

/* A program can say so in its debug offsets. */
static void the_type_may_stand_behind_the_other_words(void **state)
{
	struct pl_py py = fake_py(13);
	struct fake f;
	struct pl_dict d;
	pl_addr keys;

	fake_init(&f);
	(void)put_dict(&f, &py, 8, 2, &keys);
	pl_addr dict = fake_new(&f, 128);
	fake_field(&f, dict, py.layout.dict.keys, keys, 8);
	py.layout.object.type = 56;
	for (pl_addr type = 0x5550; type <= 0x6660; type += 0x1110) {
		fake_u64(&f, dict + 56, type);
		assert_ok(pl_dict_open(&f.mem, &py, dict, type, &d));
	}
	fake_deinit(&f);
}

/* 2.7: {hash, key, value} at their places in the hash table itself. */
static void the_table_of_2_7_has_holes_everywhere(void **state)
{
	struct pl_py py = fake_py27();
	const struct pl_layout *lay = &py.layout;
	struct fake f;
	struct pl_dict d;
	pl_addr value;

	fake_init(&f);
	pl_addr dict = fake_new(&f, 64), table = fake_new(&f, 64 * 24);
	fake_field(&f, dict, lay->dict.keys, table, 8);
	fake_field(&f, dict, lay->dict.mask, 63, 8);
	fake_u64(&f, table + 24 + 8, fake_str(&f, &py, "_name")); /* deleted: a key without a value */
	fake_u64(&f, table + 60 * 24 + 8, fake_str(&f, &py, "_name"));
	fake_u64(&f, table + 60 * 24 + 16, 0x9990);
	assert_ok(pl_dict_open(&f.mem, &py, dict, 0, &d));
	assert_int_equal(d.count, 64);
	assert_ok(pl_dict_find(&f.mem, &py, &d, "_name", &value));
	assert_int_equal(value, 0x9990);
	assert_ptr_equal(pl_dict_find(&f.mem, &py, &d, "_names", &value), &pl_err_stale);
	fake_field(&f, dict, lay->dict.mask, 62, 8);
	assert_ptr_equal(pl_dict_open(&f.mem, &py, dict, 0, &d), &pl_err_corrupt);
	fake_field(&f, dict, lay->dict.mask, UINT64_MAX, 8);
	assert_ptr_equal(pl_dict_open(&f.mem, &py, dict, 0, &d), &pl_err_corrupt);
	fake_field(&f, dict, lay->dict.mask, 7, 8);
	fake_field(&f, dict, lay->dict.keys, 5, 8);
	assert_ptr_equal(pl_dict_open(&f.mem, &py, dict, 0, &d), &pl_err_corrupt);
	fake_deinit(&f);
}

static void the_two_ints_of_2_7_are_told_apart_by_their_type(void **state)
{
	struct pl_py py = fake_py27();
	struct fake f;
	uint64_t value;

	fake_init(&f);
	pl_addr obj = fake_new(&f, 32), type = fake_new(&f, 256);
	const uint32_t digit = 12345;
	fake_field(&f, obj, py.layout.object.type, type, 8);
	fake_field(&f, obj, py.layout.longobj.tag, 1, 8);
	fake_put(&f, obj + py.layout.longobj.digits, &digit, 4);
	assert_ok(pl_long_value(&f.mem, &py, obj, &value));
	assert_int_equal(value, 12345);
	fake_field(&f, type, py.layout.type.tp_flags, 1u << 23, 8);
	fake_field(&f, obj, py.layout.longobj.small, 0x7f0000001700, 8);
	assert_ok(pl_long_value(&f.mem, &py, obj, &value));
	assert_int_equal(value, 0x7f0000001700);
	fake_deinit(&f);
}

static void a_table_that_claims_to_be_huge_is_searched_only_in_part(void **state)
{
	struct pl_py py = fake_py(12);
	struct fake f;
	struct pl_dict d;
	pl_addr keys, value;

	fake_init(&f);
	pl_addr dict = put_dict(&f, &py, 8, 2, &keys);
	fake_field(&f, keys, py.layout.dictkeys.log2_size, 40, 1);
	fake_field(&f, keys, py.layout.dictkeys.nentries, UINT64_C(1) << 39, 8);
	assert_ok(pl_dict_open(&f.mem, &py, dict, 0, &d));
	assert_int_equal(d.count, PL_MAX_DICT_ENTRIES);
	assert_ptr_equal(pl_dict_find(&f.mem, &py, &d, "x", &value), &pl_err_unreadable);
	fake_deinit(&f);
}

static void ints_are_read_up_to_63_bits(void **state)
{
	for (int minor = 6; minor <= 15; minor++) {
		struct pl_py py = fake_py(minor);
		const struct pl_layout *lay = &py.layout;
		struct fake f;
		uint64_t value;
		fake_init(&f);
		pl_addr obj = fake_new(&f, 48);
		const uint32_t digits[] = {5, 1, 7};
		for (unsigned i = 0; i < 3; i++)
			fake_put(&f, obj + lay->longobj.digits + 4 * i, &digits[i], 4);
		fake_field(&f, obj, lay->longobj.tag, lay->longobj.tagged ? 2 << 3 : 2, 8);
		assert_ok(pl_long_value(&f.mem, &py, obj, &value));
		assert_int_equal(value, (UINT64_C(1) << 30) + 5);
		fake_field(&f, obj, lay->longobj.tag, lay->longobj.tagged ? 3 << 3 : 3, 8);
		assert_ok(pl_long_value(&f.mem, &py, obj, &value));
		assert_int_equal(value, (UINT64_C(7) << 60) + (UINT64_C(1) << 30) + 5);
		fake_field(&f, obj, lay->longobj.tag, lay->longobj.tagged ? 1 : 0, 8);
		assert_ok(pl_long_value(&f.mem, &py, obj, &value));
		assert_int_equal(value, 0);
		/* negative, and longer than 63 bits */
		fake_field(&f, obj, lay->longobj.tag, lay->longobj.tagged ? 1 << 3 | 2 : (uint64_t)-1, 8);
		assert_ptr_equal(pl_long_value(&f.mem, &py, obj, &value), &pl_err_corrupt);
		fake_field(&f, obj, lay->longobj.tag, lay->longobj.tagged ? 4 << 3 : 4, 8);
		assert_ptr_equal(pl_long_value(&f.mem, &py, obj, &value), &pl_err_corrupt);
		fake_deinit(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_found_past_holes_and_other_keys),
		cmocka_unit_test(values_of_a_split_table_are_in_their_own_array),
		cmocka_unit_test(damaged_tables_are_corrupt),
		cmocka_unit_test(the_type_may_stand_behind_the_other_words),
		cmocka_unit_test(the_table_of_2_7_has_holes_everywhere),
		cmocka_unit_test(the_two_ints_of_2_7_are_told_apart_by_their_type),
		cmocka_unit_test(a_table_that_claims_to_be_huge_is_searched_only_in_part),
		cmocka_unit_test(ints_are_read_up_to_63_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
