/* SPDX-License-Identifier: Apache-2.0 */
/* The line that attach draws over and over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "status_line.h"
#include "term.h"

static void expect(const char *hottest, int width, bool utf8, const char *want)
{
	const struct plumb_status st = {
		.elapsed_ns = 12340000000, .samples = 12301, .threads = 4, .hottest = hottest, .hottest_share = 0.523};
	char buf[512];
	size_t len = status_line_text(&st, 0, width, utf8, buf, sizeof buf);

	assert_string_equal(buf, want);
	assert_int_equal(len, strlen(want));
}

static void time_samples_and_the_hottest_function(void **state)
{
	expect("Shop.load", 80, true, "12.3 s  12,301 samples  4 threads  52 % Shop.load  (Ctrl-C ends)");
	expect("", 80, true, "12.3 s  12,301 samples  4 threads  (Ctrl-C ends)");
	expect(NULL, 40, true, "12.3 s  12,301 samples  4 threads");
}

static void several_processes_are_counted(void **state)
{
	struct plumb_status st = {.elapsed_ns = 1000000000, .samples = 7, .threads = 3, .processes = 3};
	char buf[512];

	status_line_text(&st, 0, 80, true, buf, sizeof buf);
	assert_string_equal(buf, "1.0 s  7 samples  3 threads  3 processes  (Ctrl-C ends)");
	st.processes = 1;
	status_line_text(&st, 0, 80, true, buf, sizeof buf);
	assert_string_equal(buf, "1.0 s  7 samples  3 threads  (Ctrl-C ends)");
}

static void whoever_asked_for_a_time_sees_how_much_of_it_has_passed(void **state)
{
	struct plumb_status st = {.elapsed_ns = 2600000000, .samples = 7, .threads = 1};
	char buf[512];

	status_line_text(&st, 60000000000, 80, true, buf, sizeof buf);
	assert_string_equal(buf, "2.6 of 60 s  7 samples  1 thread  (Ctrl-C ends)");
	status_line_text(&st, 2500000, 80, true, buf, sizeof buf);
	assert_string_equal(buf, "2.6 of 0.0025 s  7 samples  1 thread  (Ctrl-C ends)");
}

static void narrow_terminals_cut_it(void **state)
{
	expect("Shop.load", 48, true, "12.3 s  12,301 samples  4 threads  52 % Shop.loa");
	expect("Shop.load", 10, true, "12.3 s  12");
}

static void names_cannot_leave_the_line(void **state)
{
	expect("a\n\x1b[2J\r", 80, true, "12.3 s  12,301 samples  4 threads  52 % a\\n\\x1b[2J\\r  (Ctrl-C ends)");
	expect("\xc3\xa9\xc2\x9b\xe2\x80\xae", 80, true,
	       "12.3 s  12,301 samples  4 threads  52 % \xc3\xa9\\x9b\\u202e  (Ctrl-C ends)");
	expect("\xd8\x9c\xef\xbb\xbf", 80, true, /* the Arabic letter mark, a space of no width */
	       "12.3 s  12,301 samples  4 threads  52 % \\u061c\\ufeff  (Ctrl-C ends)");
	expect("\xc3\xa9", 80, false, "12.3 s  12,301 samples  4 threads  52 % \\xe9  (Ctrl-C ends)");
	expect("\xff\xc3", 80, false, "12.3 s  12,301 samples  4 threads  52 % ??  (Ctrl-C ends)");
	/* Two columns each, as far as anybody knows. */
	expect("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 44, true,
	       "12.3 s  12,301 samples  4 threads  52 % \xe4\xb8\xad\xe4\xb8\xad");
}

static void locales(void **state)
{
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	setenv("LANG", "en_US.UTF-8", 1);
	assert_true(term_is_utf8());
	setenv("LC_CTYPE", "C", 1);
	assert_false(term_is_utf8());
	setenv("LC_ALL", "C.utf8", 1);
	assert_true(term_is_utf8());
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	unsetenv("LANG");
	assert_false(term_is_utf8());
}

static void colour_is_for_those_who_want_it(void **state)
{
	struct config c = CONFIG_INIT;

	unsetenv("CLICOLOR_FORCE");
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	assert_false(term_color(&c, -1)); /* no terminal */
	setenv("CLICOLOR_FORCE", "1", 1);
	assert_true(term_color(&c, -1));
	setenv("NO_COLOR", "1", 1);
	assert_false(term_color(&c, -1));
	c.color = COLOR_ALWAYS; /* the option wins */
	assert_true(term_color(&c, -1));
	c.color = COLOR_NEVER;
	unsetenv("NO_COLOR");
	assert_false(term_color(&c, -1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_samples_and_the_hottest_function),
		cmocka_unit_test(several_processes_are_counted),
		cmocka_unit_test(whoever_asked_for_a_time_sees_how_much_of_it_has_passed),
		cmocka_unit_test(narrow_terminals_cut_it),
		cmocka_unit_test(names_cannot_leave_the_line),
		cmocka_unit_test(locales),
		cmocka_unit_test(colour_is_for_those_who_want_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
