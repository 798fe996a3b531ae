/* SPDX-License-Identifier: Apache-2.0 */
/* For which locks threads waited, and who held them: shares of what was waited for one lock, through filters, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lock_waits.h"
#include "refine.h"
#include "support.h"

#define MS   1000000ull
#define MOST 4096

struct scene {
	struct plumb_profile *p;
	uint32_t main, worker, other; /* threads; the last one of another process */
	uint32_t handler, work;	      /* stacks */
	struct pl_sample samples[MOST];
	size_t count;
};

static struct plumb_error *each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const struct scene *s = ctx;
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < s->count && !err; i++)
		err = fn(fn_ctx, &s->samples[i]);
	return err;
}

static int start(void **state)
{
	struct scene *s = calloc(1, sizeof *s);

	assert_non_null(s);
	check(pl_profile_create(&s->p));
	s->p->stream = (struct pl_stream){.each = each, .ctx = s};
	s->main = add_thread(s->p, 1, 1, "MainThread", true);
	s->worker = add_thread(s->p, 1, 2, "worker", false);
	s->other = add_thread(s->p, 2, 3, "MainThread", true);
	s->handler = add_frame(s->p, 0, "handler", "app.py", 8);
	s->work = add_frame(s->p, 0, "work", "app.py", 20);
	*state = s;
	return 0;
}

static int end(void **state)
{
	struct scene *s = *state;

	pl_profile_destroy(s->p);
	free(s);
	return 0;
}

static uint32_t lock(struct scene *s, uint64_t object, enum pl_lock_holder holder, uint64_t tid)
{
	struct pl_lock_state l = {.object = object, .holder = (uint8_t)holder};
	uint32_t row;

	if (holder == PL_LOCK_HELD) {
		l.tid = tid;
		l.name = s->p->threads[s->main].name;
		l.inside = l.location = 1 + s->p->stacks[s->work].location;
	}
	check(pl_profile_lock(s->p, &l, &row));
	return 1 + row;
}

static void sample(struct scene *s, uint64_t time_ns, uint32_t thread, uint32_t lock)
{
	const struct pl_sample one = {
		.time_ns = time_ns, .thread = thread, .stack = s->handler, .weight_ns = 10 * MS, .lock = lock};

	assert_true(s->count < MOST);
	s->samples[s->count++] = one;
	check(pl_profile_add(s->p, &one));
}

static struct pl_lock_blame blame(const struct plumb_profile *p, const struct pl_filter *f)
{
	struct pl_lock_blame b;

	check(pl_lock_blame_find(p, f, &b));
	return b;
}

/* "1x4096 10 [handler:8 10] [work:20 by 1 6] free 1 ? 3; ": of each lock its process and id, samples, who waited where,
 * who held it. */
static void expect_of(const struct plumb_profile *p, const struct pl_filter *f, const char *want)
{
	struct pl_lock_blame b = blame(p, f);
	char got[600] = "";
	size_t len = 0;

#define SAY(...) (len += (size_t)snprintf(got + len, sizeof got - len, __VA_ARGS__))
	for (size_t i = 0; i < b.rows.len; i++) {
		const struct pl_lock_row *row = &b.rows.data[i];

		SAY("%ux%u %u of %u", (unsigned)p->processes[row->process].pid, (unsigned)row->object,
		    (unsigned)row->waited.samples, (unsigned)row->threads);
		for (size_t k = 0; k < row->places.len; k++) {
			uint32_t name = p->functions[row->places.data[k].function].name;
			SAY(" [%s:%d %u]", pl_strtab_get(p->strings, name, NULL), row->places.data[k].line,
			    (unsigned)row->places.data[k].share.samples);
		}
		for (size_t k = 0; k < row->holders.len; k++) {
			const struct pl_lock_holding *h = &row->holders.data[k];
			const struct pl_location *at = &p->locations[h->inside - 1];
			SAY(" {%s:%d by %u %u}", pl_strtab_get(p->strings, p->functions[at->function].name, NULL),
			    at->line, (unsigned)h->tid, (unsigned)h->held.samples);
		}
		SAY(" free %u ? %u; ", (unsigned)row->passed_on.samples, (unsigned)row->unknown.samples);
	}
	SAY("others %u", (unsigned)b.others.samples);
#undef SAY
	assert_string_equal(got, want);
	pl_lock_blame_deinit(&b);
}

static void expect(const struct plumb_profile *p, const char *want)
{
	expect_of(p, &(struct pl_filter){.idle = PL_IDLE_KEEP}, want);
}

static void each_lock_with_who_waited_and_who_held_it(void **state)
{
	struct scene *s = *state;
	uint32_t held = lock(s, 4096, PL_LOCK_HELD, 1), by_another = lock(s, 4096, PL_LOCK_HELD, 9);

	for (unsigned i = 0; i < 4; i++)
		sample(s, i * 10 * MS, s->worker, held);
	sample(s, 40 * MS, s->main, by_another);
	sample(s, 50 * MS, s->worker, lock(s, 4096, PL_LOCK_FREE, 0));
	sample(s, 60 * MS, s->worker, lock(s, 4096, PL_LOCK_UNKNOWN, 0));
	sample(s, 60 * MS, s->worker, lock(s, 8192, PL_LOCK_UNKNOWN, 0));
	sample(s, 70 * MS, s->worker, 0);
	expect(s->p, "1x4096 7 of 2 [handler:8 7] {work:20 by 1 4} {work:20 by 9 1} free 1 ? 1; "
		     "1x8192 1 of 1 [handler:8 1] free 0 ? 1; others 0");
}

/* Its frames may be hidden, and a recording may have none at all. */
static void an_empty_stack_is_no_place(void **state)
{
	struct scene *s = *state;
	struct plumb_profile *bare;
	struct pl_refine hidden = {.kinds = 1u << PL_ORIGIN_MARKER};

	sample(s, 0, s->worker, lock(s, 4096, PL_LOCK_UNKNOWN, 0));
	check(pl_refine(s->p, &hidden, &bare));
	assert_int_equal(bare->location_count, 0);
	expect(bare, "1x4096 1 of 1 free 0 ? 1; others 0");
	pl_profile_destroy(bare);
}

static void locks_of_two_processes_are_two(void **state)
{
	struct scene *s = *state;
	uint32_t held = lock(s, 4096, PL_LOCK_UNKNOWN, 0);

	sample(s, 0, s->worker, held);
	sample(s, 0, s->other, held);
	sample(s, 0, s->main, held);
	expect(s->p, "1x4096 2 of 2 [handler:8 2] free 0 ? 2; 2x4096 1 of 1 [handler:8 1] free 0 ? 1; others 0");
}

static void shares_are_of_one_lock_and_have_an_interval(void **state)
{
	struct scene *s = *state;
	uint32_t held = lock(s, 4096, PL_LOCK_HELD, 1), free_ = lock(s, 4096, PL_LOCK_FREE, 0),
		 second = lock(s, 8192, PL_LOCK_FREE, 0);

	for (unsigned i = 0; i < 400; i++) {
		sample(s, i * 10 * MS, s->worker, i % 4 ? held : free_);
		sample(s, i * 10 * MS, s->main, second);
	}
	struct pl_lock_blame b = blame(s->p, &(struct pl_filter){.idle = PL_IDLE_KEEP});
	assert_int_equal(b.samples, 800);
	assert_int_equal(b.rows.len, 2);
	const struct pl_lock_row *row = &b.rows.data[b.rows.data[0].object == 4096 ? 0 : 1];
	assert_true(row->waited.share == 0.5 && row->holders.data[0].held.share == 0.75);
	assert_true(row->passed_on.share == 0.25 && row->held_in.data[0].share.share == 0.75);
	assert_true(row->holders.data[0].held.half_width > 0.01 && row->holders.data[0].held.half_width < 0.1);
	pl_lock_blame_deinit(&b);
}

static void of_a_part_who_held_it_is_still_known(void **state)
{
	struct scene *s = *state;
	struct pl_refine late = {.from_ns = 15 * MS}, focus = {.focus = "handler"};
	struct plumb_profile *part;
	uint32_t held = lock(s, 4096, PL_LOCK_HELD, 1);

	sample(s, 10 * MS, s->worker, lock(s, 8192, PL_LOCK_FREE, 0));
	sample(s, 20 * MS, s->worker, held);
	sample(s, 30 * MS, s->main, held);
	check(pl_refine(s->p, &late, &part));
	expect(part, "1x4096 2 of 2 [handler:8 2] {work:20 by 1 2} free 0 ? 0; others 0");
	pl_profile_destroy(part);
	check(pl_refine(s->p, &focus, &part)); /* nothing of what passes is in work */
	expect(part, "1x4096 2 of 2 [handler:8 2] {work:20 by 1 2} free 0 ? 0; "
		     "1x8192 1 of 1 [handler:8 1] free 1 ? 0; others 0");
	pl_profile_destroy(part);
}

static void threads_are_chosen_and_none_is_idle_that_waits_for_a_lock(void **state)
{
	struct scene *s = *state;
	const char *const names[] = {"worker"};
	struct pl_filter f = {.idle = PL_IDLE_HIDE_THREADS, .threads = names, .thread_count = 1};
	uint32_t held = lock(s, 4096, PL_LOCK_UNKNOWN, 0);

	s->p->meta.duration_ns = 1000 * MS;
	s->p->threads[s->worker].cpu_known = true;
	sample(s, 0, s->worker, held);
	sample(s, 0, s->main, held);
	expect_of(s->p, &f, "1x4096 1 of 1 [handler:8 1] free 0 ? 1; others 0");
	f.thread_count = 0;
	f.threads = NULL;
	expect_of(s->p, &f, "1x4096 2 of 2 [handler:8 2] free 0 ? 2; others 0");
}

/* The lightest of more locks than have a row, and what there was no room for. */
static void too_many_locks_are_told_together(void **state)
{
	struct scene *s = *state;

	for (unsigned i = 0; i < PL_LOCK_ROWS + 20; i++)
		for (unsigned k = 0; k < 1 + (i < PL_LOCK_ROWS); k++)
			sample(s, i * MS, s->worker, lock(s, 4096 * (i + 1), PL_LOCK_UNKNOWN, 0));
	sample(s, 0, s->worker, 1); /* row 0: of a lock that is not known */
	struct pl_lock_blame b = blame(s->p, &(struct pl_filter){.idle = PL_IDLE_KEEP});
	assert_int_equal(b.rows.len, PL_LOCK_ROWS);
	assert_int_equal(b.others.samples, 21);
	assert_int_equal(b.samples, 2 * PL_LOCK_ROWS + 21);
	pl_lock_blame_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_lock_with_who_waited_and_who_held_it, start, end),
		cmocka_unit_test_setup_teardown(an_empty_stack_is_no_place, start, end),
		cmocka_unit_test_setup_teardown(locks_of_two_processes_are_two, start, end),
		cmocka_unit_test_setup_teardown(shares_are_of_one_lock_and_have_an_interval, start, end),
		cmocka_unit_test_setup_teardown(of_a_part_who_held_it_is_still_known, start, end),
		cmocka_unit_test_setup_teardown(threads_are_chosen_and_none_is_idle_that_waits_for_a_lock, start, end),
		cmocka_unit_test_setup_teardown(too_many_locks_are_told_together, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
