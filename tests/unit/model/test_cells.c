/* SPDX-License-Identifier: Apache-2.0 */
/* Counting: cells, batches that double, and that nothing is lost on the way. */
#include "profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support.h"

#define SAMPLES 20000

static uint64_t samples_of(const struct plumb_profile *p)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < p->cell_count; i++)
		sum += p->cells[i].samples;
	return sum;
}

static void equal_samples_share_a_cell(void **state)
{
	struct plumb_profile *p = NULL;
	check(pl_profile_create(&p));
	uint32_t a = add_frame(p, 0, "a", "x.py", 1), t = add_thread(p, 1, 1, "", true);
	add_samples(p, a, t, PL_STATE_ON_CPU, 0, 5, 10);
	add_samples(p, a, t, PL_STATE_ON_CPU | PL_STATE_HAS_GIL, 0, 2, 10);
	add_samples(p, a, t, PL_STATE_ON_CPU, PL_BATCH_MIN_NS - 1, 1, 10);
	assert_int_equal(p->cell_count, 2);
	assert_int_equal(p->cells[0].samples, 6);
	assert_int_equal(p->cells[0].weight_ns, 60);
	assert_int_equal(p->cells[1].samples, 2);
	add_samples(p, a, t, PL_STATE_ON_CPU, PL_BATCH_MIN_NS, 1, 10);
	assert_int_equal(p->cell_count, 3);
	assert_int_equal(p->cells[2].batch, 1);
	pl_profile_destroy(p);
}

/* However the batches doubled on the way, each cell holds what falls into its batch now. */
static void batches_hold_the_samples_of_their_time(void **state)
{
	struct plumb_profile *p = NULL;
	check(pl_profile_create(&p));
	struct generator g = {
		.rng = {.state = 7}, .profile = p, .depth = 6, .processes = 2, .step_ns = 3 * PL_BATCH_MIN_NS / 10};
	struct pl_sample *samples = calloc(SAMPLES, sizeof *samples);
	for (int i = 0; i < SAMPLES; i++) {
		samples[i] = generate_sample(&g);
		check(pl_profile_add(p, &samples[i]));
	}
	assert_true(p->batch_ns > PL_BATCH_MIN_NS);
	assert_true(p->batch_ns * PL_BATCHES > g.time_ns);
	assert_true(p->batch_ns / 2 * PL_BATCHES <= g.time_ns);
	for (int i = 0; i < SAMPLES; i++) { /* take every sample out again */
		const struct pl_sample *s = &samples[i];
		uint32_t c = 0;
		while (c < p->cell_count && (p->cells[c].stack != s->stack || p->cells[c].thread != s->thread ||
					     p->cells[c].state != s->state || p->cells[c].quality != s->quality ||
					     p->cells[c].batch != s->time_ns / p->batch_ns))
			c++;
		assert_true(c < p->cell_count);
		assert_true(p->cells[c].samples > 0 && p->cells[c].weight_ns >= s->weight_ns);
		p->cells[c].samples--;
		p->cells[c].weight_ns -= s->weight_ns;
	}
	for (uint32_t c = 0; c < p->cell_count; c++)
		assert_true(p->cells[c].samples == 0 && p->cells[c].weight_ns == 0);
	free(samples);
	pl_profile_destroy(p);
}

/* Also where a cell is met for the first time and again in one call, and batches double within it. */
static void samples_count_the_same_together_and_one_by_one(void **state)
{
	struct plumb_profile *p = NULL, *q = NULL;
	check(pl_profile_create(&p));
	struct generator g = {
		.rng = {.state = 11}, .profile = p, .depth = 3, .processes = 1, .step_ns = 3 * PL_BATCH_MIN_NS / 10};
	struct pl_sample *samples = calloc(SAMPLES, sizeof *samples);
	for (int i = 0; i < SAMPLES; i++)
		samples[i] = generate_sample(&g);
	check(pl_profile_copy(p, &q));
	for (int i = 0; i < SAMPLES; i++)
		check(pl_profile_add(p, &samples[i]));
	for (int i = 0, count; i < SAMPLES; i += count) {
		count = 1 + i % PL_TOGETHER < SAMPLES - i ? 1 + i % PL_TOGETHER : SAMPLES - i;
		check(pl_profile_add_all(q, samples + i, (size_t)count));
	}
	assert_true(p->cell_count == q->cell_count && p->batch_ns == q->batch_ns && p->batch_ns > PL_BATCH_MIN_NS);
	for (uint32_t c = 0; c < p->cell_count; c++) {
		const struct pl_cell *a = &p->cells[c], *b = &q->cells[c];
		assert_true(a->stack == b->stack && a->thread == b->thread && a->state == b->state &&
			    a->quality == b->quality && a->batch == b->batch && a->samples == b->samples &&
			    a->weight_ns == b->weight_ns);
	}
	free(samples);
	pl_profile_destroy(p);
	pl_profile_destroy(q);
}

static void any_time_finds_a_batch(void **state)
{
	const uint64_t times[] = {
		0, PL_BATCH_MIN_NS * PL_BATCHES - 1, PL_BATCH_MIN_NS * PL_BATCHES, 1ull << 40, UINT64_MAX, 5};
	struct plumb_profile *p = NULL;
	check(pl_profile_create(&p));
	uint32_t t = add_thread(p, 1, 1, "", true);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		add_samples(p, 0, t, 0, times[i], 1, 1);
	assert_int_equal(samples_of(p), 6);
	assert_int_equal(p->batch_ns, 1ull << 58);
	assert_int_equal(p->cell_count, 2);
	pl_profile_destroy(p);
}

/* Batches become longer instead; what remains are as many cells as there are stacks. */
static void cells_are_bounded(void **state)
{
	struct plumb_profile *p = NULL;
	uint32_t stacks[30];
	check(pl_profile_create(&p));
	uint32_t t = add_thread(p, 1, 1, "", true);
	for (int i = 0; i < 30; i++)
		stacks[i] = add_frame(p, 0, "f", "f.py", i + 1);
	pl_profile_limit_cells(p, 100);
	for (uint64_t i = 0; i < 3000; i++) {
		add_samples(p, stacks[i % 30], t, 0, i * (PL_BATCH_MIN_NS / 50), 1, 7);
		assert_true(p->cell_count <= 101);
	}
	assert_int_equal(samples_of(p), 3000);
	assert_true(p->batch_ns > PL_BATCH_MIN_NS);
	pl_profile_limit_cells(p, 10); /* it cannot be: one batch has 30 */
	for (uint64_t i = 0; i < 300; i++)
		add_samples(p, stacks[i % 30], t, 0, 60 * PL_BATCH_MIN_NS, 1, 7);
	assert_int_equal(samples_of(p), 3300);
	assert_true(p->cell_count == 30);
	pl_profile_destroy(p);
}

static void sums_stay_at_the_maximum(void **state)
{
	struct plumb_profile *p = NULL;
	check(pl_profile_create(&p));
	uint32_t t = add_thread(p, 1, 1, "", true);
	add_samples(p, 0, t, 0, 0, 3, UINT64_MAX);
	assert_int_equal(p->cells[0].weight_ns, UINT64_MAX);
	pl_profile_destroy(p);
}

/* Of cells that have not reached the maximum themselves, too. */
static void sums_at_the_maximum_are_told(void **state)
{
	struct plumb_profile *p = NULL;
	check(pl_profile_create(&p));
	uint32_t t = add_thread(p, 1, 1, "", true);
	add_samples(p, 0, t, 0, 0, 1, UINT64_MAX - 5);
	check(pl_profile_check_sums(p));
	add_samples(p, 0, t, PL_STATE_ON_CPU, 0, 1, 5);
	struct plumb_error *err = pl_profile_check_sums(p);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_LIMIT);
	plumb_error_destroy(err);
	pl_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_count_the_same_together_and_one_by_one),
		cmocka_unit_test(equal_samples_share_a_cell),
		cmocka_unit_test(batches_hold_the_samples_of_their_time),
		cmocka_unit_test(any_time_finds_a_batch),
		cmocka_unit_test(cells_are_bounded),
		cmocka_unit_test(sums_stay_at_the_maximum),
		cmocka_unit_test(sums_at_the_maximum_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
