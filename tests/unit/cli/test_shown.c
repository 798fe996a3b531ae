/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others in messages, lists of processes and findings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shown.h"

/* Controls of ASCII and of Latin 1, which terminals obey as UTF-8, too; what turns, hides or breaks text; what is no
 * character; a lone surrogate. */
static const struct {
	const char *from, *utf8, *ascii;
} texts[] = {
	{"plain", "plain", "plain"},
	{"a\x1b[2J\n\x7f", "a\\x1b[2J\\n\\x7f", "a\\x1b[2J\\n\\x7f"},
	{"\xc2\x9b"
	 "2J",
	 "\\x9b2J", "\\x9b2J"},
	{"\xe2\x80\xae\xe2\x81\xa6\xd8\x9c", "\\u202e\\u2066\\u061c", "\\u202e\\u2066\\u061c"},
	{"\xef\xbb\xbf\xe2\x80\xa8", "\\ufeff\\u2028", "\\ufeff\\u2028"},
	{"\xc3\xa9", "\xc3\xa9", "\\xe9"},
	{"\xf3\xa0\x80\x81", "\\U000e0001", "\\U000e0001"},
	{"\xed\xb3\xbf", "\\udcff", "\\udcff"},
	{"\xff", "\xef\xbf\xbd", "?"},
	{"\xe2\x80", "\xef\xbf\xbd", "?"},
};

static void nothing_of_others_reaches_the_terminal_as_it_is(void **state)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char *utf8 = shown(texts[i].from, true), *ascii = shown(texts[i].from, false);

		assert_string_equal(utf8, texts[i].utf8);
		assert_string_equal(ascii, texts[i].ascii);
		free(utf8);
		free(ascii);
	}
}

static const char *put(const char *s, size_t limit)
{
	static char text[256];
	FILE *out = fmemopen(text, sizeof text, "w");

	put_shown(s, limit, out);
	fclose(out);
	return text;
}

static void messages_follow_the_locale(void **state)
{
	setenv("LC_ALL", "C.UTF-8", 1);
	assert_string_equal(put("\xc3\xa9\xc2\x9b", SIZE_MAX), "\xc3\xa9\\x9b");
	setenv("LC_ALL", "C", 1);
	assert_string_equal(put("\xc3\xa9\xc2\x9b", SIZE_MAX), "\\xe9\\x9b");
	assert_string_equal(put("0123456789", 4), "0123");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_of_others_reaches_the_terminal_as_it_is),
		cmocka_unit_test(messages_follow_the_locale),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
