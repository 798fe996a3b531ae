/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"

#include "own.h"
#include "unit.h"

#define AT 0x1000u

static void bytes(struct pl_bytes *b, const void *data, size_t len)
{
	pl_bytes_init(b, own_bytes(AT, data, len), AT, AT + len);
}

static void numbers_end_where_the_range_does(void **state)
{
	static const uint8_t data[] = {0x01, 0xff, 0xfe, 0x34, 0x12, 0x78};
	struct pl_bytes b;
	uint64_t u = 7;
	int64_t i;
	uint8_t byte;

	(void)state;
	bytes(&b, data, sizeof data);
	assert_true(pl_bytes_u8(&b, &byte) && byte == 1);
	assert_true(pl_bytes_int(&b, 1, &i) && i == -1);
	assert_true(pl_bytes_int(&b, 1, &i) && i == -2);
	assert_true(pl_bytes_uint(&b, 2, &u) && u == 0x1234);
	assert_false(pl_bytes_uint(&b, 2, &u));
	assert_int_equal(u, 0x1234);
	assert_false(pl_bytes_skip(&b, 2));
	assert_true(pl_bytes_skip(&b, 1));
	assert_false(pl_bytes_u8(&b, &byte));
}

static void lebs(void **state)
{
	static const uint8_t data[] = {0xe5, 0x8e, 0x26, 0xc0, 0xbb, 0x78, 0x7f, 0x80, 0x80,
				       0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
	struct pl_bytes b;
	uint64_t u;
	int64_t i;

	(void)state;
	bytes(&b, data, sizeof data);
	assert_true(pl_bytes_uleb(&b, &u) && u == 624485);
	assert_true(pl_bytes_sleb(&b, &i) && i == -123456);
	assert_true(pl_bytes_sleb(&b, &i) && i == -1);
	assert_false(pl_bytes_uleb(&b, &u)); /* more bytes than 64 bits have */
}

static void pointers(void **state)
{
	static const uint8_t data[] = {0xf0, 0xff, 0xff, 0xff, 0x10, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
	struct pl_bytes b;
	pl_addr p;

	(void)state;
	bytes(&b, data, sizeof data);
	assert_true(pl_bytes_pointer(&b, 0x1b, 0, &p) && p == AT - 16); /* from itself, four bytes with a sign */
	assert_true(pl_bytes_pointer(&b, 0x3b, 0x5000, &p) && p == 0x5010);
	assert_true(pl_bytes_pointer(&b, 0x00, 0, &p) && p == 0x0807060504030201);
	bytes(&b, data, sizeof data);
	assert_false(pl_bytes_pointer(&b, 0x9b, 0, &p)); /* the address of a pointer */
	assert_false(pl_bytes_pointer(&b, PL_POINTER_OMITTED, 0, &p));
}

static void ranges_longer_than_the_window(void **state)
{
	static uint8_t data[1000];
	struct pl_bytes b;
	uint8_t byte;

	(void)state;
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)(i * 7);
	bytes(&b, data, sizeof data);
	for (size_t i = 0; i < sizeof data; i++)
		assert_true(pl_bytes_u8(&b, &byte) && byte == data[i]);
	pl_bytes_init(&b, own_bytes(AT, data, 10), AT, AT + 20);
	assert_false(pl_bytes_u8(&b, &byte)); /* not all of the range is there */
	pl_bytes_init(&b, own_bytes(AT, data, 10), AT + 20, AT);
	assert_false(pl_bytes_u8(&b, &byte));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_end_where_the_range_does),
		cmocka_unit_test(lebs),
		cmocka_unit_test(pointers),
		cmocka_unit_test(ranges_longer_than_the_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
