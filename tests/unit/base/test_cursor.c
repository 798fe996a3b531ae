/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "buf.h"
#include "clock.h"
#include "cursor.h"

static struct pl_cursor over(const void *bytes, size_t len)
{
	return (struct pl_cursor){.p = bytes, .end = (const uint8_t *)bytes + len};
}

static void numbers_are_little_endian(void **state)
{
	struct pl_cursor c = over("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d", 13);
	uint8_t a = 0;
	uint32_t b = 0;
	uint64_t d = 0;
	assert_true(pl_cursor_u8(&c, &a) && pl_cursor_u32(&c, &b) && pl_cursor_u64(&c, &d));
	assert_int_equal(a, 1);
	assert_int_equal(b, 0x05040302);
	assert_int_equal(d, 0x0d0c0b0a09080706);
	assert_int_equal(pl_cursor_left(&c), 0);
}

static void a_getter_at_the_end_fails_and_moves_nothing(void **state)
{
	struct pl_cursor c = over("\x80\x80\x80", 3), before = c;
	uint8_t a = 9;
	uint32_t b = 9;
	uint64_t d = 9;
	int64_t s = 9;
	const uint8_t *p = NULL;
	assert_false(pl_cursor_u32(&c, &b));
	assert_false(pl_cursor_u64(&c, &d));
	assert_false(pl_cursor_varint(&c, &d));
	assert_false(pl_cursor_svarint(&c, &s));
	assert_false(pl_cursor_bytes(&c, 4, &p));
	assert_ptr_equal(c.p, before.p);
	assert_true(pl_cursor_bytes(&c, 3, &p));
	assert_false(pl_cursor_u8(&c, &a));
	assert_true(a == 9 && b == 9 && d == 9 && s == 9);
}

static void varints_beyond_64_bits_are_refused(void **state)
{
	uint64_t v = 9;
	struct pl_cursor c = over("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
	assert_false(pl_cursor_varint(&c, &v));
	c = over("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
	assert_false(pl_cursor_varint(&c, &v));
	c = over("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
	assert_true(pl_cursor_varint(&c, &v));
	assert_true(v == UINT64_MAX);
}

static void varints_round_trip(void **state)
{
	struct pl_rng rng = {.state = 1};
	struct pl_buf b = PL_BUF_INIT(100);
	for (int i = 0; i < 20000; i++) {
		uint64_t v = pl_rng_next(&rng) >> (i % 64), got;
		int64_t s = (int64_t)pl_rng_next(&rng) >> (i % 64), got_s;
		pl_buf_clear(&b);
		assert_ok(pl_buf_add_varint(&b, v));
		assert_ok(pl_buf_add_svarint(&b, s));
		struct pl_cursor c = over(b.data, b.len);
		assert_true(pl_cursor_varint(&c, &got) && pl_cursor_svarint(&c, &got_s));
		assert_true(got == v && got_s == s && pl_cursor_left(&c) == 0);
	}
	pl_buf_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_little_endian),
		cmocka_unit_test(a_getter_at_the_end_fails_and_moves_nothing),
		cmocka_unit_test(varints_beyond_64_bits_are_refused),
		cmocka_unit_test(varints_round_trip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
