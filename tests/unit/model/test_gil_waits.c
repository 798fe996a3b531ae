/* SPDX-License-Identifier: Apache-2.0 */
/* Who held the GIL while threads waited for it: the nearest holder of the same process, before or after, and nobody
 * where that was too far away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gil_waits.h"
#include "refine.h"
#include "support.h"

#define MS    1000000ull
#define HOLDS (PL_STATE_ON_CPU | PL_STATE_HAS_GIL)
#define WAITS PL_STATE_WANTS_GIL
#define MOST  2048

struct scene {
	struct plumb_profile *p;
	uint32_t main, worker, other; /* threads; the last one of another process */
	uint32_t f, g, native;	      /* stacks */
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
	s->f = add_frame(s->p, 0, "f", "f.py", 1);
	s->g = add_frame(s->p, 0, "g", "g.py", 1);
	struct pl_function memcpy_ = {.name = add_string(s->p, "memcpy"), .origin = PL_ORIGIN_NATIVE};
	struct pl_location at = {.column = -1, .end_column = -1};
	memcpy_.qualname = memcpy_.name;
	check(pl_profile_function(s->p, &memcpy_, &at.function));
	uint32_t location;
	check(pl_profile_location(s->p, &at, &location));
	check(pl_profile_stack(s->p, s->g, location, &s->native));
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

static void sample(struct scene *s, uint64_t time_ns, uint32_t thread, uint32_t stack, uint8_t what)
{
	const struct pl_sample one = {
		.time_ns = time_ns, .thread = thread, .stack = stack, .state = what, .weight_ns = 10 * MS};

	assert_true(s->count < MOST);
	s->samples[s->count++] = one;
	check(pl_profile_add(s->p, &one));
}

static struct pl_gil_blame blame(const struct plumb_profile *p, enum pl_idle idle)
{
	struct pl_filter f = {.idle = idle};
	struct pl_gil_blame b;

	check(pl_gil_blame_find(p, &f, &b));
	return b;
}

/* "f 2 g 1 ? 3": samples by the name of who held it. */
static void expect(const struct plumb_profile *p, const char *want)
{
	struct pl_gil_blame b = blame(p, PL_IDLE_KEEP);
	char got[200] = "";
	size_t len = 0;

	for (size_t i = 0; i < b.rows.len; i++)
		len += (size_t)snprintf(got + len, sizeof got - len, "%s %u ",
					pl_strtab_get(p->strings, p->functions[b.rows.data[i].function].name, NULL),
					(unsigned)b.rows.data[i].held.samples);
	snprintf(got + len, sizeof got - len, "? %u", (unsigned)b.unseen.samples);
	assert_string_equal(got, want);
	pl_gil_blame_deinit(&b);
}

static void the_nearest_holder_before_or_after(void **state)
{
	struct scene *s = *state;

	sample(s, 100 * MS, s->main, s->f, HOLDS);
	sample(s, 101 * MS, s->worker, s->g, WAITS); /* 1 ms behind f, 3 before g */
	sample(s, 104 * MS, s->main, s->g, HOLDS);
	expect(s->p, "f 1 ? 0");
	sample(s, 111 * MS, s->worker, s->g, WAITS); /* 7 ms behind g, 1 before f */
	sample(s, 112 * MS, s->main, s->f, HOLDS);
	expect(s->p, "f 2 ? 0");
}

static void nobody_is_seen_beyond_half_a_period(void **state)
{
	struct scene *s = *state;

	sample(s, 100 * MS, s->main, s->f, HOLDS);
	sample(s, 105 * MS, s->worker, s->g, WAITS);
	sample(s, 106 * MS, s->worker, s->g, WAITS);
	sample(s, 112 * MS, s->main, s->f, HOLDS);
	sample(s, 200 * MS, s->worker, s->g, WAITS); /* the last one */
	expect(s->p, "f 1 ? 2");
}

static void each_process_has_its_own(void **state)
{
	struct scene *s = *state;

	sample(s, 100 * MS, s->other, s->f, HOLDS);
	sample(s, 100 * MS, s->worker, s->g, WAITS);
	sample(s, 101 * MS, s->main, s->g, HOLDS);
	sample(s, 101 * MS, s->other, s->f, HOLDS);
	expect(s->p, "g 1 ? 0");
}

/* What native code does with the GIL held is done for the Python function that called it. */
static void it_is_a_function_of_python_that_holds_it(void **state)
{
	struct scene *s = *state;

	sample(s, 100 * MS, s->main, s->native, HOLDS);
	sample(s, 100 * MS, s->worker, s->f, WAITS);
	expect(s->p, "g 1 ? 0");
	sample(s, 120 * MS, s->main, 0, HOLDS); /* without a frame */
	sample(s, 120 * MS, s->worker, s->f, WAITS);
	expect(s->p, "g 1 ? 1");
}

static void shares_have_the_interval_of_their_batches(void **state)
{
	struct scene *s = *state;

	for (uint64_t i = 0; i < 500; i++) {
		sample(s, i * 20 * MS, s->main, i % 4 ? s->f : s->g, HOLDS);
		sample(s, i * 20 * MS + 1, s->worker, s->g, WAITS);
	}
	struct pl_gil_blame b = blame(s->p, PL_IDLE_KEEP);
	assert_int_equal(b.samples, 500);
	assert_int_equal(b.weight_ns, 5000 * MS);
	assert_int_equal(b.rows.len, 2);
	assert_true(b.rows.data[0].held.share > 0.7499 && b.rows.data[0].held.share < 0.7501);
	assert_true(b.rows.data[0].held.half_width > 0 && b.rows.data[0].held.half_width < 0.1);
	assert_true(b.unseen.half_width > 0); /* none of 500: Wilson's */
	pl_gil_blame_deinit(&b);
}

/* A filter leaves out samples, and who held it meanwhile is still known. */
static void of_a_part_who_held_it_is_asked_of_the_whole(void **state)
{
	struct scene *s = *state;
	struct pl_refine waiting = {.doing = PL_PASS_WANTS_GIL}, late = {.from_ns = 100 * MS + 1};
	struct plumb_profile *part;

	sample(s, 100 * MS, s->main, s->f, HOLDS);
	sample(s, 100 * MS + 2, s->worker, s->f, WAITS);
	sample(s, 120 * MS, s->main, s->g, HOLDS);
	sample(s, 120 * MS, s->worker, s->f, WAITS);
	check(pl_refine(s->p, &waiting, &part));
	expect(part, "f 1 g 1 ? 0"); /* nothing of what passes is in g */
	pl_profile_destroy(part);
	check(pl_refine(s->p, &late, &part));
	expect(part, "f 1 g 1 ? 0");
	pl_profile_destroy(part);
}

static void without_instants_nothing_is_told(void **state)
{
	struct scene *s = *state;

	sample(s, 100 * MS, s->main, s->f, HOLDS);
	sample(s, 100 * MS, s->worker, s->g, WAITS);
	s->p->meta.mode = PL_MODE_CPU;
	expect(s->p, "? 0");
	s->p->meta.mode = PL_MODE_WALL;
	s->p->meta.untimed = true;
	expect(s->p, "? 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_nearest_holder_before_or_after, start, end),
		cmocka_unit_test_setup_teardown(nobody_is_seen_beyond_half_a_period, start, end),
		cmocka_unit_test_setup_teardown(each_process_has_its_own, start, end),
		cmocka_unit_test_setup_teardown(it_is_a_function_of_python_that_holds_it, start, end),
		cmocka_unit_test_setup_teardown(shares_have_the_interval_of_their_batches, start, end),
		cmocka_unit_test_setup_teardown(of_a_part_who_held_it_is_asked_of_the_whole, start, end),
		cmocka_unit_test_setup_teardown(without_instants_nothing_is_told, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
