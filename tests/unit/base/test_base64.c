/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base64.h"

/* Written in pieces of @p step bytes. Owner: the caller, free(). */
static char *encode(const char *bytes, size_t len, size_t step)
{
	char *text = NULL;
	size_t text_len = 0;
	FILE *out = open_memstream(&text, &text_len), *in;

	assert_non_null(out);
	in = pl_base64_open(out);
	assert_non_null(in);
	for (size_t at = 0; at < len; at += step) {
		size_t part = len - at < step ? len - at : step;

		assert_int_equal(fwrite(bytes + at, 1, part, in), part);
		assert_int_equal(fflush(in), 0);
	}
	assert_int_equal(fclose(in), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The examples of RFC 4648, however they are cut. */
static void encodes_as_the_standard_says(void **state)
{
	static const char *const pairs[][2] = {{"", ""},
					       {"f", "Zg=="},
					       {"fo", "Zm8="},
					       {"foo", "Zm9v"},
					       {"foob", "Zm9vYg=="},
					       {"fooba", "Zm9vYmE="},
					       {"foobar", "Zm9vYmFy"},
					       {"\xff\xef\xbe", "/+++"}};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		for (size_t step = 1; step < 4; step++) {
			char *text = encode(pairs[i][0], strlen(pairs[i][0]), step);

			assert_string_equal(text, pairs[i][1]);
			free(text);
		}
	}
}

static void what_is_long_is_not_cut_into_lines(void **state)
{
	size_t len = 100000;
	char *bytes = calloc(1, len), *text;

	assert_non_null(bytes);
	text = encode(bytes, len, len);
	assert_int_equal(strlen(text), (len + 2) / 3 * 4);
	assert_int_equal(strspn(text, "A"), len / 3 * 4 + 2);
	free(text);
	free(bytes);
}

static void a_full_device_shows_in_the_stream_behind(void **state)
{
	FILE *out = fopen("/dev/full", "w"), *in;

	assert_non_null(out);
	setbuf(out, NULL);
	in = pl_base64_open(out);
	assert_non_null(in);
	fputs("some bytes", in);
	assert_int_not_equal(fclose(in), 0);
	assert_true(ferror(out));
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encodes_as_the_standard_says),
		cmocka_unit_test(what_is_long_is_not_cut_into_lines),
		cmocka_unit_test(a_full_device_shows_in_the_stream_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
