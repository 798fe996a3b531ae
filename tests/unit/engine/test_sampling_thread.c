/* SPDX-License-Identifier: Apache-2.0 */
/* How samples of CPU mode come to their weights. */
#include "unit.h"

#include "cpu_time.h"
#include "remote_engine.h"
#include "sampled.h"
#include "target.h"

static struct pl_engine engine(void)
{
	/* Another period than that of the samples, as with a budget: what was asked for says nothing about them. */
	struct pl_engine e = {.options = {.mode = PL_MODE_CPU, .period_ns = 50000}};

	assert_ok(pl_queue_init(&e.queue));
	return e;
}

static void wait_with(struct pl_sampled *thread, uint64_t weight_ns)
{
	assert_true(pl_vec_push(&thread->waiting, ((struct pl_waiting_sample){.weight_ns = weight_ns})));
}

static uint64_t weight_sent(struct pl_engine *e)
{
	struct pl_record r;
	uint64_t sum = 0;

	while (pl_queue_pop(&e->queue, &r))
		sum += r.sample.weight_ns;
	return sum;
}

static void a_thread_that_ends_untold_weighs_what_its_samples_stood_for(void **state)
{
	struct pl_engine e = engine();
	struct pl_sampled thread = {.announced = true};

	wait_with(&thread, 1000000);
	wait_with(&thread, 3000000);
	pl_cpu_time_rest(&e, &thread);
	assert_int_equal(weight_sent(&e), 4000000);
	e.options.period_ns = 0; /* as fast as possible */
	wait_with(&thread, 700);
	pl_cpu_time_rest(&e, &thread);
	assert_int_equal(weight_sent(&e), 700);
	pl_vec_deinit(&thread.waiting);
	pl_queue_deinit(&e.queue);
}

static void what_the_kernel_tells_goes_before(void **state)
{
	struct pl_engine e = engine();
	struct pl_sampled thread = {.announced = true, .sampler = {.ran_ns = 10000}};

	wait_with(&thread, 1000000);
	wait_with(&thread, 3000000);
	pl_cpu_time_rest(&e, &thread);
	assert_int_equal(weight_sent(&e), 10000);
	pl_vec_deinit(&thread.waiting);
	pl_queue_deinit(&e.queue);
}

/* Ready, or held in a stop, since the kernel has told what it ran. */
static void who_has_run_before_and_not_since_weighs_nothing_more(void **state)
{
	struct pl_engine e = engine();
	struct pl_sampled thread = {.announced = true, .sampler = {.cpu_ns = 20000}};

	wait_with(&thread, 1000000);
	pl_cpu_time_rest(&e, &thread);
	assert_int_equal(weight_sent(&e), 0);
	pl_vec_deinit(&thread.waiting);
	pl_queue_deinit(&e.queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_ends_untold_weighs_what_its_samples_stood_for),
		cmocka_unit_test(what_the_kernel_tells_goes_before),
		cmocka_unit_test(who_has_run_before_and_not_since_weighs_nothing_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
