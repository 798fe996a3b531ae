/* SPDX-License-Identifier: Apache-2.0 */
/* What happened at a moment comes back as it was, from whichever chunk; and a file can have only so much of it. */
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "events.h"
#include "recording.h"

static struct generator generator_for(struct kept *s, uint64_t seed)
{
	s->p->meta.period_ns = 1000000;
	return (struct generator){
		.rng = {.state = seed}, .profile = s->p, .depth = 8, .processes = 2, .step_ns = 4000000};
}

static void add_sample(struct kept *s, struct generator *g)
{
	struct pl_sample sample = generate_sample(g);

	check(pl_profile_add(s->p, &sample));
	check(pl_capture_add(s->w, &sample));
}

static void events_come_back(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct kept s;

		kept_init(&s);
		struct generator g = generator_for(&s, seed);
		for (unsigned chunk = 0; chunk < 4; chunk++) {
			add_sample(&s, &g);
			for (unsigned i = 0; i < chunk; i++) {
				struct pl_event e = generate_event(&g);
				check(pl_capture_event(s.w, &e));
			}
			check(pl_capture_flush(s.w, s.p));
		}
		kept_read(&s);
		assert_int_equal(s.back->event_count, 6);
		assert_same_profile(s.back, s.p);
		kept_deinit(&s);
	}
}

/* A file may have any number: what a profile does not take is counted, beside what was lost when it was recorded. */
static void too_many_are_counted(void **state)
{
	struct kept s;

	kept_init(&s);
	struct generator g = generator_for(&s, 1);
	add_sample(&s, &g);
	for (uint32_t i = 0; i < PL_MAX_PROCESS_EVENTS + 5; i++) {
		struct pl_event e = {.process = 1, .time_ns = i};
		check(pl_capture_event(s.w, &e));
	}
	s.p->meta.losses[PL_LOSS_EVENTS] = 2;
	kept_read(&s);
	assert_int_equal(s.back->event_count, PL_MAX_PROCESS_EVENTS);
	assert_int_equal(s.back->meta.losses[PL_LOSS_EVENTS], 7);
	kept_deinit(&s);
}

/* Sixteen labels that are as long as they can be, the same each time, say a hundred times as much as they take room. */
static void what_honest_programs_say_again_and_again_is_read(void **state)
{
	static char labels[4001];
	struct kept s;

	kept_init(&s);
	struct generator g = generator_for(&s, 1);
	add_sample(&s, &g);
	memset(labels, 'x', sizeof labels - 1);
	struct pl_event e = {.process = 1};
	check(pl_profile_string(s.p, labels, sizeof labels - 1, &e.labels));
	for (uint32_t i = 0; i < PL_MAX_EVENTS; i++) {
		e.process = i / PL_MAX_PROCESS_EVENTS; /* 0: of none */
		e.time_ns += 1000000;
		check(pl_capture_event(s.w, &e));
	}
	kept_read(&s);
	assert_int_equal(s.back->event_count, PL_MAX_EVENT_TEXT / (sizeof labels - 1));
	assert_int_equal(s.back->meta.losses[PL_LOSS_EVENTS], PL_MAX_EVENTS - s.back->event_count);
	kept_deinit(&s);
}

/* Whatever they refer to: of what no chunk told, "<lost>" is known. */
static void what_they_refer_to_may_be_lost(void **state)
{
	const struct pl_event e = {.process = 70, .thread = 80, .name = 90000, .kind = 200};
	struct kept s;

	kept_init(&s);
	struct generator g = generator_for(&s, 1);
	add_sample(&s, &g);
	check(pl_capture_event(s.w, &e));
	kept_read(&s);
	assert_int_equal(s.back->event_count, 1);
	assert_string_equal(pl_strtab_get(s.back->strings, s.back->events[0].name, NULL), "<lost>");
	assert_int_equal(s.back->events[0].kind, 200);
	assert_true(s.back->events[0].process && s.back->events[0].process <= s.back->process_count);
	assert_true(s.back->events[0].thread && s.back->events[0].thread <= s.back->thread_count);
	kept_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_back),
		cmocka_unit_test(too_many_are_counted),
		cmocka_unit_test(what_honest_programs_say_again_and_again_is_read),
		cmocka_unit_test(what_they_refer_to_may_be_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
