/* SPDX-License-Identifier: Apache-2.0 */
/* Lines, words and numbers of a text that ends where it ends, and not with a NUL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "span.h"

static struct pl_span span(const char *s)
{
	return (struct pl_span){s, strlen(s)};
}

static void expect(struct pl_span got, const char *want)
{
	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.s, want, got.len);
}

static void a_text_falls_into_lines(void **state)
{
	struct pl_span rest = {"a\n\nb\r\nc-not", 7}, line;

	assert_true(pl_span_line(&rest, &line));
	expect(line, "a");
	assert_true(pl_span_line(&rest, &line));
	expect(line, "");
	assert_true(pl_span_line(&rest, &line));
	expect(line, "b\r");
	assert_true(pl_span_line(&rest, &line));
	expect(line, "c");
	assert_false(pl_span_line(&rest, &line));
}

static void a_line_break_at_the_end_begins_no_line(void **state)
{
	struct pl_span rest = span("a\n"), line;

	assert_true(pl_span_line(&rest, &line));
	assert_false(pl_span_line(&rest, &line));
}

static void a_line_falls_into_words(void **state)
{
	struct pl_span rest = span(" \tone  two\r");

	expect(pl_span_word(&rest), "one");
	expect(pl_span_word(&rest), "two");
	expect(pl_span_word(&rest), "");
	expect(pl_span_word(&rest), "");
}

static void blanks_around_a_text_are_trimmed(void **state)
{
	expect(pl_span_trim(span(" \ta b\r ")), "a b");
	expect(pl_span_trim(span(" \r\t")), "");
	expect(pl_span_trim(span("")), "");
}

static void texts_are_compared_up_to_their_end(void **state)
{
	struct pl_span s = {"abcd", 3};

	assert_true(pl_span_is(s, "abc"));
	assert_false(pl_span_is(s, "abcd"));
	assert_false(pl_span_is(s, "ab"));
	assert_true(pl_span_starts(s, "ab"));
	assert_false(pl_span_starts(s, "abcd"));
	assert_true(pl_span_ends(s, "bc"));
	assert_false(pl_span_ends(s, "cd"));
	assert_false(pl_span_ends(s, "xabc"));
}

static void numbers_are_whole_texts_that_fit(void **state)
{
	static const char *const none[] = {"", " 1", "1 ", "-1", "+1", "1a", "1.5", "18446744073709551616"};
	uint64_t v = 7;

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		assert_false(pl_span_decimal(span(none[i]), &v));
		assert_int_equal(v, 7);
	}
	assert_true(pl_span_decimal(span("18446744073709551615"), &v));
	assert_true(v == UINT64_MAX);
	assert_true(pl_span_decimal((struct pl_span){"0123", 3}, &v));
	assert_int_equal(v, 12);
	assert_true(pl_span_hex(span("fFfFfFfFfFfFfFfF"), &v));
	assert_true(v == UINT64_MAX);
	assert_false(pl_span_hex(span("10000000000000000"), &v));
	assert_false(pl_span_hex(span("0x1"), &v));
	assert_false(pl_span_hex(span("G"), &v));
	assert_false(pl_span_hex(span(""), &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_falls_into_lines),
		cmocka_unit_test(a_line_break_at_the_end_begins_no_line),
		cmocka_unit_test(a_line_falls_into_words),
		cmocka_unit_test(blanks_around_a_text_are_trimmed),
		cmocka_unit_test(texts_are_compared_up_to_their_end),
		cmocka_unit_test(numbers_are_whole_texts_that_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
