/* SPDX-License-Identifier: Apache-2.0 */
/* What samples weigh in CPU mode of which the kernel has told nothing when their thread ends. */
#include "unit.h"

#include "cpu_time.h"
#include "remote_engine.h"
#include "sampled.h"

#define MS 1000000ull

struct scene {
	struct pl_engine engine;
	struct pl_sampled thread;
};

static void init(struct scene *s, struct pl_run_counters counters)
{
	*s = (struct scene){
		.engine.options.mode = PL_MODE_CPU,
		.thread = {.sampler = {.counted = true, .first = counters, .counters = counters}, .announced = true}};
	assert_ok(pl_queue_init(&s->engine.queue));
}

static void deinit(struct scene *s)
{
	pl_queue_deinit(&s->engine.queue);
	pl_vec_deinit(&s->thread.waiting);
}

/* Two samples are taken, which stand for 100 and 300 ms, and the thread ends. */
static uint64_t weight_of_two(struct scene *s, uint16_t state)
{
	const struct pl_raw_sample sample = {.node = 7, .quality = PL_EXACT, .state = state};
	struct pl_record r;
	uint64_t sum = 0;

	pl_cpu_time_send(&s->engine, &s->thread, &sample, 100 * MS, 100 * MS);
	pl_cpu_time_send(&s->engine, &s->thread, &sample, 400 * MS, 300 * MS);
	pl_cpu_time_end(&s->engine, &s->thread);
	while (pl_queue_pop(&s->engine.queue, &r))
		sum += r.sample.weight_ns;
	return sum;
}

static void of_a_brief_thread_the_time_counts_for_which_it_had_a_processor(void **state)
{
	struct scene s;

	init(&s, (struct pl_run_counters){.run_ns = 10 * MS, .runs = 3, .delay_ns = 30 * MS});
	assert_int_equal(weight_of_two(&s, PL_STATE_ON_CPU), 100 * MS); /* a quarter of the time that it was ready */
	deinit(&s);
	(void)state;
}

static void of_one_that_nothing_is_known_of_all_time_counts(void **state)
{
	struct scene s;

	init(&s, (struct pl_run_counters){0});
	assert_int_equal(weight_of_two(&s, PL_STATE_ON_CPU), 400 * MS);
	deinit(&s);
	(void)state;
}

static uint64_t weight_of_one_that_ran(uint16_t state)
{
	struct scene s;

	init(&s, (struct pl_run_counters){.run_ns = 10 * MS, .runs = 3, .delay_ns = 30 * MS});
	s.thread.sampler.cpu_ns = s.thread.sampler.ran_ns = 6 * MS;
	uint64_t sum = weight_of_two(&s, state);
	deinit(&s);
	return sum;
}

static void of_one_that_ran_its_run_time_counts_and_half_a_period_behind_it(void **state)
{
	assert_int_equal(weight_of_one_that_ran(PL_STATE_ON_CPU), 6 * MS + 300 * MS / 2 / 4);
	assert_int_equal(weight_of_one_that_ran(0), 6 * MS); /* it was blocked */
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_brief_thread_the_time_counts_for_which_it_had_a_processor),
		cmocka_unit_test(of_one_that_nothing_is_known_of_all_time_counts),
		cmocka_unit_test(of_one_that_ran_its_run_time_counts_and_half_a_period_behind_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
