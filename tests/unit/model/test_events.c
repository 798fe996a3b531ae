/* SPDX-License-Identifier: Apache-2.0 */
/* What happened at a moment: kept up to the limits, filtered as samples are, and merged on real time. */
#include "events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "refine.h"
#include "support.h"

#define SECOND	1000000000ull
#define STARTED (1000 * SECOND)

static void add_event(struct plumb_profile *p, const char *name, uint64_t time_ns, uint32_t thread)
{
	struct pl_event e = {.name = add_string(p, name), .time_ns = time_ns, .thread = thread};

	if (thread)
		e.process = 1 + p->threads[thread - 1].process;
	check(pl_profile_event(p, &e));
}

/* Samples with the times of their batches. */
static struct plumb_error *each_cell(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const struct plumb_profile *p = ctx;
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < p->cell_count && !err; i++) {
		const struct pl_cell *c = &p->cells[i];
		const struct pl_sample s = {.time_ns = c->batch * p->batch_ns,
					    .thread = c->thread,
					    .stack = c->stack,
					    .state = c->state,
					    .weight_ns = c->weight_ns};
		err = fn(fn_ctx, &s);
	}
	return err;
}

/* Two processes with a thread each, which is sampled once a second for ten seconds. */
static struct plumb_profile *two_processes(uint64_t start_ns)
{
	struct plumb_profile *p = empty_profile();
	uint32_t stack = add_frame(p, 0, "f", "a.py", 1);

	p->meta.start_real_ns = start_ns;
	p->meta.duration_ns = 10 * SECOND;
	for (uint32_t pid = 10; pid <= 20; pid += 10) {
		uint32_t thread = add_thread(p, pid, pid, "", true);

		for (uint64_t s = 0; s < 10; s++)
			add_samples(p, stack, thread, PL_STATE_ON_CPU, s * SECOND, 1, SECOND);
	}
	p->stream = (struct pl_stream){.each = each_cell, .ctx = p};
	return p;
}

/* Names with times in tenths of a second, by time. */
static void assert_events(const struct plumb_profile *p, const char *expected)
{
	pl_event_vec events;
	char text[256] = "";

	check(pl_events_by_time(p, &(struct pl_filter){0}, &events));
	for (size_t i = 0; i < events.len; i++) {
		uint64_t since_ns;

		assert_true(pl_event_since_ns(p, events.data[i].time_ns, &since_ns));
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s@%llu ",
			 pl_strtab_get(p->strings, events.data[i].name, NULL),
			 (unsigned long long)since_ns / (SECOND / 10));
	}
	pl_vec_deinit(&events);
	assert_string_equal(text, expected);
}

static void assert_refined(const struct plumb_profile *p, struct pl_refine o, const char *expected)
{
	struct plumb_profile *part;

	check(pl_refine(p, &o, &part));
	assert_events(part, expected);
	pl_profile_destroy(part);
}

static struct plumb_profile *with_events(uint64_t start_ns)
{
	struct plumb_profile *p = two_processes(start_ns);

	add_event(p, "late", 8 * SECOND, 2);
	add_event(p, "early", 2 * SECOND, 1);
	add_event(p, "of all", 5 * SECOND, 0);
	return p;
}

static void filters_choose_by_time_process_and_thread(void **state)
{
	static const char *const process[] = {"10"};
	struct plumb_profile *p = with_events(STARTED);

	assert_events(p, "early@20 of all@50 late@80 ");
	assert_refined(p, (struct pl_refine){.from_ns = 4 * SECOND, .to_ns = 9 * SECOND}, "of all@10 late@40 ");
	assert_refined(p, (struct pl_refine){.processes = process, .process_count = 1}, "early@20 of all@50 ");
	assert_refined(p, (struct pl_refine){.threads = process, .thread_count = 1}, "early@20 of all@50 ");
	assert_refined(p, (struct pl_refine){.focus = "nothing"}, "early@20 of all@50 late@80 ");
	assert_refined(p, (struct pl_refine){.min_share = 0.5}, "early@20 of all@50 late@80 ");
	pl_profile_destroy(p);
}

/* Whichever is added to which. */
static void merging_keeps_real_time(void **state)
{
	for (int order = 0; order < 2; order++) {
		struct plumb_profile *sum = empty_profile(), *first = with_events(STARTED),
				     *second = with_events(STARTED + 100 * SECOND);

		check(pl_profile_merge(sum, order ? first : second));
		check(pl_profile_merge(sum, order ? second : first));
		assert_events(sum, "early@20 of all@50 late@80 early@1020 of all@1050 late@1080 ");
		pl_profile_destroy(first);
		pl_profile_destroy(second);
		pl_profile_destroy(sum);
	}
}

/* The pause between has no time there, and what is chosen are batches: the part begins with one. */
static void a_part_of_a_sum_has_what_happened_in_it(void **state)
{
	struct plumb_profile *sum = empty_profile(), *other = with_events(STARTED + 100 * SECOND);
	struct plumb_profile *first = with_events(STARTED);

	check(pl_profile_merge(sum, first));
	check(pl_profile_merge(sum, other));
	uint64_t later_ns = pl_event_axis_ns(sum, STARTED + 100 * SECOND);
	assert_true(later_ns > 9 * SECOND && later_ns < 12 * SECOND);
	assert_refined(sum, (struct pl_refine){.from_ns = later_ns + sum->batch_ns}, "early@19 of all@49 late@79 ");
	pl_profile_destroy(first);
	pl_profile_destroy(other);
	pl_profile_destroy(sum);
}

static void too_many_are_counted(void **state)
{
	struct plumb_profile *p = two_processes(STARTED);

	for (uint32_t i = 0; i < PL_MAX_PROCESS_EVENTS + 7; i++)
		add_event(p, "x", i, 1);
	assert_int_equal(p->event_count, PL_MAX_PROCESS_EVENTS);
	assert_int_equal(p->meta.losses[PL_LOSS_EVENTS], 7);
	add_event(p, "y", 0, 2);
	assert_int_equal(p->event_count, PL_MAX_PROCESS_EVENTS + 1);
	for (uint32_t pid = 100; p->event_count < PL_MAX_EVENTS; pid++) {
		uint32_t thread = 1 + add_thread(p, pid, pid, "", true);

		for (uint32_t i = 0; i < PL_MAX_PROCESS_EVENTS && p->event_count < PL_MAX_EVENTS; i++)
			add_event(p, "z", i, thread);
	}
	add_event(p, "y", 0, 2);
	assert_int_equal(p->event_count, PL_MAX_EVENTS);
	assert_int_equal(p->meta.losses[PL_LOSS_EVENTS], 8);
	pl_profile_forget(p);
	add_event(p, "y", 0, 1);
	assert_int_equal(p->event_count, 1);
	pl_profile_destroy(p);
}

/* Each one's count, however often the same was said. */
static void too_long_ones_are_counted(void **state)
{
	struct plumb_profile *p = two_processes(STARTED);
	static char name[PL_MAX_EVENT_TEXT / 4 + 1];

	memset(name, 'x', sizeof name - 1);
	for (uint32_t i = 0; i < 6; i++)
		add_event(p, name, i, 1 + i % 2);
	assert_int_equal(p->event_count, 4);
	assert_int_equal(p->meta.losses[PL_LOSS_EVENTS], 2);
	add_event(p, "", 0, 1);
	assert_int_equal(p->event_count, 5);
	pl_profile_forget(p);
	add_event(p, name, 0, 1);
	assert_int_equal(p->event_count, 1);
	pl_profile_destroy(p);
}

/* Of processes with one number the last. */
static void who_it_was_of_is_found(void **state)
{
	struct plumb_profile *p = two_processes(STARTED);
	struct pl_event e = {0};

	pl_event_find(p, 20, 20, &e);
	assert_int_equal(e.process, 2);
	assert_int_equal(e.thread, 2);
	pl_event_find(p, 20, 10, &e);
	assert_int_equal(e.process, 2);
	assert_int_equal(e.thread, 0);
	pl_event_find(p, 30, 10, &e);
	assert_int_equal(e.process, 0);
	assert_int_equal(e.thread, 0);
	pl_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_choose_by_time_process_and_thread),
		cmocka_unit_test(merging_keeps_real_time),
		cmocka_unit_test(a_part_of_a_sum_has_what_happened_in_it),
		cmocka_unit_test(too_many_are_counted),
		cmocka_unit_test(too_long_ones_are_counted),
		cmocka_unit_test(who_it_was_of_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
