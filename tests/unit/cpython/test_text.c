/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "fake.h"
#include "text.h"

/* A compact str of @p n characters of @p width bytes; ascii as the caller says. */
static pl_addr put_str(struct fake *f, const struct pl_py *py, const void *chars, size_t n, unsigned width, bool ascii)
{
	const struct pl_layout *lay = &py->layout;
	uint32_t header = ascii ? lay->unicode.ascii_size : lay->unicode.compact_size;
	pl_addr obj = fake_new(f, header + n * width);

	fake_field(f, obj, lay->unicode.length, n, 8);
	fake_field(f, obj, lay->unicode.state,
		   width << lay->unicode.kind_shift | 1u << lay->unicode.compact_bit |
			   (unsigned)ascii << lay->unicode.ascii_bit,
		   4);
	fake_put(f, obj + header, chars, n * width);
	return obj;
}

static void expect(struct fake *f, const struct pl_py *py, pl_addr obj, size_t max, const char *want)
{
	struct pl_buf b = PL_BUF_INIT(1 << 20);

	assert_ok(pl_text_read_str(&f->mem, py, obj, max, &b));
	assert_int_equal(b.len, strlen(want));
	assert_memory_equal(b.data ? b.data : (const uint8_t *)"", want, b.len);
	pl_buf_deinit(&b);
}

static void all_kinds_of_str_become_utf8_on_every_version(void **state)
{
	static const uint8_t latin1[] = {0xe9, 't', 0xe9};
	static const uint16_t ucs2[] = {0x41a, 0x6f22, 'x'};
	static const uint32_t ucs4[] = {0x1f40d, 0xe9, 0x5b57, 'y', 0x10ffff};

	for (int minor = 6; minor <= 15; minor++) {
		struct pl_py py = fake_py(minor);
		struct fake f;
		fake_init(&f);
		expect(&f, &py, fake_str(&f, &py, "plain"), 100, "plain");
		expect(&f, &py, fake_str(&f, &py, ""), 100, "");
		expect(&f, &py, put_str(&f, &py, latin1, 3, 1, false), 100, "été");
		expect(&f, &py, put_str(&f, &py, ucs2, 3, 2, false), 100, "К漢x");
		expect(&f, &py, put_str(&f, &py, ucs4, 5, 4, false), 100, "🐍é字y\U0010ffff");
		fake_deinit(&f);
	}
}

static void bit_positions_of_free_threaded_builds_are_data(void **state)
{
	struct pl_py py = {.layout = *pl_layout_reference(PL_PY_VERSION(3, 14, 0), true)};
	static const uint16_t ucs2[] = {0x41a};
	struct fake f;

	fake_init(&f);
	expect(&f, &py, put_str(&f, &py, ucs2, 1, 2, false), 100, "К");
	expect(&f, &py, fake_str(&f, &py, "name"), 100, "name");
	fake_deinit(&f);
}

static void non_compact_strings_are_followed(void **state)
{
	struct pl_py py = fake_py(8);
	const struct pl_layout *lay = &py.layout;
	struct fake f;

	fake_init(&f);
	pl_addr data = fake_new(&f, 8), obj = fake_new(&f, lay->unicode.data + 8);
	fake_put(&f, data, "old", 3);
	fake_field(&f, obj, lay->unicode.length, 3, 8);
	fake_field(&f, obj, lay->unicode.state, 1u << lay->unicode.kind_shift | 1u << lay->unicode.ascii_bit, 4);
	fake_field(&f, obj, lay->unicode.data, data, 8);
	expect(&f, &py, obj, 100, "old");
	fake_deinit(&f);
}

static void lone_surrogates_become_their_three_bytes(void **state)
{
	static const uint16_t ucs2[] = {0xd800, 'a', 0xdfff};
	struct pl_py py = fake_py(12);
	struct fake f;

	fake_init(&f);
	expect(&f, &py, put_str(&f, &py, ucs2, 3, 2, false), 100,
	       "\xed\xa0\x80"
	       "a\xed\xbf\xbf");
	fake_deinit(&f);
}

static void long_strings_are_cut_at_a_character(void **state)
{
	static const uint8_t latin1[] = {0xe9, 0xe9, 0xe9};
	static char many[5000];
	char want[4100];
	struct pl_py py = fake_py(11);
	struct fake f;

	fake_init(&f);
	expect(&f, &py, put_str(&f, &py, latin1, 3, 1, false), 5, "éé...");
	expect(&f, &py, put_str(&f, &py, latin1, 3, 1, false), 6, "ééé");
	memset(many, 'm', sizeof many - 1);
	memset(want, 'm', 4096);
	strcpy(want + 4096, "...");
	expect(&f, &py, fake_str(&f, &py, many), 4096, want);
	expect(&f, &py, fake_str(&f, &py, many), 5000, many);
	fake_deinit(&f);
}

static void impossible_strings_are_corrupt_and_leave_the_buffer_alone(void **state)
{
	static const uint32_t too_big[] = {0x110000};
	static const uint8_t high[] = {0x80};
	struct pl_py py = fake_py(12);
	const struct pl_layout *lay = &py.layout;
	struct pl_buf b = PL_BUF_INIT(100);
	struct fake f;

	fake_init(&f);
	assert_ok(pl_buf_add_str(&b, "before"));
	pl_addr kind3 = fake_str(&f, &py, "abc"), huge = fake_str(&f, &py, "abc");
	fake_field(&f, kind3, lay->unicode.state, 3u << lay->unicode.kind_shift | 1u << lay->unicode.compact_bit, 4);
	fake_field(&f, huge, lay->unicode.length, UINT64_MAX / 4, 8);
	const pl_addr bad[] = {
		kind3, huge, put_str(&f, &py, too_big, 1, 4, false), put_str(&f, &py, high, 1, 1, true), 0, kind3 + 1};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_ptr_equal(pl_text_read_str(&f.mem, &py, bad[i], 50, &b), &pl_err_corrupt);
	assert_ptr_equal(pl_text_read_str(&f.mem, &py, 0x9000, 50, &b), &pl_err_unreadable);
	/* longer than what is there to read */
	fake_field(&f, huge, lay->unicode.length, 4000, 8);
	assert_ptr_equal(pl_text_read_str(&f.mem, &py, huge, 50, &b), &pl_err_unreadable);
	assert_int_equal(b.len, 6);
	pl_buf_deinit(&b);
	fake_deinit(&f);
}

static void str_of_2_7_is_bytes_of_any_encoding(void **state)
{
	struct pl_py py = fake_py27();
	struct pl_buf b = PL_BUF_INIT(100);
	struct fake f;

	fake_init(&f);
	expect(&f, &py, fake_str(&f, &py, "plain"), 100, "plain");
	expect(&f, &py, fake_str(&f, &py, "été"), 100, "été");
	expect(&f, &py, fake_str(&f, &py, "\xe9t"), 100, "\xed\xb3\xa9t"); /* U+DCE9, as a later Python decodes it */
	expect(&f, &py, fake_str(&f, &py, "éé"), 3, "é...");
	expect(&f, &py, fake_str(&f, &py, "abcdef"), 3, "abc...");
	expect(&f, &py, fake_str(&f, &py, "abc"), 3, "abc");
	pl_addr torn = fake_str(&f, &py, "abc");
	fake_field(&f, torn, py.layout.bytes.ob_size, 99, 8);
	assert_ptr_equal(pl_text_read_str(&f.mem, &py, torn, 100, &b), &pl_err_unreadable);
	fake_field(&f, torn, py.layout.bytes.ob_size, UINT64_MAX, 8);
	assert_ptr_equal(pl_text_read_str(&f.mem, &py, torn, 100, &b), &pl_err_corrupt);
	assert_int_equal(b.len, 0);
	pl_buf_deinit(&b);
	fake_deinit(&f);
}

static void bytes_are_read_up_to_their_limit(void **state)
{
	struct pl_py py = fake_py(9);
	struct pl_buf b = PL_BUF_INIT(100);
	struct fake f;

	fake_init(&f);
	pl_addr obj = fake_bytes(&f, &py, "\0\1\377", 3);
	assert_ok(pl_text_read_bytes(&f.mem, &py, obj, 3, &b));
	assert_int_equal(b.len, 3);
	assert_memory_equal(b.data, "\0\1\377", 3);
	assert_code(pl_text_read_bytes(&f.mem, &py, obj, 2, &b), PLUMB_ERR_LIMIT);
	assert_int_equal(b.len, 3);
	pl_buf_deinit(&b);
	fake_deinit(&f);
}

static pl_addr put_unicode(struct fake *f, const struct pl_py *py, const void *units, uint64_t n)
{
	pl_addr obj = fake_new(f, 64), data = fake_new(f, n * py->unicode_bytes + 8);

	fake_put(f, data, units, n * py->unicode_bytes);
	fake_field(f, obj, py->layout.unicode.length, n, 8);
	fake_field(f, obj, py->layout.unicode.data, data, 8);
	return obj;
}

/* How a unicode of 2.7 reads, and what it says of its length. */
static const char *unicode_text(const struct pl_py *py, const void *units, uint64_t n, size_t max)
{
	static char text[8192];
	struct fake f;
	struct pl_buf out = PL_BUF_INIT(sizeof text - 1);
	struct pl_text_start start;

	fake_init(&f);
	pl_addr obj = put_unicode(&f, py, units, n);
	assert_ok(pl_text_read_start(&f.mem, py, obj, max, &out, &start));
	assert_int_equal(start.chars, n);
	memcpy(text, out.data, out.len);
	text[out.len] = '\0';
	pl_buf_deinit(&out);
	fake_deinit(&f);
	return text;
}

static void a_unicode_of_2_7_has_two_bytes_a_character_or_four(void **state)
{
	static const uint32_t wide[] = {'a', 0xe9, 0x6f22, 0x1f40d};
	static const uint16_t narrow[] = {'a', 0xe9, 0x6f22, 0xd83d, 0xdc0d}; /* a pair is one character */
	static const uint16_t halves[] = {0xd83d, 'a', 0xdc0d, 0xd83d};
	struct pl_py py = fake_py27();

	(void)state;
	py.unicode_bytes = 4;
	assert_string_equal(unicode_text(&py, wide, 4, 100), "a\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x90\x8d");
	py.unicode_bytes = 2;
	assert_string_equal(unicode_text(&py, narrow, 5, 100), "a\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x90\x8d");
	assert_string_equal(unicode_text(&py, halves, 4, 100), "\xed\xa0\xbd"
							       "a\xed\xb0\x8d\xed\xa0\xbd");
	assert_string_equal(unicode_text(&py, narrow, 5, 7), "a\xc3\xa9\xe6\xbc\xa2");
}

static void a_pair_is_not_torn_between_two_pieces(void **state)
{
	static uint16_t units[1200];
	struct pl_py py = fake_py27();

	(void)state;
	py.unicode_bytes = 2;
	for (size_t at = 500; at < 520; at++) {
		for (size_t i = 0; i < 1200; i++)
			units[i] = 'x';
		units[at] = 0xd83d;
		units[at + 1] = 0xdc0d;
		const char *text = unicode_text(&py, units, 1200, 4000);
		assert_int_equal(strlen(text), 1202);
		assert_memory_equal(text + at, "\xf0\x9f\x90\x8dx", 5);
	}
}

static void a_unicode_of_2_7_that_cannot_be_is_refused(void **state)
{
	static const uint32_t beyond[] = {0x110000};
	struct pl_py py = fake_py27();
	struct pl_buf out = PL_BUF_INIT(100);
	struct fake f;
	struct pl_text_start start;

	(void)state;
	fake_init(&f);
	py.unicode_bytes = 4;
	pl_addr obj = put_unicode(&f, &py, beyond, 1);
	assert_code(pl_text_read_start(&f.mem, &py, obj, 50, &out, &start), PLUMB_ERR_CORRUPT);
	fake_field(&f, obj, py.layout.unicode.length, UINT64_MAX, 8);
	assert_code(pl_text_read_start(&f.mem, &py, obj, 50, &out, &start), PLUMB_ERR_CORRUPT);
	py.unicode_bytes = 0; /* nothing told how it was built */
	assert_code(pl_text_read_start(&f.mem, &py, obj, 50, &out, &start), PLUMB_ERR_CORRUPT);
	pl_buf_deinit(&out);
	fake_deinit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_of_str_become_utf8_on_every_version),
		cmocka_unit_test(bit_positions_of_free_threaded_builds_are_data),
		cmocka_unit_test(non_compact_strings_are_followed),
		cmocka_unit_test(lone_surrogates_become_their_three_bytes),
		cmocka_unit_test(long_strings_are_cut_at_a_character),
		cmocka_unit_test(impossible_strings_are_corrupt_and_leave_the_buffer_alone),
		cmocka_unit_test(str_of_2_7_is_bytes_of_any_encoding),
		cmocka_unit_test(bytes_are_read_up_to_their_limit),
		cmocka_unit_test(a_unicode_of_2_7_has_two_bytes_a_character_or_four),
		cmocka_unit_test(a_pair_is_not_torn_between_two_pieces),
		cmocka_unit_test(a_unicode_of_2_7_that_cannot_be_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
