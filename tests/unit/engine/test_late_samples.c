/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that are kept back until the stop of their thread comes about: how many, whose, and what becomes of them when
 * it is not waited for any more, because it has ended or runs another program (sampled.c), or sampling pauses
 * (sampling_thread.c). In CPU mode what is sent waits with its thread, where it can be looked at. */
#include "unit.h"

#include "late_samples.h"
#include "remote_engine.h"
#include "target.h"

#define KEPT_MAX 1024

/* A process of two threads, the first of which was asked to stop and has not come. */
struct scene {
	struct pl_engine engine;
	struct pl_target target;
	struct pl_sampled asked, other;
};

static void init(struct scene *s)
{
	const struct pl_pause to_come = {.pid = 100, .tid = 101, .asked_ns = 1};

	*s = (struct scene){.engine.options.mode = PL_MODE_CPU};
	s->asked = (struct pl_sampled){.sampler = {.stack = {.tstate = 1}, .pid = 100, .tid = 101, .counted = true},
				       .target = &s->target,
				       .announced = true};
	s->other = s->asked;
	s->other.sampler.tid = 102;
	assert_true(pl_vec_push(&s->target.python.stopper.late, to_come));
}

static void deinit(struct scene *s)
{
	pl_late_samples_deinit(&s->target.late);
	pl_vec_deinit(&s->target.python.stopper.late);
	pl_vec_deinit(&s->asked.waiting);
	pl_vec_deinit(&s->other.waiting);
}

static bool keep(struct scene *s, struct pl_sampled *thread, uint64_t time_ns)
{
	const struct pl_raw_sample sample = {.node = 7, .quality = PL_STOPPED, .native_untold = true};

	return pl_late_samples_keep(&s->target, thread, &sample, time_ns, 2 * time_ns);
}

static void so_many_are_kept_and_what_comes_then_is_sent_at_once(void **state)
{
	struct scene s;

	init(&s);
	for (uint64_t i = 0; i < KEPT_MAX; i++)
		assert_true(keep(&s, &s.asked, i));
	assert_false(keep(&s, &s.asked, KEPT_MAX));
	assert_int_equal(s.target.late.kept.len, KEPT_MAX);
	pl_late_samples_give_up(&s.engine, &s.asked);
	assert_true(keep(&s, &s.asked, 0)); /* there is room again */
	deinit(&s);
}

static void those_of_a_stop_that_is_given_up_are_told_as_they_were(void **state)
{
	struct scene s;

	init(&s);
	for (uint64_t i = 0; i < 3; i++)
		assert_true(keep(&s, &s.asked, i));
	pl_late_samples_give_up(&s.engine, &s.other); /* none are its */
	assert_int_equal(s.target.late.kept.len, 3);
	pl_late_samples_give_up(&s.engine, &s.asked);
	assert_true(s.target.late.kept.len == 0 && !s.target.late.thread);
	assert_int_equal(s.asked.waiting.len, 3);
	for (uint64_t i = 0; i < 3; i++) {
		const struct pl_waiting_sample *w = &s.asked.waiting.data[i];

		assert_true(w->time_ns == i && w->weight_ns == 2 * i && w->sample.node == 7);
		assert_true(w->sample.native_untold && w->sample.quality == PL_STOPPED);
	}
	pl_late_samples_give_up(&s.engine, &s.asked);
	assert_int_equal(s.asked.waiting.len, 3);
	deinit(&s);
}

static void only_a_thread_that_is_asked_to_stop_keeps_what_lacks_native_frames(void **state)
{
	const struct pl_raw_sample told = {.quality = PL_STOPPED},
				   proved = {.quality = PL_EXACT, .native_untold = true};
	struct scene s;

	init(&s);
	assert_false(pl_late_samples_keep(&s.target, &s.asked, &told, 0, 1));
	assert_false(pl_late_samples_keep(&s.target, &s.asked, &proved, 0, 1));
	assert_false(keep(&s, &s.other, 0));
	assert_null(s.target.late.thread);
	deinit(&s);
}

/* Were another one asked, too: those of one thread are kept. */
static void one_thread_of_a_process_at_a_time_keeps_them(void **state)
{
	struct scene s;

	init(&s);
	assert_true(pl_vec_push(&s.target.python.stopper.late, ((struct pl_pause){.pid = 100, .tid = 102})));
	assert_true(keep(&s, &s.asked, 0));
	assert_false(keep(&s, &s.other, 0));
	pl_late_samples_give_up(&s.engine, &s.asked);
	assert_true(keep(&s, &s.other, 1));
	assert_int_equal(s.target.late.kept.len, 1);
	deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_many_are_kept_and_what_comes_then_is_sent_at_once),
		cmocka_unit_test(those_of_a_stop_that_is_given_up_are_told_as_they_were),
		cmocka_unit_test(only_a_thread_that_is_asked_to_stop_keeps_what_lacks_native_frames),
		cmocka_unit_test(one_thread_of_a_process_at_a_time_keeps_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
