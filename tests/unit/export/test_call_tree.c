/* SPDX-License-Identifier: Apache-2.0 */
/* The whole call tree as text: its lines, its branches, and that a line stays one however deep it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"

#define RUN (PL_STATE_ON_CPU | PL_STATE_HAS_GIL)

static void the_example_is_as_it_was(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;
	size_t len;

	build_example(&b);
	char *got = build_output(b.p, "tree", &o, &len);
	build_assert_golden("example.tree", got, len);
	free(got);
	build_end(&b);
}

/* main -> (a -> x, b), and other -> y: heaviest first. */
static void build_branches(struct build *b)
{
	build_start(b);
	uint32_t main = build_frame(b, 0, "main", "/a.py", 2), a = build_frame(b, main, "a", "/a.py", 5);

	build_samples(b, 0, build_frame(b, a, "x", "/a.py", 8), RUN, PL_EXACT, 50);
	build_samples(b, 0, build_frame(b, main, "b", "/a.py", 11), RUN, PL_EXACT, 30);
	build_samples(b, 0, build_frame(b, build_frame(b, 0, "other", "/a.py", 14), "y", "", 0), RUN, PL_EXACT, 20);
}

static void branches_are_drawn_to_the_last_of_each(void **state)
{
	struct pl_export_options o = build_options(60);
	struct build b;

	build_branches(&b);
	o.unicode = false;
	char *got = build_output(b.p, "tree", &o, NULL);
	assert_string_equal(strchr(got, '\n') + 1, "  80.0      80 ms  main  a.py:1\n"
						   "  50.0      50 ms  |-a  a.py:4\n"
						   "  50.0      50 ms  | `-x  a.py:7\n"
						   "  30.0      30 ms  `-b  a.py:10\n"
						   "  20.0      20 ms  other  a.py:13\n"
						   "  20.0      20 ms  `-y\n");
	free(got);
	build_end(&b);
}

static void a_deep_row_has_the_width_of_any_other_and_says_how_deep_it_is(void **state)
{
	struct pl_export_options o = build_options(80);
	uint32_t stack = 0;
	struct build b;
	int columns;

	build_start(&b);
	for (int i = 0; i < 10000; i++)
		stack = build_frame(&b, stack, "fib", "/a_file_with_a_rather_long_name_that_is_cut.py", 5);
	build_samples(&b, 0, stack, RUN, PL_EXACT, 10);
	for (int width = 20; width <= 400; width += 95) {
		o.width = width;
		char *got = build_output(b.p, "tree", &o, NULL);
		assert_int_equal(build_lines(got, &columns), 10001);
		assert_true(columns <= (width < 40 ? 40 : width));
		free(got);
	}
	o.width = 80;
	char *got = build_output(b.p, "tree", &o, NULL);
	assert_non_null(strstr(got, " [9989] "));
	free(got);
	build_end(&b);
}

static void names_cannot_move_the_cursor(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;

	build_start(&b);
	build_samples(&b, 0, build_frame(&b, 0, "a\x1b[2J\nb", "/\x07.py", 2), RUN, PL_EXACT, 1);
	char *got = build_output(b.p, "tree", &o, NULL);
	assert_non_null(strstr(got, "a\\x1b[2J\\nb"));
	assert_null(strchr(got, '\x1b'));
	assert_null(strchr(got, '\x07'));
	free(got);
	build_end(&b);
}

static void nothing_at_all_is_told(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;

	build_start(&b);
	char *got = build_output(b.p, "tree", &o, NULL);
	assert_non_null(strstr(got, "! no samples"));
	free(got);
	build_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_is_as_it_was),
		cmocka_unit_test(branches_are_drawn_to_the_last_of_each),
		cmocka_unit_test(a_deep_row_has_the_width_of_any_other_and_says_how_deep_it_is),
		cmocka_unit_test(names_cannot_move_the_cursor),
		cmocka_unit_test(nothing_at_all_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
