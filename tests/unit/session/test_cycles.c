/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "cycles.h"

static struct pl_cycles cycles(size_t max)
{
	return (struct pl_cycles){.length_ns = 100, .max = max};
}

static void add(struct pl_cycles *c, uint64_t time_ns, uint32_t stack)
{
	assert_ok(pl_cycles_add(c, &(struct pl_sample){.time_ns = time_ns, .stack = stack, .weight_ns = 7}));
}

static uint64_t samples(const struct pl_cycle *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->cells.len; i++) {
		sum += c->cells.data[i].samples;
		assert_true(c->cells.data[i].weight_ns == 7 * c->cells.data[i].samples);
	}
	return sum;
}

/* The one that has not ended; NULL: nothing was counted yet. */
static const struct pl_cycle *recent(const struct pl_cycles *c)
{
	return c->ended < c->list.len ? &c->list.data[c->ended] : NULL;
}

static void a_sample_is_in_the_cycle_of_its_time(void **state)
{
	struct pl_cycles c = cycles(10);

	add(&c, 0, 1);
	add(&c, 99, 2);
	add(&c, 99, 1);
	add(&c, 100, 1); /* taken after the end, told before it */
	assert_null(pl_cycles_oldest(&c));
	assert_ok(pl_cycles_advance(&c, 99, 5099));
	assert_null(pl_cycles_oldest(&c));
	assert_ok(pl_cycles_advance(&c, 130, 5130));
	const struct pl_cycle *first = pl_cycles_oldest(&c);
	assert_true(samples(first) == 3 && first->cells.len == 2 && first->end_real_ns == 5100);
	assert_true(first->cells.data[0].stack == 1 && first->cells.data[1].stack == 2); /* as they were first seen */
	add(&c, 98, 3);									 /* known late */
	assert_int_equal(samples(pl_cycles_oldest(&c)), 4);
	pl_cycles_drop(&c);
	assert_null(pl_cycles_oldest(&c));
	add(&c, 97, 3); /* later than late */
	assert_int_equal(samples(recent(&c)), 2);
	pl_cycles_finish(&c, 6000);
	assert_true(samples(pl_cycles_oldest(&c)) == 2 && pl_cycles_oldest(&c)->end_real_ns == 6000);
	assert_null(recent(&c));
	pl_cycles_deinit(&c);
}

/* Samples of later cycles may be known before it is told how late it is. */
static void all_that_have_not_ended_do_so_with_the_session(void **state)
{
	struct pl_cycles c = cycles(10);

	add(&c, 50, 1);
	add(&c, 150, 1);
	assert_ok(pl_cycles_advance(&c, 90, 5090));
	assert_null(pl_cycles_oldest(&c));
	pl_cycles_finish(&c, 6000);
	for (int i = 0; i < 2; i++) {
		assert_true(samples(pl_cycles_oldest(&c)) == 1 && pl_cycles_oldest(&c)->end_real_ns == 6000);
		pl_cycles_drop(&c);
	}
	assert_null(pl_cycles_oldest(&c));
	pl_cycles_deinit(&c);
}

static void cycles_without_samples_are_cycles(void **state)
{
	struct pl_cycles c = cycles(10);

	add(&c, 10, 1);
	assert_ok(pl_cycles_advance(&c, 305, 5305));
	for (uint64_t i = 0; i < 3; i++) {
		const struct pl_cycle *o = pl_cycles_oldest(&c);

		assert_true(o->number == i && samples(o) == (i == 0) && o->end_real_ns == 5100 + 100 * i);
		pl_cycles_drop(&c);
	}
	assert_true(recent(&c)->number == 3);
	pl_cycles_finish(&c, 6000);
	assert_null(pl_cycles_oldest(&c)); /* it had just begun */
	pl_cycles_deinit(&c);
}

static void the_oldest_goes(void **state)
{
	struct pl_cycles c = cycles(3);

	for (uint64_t t = 5; t < 1000; t += 10)
		add(&c, t, (uint32_t)t);
	assert_ok(pl_cycles_advance(&c, 1000, 6000));
	assert_true(c.ended == 3 && pl_cycles_oldest(&c)->number == 7 && samples(pl_cycles_oldest(&c)) == 10);
	assert_ok(pl_cycles_advance(&c, 1000000000000, 2000000000000)); /* ten milliard cycles are nothing */
	assert_true(c.ended == 3 && c.list.len == 4 && pl_cycles_oldest(&c)->number == 10000000000 - 3);
	pl_cycles_clear(&c);
	assert_true(!pl_cycles_oldest(&c) && !recent(&c));
	pl_cycles_finish(&c, 1);
	pl_cycles_deinit(&c);
}

/* So many stacks are too many, though the cycles are not. */
static void there_is_room_for_so_many_stacks(void **state)
{
	struct pl_cycles c = cycles(100);

	c.max_cells = 25;
	for (uint64_t t = 5; t < 1000; t += 10)
		add(&c, t, (uint32_t)t);
	assert_ok(pl_cycles_advance(&c, 999, 5999)); /* the last one, of another ten, has not ended */
	assert_true(c.ended == 2 && c.list.len == 3 && pl_cycles_oldest(&c)->number == 7 && c.cells == 30);
	add(&c, 750, 1); /* known late */
	assert_int_equal(c.cells, 31);
	pl_cycles_clear(&c);
	assert_int_equal(c.cells, 0);
	pl_cycles_deinit(&c);
}

/* The room is of cycles that have ended: samples of several others may be there. */
static void what_has_not_ended_takes_no_room(void **state)
{
	struct pl_cycles c = cycles(100);

	c.max_cells = 2;
	add(&c, 50, 1);
	add(&c, 150, 1);
	add(&c, 160, 2);
	add(&c, 250, 1);
	assert_ok(pl_cycles_advance(&c, 120, 5120));
	assert_true(c.ended == 1 && c.list.len == 3 && pl_cycles_oldest(&c)->number == 0);
	pl_cycles_clear(&c);
	pl_cycles_deinit(&c);
}

/* Whoever was held up for long has many to drop at a time. */
static void very_many_may_have_gone(void **state)
{
	const uint64_t count = 400000;
	struct pl_cycles c = cycles(2);

	for (uint64_t i = 0; i < count; i++)
		add(&c, 100 * i, 1);
	assert_ok(pl_cycles_advance(&c, 100 * count, 100 * count));
	assert_int_equal(c.ended, 2);
	assert_int_equal(pl_cycles_oldest(&c)->number, count - 2);
	pl_cycles_deinit(&c);
}

static void without_a_length_there_are_none(void **state)
{
	struct pl_cycles c = {.max = 1};

	add(&c, 10, 1);
	assert_ok(pl_cycles_advance(&c, 1000, 1000));
	pl_cycles_finish(&c, 1000);
	assert_true(!pl_cycles_oldest(&c) && !recent(&c));
	pl_cycles_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_is_in_the_cycle_of_its_time),
		cmocka_unit_test(all_that_have_not_ended_do_so_with_the_session),
		cmocka_unit_test(cycles_without_samples_are_cycles),
		cmocka_unit_test(the_oldest_goes),
		cmocka_unit_test(there_is_room_for_so_many_stacks),
		cmocka_unit_test(what_has_not_ended_takes_no_room),
		cmocka_unit_test(very_many_may_have_gone),
		cmocka_unit_test(without_a_length_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
