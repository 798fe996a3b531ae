/* SPDX-License-Identifier: Apache-2.0 */
/* Builds of the files of machine code: told where there is one, kept where its file is, and no part of a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "refine.h"
#include "support.h"

#define LIB   "/lib/libz.so.1"
#define OTHER "/lib/libssl.so.3"

static void note(struct plumb_profile *p, const char *file, const char *build_id)
{
	const struct pl_module m = {.file = add_string(p, file), .build_id = add_string(p, build_id)};

	check(pl_profile_module(p, &m));
}

static const char *told(struct plumb_profile *p, const char *file)
{
	return pl_strtab_get(p->strings, pl_profile_build_id(p, add_string(p, file)), NULL);
}

/* A sample whose stack is a function of @p file. */
static void add_native(struct plumb_profile *p, const char *file)
{
	struct pl_function f = {
		.name = add_string(p, "deflate"), .file = add_string(p, file), .origin = PL_ORIGIN_NATIVE};
	struct pl_location l = {.column = -1, .end_column = -1};
	struct pl_sample s = {.thread = add_thread(p, 10, 10, "", true), .weight_ns = 1000};
	uint32_t location = 0;

	f.qualname = f.name;
	check(pl_profile_function(p, &f, &l.function));
	check(pl_profile_location(p, &l, &location));
	check(pl_profile_stack(p, 0, location, &s.stack));
	check(pl_profile_add(p, &s));
}

static struct plumb_profile *profile_of(const char *file, const char *build_id)
{
	struct plumb_profile *p;

	check(pl_profile_create(&p));
	p->meta.start_real_ns = 1000;
	p->meta.complete = true;
	add_native(p, file);
	note(p, file, build_id);
	return p;
}

static void of_several_builds_none_is_told(void **state)
{
	struct plumb_profile *p = profile_of(LIB, "ab01");

	note(p, LIB, "ab01");
	assert_int_equal(p->module_count, 1);
	assert_string_equal(told(p, LIB), "ab01");
	assert_string_equal(told(p, OTHER), "");
	note(p, LIB, "cd02");
	note(p, OTHER, "cd02");
	assert_int_equal(p->module_count, 3);
	assert_string_equal(told(p, LIB), "");
	note(p, LIB, "ab01"); /* nor a third one, or the first again */
	note(p, LIB, "ef03");
	assert_string_equal(told(p, LIB), "");
	assert_string_equal(told(p, OTHER), "cd02");
	pl_profile_destroy(p);
}

static void what_is_no_build_id_is_not_noted(void **state)
{
	static const char *const texts[] = {"", "abc", "ABCD", "<lost>", "ab 1", "go/build"};
	char longest[PL_BUILD_ID_TEXT_MAX + 3];
	struct plumb_profile *p;

	check(pl_profile_create(&p));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		note(p, LIB, texts[i]);
	note(p, "", "ab01");
	memset(longest, 'a', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	note(p, LIB, longest);
	assert_int_equal(p->module_count, 0);
	longest[PL_BUILD_ID_TEXT_MAX] = '\0';
	note(p, LIB, longest);
	assert_string_equal(told(p, LIB), longest);
	pl_profile_destroy(p);
}

/* It is one function, and whoever had no build-ids takes nothing away. */
static void merging_keeps_functions_together(void **state)
{
	struct plumb_profile *into = profile_of(LIB, "ab01"), *same = profile_of(LIB, "ab01"),
			     *none = profile_of(LIB, ""), *other = profile_of(LIB, "cd02");

	check(pl_profile_merge(into, same));
	check(pl_profile_merge(into, none));
	assert_string_equal(told(into, LIB), "ab01");
	check(pl_profile_merge(into, other));
	assert_string_equal(told(into, LIB), "");
	assert_int_equal(into->module_count, 2);
	assert_int_equal(into->function_count, 1);
	assert_int_equal(into->cell_count, 1);
	pl_profile_destroy(into);
	pl_profile_destroy(same);
	pl_profile_destroy(none);
	pl_profile_destroy(other);
}

static void copies_have_those_of_their_files(void **state)
{
	struct plumb_profile *p = profile_of(LIB, "ab01"), *other = profile_of(OTHER, "cd02"), *x;
	const char *modules[] = {OTHER};
	const struct pl_refine o = {.modules = modules, .module_count = 1};

	check(pl_profile_merge(p, other));
	check(pl_profile_in_order(p, &x));
	assert_int_equal(x->module_count, 2);
	assert_string_equal(told(x, LIB), "ab01");
	assert_string_equal(told(x, OTHER), "cd02");
	pl_profile_destroy(x);
	check(pl_refine(p, &o, &x));
	assert_int_equal(x->module_count, 1);
	assert_string_equal(told(x, OTHER), "cd02");
	pl_profile_destroy(x);
	for (uint32_t i = 0; i < p->cell_count; i++) {
		check(pl_profile_part(p, &p->cells[i], 1, p->batch_ns, false, &x));
		assert_int_equal(x->module_count, 1);
		assert_string_equal(told(x, i ? OTHER : LIB), i ? "cd02" : "ab01");
		pl_profile_destroy(x);
	}
	pl_profile_destroy(p);
	pl_profile_destroy(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_several_builds_none_is_told),
		cmocka_unit_test(what_is_no_build_id_is_not_noted),
		cmocka_unit_test(merging_keeps_functions_together),
		cmocka_unit_test(copies_have_those_of_their_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
