/* SPDX-License-Identifier: Apache-2.0 */
/* What a status shows, of an engine that is made up: its figures change while samples are taken. */
#include "unit.h"

#include <string.h>

#include "forks.h"
#include "session_parts.h"

struct pl_engine {
	struct pl_engine_stats stats;
};

static void tell(struct pl_engine *e, struct pl_engine_stats *ret)
{
	*ret = e->stats;
}

/* The first sample comes, and what the engine says by then. */
static struct plumb_error *take(struct pl_engine *e, struct plumb_profile *p, pl_engine_sample_fn *fn, void *ctx)
{
	struct pl_process process = {.pid = 1};
	struct pl_thread thread = {.tid = 1};
	struct pl_sample s = {.time_ns = 1000, .weight_ns = 1000};

	assert_ok(pl_profile_process(p, &process, &thread.process));
	assert_ok(pl_profile_thread(p, &thread, &s.thread));
	e->stats = (struct pl_engine_stats){
		.found_python = true, .threads = 1, .processes = 1, .ticks = 1, .elapsed_ns = 1000};
	return fn(ctx, &s);
}

static const struct pl_engine_ops ops = {.stats = tell, .take = take};

static void figures_are_not_older_than_the_samples_they_are_shown_with(void **state)
{
	struct pl_engine engine = {0};
	struct plumb_session s = {
		.ops = &ops, .engine = &engine, .generation = pl_forks_generation(), .consuming = true};
	struct plumb_status st;

	pthread_mutex_init(&s.work, NULL);
	pthread_mutex_init(&s.lock, NULL);
	assert_ok(pl_profile_create(&s.profile));
	plumb_session_wait(&s, 0, &st);
	assert_int_equal(st.samples, 1);
	assert_true(st.found_python);
	assert_int_equal(st.threads, 1);
	assert_int_equal(st.processes, 1);
	assert_int_equal(st.ticks, 1);
	assert_int_equal(st.elapsed_ns, 1000);
	pl_profile_destroy(s.profile);
	pl_hottest_deinit(&s.hot);
	pl_cycles_deinit(&s.cycles);
	pthread_mutex_destroy(&s.lock);
	pthread_mutex_destroy(&s.work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_not_older_than_the_samples_they_are_shown_with),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
