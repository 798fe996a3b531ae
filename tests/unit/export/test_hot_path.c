/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a call tree are worth a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"
#include "hot_path.h"

enum what { OWN, LIBRARY_FUNCTION, LIBRARY, SELF };

/* A call tree as the view would return it: "depth share name" per row. */
struct spec {
	uint32_t depth;
	double share;
	const char *name; /* "?f": it is not sure that it took any time */
	enum what what;
};

static enum pl_tree_kind kind_of(enum what what)
{
	return what == LIBRARY ? PL_TREE_LIBRARY : what == SELF ? PL_TREE_SELF : PL_TREE_FUNCTION;
}

/* "1main.load>loads+2": at depth 1, with its caller and a library in its line, two frames left out before it. */
static char *chosen(const struct spec *spec, size_t count, size_t max_rows, double *cut_ret)
{
	struct build b;
	pl_tree_rows tree = {0};
	pl_hot_rows hot = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	build_start(&b);
	for (size_t i = 0; i < count; i++) {
		struct pl_tree_row row = {.depth = spec[i].depth,
					  .total.share = spec[i].share,
					  .total.half_width = spec[i].name[0] == '?' ? spec[i].share : 0,
					  .kind = kind_of(spec[i].what)};
		uint32_t s;

		if (spec[i].name[0] == '[')
			assert_null(pl_profile_marker(b.p, 0, spec[i].name, &s));
		else
			s = build_frame(&b, 0, spec[i].name,
					spec[i].what == LIBRARY_FUNCTION || spec[i].what == LIBRARY
						? "/usr/lib/python3.12/x.py"
						: "/srv/app.py",
					5);
		row.function = b.p->locations[b.p->stacks[s].location].function;
		assert_true(pl_vec_push(&tree, row));
	}
	assert_null(pl_hot_path(b.p, &tree, max_rows, false, &hot, cut_ret));
	for (size_t i = 0; i < hot.len; i++) {
		fprintf(out, "%s%u", i ? " " : "", hot.data[i].depth);
		if (hot.data[i].above_more)
			fputs("...", out);
		for (int k = 0; k < hot.data[i].above_count; k++)
			fprintf(out, "%s.", spec[hot.data[i].above[k]].name);
		fputs(spec[hot.data[i].row].name, out);
		if (hot.data[i].into != PL_HOT_NO_ROW)
			fprintf(out, ">%s", spec[hot.data[i].into].name);
		if (hot.data[i].folded)
			fprintf(out, "+%u", hot.data[i].folded);
	}
	fclose(out);
	pl_vec_deinit(&tree);
	pl_vec_deinit(&hot);
	build_end(&b);
	return text;
}

#define EXPECT(spec, max_rows, want, want_cut)                                                                         \
	do {                                                                                                           \
		double cut_;                                                                                           \
		char *got_ = chosen((spec), sizeof(spec) / sizeof(spec)[0], (max_rows), &cut_);                        \
		assert_string_equal(got_, (want));                                                                     \
		assert_true(cut_ == (want_cut));                                                                       \
		free(got_);                                                                                            \
	} while (0)

static void a_small_tree_is_kept_whole(void **state)
{
	const struct spec spec[] = {{0, 1, "main", OWN}, {1, .6, "f", OWN}, {1, .4, "g", OWN}};

	EXPECT(spec, 9, "0main 1f 1g", 0);
}

static void library_frames_inside_the_library_that_pass_the_time_on_are_folded(void **state)
{
	const struct spec spec[] = {{0, 1, "runpy", LIBRARY_FUNCTION},
				    {1, 1, "run_code", LIBRARY_FUNCTION},
				    {2, 1, "main", OWN},
				    {3, .9, "loads", LIBRARY_FUNCTION},
				    {4, .9, "decode", LIBRARY_FUNCTION},
				    {5, .9, "raw_decode", LIBRARY_FUNCTION}};

	/* What the program calls stays, so does where the time is spent. */
	EXPECT(spec, 9, "0main+2 1loads 2raw_decode+1", 0);
}

static void frames_that_keep_time_for_themselves_stay(void **state)
{
	const struct spec spec[] = {{0, 1, "a", LIBRARY_FUNCTION},
				    {1, .9, "b", LIBRARY_FUNCTION},
				    {2, .8, "c", LIBRARY_FUNCTION},
				    {3, .7, "d", LIBRARY_FUNCTION}};

	EXPECT(spec, 9, "0a 1b 2c 3d", 0);
}

static void of_a_long_chain_the_frames_that_tell_least_are_folded(void **state)
{
	const struct spec spec[] = {{0, 1, "a", OWN},  {1, .95, "b", OWN}, {2, .9, "c", OWN},
				    {3, .7, "d", OWN}, {4, .66, "e", OWN}, {5, .2, "f", OWN}};

	/* c loses 20 points to others, e 46: both stay; the rest goes from the lightest. */
	EXPECT(spec, 3, "0c+2 1e+1 2f", 0);
}

static void functions_that_only_call_one_another_have_one_line(void **state)
{
	const struct spec spec[] = {{0, 1, "main", OWN}, {1, 1, "run", OWN},	    {2, .99, "step", OWN},
				    {3, .6, "f", OWN},	 {4, .6, "loads", LIBRARY}, {3, .39, "g", OWN}};

	EXPECT(spec, 9, "0main.run.step 1f>loads 1g", 0);
}

static void the_lightest_branches_go_and_are_owned_up_to(void **state)
{
	const struct spec spec[] = {
		{0, 1, "main", OWN}, {1, .5, "f", OWN}, {1, .3, "g", OWN}, {1, .15, "h", OWN}, {1, .05, "i", OWN}};

	EXPECT(spec, 3, "0main 1f 1g", .15);
	EXPECT(spec, 2, "0main 1f", .3);
}

static void a_fork_below_a_folded_chain_hangs_on_what_is_left(void **state)
{
	const struct spec spec[] = {{0, 1, "main", OWN},    {1, 1, "pass", OWN}, {2, 1, "pass2", OWN},
				    {3, .6, "f", OWN},	    {3, .4, "g", OWN},	 {4, .4, "deep", OWN},
				    {5, .35, "deeper", OWN}};

	EXPECT(spec, 3, "0main.pass.pass2 1f 1g.deeper+1", 0);
}

static void removing_the_branch_below_a_folded_chain_leaves_no_orphan(void **state)
{
	const struct spec spec[] = {{0, 1, "main", OWN},
				    {1, .6, "f", OWN},
				    {1, .1, "lib", LIBRARY_FUNCTION},
				    {2, .1, "lib2", LIBRARY_FUNCTION},
				    {3, .1, "lib3", LIBRARY_FUNCTION},
				    {1, .3, "g", OWN}};

	EXPECT(spec, 3, "0main 1f 1g", .1);
	EXPECT(spec, 1, "0f+1", .3);
}

static void recursion_ten_thousand_deep_is_one_line(void **state)
{
	size_t count = 10000;
	struct spec *spec = calloc(count, sizeof *spec);
	double cut;
	char *got;

	assert_non_null(spec);
	for (size_t i = 0; i < count; i++)
		spec[i] = (struct spec){(uint32_t)i, 1 - (double)i * 1e-6, "fib", OWN};
	got = chosen(spec, count, 1, &cut);
	assert_string_equal(got, "0...fib.fib.fib.fib.fib");
	free(got);
	free(spec);
}

static void frames_of_the_program_outlast_those_of_libraries(void **state)
{
	const struct spec spec[] = {{0, 1, "main", OWN},
				    {1, .9, "load", OWN},
				    {2, .9, "loads", LIBRARY_FUNCTION},
				    {3, .89, "decode", LIBRARY_FUNCTION},
				    {4, .86, "scan", LIBRARY_FUNCTION}};

	/* decode keeps 3 points for itself and load none, but load is what somebody can change. */
	EXPECT(spec, 3, "0main 1load 2scan+2", 0);
}

static void a_tag_stays_as_long_as_something_on_it_does(void **state)
{
	const struct spec spec[] = {{0, .6, "[a]", OWN}, {1, .6, "run", LIBRARY_FUNCTION}, {2, .5, "f", OWN},
				    {0, .3, "[b]", OWN}, {1, .3, "run", LIBRARY_FUNCTION}, {2, .2, "g", OWN},
				    {0, .1, "[c]", OWN}, {1, .1, "run", LIBRARY_FUNCTION}};

	EXPECT(spec, 6, "0[a] 1f+1 0[b] 1g+1 0[c] 1run", 0);
	EXPECT(spec, 4, "0[a] 1f+1 0[b] 1g+1", .1);
}

static void a_function_that_only_calls_a_library_has_one_line_with_it(void **state)
{
	const struct spec spec[] = {{0, 1, "main", OWN},  {1, .6, "parse", OWN},     {2, .58, "loads", LIBRARY},
				    {1, .4, "work", OWN}, {2, .2, "dumps", LIBRARY}, {2, .2, "self", SELF}};

	EXPECT(spec, 9, "0main 1parse>loads 1work 2dumps 2self", 0);
}

/* What is no function of its own goes first, and what is left of it stands in the line above. */
static void functions_of_the_program_outlast_parts_of_them(void **state)
{
	const struct spec spec[] = {{0, 1, "main", OWN},   {1, .5, "work", OWN},  {2, .3, "dumps", LIBRARY},
				    {2, .2, "self", SELF}, {1, .3, "parse", OWN}, {1, .2, "score", OWN}};

	EXPECT(spec, 5, "0main 1work>dumps 1parse 1score", .2);
	EXPECT(spec, 4, "0main 1work>dumps 1parse 1score", .2);
}

static void a_library_at_the_root_is_a_row(void **state)
{
	const struct spec spec[] = {{0, .7, "select", LIBRARY}, {0, .3, "handle", OWN}, {1, .3, "send", LIBRARY}};

	EXPECT(spec, 9, "0select 0handle>send", 0);
}

static void rows_that_may_be_nothing_are_left_out(void **state)
{
	const struct spec spec[] = {{0, .9, "main", OWN}, {1, .5, "sure", OWN}, {2, .4, "?f", OWN}, {3, .3, "?g", OWN}};
	const struct spec only[] = {{0, .5, "?f", OWN}};

	EXPECT(spec, 9, "0main 1sure", 0);
	EXPECT(only, 9, "0?f", 0);
}

static void an_empty_tree_has_no_rows(void **state)
{
	double cut;
	char *got = chosen(NULL, 0, 9, &cut);

	assert_string_equal(got, "");
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_tree_is_kept_whole),
		cmocka_unit_test(library_frames_inside_the_library_that_pass_the_time_on_are_folded),
		cmocka_unit_test(frames_that_keep_time_for_themselves_stay),
		cmocka_unit_test(of_a_long_chain_the_frames_that_tell_least_are_folded),
		cmocka_unit_test(functions_that_only_call_one_another_have_one_line),
		cmocka_unit_test(the_lightest_branches_go_and_are_owned_up_to),
		cmocka_unit_test(a_fork_below_a_folded_chain_hangs_on_what_is_left),
		cmocka_unit_test(removing_the_branch_below_a_folded_chain_leaves_no_orphan),
		cmocka_unit_test(recursion_ten_thousand_deep_is_one_line),
		cmocka_unit_test(frames_of_the_program_outlast_those_of_libraries),
		cmocka_unit_test(a_tag_stays_as_long_as_something_on_it_does),
		cmocka_unit_test(a_function_that_only_calls_a_library_has_one_line_with_it),
		cmocka_unit_test(functions_of_the_program_outlast_parts_of_them),
		cmocka_unit_test(a_library_at_the_root_is_a_row),
		cmocka_unit_test(rows_that_may_be_nothing_are_left_out),
		cmocka_unit_test(an_empty_tree_has_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
