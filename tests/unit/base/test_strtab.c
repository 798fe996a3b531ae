/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strtab.h"

static uint32_t add(struct pl_strtab *t, const void *bytes, size_t len)
{
	uint32_t id;
	assert_ok(pl_strtab_add(t, bytes, len, &id));
	return id;
}

static void id_0_is_the_empty_string(void **state)
{
	struct pl_strtab *t;
	size_t len = 9;
	assert_ok(pl_strtab_create(&t));
	assert_int_equal(pl_strtab_count(t), 1);
	assert_int_equal(add(t, NULL, 0), 0);
	assert_int_equal(add(t, "x", 0), 0);
	assert_string_equal(pl_strtab_get(t, 0, &len), "");
	assert_int_equal(len, 0);
	pl_strtab_destroy(t);
}

static void equal_bytes_have_one_id(void **state)
{
	struct pl_strtab *t;
	assert_ok(pl_strtab_create(&t));
	uint32_t a = add(t, "alpha", 5), b = add(t, "beta", 4);
	assert_int_not_equal(a, b);
	assert_int_equal(add(t, "alphabet", 5), a);
	assert_int_equal(add(t, "beta", 4), b);
	assert_int_equal(pl_strtab_count(t), 3);
	pl_strtab_destroy(t);
}

static void strings_may_hold_nul_and_are_terminated_all_the_same(void **state)
{
	struct pl_strtab *t;
	size_t len;
	assert_ok(pl_strtab_create(&t));
	uint32_t a = add(t, "a\0b", 3), b = add(t, "a\0c", 3), c = add(t, "a", 1), d = add(t, "a\0", 2);
	assert_true(a != b && b != c && c != d && a != d);
	assert_memory_equal(pl_strtab_get(t, b, &len), "a\0c", 4);
	assert_int_equal(len, 3);
	pl_strtab_destroy(t);
}

static void unknown_ids_are_empty(void **state)
{
	struct pl_strtab *t;
	size_t len = 9;
	assert_ok(pl_strtab_create(&t));
	assert_string_equal(pl_strtab_get(t, 1, &len), "");
	assert_int_equal(len, 0);
	assert_string_equal(pl_strtab_get(t, UINT32_MAX, NULL), "");
	pl_strtab_destroy(t);
}

static void text_stays_in_place_while_the_table_grows(void **state)
{
	enum { COUNT = 50000 };
	struct pl_strtab *t;
	const char **where = calloc(COUNT, sizeof *where);
	char name[32];
	assert_ok(pl_strtab_create(&t));
	for (uint32_t i = 0; i < COUNT; i++) {
		int len = snprintf(name, sizeof name, "function_%u", i);
		assert_int_equal(add(t, name, (size_t)len), i + 1);
		where[i] = pl_strtab_get(t, i + 1, NULL);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		int len = snprintf(name, sizeof name, "function_%u", i);
		assert_int_equal(add(t, name, (size_t)len), i + 1);
		assert_ptr_equal(pl_strtab_get(t, i + 1, NULL), where[i]);
		assert_string_equal(where[i], name);
	}
	pl_strtab_destroy(t);
	free(where);
}

static void long_strings_do_not_disturb_short_ones(void **state)
{
	enum { LONG = 65536 };
	struct pl_strtab *t;
	char *text = malloc(LONG), name[16];
	size_t len;
	assert_ok(pl_strtab_create(&t));
	for (int i = 0; i < 20; i++) {
		memset(text, 'a' + i, LONG);
		uint32_t id = add(t, text, LONG - (size_t)i);
		uint32_t small = add(t, name, (size_t)snprintf(name, sizeof name, "s%d", i));
		assert_memory_equal(pl_strtab_get(t, id, &len), text, LONG - (size_t)i);
		assert_int_equal(len, LONG - i);
		assert_int_equal(add(t, text, LONG - (size_t)i), id);
		assert_string_equal(pl_strtab_get(t, small, NULL), name);
	}
	pl_strtab_destroy(t);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(id_0_is_the_empty_string),
		cmocka_unit_test(equal_bytes_have_one_id),
		cmocka_unit_test(strings_may_hold_nul_and_are_terminated_all_the_same),
		cmocka_unit_test(unknown_ids_are_empty),
		cmocka_unit_test(text_stays_in_place_while_the_table_grows),
		cmocka_unit_test(long_strings_do_not_disturb_short_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
