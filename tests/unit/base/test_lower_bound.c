/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "lower_bound.h"

#define ROWS 40

struct row {
	uint32_t other;
	uint64_t key;
};

static uint64_t key_of(const void *row)
{
	return ((const struct row *)row)->key;
}

static size_t by_looking(const struct row *rows, size_t count, uint64_t key)
{
	size_t i = 0;

	while (i < count && rows[i].key < key)
		i++;
	return i;
}

/* Rows of each number, with keys that stand @p each times in a row. */
static void assert_found(size_t each)
{
	struct row rows[ROWS];

	for (size_t count = 0; count <= ROWS; count++) {
		for (size_t i = 0; i < count; i++)
			rows[i] = (struct row){.other = UINT32_MAX, .key = 10 * (i / each + 1)};
		for (uint64_t key = 0; key < 10 * (ROWS + 2); key++)
			assert_int_equal(pl_lower_bound(rows, count, sizeof rows[0], key_of, key),
					 by_looking(rows, count, key));
		assert_int_equal(pl_lower_bound(rows, count, sizeof rows[0], key_of, UINT64_MAX), count);
	}
}

static void the_first_row_that_is_not_less_is_found(void **state)
{
	for (size_t each = 1; each < 5; each++)
		assert_found(each);
}

static void without_rows_there_is_none(void **state)
{
	assert_int_equal(pl_lower_bound(NULL, 0, sizeof(struct row), key_of, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_row_that_is_not_less_is_found),
		cmocka_unit_test(without_rows_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
