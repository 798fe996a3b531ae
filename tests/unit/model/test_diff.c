/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing recordings: what is matched, what is measured, and how often it is wrong or blind. The programs are
 * simulated, so that hundreds of recordings of 30 s cost a second; tests/integration/test_diff.py records real ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulated.h"

#define NEAR 1e-9

static struct pl_diff compare_rows(struct plumb_profile *const *before, size_t n, struct plumb_profile *const *after,
				   size_t m, enum pl_diff_rows rows)
{
	const struct pl_diff_options o = {.filter = {.idle = PL_IDLE_KEEP}, .rows = rows};
	return compare(before, n, after, m, &o);
}

/* Two recordings of each program, `tries` times: how often anything is called a change, and how often f0 is. */
struct outcome {
	int any, found;
};

static struct outcome try_often(const struct program *before, const struct program *after, unsigned samples, int tries,
				uint64_t seed)
{
	struct outcome ret = {0, 0};
	for (int i = 0; i < tries; i++) {
		struct plumb_profile *a = simulate(before, seed + 2 * (uint64_t)i, samples);
		struct plumb_profile *b = simulate(after, seed + 2 * (uint64_t)i + 1, samples);
		struct pl_diff d = compare_rows(&a, 1, &b, 1, PL_DIFF_FUNCTIONS);
		ret.any += d.self_changes + d.total_changes > 0;
		ret.found += find_row(&d, "f0", 0)->self.verdict == PL_DIFF_MORE;
		pl_diff_deinit(&d);
		pl_profile_destroy(a);
		pl_profile_destroy(b);
	}
	return ret;
}

static void the_same_program_is_not_called_changed(void **state)
{
	static const struct {
		double dwell;
		unsigned samples;
		int tries;
	} cases[] = {{1, 30000, 100}, {8, 30000, 100}, {50, 30000, 100}, {300, 30000, 100},
		     {1, 1000, 400},  {30, 1000, 400}, {1, 120, 400}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct program g = {.dwell = cases[i].dwell, .slow = 1};
		struct outcome o = try_often(&g, &g, cases[i].samples, cases[i].tries, 1000 * (i + 1));
		print_message("phases of %.0f samples, %u samples: %d false alarms of %d\n", cases[i].dwell,
			      cases[i].samples, o.any, cases[i].tries);
		assert_true(o.any * 20 <= cases[i].tries);
	}
}

static void the_same_periodic_program_is_not_called_changed(void **state)
{
	struct program g = {.slow = 1, .periodic = true};
	struct outcome o = try_often(&g, &g, 30000, 100, 77);
	print_message("periodic: %d false alarms of 100\n", o.any);
	assert_true(o.any <= 5);
}

static void a_tenth_of_a_fifth_is_found(void **state)
{
	struct program g = {.dwell = 1, .slow = 1}, slow = {.dwell = 1, .slow = 1.1};
	struct outcome o = try_often(&g, &slow, 30000, 200, 5000);
	print_message("independent samples: found %d of 200\n", o.found);
	assert_true(o.found >= 190);
	g.periodic = slow.periodic = true;
	o = try_often(&g, &slow, 30000, 50, 6000);
	print_message("periodic: found %d of 50\n", o.found);
	assert_true(o.found >= 49);
}

/* What is said to be detectable is found about as often as is said. */
static void what_could_have_been_seen_is_told(void **state)
{
	struct program g = {.dwell = 1, .slow = 1};
	struct plumb_profile *a = simulate(&g, 1, 30000), *b = simulate(&g, 2, 30000);
	struct pl_diff d = compare_rows(&a, 1, &b, 1, PL_DIFF_FUNCTIONS);
	double detectable = find_row(&d, "f0", 0)->self.detectable;
	pl_diff_deinit(&d);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
	/* f0 takes x, everything else 0.8: (x / (x + 0.8)) - 0.2 = detectable. */
	double share = 0.2 + detectable, x = 0.8 * share / (1 - share);
	struct program slow = {.dwell = 1, .slow = x / 0.2};
	struct outcome o = try_often(&g, &slow, 30000, 100, 7000);
	print_message("slower by %.1f %%: found %d of 100\n", (slow.slow - 1) * 100, o.found);
	assert_in_range(o.found, 88, 100);
}

/* A program of two functions, of @p slow_lines samples in the second. */
static struct plumb_profile *small(const char *file, uint32_t firstline, const char *second, unsigned heavy)
{
	struct plumb_profile *p = NULL;
	check(pl_profile_create(&p));
	struct pl_function f = {.name = add_string(p, second), .file = add_string(p, file), .firstline = firstline};
	f.qualname = f.name;
	struct pl_location l = {.line = (int32_t)firstline + 3, .column = -1, .end_column = -1};
	uint32_t location, stack, main = add_frame(p, 0, "main", "run.py", 1);
	check(pl_profile_function(p, &f, &l.function));
	check(pl_profile_location(p, &l, &location));
	check(pl_profile_stack(p, main, location, &stack));
	uint32_t thread = add_thread(p, 1, 1, "MainThread", true);
	for (unsigned i = 0; i < 2000; i++)
		add_samples(p, i % 10 < heavy ? stack : main, thread, PL_STATE_ON_CPU, i * MS, 1, MS);
	return p;
}

static void code_that_moved_is_the_same(void **state)
{
	struct plumb_profile *a = small("/opt/v1/lib/app.py", 10, "work", 3);
	struct plumb_profile *b = small("/srv/v2/lib/app.py", 90, "work", 3);
	struct pl_diff d = compare_rows(&a, 1, &b, 1, PL_DIFF_LINES);
	assert_int_equal(d.moved, 1);
	assert_int_equal(d.row_count, 2);
	const struct pl_diff_row *row = find_row(&d, "work", 93);
	assert_float_equal(row->self.before, 0.3, NEAR);
	assert_float_equal(row->self.after, 0.3, NEAR);
	assert_int_equal(row->self.verdict, PL_DIFF_SAME);
	pl_diff_deinit(&d);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
}

static void new_and_gone_come_first(void **state)
{
	struct plumb_profile *a = small("app.py", 10, "old", 3), *b = small("app.py", 10, "fresh", 5);
	struct pl_diff d = compare_rows(&a, 1, &b, 1, PL_DIFF_FUNCTIONS);
	assert_int_equal(find_row(&d, "old", 0)->self.verdict, PL_DIFF_GONE);
	assert_int_equal(find_row(&d, "fresh", 0)->self.verdict, PL_DIFF_NEW);
	assert_int_equal(find_row(&d, "main", 0)->self.verdict, PL_DIFF_LESS);
	assert_int_equal(find_row(&d, "main", 0)->total.verdict, PL_DIFF_SAME);
	assert_string_equal(name_of(&d, d.order[0]), "fresh");
	assert_string_equal(name_of(&d, d.order[1]), "old");
	assert_string_equal(name_of(&d, d.order[2]), "main");
	assert_int_equal(pl_diff_slower(&d, 0.05), 1);
	assert_int_equal(pl_diff_slower(&d, 0.6), 0); /* it takes half of everything */
	assert_true(isinf(pl_diff_relative(&d, &find_row(&d, "fresh", 0)->self)));
	pl_diff_deinit(&d);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
}

static void paths_know_their_callers(void **state)
{
	struct program g = {.dwell = 1, .slow = 1}, slow = {.dwell = 1, .slow = 2};
	struct plumb_profile *a = simulate(&g, 1, 5000), *b = simulate(&slow, 2, 5000);
	struct pl_diff d = compare_rows(&a, 1, &b, 1, PL_DIFF_PATHS);
	const struct pl_diff_row *row = find_row(&d, "f0", 0);
	assert_int_equal(d.row_count, 2 + SIMULATED_FUNCTIONS);
	assert_int_equal(row->self.verdict, PL_DIFF_MORE);
	assert_string_equal(name_of(&d, row->parent), "loop");
	assert_string_equal(name_of(&d, d.table[row->parent].parent), "main");
	assert_int_equal(d.table[d.table[row->parent].parent].parent, PL_DIFF_NO_ROW);
	assert_int_equal(pl_diff_slower(&d, 0.5), 1);
	pl_diff_deinit(&d);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
}

/* What a named function takes stays 1: what others take is told in it, and they do not lose what f0 gained. */
static void a_named_function_is_the_measure(void **state)
{
	struct program g = {.periodic = true, .slow = 1}, slow = {.periodic = true, .slow = 2};
	struct plumb_profile *a = simulate(&g, 1, 20000), *b = simulate(&slow, 2, 20000);
	const struct plumb_profile *const before = a, *const after = b;
	const struct pl_diff_input sides[] = {{&before, 1}, {&after, 1}};
	struct pl_diff_options o = {.filter = {.idle = PL_IDLE_KEEP}, .scale = PL_DIFF_BY_FUNCTION, .reference = "f1"};
	struct pl_diff d;
	check(pl_diff_make(sides, &o, &d));
	assert_float_equal(find_row(&d, "f1", 0)->self.after, 1, NEAR);
	assert_float_equal(find_row(&d, "f0", 0)->self.before, 0.2 / 0.15, 0.05);
	assert_float_equal(find_row(&d, "f0", 0)->self.after, 0.4 / 0.15, 0.1);
	assert_int_equal(find_row(&d, "f0", 0)->self.verdict, PL_DIFF_MORE);
	assert_int_equal(find_row(&d, "f2", 0)->self.verdict, PL_DIFF_SAME);
	pl_diff_deinit(&d);
	o.reference = "nobody";
	struct plumb_error *err = pl_diff_make(sides, &o, &d);
	assert_non_null(err);
	assert_non_null(strstr(plumb_error_message(err), "nobody"));
	plumb_error_destroy(err);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
}

/* Runs that differ by themselves by a tenth: one a side takes that for a change, five a side do not. */
static void runs_that_differ_are_no_change(void **state)
{
	struct pl_rng rng = {99};
	int single = 0, several = 0;
	for (int i = 0; i < 40; i++) {
		struct plumb_profile *runs[10];
		for (int k = 0; k < 10; k++) {
			struct program g = {.dwell = 1, .slow = 0.8 + 0.4 * pl_rng_unit(&rng)};
			runs[k] = simulate(&g, pl_rng_next(&rng), 10000);
		}
		struct pl_diff d = compare_rows(runs, 1, runs + 5, 1, PL_DIFF_FUNCTIONS);
		single += d.self_changes > 0;
		pl_diff_deinit(&d);
		d = compare_rows(runs, 5, runs + 5, 5, PL_DIFF_FUNCTIONS);
		several += d.self_changes > 0;
		assert_true(d.between_runs);
		pl_diff_deinit(&d);
		for (int k = 0; k < 10; k++)
			pl_profile_destroy(runs[k]);
	}
	print_message("runs that differ: one a side %d of 40, five a side %d of 40\n", single, several);
	assert_true(single >= 8);
	assert_true(several <= 2);
}

/* A run of a program that ended by itself. */
static struct plumb_profile *whole_run(double ms)
{
	struct plumb_profile *p = NULL;
	check(pl_profile_create(&p));
	uint32_t t = add_thread(p, 1, 1, "", true);
	add_samples(p, add_frame(p, 0, "main", "app.py", 1), t, PL_STATE_ON_CPU, 0, 1000, (uint64_t)(ms * 1e6));
	p->processes[0].ended = true;
	p->meta.complete = true;
	return p;
}

/* Of @p runs a side, the later of which take @p factor times as long and vary by a tenth. */
static bool grew(struct pl_rng *rng, size_t runs, double factor, double above, struct pl_diff_growth *ret)
{
	struct plumb_profile *all[10];
	for (size_t i = 0; i < 2 * runs; i++)
		all[i] = whole_run((i < runs ? 1 : factor) * (950 + 100 * pl_rng_unit(rng)));
	struct pl_diff d = compare_rows(all, runs, all + runs, runs, PL_DIFF_FUNCTIONS);
	bool found = pl_diff_grew(&d, above);
	*ret = pl_diff_growth(&d, above);
	pl_diff_deinit(&d);
	for (size_t i = 0; i < 2 * runs; i++)
		pl_profile_destroy(all[i]);
	return found;
}

/* Twice the work has the same shares, and is told all the same; that runs vary is none. */
static void that_all_of_it_takes_longer_is_told(void **state)
{
	struct pl_rng rng = {5};
	struct pl_diff_growth g;
	int alarms = 0, found = 0;
	for (int i = 0; i < 400; i++) {
		alarms += grew(&rng, 3, 1, 0, &g);
		found += grew(&rng, 3, 2, 0.05, &g);
		assert_true(g.known && g.sure && fabs(g.relative - 1) < 0.2);
	}
	assert_int_equal(found, 400);
	assert_true(alarms <=
		    12); /* one in a hundred: more than twelve of 400 once in a thousand, and never for this seed */
	assert_true(grew(&rng, 1, 2, 0.05, &g) && !g.sure); /* it may be chance, and does not pass */
	assert_false(grew(&rng, 1, 1, 0.5, &g));
}

static void what_did_not_run_to_its_end_did_no_work_that_could_be_told(void **state)
{
	struct plumb_profile *a = whole_run(10), *b = whole_run(20);
	b->processes[0].ended = false;
	struct pl_diff d = compare_rows(&a, 1, &b, 1, PL_DIFF_FUNCTIONS);
	assert_false(pl_diff_growth(&d, 0).known || pl_diff_grew(&d, 0));
	pl_diff_deinit(&d);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
}

static void modes_do_not_mix(void **state)
{
	struct plumb_profile *a = small("app.py", 1, "work", 3), *b = small("app.py", 1, "work", 3);
	b->meta.mode = PL_MODE_CPU;
	const struct plumb_profile *const before = a, *const after = b;
	const struct pl_diff_input sides[] = {{&before, 1}, {&after, 1}};
	const struct pl_diff_options o = {.filter = {.idle = PL_IDLE_KEEP}};
	struct pl_diff d;
	struct plumb_error *err = pl_diff_make(sides, &o, &d);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_INVALID);
	plumb_error_destroy(err);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_program_is_not_called_changed),
		cmocka_unit_test(the_same_periodic_program_is_not_called_changed),
		cmocka_unit_test(a_tenth_of_a_fifth_is_found),
		cmocka_unit_test(what_could_have_been_seen_is_told),
		cmocka_unit_test(code_that_moved_is_the_same),
		cmocka_unit_test(new_and_gone_come_first),
		cmocka_unit_test(paths_know_their_callers),
		cmocka_unit_test(a_named_function_is_the_measure),
		cmocka_unit_test(runs_that_differ_are_no_change),
		cmocka_unit_test(that_all_of_it_takes_longer_is_told),
		cmocka_unit_test(what_did_not_run_to_its_end_did_no_work_that_could_be_told),
		cmocka_unit_test(modes_do_not_mix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
