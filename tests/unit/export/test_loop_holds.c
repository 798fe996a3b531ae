/* SPDX-License-Identifier: Apache-2.0 */
/* For how long event loops were held, and by what: of samples whose order and instants are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"
#include "unit.h"

#define RUN (PL_STATE_ON_CPU | PL_STATE_HAS_GIL)
#define MS  UINT64_C(1000000)

struct loop {
	struct build b;
	struct pl_sample samples[4096];
	size_t count;
	uint64_t now_ns;
	uint32_t waits, runs; /* stacks: in the selector, and in Handle._run */
};

static struct plumb_error *each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	struct loop *l = ctx;
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < l->count && !err; i++)
		err = fn(fn_ctx, &l->samples[i]);
	return err;
}

static struct loop *start(void)
{
	struct loop *l = calloc(1, sizeof *l);
	uint32_t once;

	assert_non_null(l);
	build_start(&l->b);
	l->b.p->stream = (struct pl_stream){.each = each, .ctx = l};
	once = build_frame(&l->b, 0, "_run_once", "/usr/lib/python3.12/asyncio/base_events.py", 1898);
	l->waits = build_frame(&l->b, once, "select", "/usr/lib/python3.12/selectors.py", 469);
	l->runs = build_frame(&l->b, once, "Handle._run", "/usr/lib/python3.12/asyncio/events.py", 84);
	return l;
}

static void end(struct loop *l)
{
	l->b.p->stream = (struct pl_stream){0};
	build_end(&l->b);
	free(l);
}

/* One a millisecond. */
static void stay(struct loop *l, uint32_t stack, int state, int count)
{
	for (int i = 0; i < count; i++) {
		struct pl_sample s = {
			.time_ns = l->now_ns += MS, .stack = stack, .state = (uint16_t)state, .weight_ns = MS};

		assert_true(l->count < sizeof l->samples / sizeof *l->samples);
		l->samples[l->count++] = s;
		assert_null(pl_profile_add(l->b.p, &s));
	}
}

static void idle(struct loop *l, int count)
{
	stay(l, l->waits, 0, count);
}

/* The member @p name of the JSON, up to @p next. */
static char *member(const struct loop *l, const char *name, const char *next)
{
	struct pl_export_options o = build_options(80);
	char *json = build_output(l->b.p, "json", &o, NULL), *from = strstr(json, name), *to, *copy = NULL;

	if (from && (to = strstr(from, next)) != NULL)
		copy = strndup(from, (size_t)(to - from));
	free(json);
	return copy;
}

static void expect(const struct loop *l, const char *text)
{
	char *holds = member(l, "\"loop_holds\":", "\"sources\"");

	if (!holds || !strstr(holds, text))
		fail_msg("%s\nand not %s", holds ? holds : "nothing", text);
	free(holds);
}

static void expect_nothing(const struct loop *l)
{
	assert_null(member(l, "\"loop_holds\":", "\"sources\""));
}

static void stretches_are_told_with_who_held(void **state)
{
	struct loop *l = start();
	uint32_t handler = build_frame(&l->b, l->runs, "handler", "/app.py", 7);
	uint32_t encode = build_frame(&l->b, handler, "encode", "/app.py", 31);
	uint32_t deeper = build_frame(&l->b, encode, "dumps", "/usr/lib/python3.12/json/__init__.py", 231);
	uint32_t other = build_frame(&l->b, encode, "loads", "/usr/lib/python3.12/json/__init__.py", 299);

	idle(l, 50);
	stay(l, deeper, RUN, 60);
	stay(l, other, RUN, 60);
	idle(l, 50);
	stay(l, handler, 0, 30);
	idle(l, 50);
	expect(l, "{\"gap_ns\":1000000,\"least_ns\":20000000,\"count\":2,\"held_ns\":150000000,\"holders\":[{\"name\":"
		  "\"encode\",\"file\":\"/app.py\",\"line\":30,\"count\":1,\"held_ns\":120000000,\"longest_ns\":"
		  "120000000},{\"name\":\"handler\",\"file\":\"/app.py\",\"line\":6,\"count\":1,\"held_ns\":30000000,"
		  "\"longest_ns\":30000000}]");
	expect(l, "\"longest\":[{\"pid\":4242,\"tid\":4242,\"begin_ns\":51000000,\"length_ns\":120000000,"
		  "\"without_cpu_ns\":0,\"name\":\"encode\"");
	end(l);
}

/* What ends a stretch: the selector, the loop's own code, another callback, a stack that is not known, what is missed.
 */
static void a_stretch_ends(void **state)
{
	struct loop *l = start();
	uint32_t one = build_frame(&l->b, l->runs, "one", "/app.py", 7);
	uint32_t two = build_frame(&l->b, l->runs, "two", "/app.py", 9);
	uint32_t between[] = {l->waits, l->runs, 0, two};

	for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
		stay(l, one, RUN, 25);
		stay(l, between[i], RUN, 1);
	}
	stay(l, one, RUN, 25);
	l->now_ns += 10 * MS;
	stay(l, one, RUN, 25);
	l->now_ns += 2 * MS; /* a sample or two may be missed */
	stay(l, one, RUN, 25);
	expect(l, "\"count\":6,\"held_ns\":177");
	end(l);
}

static void what_is_short_is_not_told(void **state)
{
	struct loop *l = start();
	uint32_t one = build_frame(&l->b, l->runs, "one", "/app.py", 7);

	for (int i = 0; i < 20; i++) {
		stay(l, one, RUN, 19);
		idle(l, 3);
	}
	expect_nothing(l);
	l->b.p->meta.mode = PL_MODE_CPU;
	stay(l, one, RUN, 100);
	expect_nothing(l); /* of CPU time not all of a thread's time is sampled */
	l->b.p->meta.mode = PL_MODE_WALL;
	expect(l, "\"count\":1,");
	l->b.p->meta.untimed = true;
	expect_nothing(l);
	end(l);
}

/* A stack of a task has no loop on it with --tasks. */
static void tasks_hold_the_loop(void **state)
{
	struct loop *l = start();
	uint32_t module = build_frame(&l->b, 0, "<module>", "/app.py", 1);
	uint32_t handler = build_frame(&l->b, 0, "handler", "/app.py", 7);

	stay(l, module, RUN, 30);
	idle(l, 5);
	stay(l, handler, RUN, 30);
	expect_nothing(l);
	l->b.p->waited.looks = 1;
	expect(l, "\"count\":1,\"held_ns\":30000000,\"holders\":[{\"name\":\"handler\"");
	end(l);
}

/* A loop in C that nothing of asyncio started has frames with --native. */
static void a_loop_in_c_is_seen_by_its_native_frames(void **state)
{
	struct loop *l = start();
	uint32_t module = build_frame(&l->b, 0, "<module>", "/app.py", 1);
	uint32_t uv =
		build_frame(&l->b, module, "uv_run", "/site-packages/uvloop/loop.cpython-312-x86_64-linux-gnu.so", 0);
	uint32_t polls = build_frame(&l->b, uv, "epoll_wait", "/lib/libc.so.6", 0);
	uint32_t handler = build_frame(&l->b, uv, "handler", "/app.py", 7);

	for (int i = 0; i < 2; i++)
		l->b.p->functions[l->b.p->locations[l->b.p->stacks[i ? polls : uv].location].function].origin =
			PL_ORIGIN_NATIVE;
	stay(l, polls, 0, 30);
	stay(l, handler, RUN, 40);
	stay(l, polls, 0, 30);
	expect(l, "\"count\":1,\"held_ns\":40000000,\"holders\":[{\"name\":\"handler\"");
	end(l);
}

/* aiohttp starts uvloop itself: without --native what it called stands right below it. */
static void a_loop_in_c_is_seen_by_what_of_aiohttp_started_it(void **state)
{
	static const char *const started[][2] = {{"run_app", "/site-packages/aiohttp/web.py"},
						 {"run", "/site-packages/aiohttp/worker.py"}};

	for (size_t i = 0; i < 2; i++) {
		struct loop *l = start();
		uint32_t module = build_frame(&l->b, 0, "<module>", "/app.py", 1);
		uint32_t runs = build_frame(&l->b, module, started[i][0], started[i][1], 444);
		uint32_t handler = build_frame(&l->b, runs, "handler", "/app.py", 7);

		stay(l, runs, 0, 30);
		stay(l, handler, RUN, 40);
		stay(l, runs, 0, 30);
		expect(l, "\"count\":1,\"held_ns\":40000000,\"holders\":[{\"name\":\"handler\"");
		end(l);
	}
}

static void hold_often(struct loop *l, uint32_t stack, int of, int idles)
{
	for (int i = 0; i < 12; i++) {
		stay(l, stack, RUN | PL_REASON_CPU << PL_STATE_BITS, of);
		stay(l, stack, RUN, 120 - of);
		idle(l, idles);
	}
}

/* Time without a CPU is the machine's; and a loop that never waits computes, step by step or not. */
static void the_finding(void **state)
{
	static const struct {
		int ready, idle;
		bool told;
	} cases[] = {{0, 60, true}, {30, 60, false}, {0, 1, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct loop *l = start();
		uint32_t one = build_frame(&l->b, l->runs, "one", "/app.py", 7);
		char *found;

		hold_often(l, one, cases[i].ready, cases[i].idle);
		found = member(l, "\"rule\":\"loop-held\"", "}");
		if (cases[i].told)
			assert_string_equal(found,
					    "\"rule\":\"loop-held\",\"sentence\":\"the event loop was held for 100 ms "
					    "or more 12 times, for up to 120 ms; most by one (app.py:6)\",\"figures\":{"
					    "\"times\":12.000000,\"longest\":0.120000,\"holder\":1.000000");
		else
			assert_null(found);
		free(found);
		end(l);
	}
}

/* Of a loop that is held for a third of its time, by the function that has all of its CPU time, beside a thread that is
 * ready for more than half of its own. The text has room for two. */
static void the_text_has_what_costs_most(void **state)
{
	struct loop *l = start();
	struct pl_export_options o = build_options(200);
	uint32_t one = build_frame(&l->b, l->runs, "one", "/app.py", 7);
	uint32_t other = build_frame(&l->b, 0, "other", "/app.py", 50);
	char *text, *all;

	build_thread(&l->b, 5001, "worker", 0.5);
	for (int i = 0; i < 10; i++) {
		stay(l, one, RUN, 120);
		idle(l, 240);
		l->b.now_ns = l->now_ns - 360 * MS;
		for (int k = 0; k < 36; k++) {
			build_samples(&l->b, 1, other, RUN | PL_REASON_CPU << PL_STATE_BITS, PL_EXACT, 6);
			build_samples(&l->b, 1, other, RUN, PL_EXACT, 4);
		}
	}
	text = build_output(l->b.p, "text", &o, NULL);
	assert_non_null(strstr(text, "most by one (app.py:6)\n threads were ready and waited for a CPU for 30 %"));
	assert_null(strstr(text, "the event loop waited"));
	free(text);
	all = member(l, "\"findings\":", "\"processes\"");
	assert_non_null(strstr(all, "the event loop waited 67 % of the time; of its CPU time one took 100 %"));
	free(all);
	end(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stretches_are_told_with_who_held),
		cmocka_unit_test(a_stretch_ends),
		cmocka_unit_test(what_is_short_is_not_told),
		cmocka_unit_test(tasks_hold_the_loop),
		cmocka_unit_test(a_loop_in_c_is_seen_by_its_native_frames),
		cmocka_unit_test(a_loop_in_c_is_seen_by_what_of_aiohttp_started_it),
		cmocka_unit_test(the_finding),
		cmocka_unit_test(the_text_has_what_costs_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
