/* SPDX-License-Identifier: Apache-2.0 */
/* The tables: equal input gives equal ids, different input never does. */
#include "profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

static int set_up(void **state)
{
	struct plumb_profile *p = NULL;
	check(pl_profile_create(&p));
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	pl_profile_destroy(*state);
	return 0;
}

static void new_profile_has_the_empty_stack_and_nothing_else(void **state)
{
	const struct plumb_profile *p = *state;
	assert_int_equal(p->stack_count, 1);
	assert_int_equal(p->stacks[0].depth, 0);
	assert_int_equal(p->function_count + p->location_count + p->thread_count + p->cell_count, 0);
	assert_int_equal(p->batch_ns, PL_BATCH_MIN_NS);
	pl_profile_destroy(NULL);
}

static void functions_are_equal_by_all_their_fields(void **state)
{
	struct plumb_profile *p = *state;
	const struct pl_function base = {.name = 1, .qualname = 2, .file = 3, .firstline = 4, .origin = 0};
	struct pl_function others[9] = {base, base, base, base, base, base, base, base, base};
	others[1].name = 9;
	others[2].qualname = 9;
	others[3].file = 9;
	others[4].firstline = 9;
	others[5].origin = PL_ORIGIN_NATIVE;
	others[6].unnamed = 9;
	others[7].plumbing = true;
	others[8].source = 9;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 9; i++) {
			uint32_t id = 99;
			check(pl_profile_function(p, &others[i], &id));
			assert_int_equal(id, i);
			assert_memory_equal(&p->functions[id], &others[i], sizeof base);
		}
	}
	assert_int_equal(p->function_count, 9);
}

static void locations_are_equal_by_all_their_fields(void **state)
{
	struct plumb_profile *p = *state;
	struct pl_function f = {.name = 1};
	uint32_t f0 = 0, f1 = 0;
	check(pl_profile_function(p, &f, &f0));
	f.name = 2;
	check(pl_profile_function(p, &f, &f1));
	const struct pl_location base = {.function = f0, .line = 1, .end_line = 2, .column = 3, .end_column = 4};
	struct pl_location others[10] = {base, base, base, base, base, base, base, base};
	others[1].function = f1;
	others[2].line = -1;
	others[3].end_line = 9;
	others[4].column = -1;
	others[5].end_column = 9;
	others[6].column = 2; /* swapped with end_line */
	others[6].end_line = 3;
	others[7].inlined = true;
	others[8] = (struct pl_location){.function = f0, .address = 1};
	others[9] = (struct pl_location){.function = f0, .address = PL_ADDRESS_MAX};
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 10; i++) {
			uint32_t id = 99;
			check(pl_profile_location(p, &others[i], &id));
			assert_int_equal(id, i);
			assert_memory_equal(&p->locations[id], &others[i], sizeof base);
		}
	}
}

static void a_hundred_thousand_rows_stay_distinct(void **state)
{
	struct plumb_profile *p = *state;
	struct pl_function f = {.name = 1};
	struct pl_location l = {0};
	check(pl_profile_function(p, &f, &l.function));
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 100000; i++) {
			uint32_t id = 0;
			l.line = (int32_t)(i % 7);
			l.end_line = (int32_t)(i / 7 % 11);
			l.column = (int32_t)(i / 77 % 13);
			l.end_column = (int32_t)(i / 1001);
			check(pl_profile_location(p, &l, &id));
			assert_int_equal(id, i);
		}
	}
}

static void stacks_share_prefixes_and_know_their_depth(void **state)
{
	struct plumb_profile *p = *state;
	uint32_t a = add_frame(p, 0, "a", "x.py", 1);
	uint32_t ab = add_frame(p, a, "b", "x.py", 2);
	uint32_t ac = add_frame(p, a, "c", "x.py", 3);
	assert_int_equal(add_frame(p, a, "b", "x.py", 2), ab);
	assert_int_not_equal(ab, ac);
	assert_int_equal(p->stacks[ab].parent, a);
	assert_int_equal(p->stacks[ab].depth, 2);
	assert_int_equal(p->stack_count, 4);
	assert_int_not_equal(add_frame(p, 0, "b", "x.py", 2), ab);
}

/* In batches that share beginnings, end in each other, are empty, and come again. */
static void stacks_of_a_batch_have_the_ids_they_have_one_by_one(void **state)
{
	struct plumb_profile *p = *state, *one_by_one = empty_profile();
	struct pl_rng rng = {7};
	uint32_t frames[PL_TOGETHER][9];
	for (int i = 0; i < 4; i++) {
		struct pl_location l = {.line = i + 1};
		struct pl_function f = {.name = 0};
		uint32_t id;
		check(pl_profile_function(p, &f, &l.function));
		check(pl_profile_location(p, &l, &id));
		check(pl_profile_function(one_by_one, &f, &l.function));
		check(pl_profile_location(one_by_one, &l, &id));
	}
	for (int round = 0; round < 200; round++) {
		struct pl_stack_path paths[PL_TOGETHER];
		size_t count = random_below(&rng, PL_TOGETHER + 1);
		uint32_t expected[PL_TOGETHER];
		for (size_t i = 0; i < count; i++) {
			uint32_t base = (uint32_t)random_below(&rng, p->stack_count);
			paths[i] = (struct pl_stack_path){base, frames[i], random_below(&rng, 10)};
			expected[i] = base;
			for (size_t k = 0; k < paths[i].count; k++) {
				frames[i][k] = (uint32_t)random_below(&rng, 4);
				check(pl_profile_stack(one_by_one, expected[i], frames[i][k], &expected[i]));
			}
		}
		check(pl_profile_stack_paths(p, paths, count));
		for (size_t i = 0; i < count; i++)
			assert_int_equal(paths[i].stack, expected[i]);
		assert_int_equal(p->stack_count, one_by_one->stack_count);
	}
	assert_memory_equal(p->stacks, one_by_one->stacks, p->stack_count * sizeof *p->stacks);
	pl_profile_destroy(one_by_one);
}

static void there_is_a_deepest_stack(void **state)
{
	struct plumb_profile *p = *state;
	uint32_t first = add_frame(p, 0, "f", "x.py", 1), location = p->stacks[first].location, stack = first;
	for (uint32_t i = 1; i < PL_STACK_MAX_DEPTH; i++)
		check(pl_profile_stack(p, stack, location, &stack));
	assert_int_equal(p->stacks[stack].depth, PL_STACK_MAX_DEPTH);
	struct plumb_error *err = pl_profile_stack(p, stack, location, &stack);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_LIMIT);
	plumb_error_destroy(err);
	assert_int_equal(p->stack_count, PL_STACK_MAX_DEPTH + 1);
}

static void markers_are_one_function_wherever_they_stand(void **state)
{
	struct plumb_profile *p = *state;
	uint32_t a = add_frame(p, 0, "a", "x.py", 1), on_a = 0, on_root = 0, again = 0;
	check(pl_profile_marker(p, a, "<moving>", &on_a));
	check(pl_profile_marker(p, 0, "<moving>", &on_root));
	check(pl_profile_marker(p, a, "<moving>", &again));
	assert_int_equal(on_a, again);
	assert_int_not_equal(on_a, on_root);
	assert_int_equal(p->stacks[on_a].location, p->stacks[on_root].location);
	const struct pl_location *l = &p->locations[p->stacks[on_a].location];
	assert_int_equal(l->line, 0);
	assert_int_equal(p->functions[l->function].origin, PL_ORIGIN_MARKER);
	assert_string_equal(pl_strtab_get(p->strings, p->functions[l->function].name, NULL), "<moving>");
}

static void a_thread_keeps_its_id_when_its_name_comes_later(void **state)
{
	struct plumb_profile *p = *state;
	uint32_t id = add_thread(p, 1, 77, "", false);
	assert_int_equal(add_thread(p, 1, 77, "worker", true), id);
	assert_int_equal(add_thread(p, 1, 77, "", false), id);
	assert_string_equal(pl_strtab_get(p->strings, p->threads[id].name, NULL), "worker");
	assert_true(p->threads[id].main);
	struct pl_thread t = {.process = p->threads[id].process, .tid = 77, .cpu_known = true, .cpu_ns = 5};
	uint32_t again = 0;
	check(pl_profile_thread(p, &t, &again));
	assert_int_equal(again, id);
	assert_int_equal(p->threads[id].cpu_ns, 5);
	assert_int_equal(p->thread_count, 1);
}

static void equal_tids_of_two_processes_are_two_threads(void **state)
{
	struct plumb_profile *p = *state;
	assert_int_not_equal(add_thread(p, 1, 77, "", false), add_thread(p, 2, 77, "", false));
	assert_int_equal(p->process_count, 2);
}

static void a_number_that_is_used_again_is_another_process(void **state)
{
	struct plumb_profile *p = *state;
	struct pl_process first = {.pid = 5, .start_ns = 10}, second = {.pid = 5, .start_ns = 20}, old = {.pid = 5};
	uint32_t a, b, c, d;
	check(pl_profile_process(p, &first, &a));
	check(pl_profile_process(p, &second, &b));
	check(pl_profile_process(p, &old, &c));
	check(pl_profile_process(p, &first, &d));
	assert_true(a != b && b != c && a != c && a == d);
}

static void a_process_that_executes_another_program_stays_the_same(void **state)
{
	struct plumb_profile *p = *state;
	struct pl_process first = {.pid = 5, .start_ns = 10, .name = add_string(p, "a.py"), .came_ns = 3};
	struct pl_process then = {.pid = 5, .start_ns = 10, .name = add_string(p, "b.py"), .came_ns = 9};
	struct pl_process end = {.pid = 5, .start_ns = 10, .ended = true, .ended_ns = 40};
	uint32_t a, b, c;
	check(pl_profile_process(p, &first, &a));
	check(pl_profile_process(p, &then, &b));
	check(pl_profile_process(p, &end, &c));
	assert_true(a == b && b == c);
	const struct pl_process *row = &p->processes[a];
	assert_int_equal(row->name, then.name);
	assert_int_equal(row->came_ns, 3);
	assert_true(row->ended && row->ended_ns == 40);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(new_profile_has_the_empty_stack_and_nothing_else),
		TEST(functions_are_equal_by_all_their_fields),
		TEST(locations_are_equal_by_all_their_fields),
		TEST(a_hundred_thousand_rows_stay_distinct),
		TEST(stacks_share_prefixes_and_know_their_depth),
		TEST(stacks_of_a_batch_have_the_ids_they_have_one_by_one),
		TEST(there_is_a_deepest_stack),
		TEST(markers_are_one_function_wherever_they_stand),
		TEST(a_thread_keeps_its_id_when_its_name_comes_later),
		TEST(equal_tids_of_two_processes_are_two_threads),
		TEST(a_number_that_is_used_again_is_another_process),
		TEST(a_process_that_executes_another_program_stays_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
