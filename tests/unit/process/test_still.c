/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "still.h"
#include "stopper.h"

#define US 1000ull
#define MS 1000000ull

/* So many samples, each in the way that is to be taken, which cost so much; how many of them were stops. */
static int take(struct pl_still *s, int samples, uint64_t stop_ns, uint64_t beside_ns)
{
	int stops = 0;

	for (int i = 0; i < samples; i++) {
		enum pl_still_way way = s->way;

		stops += way == PL_STILL_STOP;
		pl_still_note(s, way, way == PL_STILL_STOP ? stop_ns : beside_ns);
	}
	return stops;
}

static void cheap_stops_stay(void **state)
{
	struct pl_still s = {0};

	assert_int_equal(take(&s, 100000, 25 * US, 45 * US), 100000);
}

static void dear_stops_are_few(void **state)
{
	struct pl_still s = {0};

	assert_int_equal(take(&s, 3, 400 * US, 45 * US), 3);
	assert_int_equal(s.way, PL_STILL_BESIDE);
	/* Trials: a few of hundreds. */
	assert_in_range(take(&s, 100000, 400 * US, 45 * US), 50, 500);
}

static void one_dear_stop_is_forgotten(void **state)
{
	struct pl_still s = {0};

	pl_still_note(&s, PL_STILL_STOP, 4000 * US);
	assert_int_equal(s.way, PL_STILL_BESIDE);
	(void)take(&s, 10000, 25 * US, 45 * US);
	assert_int_equal(take(&s, 10000, 25 * US, 45 * US), 10000);
}

static void the_dearer_of_two_dear_ways_is_rare(void **state)
{
	struct pl_still s = {0};

	assert_in_range(take(&s, 100000, 150 * US, 450 * US), 95000, 99999);
	assert_in_range(take(&s, 100000, 450 * US, 150 * US), 1, 5000);
}

static void what_cannot_be_had_is_not_kept(void **state)
{
	struct pl_still s = {0};

	(void)take(&s, 3, 400 * US, 45 * US);
	pl_still_failed(&s, PL_STILL_BESIDE);
	assert_int_equal(s.way, PL_STILL_STOP);
	pl_still_failed(&s, PL_STILL_BESIDE);
	assert_int_equal(s.way, PL_STILL_STOP);
}

/* What a stop took beyond all that is allowed has to pass first. */
static void what_was_too_much_has_to_pass(void **state)
{
	struct pl_stopper s = {0};
	uint64_t now = 5 * MS;

	pl_stopper_begin(&s, PL_STOP_AUTO, NULL, now);
	s.stopped_ns += 5 * MS;
	assert_int_equal(pl_stopper_spent_for_ns(&s, now += 1), 0);
	s.stopped_ns += 7 * MS; /* of 12, 10 might be taken at once, and 2 in 80 */
	assert_in_range(pl_stopper_spent_for_ns(&s, now), 79 * MS, 81 * MS);
	assert_int_equal(pl_stopper_spent_for_ns(&s, now + 81 * MS), 0);
	pl_stopper_begin(&s, PL_STOP_AUTO, NULL, now + MS); /* an exec gives nothing back */
	assert_in_range(pl_stopper_spent_for_ns(&s, now), 79 * MS, 81 * MS);
	s.policy = PL_STOP_ALWAYS;
	assert_int_equal(pl_stopper_spent_for_ns(&s, now), 0); /* nothing is too much */
	pl_stopper_deinit(&s);
}

struct told {
	struct pl_stop_taker taker;
	int times;
	struct pl_thread_sampler *last;
};

static void note(void *ctx, struct pl_thread_sampler *thread)
{
	struct told *t = ctx;

	t->times++;
	t->last = thread;
}

static void whoever_wants_to_know_of_stops_is_told_until_he_does_not(void **state)
{
	struct told told[3] = {0};
	struct pl_stopper s = {0};
	struct pl_thread_sampler *thread = (struct pl_thread_sampler *)&told; /* it is handed on, not looked at */

	pl_stopper_let_take(&s, thread);
	for (int i = 0; i < 3; i++) {
		told[i].taker = (struct pl_stop_taker){.take = note, .ctx = &told[i]};
		pl_stopper_add_taker(&s, &told[i].taker);
	}
	pl_stopper_let_take(&s, thread);
	pl_stopper_remove_taker(&s, &told[1].taker);
	pl_stopper_remove_taker(&s, &told[1].taker);
	pl_stopper_let_take(&s, thread);
	pl_stopper_remove_taker(&s, &told[2].taker);
	pl_stopper_remove_taker(&s, &told[0].taker);
	pl_stopper_let_take(&s, thread);
	assert_int_equal(told[0].times, 2);
	assert_int_equal(told[1].times, 1);
	assert_int_equal(told[2].times, 2);
	assert_ptr_equal(told[0].last, thread);
}

/* It may be about to execute a set-user-ID program. */
static void who_has_just_been_forked_is_not_stopped(void **state)
{
	const enum pl_stop_policy policies[] = {PL_STOP_AUTO, PL_STOP_ALWAYS};
	struct pl_beside beside;
	const uint64_t born = 1000 * MS;

	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		struct pl_stopper s = {0};
		bool automatic = policies[i] == PL_STOP_AUTO;

		pl_stopper_begin(&s, policies[i], &beside, born + MS);
		pl_stopper_spare(&s, born);
		assert_false(pl_stopper_may(&s, born + 999 * MS));
		assert_int_equal(pl_stopper_may_stand_beside(&s, born + 999 * MS), automatic);
		assert_true(pl_stopper_may(&s, born + 1000 * MS));
		assert_false(pl_stopper_may_stand_beside(&s, born + 1000 * MS));
		pl_stopper_spare(&s, born);
		pl_stopper_begin(&s, policies[i], &beside, born + 2 * MS); /* it has executed one */
		assert_true(pl_stopper_may(&s, born + 3 * MS));
		pl_stopper_deinit(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cheap_stops_stay),
		cmocka_unit_test(dear_stops_are_few),
		cmocka_unit_test(one_dear_stop_is_forgotten),
		cmocka_unit_test(the_dearer_of_two_dear_ways_is_rare),
		cmocka_unit_test(what_cannot_be_had_is_not_kept),
		cmocka_unit_test(what_was_too_much_has_to_pass),
		cmocka_unit_test(whoever_wants_to_know_of_stops_is_told_until_he_does_not),
		cmocka_unit_test(who_has_just_been_forked_is_not_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
