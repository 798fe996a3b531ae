/* SPDX-License-Identifier: Apache-2.0 */
/* What happened at a moment comes back as it was, from whichever chunk; and a file can have only so much of it. */
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "events.h"
#include "recording.h"

struct scene {
	char *path;
	struct plumb_profile *p, *back;
	struct pl_capture_writer *w;
	struct pl_capture_info info;
	struct generator g;
};

static void scene_init(struct scene *s, uint64_t seed)
{
	*s = (struct scene){.path = temp_file()};
	check(pl_profile_create(&s->p));
	s->g = (struct generator){
		.rng = {.state = seed}, .profile = s->p, .depth = 8, .processes = 2, .step_ns = 4000000};
	s->p->meta.period_ns = 1000000;
	check(pl_capture_create(s->path, s->p, &s->w));
}

static void scene_read(struct scene *s)
{
	size_t len = 0;

	s->p->meta.complete = true;
	check(pl_capture_finish(s->w, s->p));
	uint8_t *bytes = file_bytes(s->path, &len);
	check(read_bytes(bytes, len, &s->back, &s->info));
	free(bytes);
}

static void scene_deinit(struct scene *s)
{
	pl_capture_destroy(s->w);
	pl_profile_destroy(s->p);
	pl_profile_destroy(s->back);
	unlink(s->path);
	free(s->path);
}

static void add_sample(struct scene *s)
{
	struct pl_sample sample = generate_sample(&s->g);

	check(pl_profile_add(s->p, &sample));
	check(pl_capture_add(s->w, &sample));
}

static void events_come_back(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct scene s;

		scene_init(&s, seed);
		for (unsigned chunk = 0; chunk < 4; chunk++) {
			add_sample(&s);
			for (unsigned i = 0; i < chunk; i++) {
				struct pl_event e = generate_event(&s.g);
				check(pl_capture_event(s.w, &e));
			}
			check(pl_capture_flush(s.w, s.p));
		}
		scene_read(&s);
		assert_int_equal(s.back->event_count, 6);
		assert_same_profile(s.back, s.p);
		scene_deinit(&s);
	}
}

/* A file may have any number: what a profile does not take is counted, beside what was lost when it was recorded. */
static void too_many_are_counted(void **state)
{
	struct scene s;

	scene_init(&s, 1);
	add_sample(&s);
	for (uint32_t i = 0; i < PL_MAX_PROCESS_EVENTS + 5; i++) {
		struct pl_event e = {.process = 1, .time_ns = i};
		check(pl_capture_event(s.w, &e));
	}
	s.p->meta.losses[PL_LOSS_EVENTS] = 2;
	scene_read(&s);
	assert_int_equal(s.back->event_count, PL_MAX_PROCESS_EVENTS);
	assert_int_equal(s.back->meta.losses[PL_LOSS_EVENTS], 7);
	scene_deinit(&s);
}

/* Whatever they refer to: of what no chunk told, "<lost>" is known. */
static void what_they_refer_to_may_be_lost(void **state)
{
	const struct pl_event e = {.process = 70, .thread = 80, .name = 90000, .kind = 200};
	struct scene s;

	scene_init(&s, 1);
	add_sample(&s);
	check(pl_capture_event(s.w, &e));
	scene_read(&s);
	assert_int_equal(s.back->event_count, 1);
	assert_string_equal(pl_strtab_get(s.back->strings, s.back->events[0].name, NULL), "<lost>");
	assert_int_equal(s.back->events[0].kind, 200);
	assert_true(s.back->events[0].process && s.back->events[0].process <= s.back->process_count);
	assert_true(s.back->events[0].thread && s.back->events[0].thread <= s.back->thread_count);
	scene_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_back),
		cmocka_unit_test(too_many_are_counted),
		cmocka_unit_test(what_they_refer_to_may_be_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
