/* SPDX-License-Identifier: Apache-2.0 */
/* Headers, sums, compression: what goes in comes out, and what was changed is seen. */
#include "format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

static void the_checksum_is_fnv_1a(void **state)
{
	/* Known answers of the 64-bit variant. */
	assert_true(pl_checksum("", 0) == 0xcbf29ce484222325ull);
	assert_true(pl_checksum("a", 1) == 0xaf63dc4c8601ec8cull);
	assert_true(pl_checksum("foobar", 6) == 0x85944171f73967e8ull);
}

static void file_headers_are_recognised(void **state)
{
	uint8_t bytes[PL_FILE_HEADER_LEN];
	uint16_t version = 0;
	pl_file_header_encode(bytes, 517);
	assert_memory_equal(bytes, "plumb\0\r\n\x05\x02", 10);
	assert_int_equal(pl_file_header_decode(bytes, &version), PL_FILE_HEADER_GOOD);
	assert_int_equal(version, 517);
	for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(pl_file_header_decode(bytes, &version),
				 bit / 8 < PL_FILE_MAGIC_LEN ? PL_FILE_HEADER_FOREIGN : PL_FILE_HEADER_DAMAGED);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static void fill_raw(struct pl_buf *raw, size_t sections, size_t len)
{
	struct pl_rng rng = {.state = len + sections};
	for (size_t i = 0; i < sections; i++) {
		struct pl_buf content = PL_BUF_INIT(1 << 20);
		for (size_t b = 0; b < len; b++)
			check(pl_buf_add_u8(&content, (uint8_t)random_below(&rng, 4 + 20 * i)));
		struct pl_encoder e = {.buf = raw};
		pl_encode_section(&e, (enum pl_section)(i + 1), &content);
		check(e.err);
		pl_buf_deinit(&content);
	}
}

static void assert_comes_back(const struct pl_buf *raw)
{
	struct pl_buf out = PL_BUF_INIT(1 << 24), back = PL_BUF_INIT(1 << 24);
	struct pl_chunk_header h = {.kind = 2, .sequence = 7, .samples = 9, .samples_before = 1ull << 40}, read = {0};
	check(pl_buf_add_str(&out, "before"));
	check(pl_chunk_seal(&h, raw, &out));
	const uint8_t *bytes = out.data + 6;
	assert_true(pl_chunk_header_decode(bytes, &read));
	assert_memory_equal(&read, &h, sizeof h);
	assert_int_equal(out.len, 6 + PL_CHUNK_HEADER_LEN + h.payload_len);
	assert_int_equal(h.raw_len, raw->len);
	check(pl_chunk_unseal(&read, bytes + PL_CHUNK_HEADER_LEN, &back));
	assert_int_equal(back.len, raw->len);
	if (raw->len)
		assert_memory_equal(back.data, raw->data, raw->len);
	pl_buf_deinit(&out);
	pl_buf_deinit(&back);
}

static void payloads_of_every_shape_come_back(void **state)
{
	const size_t lengths[] = {1, 150, 300, 5000, 200000};
	struct pl_buf raw = PL_BUF_INIT(1 << 24);
	assert_comes_back(&raw);
	for (size_t sections = 1; sections <= 6; sections++) {
		for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
			pl_buf_clear(&raw);
			fill_raw(&raw, sections, lengths[i]);
			assert_comes_back(&raw);
		}
	}
	/* Not made of sections at all. */
	memset(raw.data, 0xff, raw.len);
	assert_comes_back(&raw);
	pl_buf_deinit(&raw);
}

static void every_flipped_bit_of_a_chunk_is_seen(void **state)
{
	struct pl_buf raw = PL_BUF_INIT(1 << 20), out = PL_BUF_INIT(1 << 20);
	struct pl_chunk_header h = {.kind = 1}, read;
	fill_raw(&raw, 2, 250);
	check(pl_chunk_seal(&h, &raw, &out));
	for (size_t bit = 0; bit < 8 * out.len; bit++) {
		out.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(pl_chunk_header_decode(out.data, &read) &&
			     pl_checksum(out.data + PL_CHUNK_HEADER_LEN, read.payload_len) == read.payload_sum);
		out.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	pl_buf_deinit(&raw);
	pl_buf_deinit(&out);
}

static void a_payload_of_another_length_is_refused(void **state)
{
	struct pl_buf raw = PL_BUF_INIT(1 << 20), out = PL_BUF_INIT(1 << 20), back = PL_BUF_INIT(1 << 24);
	struct pl_chunk_header h = {.kind = 1};
	fill_raw(&raw, 1, 100);
	check(pl_chunk_seal(&h, &raw, &out));
	const uint8_t *payload = out.data + PL_CHUNK_HEADER_LEN;
	const uint32_t lengths[] = {h.raw_len - 1, h.raw_len + 1, 0, 1 << 20};
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		struct pl_chunk_header wrong = h;
		wrong.raw_len = lengths[i];
		assert_ptr_equal(pl_chunk_unseal(&wrong, payload, &back), &pl_err_corrupt);
	}
	/* More than zstd can make of so few bytes: refused before any memory is asked for. */
	struct pl_chunk_header bomb = {.kind = 1, .payload_len = 20, .raw_len = PL_CHUNK_MAX_BYTES};
	pl_buf_deinit(&back);
	assert_ptr_equal(pl_chunk_unseal(&bomb, payload, &back), &pl_err_corrupt);
	assert_int_equal(back.cap, 0);
	pl_buf_deinit(&raw);
	pl_buf_deinit(&out);
}

static void numbers_come_back_at_their_limits(void **state)
{
	const uint64_t values[] = {0, 1, 127, 128, UINT32_MAX, UINT64_MAX};
	struct pl_buf buf = PL_BUF_INIT(1000);
	struct pl_encoder e = {.buf = &buf};
	for (size_t i = 0; i < 6; i++) {
		for (size_t j = 0; j < 6; j++)
			pl_encode_delta(&e, values[i], values[j]);
	}
	check(e.err);
	struct pl_decoder d = pl_decoder_of(buf.data, buf.len);
	for (size_t i = 0; i < 6; i++) {
		for (size_t j = 0; j < 6; j++)
			assert_true(values[j] + (uint64_t)pl_decode_signed(&d) == values[i]);
	}
	assert_false(d.bad);
	pl_decode(&d);
	assert_true(d.bad);
	d = pl_decoder_of((const uint8_t *)"\x80\x80\x80\x80\x10", 5); /* 2^32 */
	assert_int_equal(pl_decode_u32(&d), 0);
	assert_true(d.bad);
	pl_buf_deinit(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_checksum_is_fnv_1a),
		cmocka_unit_test(file_headers_are_recognised),
		cmocka_unit_test(payloads_of_every_shape_come_back),
		cmocka_unit_test(every_flipped_bit_of_a_chunk_is_seen),
		cmocka_unit_test(a_payload_of_another_length_is_refused),
		cmocka_unit_test(numbers_come_back_at_their_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
