/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "buf.h"
#include "vec.h"

static void text_is_appended_and_terminated_outside_of_its_length(void **state)
{
	struct pl_buf b = PL_BUF_INIT(100);
	assert_string_equal(pl_buf_str(&b), "");
	assert_ok(pl_buf_add_str(&b, "ab"));
	assert_ok(pl_buf_printf(&b, "-%d-%s", 7, "x"));
	assert_ok(pl_buf_add_u8(&b, '!'));
	assert_string_equal(pl_buf_str(&b), "ab-7-x!");
	assert_int_equal(b.len, 7);
	pl_buf_clear(&b);
	assert_string_equal(pl_buf_str(&b), "");
	pl_buf_deinit(&b);
}

static void the_maximum_is_exact_and_a_refused_call_changes_nothing(void **state)
{
	struct pl_buf b = PL_BUF_INIT(5);
	assert_ok(pl_buf_add_str(&b, "1234"));
	assert_ptr_equal(pl_buf_add_str(&b, "56"), &pl_err_limit);
	assert_ptr_equal(pl_buf_printf(&b, "%d", 56), &pl_err_limit);
	assert_ptr_equal(pl_buf_reserve(&b, SIZE_MAX), &pl_err_limit);
	assert_string_equal(pl_buf_str(&b), "1234");
	assert_ok(pl_buf_printf(&b, "%d", 5));
	assert_string_equal(pl_buf_str(&b), "12345");
	assert_int_equal(b.len, 5);
	assert_ptr_equal(pl_buf_add_u8(&b, 0), &pl_err_limit);
	assert_ok(pl_buf_add(&b, "", 0));
	pl_buf_deinit(&b);
}

static void assert_bytes(const struct pl_buf *b, const char *bytes, size_t len)
{
	assert_int_equal(b->len, len);
	assert_memory_equal(b->data, bytes, len);
}

static void varints_have_their_known_bytes(void **state)
{
	struct pl_buf b = PL_BUF_INIT(100);
	assert_ok(pl_buf_add_varint(&b, 0));
	assert_ok(pl_buf_add_varint(&b, 127));
	assert_ok(pl_buf_add_varint(&b, 300));
	assert_bytes(&b, "\x00\x7f\xac\x02", 4);
	pl_buf_clear(&b);
	assert_ok(pl_buf_add_varint(&b, UINT64_MAX));
	assert_bytes(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
	pl_buf_clear(&b);
	assert_ok(pl_buf_add_svarint(&b, -1));
	assert_ok(pl_buf_add_svarint(&b, 1));
	assert_ok(pl_buf_add_svarint(&b, -65));
	assert_bytes(&b, "\x01\x02\x81\x01", 4);
	pl_buf_clear(&b);
	assert_ok(pl_buf_add_svarint(&b, INT64_MIN));
	assert_bytes(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
	pl_buf_deinit(&b);
}

static void varints_end_at_the_maximum(void **state)
{
	struct pl_buf b = PL_BUF_INIT(11);

	for (int i = 0; i < 11; i++)
		assert_ok(pl_buf_add_varint(&b, (uint64_t)i));
	assert_ptr_equal(pl_buf_add_varint(&b, 11), &pl_err_limit);
	assert_bytes(&b, "\0\1\2\3\4\5\6\7\x8\x9\xa", 11);
	pl_buf_clear(&b);
	assert_ok(pl_buf_add_varint(&b, UINT64_MAX));
	assert_ptr_equal(pl_buf_add_varint(&b, 128), &pl_err_limit);
	assert_ok(pl_buf_add_varint(&b, 127));
	assert_bytes(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x7f", 11);
	pl_buf_deinit(&b);
}

static void a_large_buffer_keeps_its_bytes_while_it_grows(void **state)
{
	struct pl_buf b = PL_BUF_INIT(1 << 20);
	for (unsigned i = 0; i < 200000; i++)
		assert_ok(pl_buf_add_u8(&b, (uint8_t)(i * 7)));
	for (unsigned i = 0; i < 200000; i++)
		if (b.data[i] != (uint8_t)(i * 7))
			fail_msg("byte %u is lost", i);
	pl_buf_deinit(&b);
	assert_int_equal(b.cap, 0);
}

static void a_vector_keeps_its_items_while_it_grows(void **state)
{
	PL_VEC(uint64_t) v = {0};
	for (uint64_t i = 0; i < 10000; i++)
		assert_true(pl_vec_push(&v, i * i));
	for (uint64_t i = 0; i < v.len; i++)
		if (v.data[i] != i * i)
			fail_msg("item %u is lost", (unsigned)i);
	assert_int_equal(v.len, 10000);
	pl_vec_clear(&v);
	assert_int_equal(v.len, 0);
	assert_true(v.cap >= 10000);
	pl_vec_deinit(&v);
	assert_null(v.data);
}

static void a_vector_refuses_sizes_that_wrap(void **state)
{
	PL_VEC(uint64_t) v = {0};
	assert_true(pl_vec_push(&v, 1));
	assert_false(pl_vec_reserve(&v, SIZE_MAX / 8));
	assert_false(pl_vec_reserve(&v, SIZE_MAX / 16));
	assert_int_equal(v.data[0], 1);
	pl_vec_deinit(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_appended_and_terminated_outside_of_its_length),
		cmocka_unit_test(the_maximum_is_exact_and_a_refused_call_changes_nothing),
		cmocka_unit_test(varints_have_their_known_bytes),
		cmocka_unit_test(varints_end_at_the_maximum),
		cmocka_unit_test(a_large_buffer_keeps_its_bytes_while_it_grows),
		cmocka_unit_test(a_vector_keeps_its_items_while_it_grows),
		cmocka_unit_test(a_vector_refuses_sizes_that_wrap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
