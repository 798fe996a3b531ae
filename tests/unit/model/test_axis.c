/* SPDX-License-Identifier: Apache-2.0 */
/* The time of profiles that are added up: what was at the same time is together, pauses are not there, and intervals
 * know what differs from one recording to the next. */
#include "axis.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index.h"
#include "refine.h"
#include "simulated.h"
#include "view.h"

#define SECOND 1000000000ull
#define DAY    (86400 * SECOND)
#define BEGIN  (20000 * DAY)

static void assert_same_axis(const struct plumb_profile *a, const struct plumb_profile *b)
{
	const struct pl_axis *x = &a->axis, *y = &b->axis;
	assert_same_profile(a, b);
	assert_int_equal(x->merged, y->merged);
	assert_int_equal(x->count, y->count);
	assert_memory_equal(x->piece, y->piece, x->count * sizeof *x->piece);
	assert_int_equal(x->span_count, y->span_count);
	assert_memory_equal(x->spans, y->spans, x->span_count * sizeof *x->spans);
}

/* Of one of several hours, or minutes later, or of the same time, or of an unknown one; short or long. */
static struct plumb_profile *random_recording(struct pl_rng *rng)
{
	struct plumb_profile *p = random_profile(1 + random_below(rng, 1000), 20 + (unsigned)random_below(rng, 300));
	uint64_t start = BEGIN + random_below(rng, 3) * 3600 * SECOND + random_below(rng, 5) * 30 * SECOND +
			 random_below(rng, 1000000);
	p->meta.start_real_ns = random_below(rng, 4) ? start : 0;
	p->meta.duration_ns = random_below(rng, 5) ? random_below(rng, 60 * SECOND) : 0;
	return p;
}

/* Add the profiles, which are the caller's, two at a time and in any order. Caller destroys. */
static struct plumb_profile *sum_in_any_order(struct pl_rng *rng, struct plumb_profile *const *parts, size_t count)
{
	struct plumb_profile *sums[8] = {NULL};
	for (size_t i = 0; i < count; i++) {
		if (random_below(rng, 2)) {
			check(pl_profile_copy(parts[i], &sums[i]));
		} else {
			sums[i] = empty_profile();
			check(pl_profile_merge(sums[i], parts[i]));
		}
	}
	for (; count > 1; count--) {
		size_t from = (size_t)random_below(rng, count), into = (size_t)random_below(rng, count - 1);
		into += into >= from;
		check(pl_profile_merge(sums[into], sums[from]));
		pl_profile_destroy(sums[from]);
		sums[from] = sums[count - 1];
	}
	return sums[0];
}

static void any_order_and_any_grouping_give_the_same(void **state)
{
	struct pl_rng rng = {7};
	for (int round = 0; round < 60; round++) {
		struct plumb_profile *parts[8], *first, *second;
		size_t count = 2 + (size_t)random_below(&rng, 7);
		for (size_t i = 0; i < count; i++)
			parts[i] = random_recording(&rng);
		first = sum_in_any_order(&rng, parts, count);
		second = sum_in_any_order(&rng, parts, count);
		assert_true(first->axis.merged && first->axis.count > 1);
		assert_same_axis(first, second);
		for (size_t i = 0; i < count; i++)
			pl_profile_destroy(parts[i]);
		pl_profile_destroy(first);
		pl_profile_destroy(second);
	}
}

/* Whoever needs no part afterwards gets the same sum. */
static void parts_that_are_given_away_add_up_to_the_same(void **state)
{
	struct pl_rng rng = {13};
	for (int round = 0; round < 20; round++) {
		struct plumb_profile *sum = empty_profile(), *same = empty_profile(), *x, *y;
		for (int i = 0; i < 4; i++) {
			struct plumb_profile *p = random_recording(&rng);
			check(pl_profile_merge(same, p));
			check(pl_profile_merge_last(&sum, p));
			assert_same_axis(sum, same);
		}
		check(pl_profile_merge_last(&sum, empty_profile()));
		check(pl_profile_in_order(sum, &x)); /* a copy counts on */
		check(pl_profile_in_order(same, &y));
		check(pl_profile_merge(x, same));
		check(pl_profile_merge(y, sum));
		assert_same_axis(x, y);
		pl_profile_destroy(sum);
		pl_profile_destroy(same);
		pl_profile_destroy(x);
		pl_profile_destroy(y);
	}
}

/* Batches of which the cells have got other numbers are found as before. */
static void what_comes_again_is_added_to_the_same_cells(void **state)
{
	struct pl_rng rng = {11};
	for (int round = 0; round < 20; round++) {
		struct plumb_profile *sum = random_recording(&rng), *parts[4];
		for (int i = 0; i < 4; i++) {
			parts[i] = random_recording(&rng);
			check(pl_profile_merge(sum, parts[i]));
		}
		uint32_t cells = sum->cell_count;
		for (int i = 0; i < 4; i++) {
			check(pl_profile_merge(sum, parts[i]));
			pl_profile_destroy(parts[i]);
		}
		assert_int_equal(sum->cell_count, cells);
		pl_profile_destroy(sum);
	}
}

/* A sample each 100 ms. */
static struct plumb_profile *recording(const char *function, uint64_t start_real_ns, uint64_t seconds)
{
	struct plumb_profile *p = empty_profile();
	uint32_t thread = add_thread(p, 1, 1, "MainThread", true), stack = add_frame(p, 0, function, "x.py", 1);
	for (uint64_t i = 0; i < 10 * seconds; i++)
		add_samples(p, stack, thread, PL_STATE_ON_CPU, i * SECOND / 10, 1, SECOND / 10);
	p->meta.start_real_ns = start_real_ns;
	p->meta.duration_ns = seconds * SECOND;
	p->meta.ticks = 10 * seconds;
	p->meta.period_ns = SECOND / 10;
	return p;
}

static void add(struct plumb_profile *into, struct plumb_profile *from)
{
	check(pl_profile_merge(into, from));
	pl_profile_destroy(from);
}

static unsigned batches_with_samples(const struct plumb_profile *p)
{
	bool has[PL_BATCHES] = {false};
	unsigned count = 0;
	for (uint32_t i = 0; i < p->cell_count; i++)
		has[p->cells[i].batch] = true;
	for (int b = 0; b < PL_BATCHES; b++)
		count += has[b];
	return count;
}

static void a_pause_of_a_day_is_not_there(void **state)
{
	struct plumb_profile *sum = recording("f", BEGIN + DAY, 30);
	add(sum, recording("g", BEGIN, 30));
	assert_int_equal(sum->meta.duration_ns, 60 * SECOND);
	assert_int_equal(sum->meta.start_real_ns, BEGIN);
	assert_int_equal(sum->axis.span_count, 2);
	assert_true(batches_with_samples(sum) > PL_BATCHES / 2);
	assert_true(sum->batch_ns < 4 * SECOND);
	for (uint32_t i = 0; i < sum->cell_count; i++) { /* g was first */
		const struct pl_cell *c = &sum->cells[i];
		const struct pl_function *f = &sum->functions[sum->locations[sum->stacks[c->stack].location].function];
		bool second = strcmp(pl_strtab_get(sum->strings, f->name, NULL), "f") == 0;
		assert_int_equal(sum->axis.piece[c->batch] * sum->batch_ns >= BEGIN + DAY / 2, second);
	}
	pl_profile_destroy(sum);
}

static void what_was_at_the_same_time_is_in_the_same_batch(void **state)
{
	struct plumb_profile *sum = recording("f", BEGIN, 30);
	add(sum, recording("g", BEGIN + 20 * SECOND, 30));
	assert_int_equal(sum->meta.duration_ns, 50 * SECOND);
	assert_int_equal(sum->axis.span_count, 1);
	uint64_t f = 0, both = 0, by_batch[PL_BATCHES][2] = {{0}};
	for (uint32_t i = 0; i < sum->cell_count; i++)
		by_batch[sum->cells[i].batch][sum->cells[i].stack - 1] += sum->cells[i].samples;
	for (int b = 0; b < PL_BATCHES; b++) {
		f += by_batch[b][0];
		both += by_batch[b][1] ? by_batch[b][0] : 0;
	}
	assert_int_equal(f, 300);
	assert_in_range(both, 80, 120); /* a third of it, to the length of a batch */
	pl_profile_destroy(sum);
}

static const struct pl_function_row *row_of(const struct plumb_profile *p, const pl_function_rows *rows,
					    const char *name)
{
	for (size_t i = 0; i < rows->len; i++) {
		const struct pl_function *f = &p->functions[rows->data[i].function];
		if (strcmp(pl_strtab_get(p->strings, f->name, NULL), name) == 0)
			return &rows->data[i];
	}
	return NULL;
}

static struct pl_share share_of(const struct plumb_profile *p, const char *name)
{
	const struct pl_filter all = {.idle = PL_IDLE_KEEP};
	pl_function_rows rows = {0};
	check(pl_view_functions(p, &all, &rows));
	const struct pl_function_row *row = row_of(p, &rows, name);
	struct pl_share share = row ? row->self : (struct pl_share){0};
	pl_vec_deinit(&rows);
	return share;
}

/* One did nothing but f, the other nothing but g: added side by side that would look as if it were always half. */
static void an_interval_knows_what_differs_between_recordings(void **state)
{
	struct plumb_profile *sum = recording("f", BEGIN, 60);
	add(sum, recording("g", BEGIN + DAY, 60));
	struct pl_share f = share_of(sum, "f");
	assert_true(fabs(f.share - 0.5) < 1e-9);
	assert_true(f.half_width > 0.1);
	pl_profile_destroy(sum);
}

/* Windows of a few seconds, minutes apart, of a program that stays in a function for a tenth of a second: how often is
 * the true share in the interval? */
static void intervals_of_windows_hold_the_truth(void **state)
{
	const struct program g = {.dwell = 50, .slow = 1};
	const int runs = 300;
	int one = 0, whole = 0, rolled = 0;
	for (int run = 0; run < runs; run++) {
		struct plumb_profile *sum = empty_profile(), *sum_of_rolled = empty_profile();
		for (unsigned k = 0; k < 12; k++) {
			struct plumb_profile *p = simulate(&g, (uint64_t)run * 100 + k + 1, 2000), *part;
			p->meta.start_real_ns = BEGIN + k * 300 * SECOND;
			p->meta.duration_ns = 2 * SECOND;
			check(pl_profile_merge(sum, p));
			for (uint32_t i = 0; i < p->cell_count; i++)
				p->cells[i].batch = 0;
			check(pl_profile_part(p, p->cells, p->cell_count, 1ull << 30, false, &part));
			part->meta.duration_ns = 2 * SECOND;
			add(sum_of_rolled, part);
			pl_profile_destroy(p);
		}
		assert_int_equal(sum->meta.duration_ns, 24 * SECOND);
		assert_int_equal(batches_with_samples(sum_of_rolled), 12);
		struct plumb_profile *single = simulate(&g, (uint64_t)run * 100 + 50, 12 * 2000);
		struct pl_share c = share_of(single, "f0");
		struct pl_share a = share_of(sum, "f0"), b = share_of(sum_of_rolled, "f0");
		one += fabs(c.share - 0.2) <= c.half_width;
		whole += fabs(a.share - 0.2) <= a.half_width;
		rolled += fabs(b.share - 0.2) <= b.half_width;
		pl_profile_destroy(sum);
		pl_profile_destroy(sum_of_rolled);
		pl_profile_destroy(single);
	}
	print_message("the truth was in %d, %d and %d of %d intervals\n", one, whole, rolled, runs);
	assert_in_range(whole, runs * 88 / 100, runs * 99 / 100);
	assert_in_range(rolled, runs * 88 / 100, runs * 99 / 100);
}

static void a_part_of_its_time_is_whole_batches(void **state)
{
	struct plumb_profile *sum = recording("f", BEGIN, 30), *part, *all;
	add(sum, recording("g", BEGIN + DAY, 30));
	uint64_t half = 0;
	for (uint32_t b = 0; b < sum->axis.count; b++)
		half += sum->axis.piece[b] * sum->batch_ns < BEGIN + DAY / 2 ? sum->batch_ns : 0;
	struct pl_refine o = {.from_ns = half - 1 - sum->batch_ns / 2}; /* in the last batch of f */
	check(pl_refine(sum, &o, &part));
	assert_int_equal(share_of(part, "g").samples, 300);
	assert_in_range(share_of(part, "f").samples, 1, 30);
	assert_true(part->meta.duration_ns > 30 * SECOND && part->meta.duration_ns < 33 * SECOND);
	assert_true(part->meta.start_real_ns > BEGIN + 27 * SECOND && part->meta.start_real_ns < BEGIN + 30 * SECOND);
	pl_profile_destroy(part);
	o = (struct pl_refine){.to_ns = half};
	check(pl_refine(sum, &o, &part));
	assert_int_equal(share_of(part, "f").samples, 300);
	assert_int_equal(share_of(part, "g").samples, 0);
	assert_int_equal(part->meta.duration_ns, 30 * SECOND);
	o = (struct pl_refine){.from_ns = half};
	check(pl_refine(sum, &o, &all));
	check(pl_profile_merge(all, part)); /* both parts are the whole again */
	assert_int_equal(all->axis.count, sum->axis.count);
	assert_memory_equal(all->axis.piece, sum->axis.piece, sum->axis.count * sizeof *sum->axis.piece);
	assert_int_equal(all->meta.duration_ns, 60 * SECOND);
	pl_profile_destroy(part);
	pl_profile_destroy(all);
	pl_profile_destroy(sum);
}

static void an_axis_that_cannot_be_is_refused(void **state)
{
	struct pl_recorded spans[] = {{5, 5}, {5, 4}, {0, 9}, {9, 10}};
	struct pl_axis wrong[] = {{.count = 0},
				  {.count = 2, .piece = {3, 3}},
				  {.count = 2, .piece = {3, 2}},
				  {.count = 1, .piece = {UINT64_MAX}},
				  {.count = 1, .piece = {1}, .spans = &spans[0], .span_count = 1},
				  {.count = 1, .piece = {1}, .spans = &spans[1], .span_count = 1},
				  {.count = 1, .piece = {1}, .spans = &spans[2], .span_count = 2}};
	struct plumb_profile *p = recording("f", BEGIN, 1);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_ptr_equal(pl_axis_set(p, 40, &wrong[i]), &pl_err_corrupt);
	struct pl_axis good = {.count = 1, .piece = {1}};
	assert_ptr_equal(pl_axis_set(p, 24, &good), &pl_err_corrupt); /* there are more batches */
	assert_ptr_equal(pl_axis_set(p, 64, &good), &pl_err_corrupt);
	assert_false(p->axis.merged);
	check(pl_axis_set(p, 40, &good));
	assert_true(p->axis.merged && p->axis.count == 1 && p->batch_ns == 1ull << 40);
	pl_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_and_any_grouping_give_the_same),
		cmocka_unit_test(parts_that_are_given_away_add_up_to_the_same),
		cmocka_unit_test(what_comes_again_is_added_to_the_same_cells),
		cmocka_unit_test(a_pause_of_a_day_is_not_there),
		cmocka_unit_test(what_was_at_the_same_time_is_in_the_same_batch),
		cmocka_unit_test(an_interval_knows_what_differs_between_recordings),
		cmocka_unit_test(intervals_of_windows_hold_the_truth),
		cmocka_unit_test(a_part_of_its_time_is_whole_batches),
		cmocka_unit_test(an_axis_that_cannot_be_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
