/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a text report: what a hostile name may do to a terminal, and where it is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "glyph.h"
#include "line.h"

static char *shown(const char *name, size_t len, int cols, enum pl_cut cut, bool unicode)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct pl_page page = {.out = out, .width = 100, .unicode = unicode};
	struct pl_line line;

	pl_line_start(&line, &page);
	pl_line_name(&line, name, len, cols, cut);
	pl_line_end(&line);
	fclose(out);
	text[size - 1] = '\0'; /* the line break */
	return text;
}

static void expect(const char *name, int cols, enum pl_cut cut, bool unicode, const char *want)
{
	char *got = shown(name, strlen(name), cols, cut, unicode);

	assert_string_equal(got, want);
	free(got);
}

static void controls_and_direction_marks_are_escaped(void **state)
{
	expect("a\x1b[2Jb", 40, PL_CUT_END, true, "a\\x1b[2Jb");
	expect("a\nb\tc\r", 40, PL_CUT_END, true, "a\\nb\\tc\\r");
	expect("\xe2\x80\xae"
	       "x",
	       40, PL_CUT_END, true, "\\u202ex");
	expect("\xc2\x9b", 40, PL_CUT_END, true, "\\x9b");
	expect("\xe2\x80\xa8", 40, PL_CUT_END, true, "\\u2028");
}

static void what_is_no_text_is_shown_as_such(void **state)
{
	expect("a\xff", 40, PL_CUT_END, true, "a\xef\xbf\xbd");
	expect("a\xff", 40, PL_CUT_END, false, "a?");
	expect("\xed\xb2\x80", 40, PL_CUT_END, true, "\\udc80");
}

static void without_unicode_all_is_ascii(void **state)
{
	expect("h\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", 40, PL_CUT_END, false, "h\\xe9\\u4e2d\\U0001f600");
}

static void long_names_are_cut_with_a_mark(void **state)
{
	expect("abcdefgh", 8, PL_CUT_END, true, "abcdefgh");
	expect("abcdefgh", 5, PL_CUT_END, true, "abcd\xe2\x80\xa6");
	expect("abcdefgh", 5, PL_CUT_START, true,
	       "\xe2\x80\xa6"
	       "efgh");
	expect("abcdefgh", 5, PL_CUT_END, false, "abcd~");
	expect("abcdefgh", 1, PL_CUT_END, false, "~");
	expect("abcdefgh", 0, PL_CUT_END, false, "");
}

static void wide_characters_count_two_columns(void **state)
{
	expect("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 6, PL_CUT_END, true, "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad");
	/* Two and the mark: a third would be one column too many. */
	expect("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 5, PL_CUT_END, true, "\xe4\xb8\xad\xe4\xb8\xad\xe2\x80\xa6");
	expect("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 4, PL_CUT_END, true, "\xe4\xb8\xad\xe2\x80\xa6");
	assert_int_equal(pl_glyph_columns("e\xcc\x81", 3, true, 80), 1);
}

static void a_very_long_name_costs_no_more_than_it_shows(void **state)
{
	size_t len = 64u << 10;
	char *name = malloc(len), *got;

	assert_non_null(name);
	memset(name, 'x', len);
	got = shown(name, len, 10, PL_CUT_START, true);
	assert_string_equal(got, "\xe2\x80\xa6xxxxxxxxx");
	free(got);
	memset(name, '\xcc', len); /* combining marks without end, half of each */
	for (size_t i = 1; i < len; i += 2)
		name[i] = '\x81';
	got = shown(name, len, 10, PL_CUT_END, true);
	assert_true(strlen(got) <= 6 * PL_LINE_MAX_COLUMNS);
	free(got);
	free(name);
}

static void a_line_is_never_wider_than_its_page(void **state)
{
	struct pl_page page = {.width = 20, .unicode = true, .color = true};
	struct pl_line line;

	pl_line_start(&line, &page);
	for (int i = 0; i < 1000; i++) {
		pl_line_tone(&line, PL_TONE_HOT);
		pl_line_add(&line, "abc");
		pl_line_pad(&line, 50);
		pl_line_right(&line, "x", 50);
	}
	pl_line_tone(&line, PL_TONE_PLAIN);
	assert_int_equal(line.cols, 20);
	assert_true(line.len <= sizeof line.text);
	/* Whatever was left out, the colour is off at the end. */
	assert_memory_equal(line.text + line.len - 4, "\033[0m", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controls_and_direction_marks_are_escaped),
		cmocka_unit_test(what_is_no_text_is_shown_as_such),
		cmocka_unit_test(without_unicode_all_is_ascii),
		cmocka_unit_test(long_names_are_cut_with_a_mark),
		cmocka_unit_test(wide_characters_count_two_columns),
		cmocka_unit_test(a_very_long_name_costs_no_more_than_it_shows),
		cmocka_unit_test(a_line_is_never_wider_than_its_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
