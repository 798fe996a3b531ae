/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of files: kept byte by byte, the same one of two whichever came first, and only those of a filter's files. */
#include "profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "refine.h"
#include "support.h"

#define FILES  5
#define ROUNDS 200

static void add_source(struct plumb_profile *p, const char *file, const char *text, bool changed)
{
	check(pl_profile_source(p, add_string(p, file), text, strlen(text), changed));
}

static const struct pl_source *source_of(struct plumb_profile *p, const char *file)
{
	return pl_profile_source_of(p, add_string(p, file));
}

static void assert_source(struct plumb_profile *p, const char *file, const char *text, bool changed)
{
	const struct pl_source *s = source_of(p, file);

	assert_non_null(s);
	assert_int_equal(s->len, strlen(text));
	assert_string_equal(s->text, text);
	assert_int_equal(s->changed, changed);
}

static void a_text_is_kept_byte_by_byte(void **state)
{
	static const char bytes[] = "a\0b\xff\n";
	struct plumb_profile *p = empty_profile();
	uint32_t file = add_string(p, "a.py"), none = add_string(p, "none.py"), other = add_string(p, "b.py");

	check(pl_profile_source(p, file, bytes, sizeof bytes - 1, false));
	check(pl_profile_source(p, none, NULL, 0, false));
	const struct pl_source *s = pl_profile_source_of(p, file);
	assert_int_equal(s->len, sizeof bytes - 1);
	assert_memory_equal(s->text, bytes, sizeof bytes);
	assert_source(p, "none.py", "", false);
	assert_null(pl_profile_source_of(p, other));
	assert_int_equal(p->source_count, 2);
	pl_profile_destroy(p);
}

static void the_same_again_changes_nothing(void **state)
{
	struct plumb_profile *p = empty_profile();

	add_source(p, "a.py", "pass\n", false);
	uint32_t revision = source_of(p, "a.py")->revision;
	add_source(p, "a.py", "pass\n", false);
	assert_int_equal(source_of(p, "a.py")->revision, revision);
	add_source(p, "a.py", "pass\n", true);
	assert_source(p, "a.py", "pass\n", true);
	assert_int_not_equal(source_of(p, "a.py")->revision, revision);
	revision = source_of(p, "a.py")->revision;
	add_source(p, "a.py", "pass\n", false);
	assert_source(p, "a.py", "pass\n", true);
	assert_int_equal(source_of(p, "a.py")->revision, revision);
	pl_profile_destroy(p);
}

static void of_two_texts_one_stands_and_is_marked(void **state)
{
	for (int swapped = 0; swapped < 2; swapped++) {
		struct plumb_profile *p = empty_profile();

		add_source(p, "a.py", swapped ? "pass # later\n" : "pass\n", false);
		uint32_t revision = source_of(p, "a.py")->revision;
		add_source(p, "a.py", swapped ? "pass\n" : "pass # later\n", false);
		assert_source(p, "a.py", "pass\n", true);
		assert_int_not_equal(source_of(p, "a.py")->revision, revision);
		assert_int_equal(p->source_count, 1);
		pl_profile_destroy(p);
	}
}

static void what_is_held_does_not_change(void **state)
{
	struct plumb_profile *p = empty_profile();
	uint32_t a = add_string(p, "a.py"), b = add_string(p, "b.py");

	add_source(p, "a.py", "pass\n", false);
	pl_profile_hold(p, true);
	check(pl_profile_source(p, a, "pass\n", 5, false));
	assert_ptr_equal(pl_profile_source(p, a, "fail\n", 5, false), &pl_err_stale);
	assert_ptr_equal(pl_profile_source(p, a, "pass\n", 5, true), &pl_err_stale);
	assert_ptr_equal(pl_profile_source(p, b, "pass\n", 5, false), &pl_err_stale);
	pl_profile_hold(p, false);
	assert_source(p, "a.py", "pass\n", false);
	assert_int_equal(p->source_count, 1);
	pl_profile_destroy(p);
}

/* Few texts for few files, so that all cases of equal and unequal ones come up. */
static struct plumb_profile *random_texts(uint64_t seed)
{
	struct pl_rng rng = {.state = seed};
	struct plumb_profile *p = empty_profile();

	p->meta.sources_left_out = random_below(&rng, 10);
	p->meta.start_real_ns = 1;
	for (int i = 0; i < FILES; i++) {
		char file[24], text[24];
		snprintf(file, sizeof file, "m%d.py", (int)random_below(&rng, FILES));
		snprintf(text, sizeof text, "text %d", (int)random_below(&rng, 3) * 50);
		add_source(p, file, text, random_below(&rng, 4) == 0);
	}
	return p;
}

static void assert_same_sources(struct plumb_profile *a, struct plumb_profile *b)
{
	assert_int_equal(a->source_count, b->source_count);
	assert_int_equal(a->meta.sources_left_out, b->meta.sources_left_out);
	for (uint32_t i = 0; i < a->source_count; i++) {
		const struct pl_source *s = &a->sources[i];
		assert_source(b, pl_strtab_get(a->strings, s->file, NULL), s->text, s->changed);
	}
}

static void merge(struct plumb_profile *into, uint64_t seed)
{
	struct plumb_profile *p = random_texts(seed);

	check(pl_profile_merge(into, p));
	pl_profile_destroy(p);
}

static void order_and_grouping_do_not_matter(void **state)
{
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		struct plumb_profile *abc = random_texts(i), *bc = random_texts(1000 + i), *a_bc = random_texts(i);
		struct plumb_profile *cba = random_texts(2000 + i);

		merge(abc, 1000 + i);
		merge(abc, 2000 + i);
		merge(bc, 2000 + i);
		check(pl_profile_merge(a_bc, bc));
		merge(cba, 1000 + i);
		merge(cba, i);
		assert_same_sources(abc, a_bc);
		assert_same_sources(abc, cba);
		pl_profile_destroy(abc);
		pl_profile_destroy(bc);
		pl_profile_destroy(a_bc);
		pl_profile_destroy(cba);
	}
}

static void equal_profiles_have_them_in_one_order(void **state)
{
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		struct plumb_profile *ab = random_texts(i), *ba = random_texts(1000 + i), *x, *y;

		merge(ab, 1000 + i);
		merge(ba, i);
		check(pl_profile_in_order(ab, &x));
		check(pl_profile_in_order(ba, &y));
		assert_same_sources(ab, x);
		assert_int_equal(x->source_count, y->source_count);
		for (uint32_t j = 0; j < x->source_count; j++) {
			assert_int_equal(x->sources[j].file, y->sources[j].file);
			assert_string_equal(x->sources[j].text, y->sources[j].text);
			assert_int_equal(x->sources[j].changed, y->sources[j].changed);
		}
		pl_profile_destroy(ab);
		pl_profile_destroy(ba);
		pl_profile_destroy(x);
		pl_profile_destroy(y);
	}
}

static void a_filter_keeps_those_of_its_functions(void **state)
{
	struct plumb_profile *p = empty_profile(), *kept;
	uint32_t thread = add_thread(p, 100, 1000, "main", true);
	uint32_t main = add_frame(p, 0, "main", "/app/main.py", 3);
	uint32_t left = add_frame(p, main, "left", "/app/left.py", 4),
		 again = add_frame(p, left, "l2", "/app/left.py", 9);
	uint32_t right = add_frame(p, main, "right", "/app/right.py", 5);

	add_samples(p, again, thread, PL_STATE_ON_CPU, 0, 2, 1000);
	add_samples(p, right, thread, PL_STATE_ON_CPU, 0, 1, 1000);
	add_source(p, "/app/right.py", "right", false);
	add_source(p, "/app/left.py", "left", true);
	add_source(p, "/app/main.py", "main", false);
	p->meta.sources_left_out = 7;
	check(pl_refine(p, &(struct pl_refine){.focus = "left"}, &kept));
	assert_int_equal(kept->source_count, 2);
	assert_source(kept, "/app/main.py", "main", false);
	assert_source(kept, "/app/left.py", "left", true);
	assert_int_equal(kept->meta.sources_left_out, 7);
	pl_profile_destroy(kept);
	check(pl_refine(p, &(struct pl_refine){.functions = true, .min_share = 0.5}, &kept));
	assert_int_equal(kept->source_count, 2);
	assert_source(kept, "/app/left.py", "left", true);
	pl_profile_destroy(kept);
	pl_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_kept_byte_by_byte),
		cmocka_unit_test(the_same_again_changes_nothing),
		cmocka_unit_test(of_two_texts_one_stands_and_is_marked),
		cmocka_unit_test(what_is_held_does_not_change),
		cmocka_unit_test(order_and_grouping_do_not_matter),
		cmocka_unit_test(equal_profiles_have_them_in_one_order),
		cmocka_unit_test(a_filter_keeps_those_of_its_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
