/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "protobuf.h"

/* What was written; the caller frees. */
static uint8_t *written(void (*write)(struct pl_pb *), size_t *len_ret)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, len_ret);
	struct pl_pb w;

	pl_pb_init(&w, out);
	write(&w);
	assert_ok(pl_pb_flush(&w));
	pl_pb_deinit(&w);
	fclose(out);
	return (uint8_t *)bytes;
}

static void known_fields(struct pl_pb *w)
{
	size_t outer, inner;

	pl_pb_u64(w, 1, 150);
	pl_pb_u64(w, 2, 0); /* not written */
	pl_pb_bytes(w, 2, "testing", 7);
	pl_pb_bytes(w, 2, "", 0); /* not written */
	pl_pb_item(w, 2, "", 0);
	pl_pb_fixed64(w, 16, 0x0102030405060708);
	outer = pl_pb_begin(w, 3);
	pl_pb_u64(w, 1, 150);
	inner = pl_pb_begin(w, 4);
	pl_pb_raw_u64(w, 3);
	pl_pb_raw_u64(w, 270);
	pl_pb_raw_u64(w, 0);
	pl_pb_end(w, inner);
	pl_pb_end(w, outer);
}

static void bytes_are_those_of_the_specification(void **state)
{
	static const char want[] = "\x08\x96\x01\x12\x07testing\x12\x00\x81\x01\x08\x07\x06\x05\x04\x03\x02\x01"
				   "\x1a\x09\x08\x96\x01\x22\x04\x03\x8e\x02\x00";
	size_t len = 0;
	uint8_t *got = written(known_fields, &len);

	assert_int_equal(len, sizeof want - 1);
	assert_memory_equal(got, want, len);
	free(got);
}

static const size_t lengths[] = {0, 1, 126, 127, 128, 129, 16383, 16384, 70000, 2097151, 2097152};

static void long_submessages(struct pl_pb *w)
{
	char *bytes = calloc(1, 2097152);

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		size_t begin = pl_pb_begin(w, 5);

		memset(bytes, 'a' + (int)i, lengths[i]);
		for (size_t k = 0; k < lengths[i]; k++)
			pl_pb_raw_u64(w, (uint8_t)bytes[k]);
		pl_pb_end(w, begin);
		pl_pb_u64(w, 6, i + 1);
		if (i % 2)
			assert_ok(pl_pb_flush_some(w));
	}
	free(bytes);
}

static void submessages_of_any_length_come_back(void **state)
{
	size_t len = 0;
	uint8_t *got = written(long_submessages, &len);
	struct pl_cursor c = {.p = got, .end = got + len};
	struct pl_pb_field f;

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		assert_int_equal(pl_pb_next(&c, &f), PL_PB_FIELD);
		assert_true(f.number == 5 && f.wire == PL_PB_BYTES);
		assert_int_equal(pl_cursor_left(&f.bytes), lengths[i]);
		for (const uint8_t *p = f.bytes.p; p < f.bytes.end; p++)
			assert_int_equal(*p, 'a' + (int)i);
		assert_int_equal(pl_pb_next(&c, &f), PL_PB_FIELD);
		assert_true(f.number == 6 && f.wire == PL_PB_VARINT && f.value == i + 1);
	}
	assert_int_equal(pl_pb_next(&c, &f), PL_PB_END);
	free(got);
}

static void without_a_file_bytes_are_counted(void **state)
{
	struct pl_pb w;
	size_t len = 0;

	free(written(known_fields, &len));
	pl_pb_init(&w, NULL);
	known_fields(&w);
	assert_ok(pl_pb_flush(&w));
	known_fields(&w);
	assert_ok(pl_pb_flush(&w));
	assert_int_equal(w.before, 2 * len);
	pl_pb_deinit(&w);
}

static void numbers_come_packed_or_one_by_one(void **state)
{
	static const uint8_t bytes[] = {0x08, 0x07, 0x0a, 0x03, 0x01, 0x80, 0x01, 0x0a, 0x00};
	struct pl_cursor c = {.p = bytes, .end = bytes + sizeof bytes};
	struct pl_pb_field f;
	pl_pb_numbers n = {0};

	while (pl_pb_next(&c, &f) == PL_PB_FIELD)
		assert_ok(pl_pb_add_numbers(&f, &n));
	assert_int_equal(pl_cursor_left(&c), 0);
	assert_int_equal(n.len, 3);
	assert_true(n.data[0] == 7 && n.data[1] == 1 && n.data[2] == 128);
	f = (struct pl_pb_field){.wire = PL_PB_BYTES, .bytes = {bytes + 5, bytes + 6}}; /* a number that is cut */
	assert_ptr_equal(pl_pb_add_numbers(&f, &n), &pl_err_corrupt);
	f.wire = PL_PB_FIXED64;
	assert_ptr_equal(pl_pb_add_numbers(&f, &n), &pl_err_corrupt);
	pl_vec_deinit(&n);
}

static void what_is_broken_moves_nothing(void **state)
{
	static const char *const broken[] = {
		"\x08",	    /* no value */
		"\x08\x80", /* a cut one */
		("\x0a\x05"
		 "abcd"),					/* one byte too few */
		"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* a length past all memory */
		"\x09\x01\x02\x03",				/* a cut fixed number */
		"\x0d\x01\x02\x03",
		"\x02\x01", /* field 0 */
		"\x0b\x01", /* a group */
		"\x0c\x01",
		"\x0e\x01",
		"\x0f\x01",		    /* kinds that there are not */
		"\x80\x80\x80\x80\x10\x01", /* a number past the largest */
	};

	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		struct pl_cursor c = {.p = (const uint8_t *)broken[i]}, before;
		struct pl_pb_field f = {.number = 99};

		c.end = c.p + strlen(broken[i]);
		before = c;
		assert_int_equal(pl_pb_next(&c, &f), PL_PB_BROKEN);
		assert_ptr_equal(c.p, before.p);
		assert_int_equal(f.number, 99);
	}
}

static void random_bytes_end(void **state)
{
	struct pl_rng rng = {.state = 7};

	for (int round = 0; round < 20000; round++) {
		uint8_t bytes[64];
		struct pl_cursor c = {.p = bytes, .end = bytes + pl_rng_next(&rng) % sizeof bytes};
		struct pl_pb_field f;

		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (uint8_t)(pl_rng_next(&rng) % (round % 2 ? 256 : 24));
		while (pl_pb_next(&c, &f) == PL_PB_FIELD)
			assert_true(f.wire != PL_PB_BYTES || (f.bytes.p >= bytes && f.bytes.end <= c.p));
	}
}

static void too_much_for_the_buffer_is_an_error(void **state)
{
	struct pl_pb w;

	pl_pb_init(&w, NULL);
	w.buf.max = 200;
	size_t begin = pl_pb_begin(&w, 1);
	pl_pb_bytes(&w, 2, "x", 1);
	for (int i = 0; i < 100; i++)
		pl_pb_fixed64(&w, 3, 1);
	pl_pb_end(&w, begin);
	assert_ptr_equal(pl_pb_flush(&w), &pl_err_limit);
	assert_ptr_equal(pl_pb_flush_some(&w), &pl_err_limit);
	pl_pb_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_those_of_the_specification),
		cmocka_unit_test(submessages_of_any_length_come_back),
		cmocka_unit_test(without_a_file_bytes_are_counted),
		cmocka_unit_test(numbers_come_packed_or_one_by_one),
		cmocka_unit_test(what_is_broken_moves_nothing),
		cmocka_unit_test(random_bytes_end),
		cmocka_unit_test(too_much_for_the_buffer_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
