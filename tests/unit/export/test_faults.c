/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a program: each rule finds it where it is, and nothing where it is not, or not for sure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"
#include "unit.h"

#define RUN (PL_STATE_ON_CPU | PL_STATE_HAS_GIL)

/* The findings of JSON, without their figures. */
static char *findings(const struct build *b)
{
	struct pl_export_options o = build_options(80);
	char *json = build_output(b->p, "json", &o, NULL), *start = strstr(json, "\"findings\":["), *end, *copy;

	assert_non_null(start);
	end = strstr(start, ",\"processes\"");
	assert_non_null(end);
	copy = strndup(start, (size_t)(end - start));
	free(json);
	return copy;
}

static void expect(const struct build *b, const char *rule, const char *sentence)
{
	char *got = findings(b), want[512];

	snprintf(want, sizeof want, "\"findings\":[{\"rule\":\"%s\",\"sentence\":\"%s\",", rule, sentence);
	if (strncmp(got, want, strlen(want)) != 0)
		fail_msg("%s\nand not %s", got, want);
	free(got);
}

static void expect_nothing(const struct build *b)
{
	char *got = findings(b);

	assert_string_equal(got, "\"findings\":[]");
	free(got);
}

/* Of ten samples at a time @p of have the stack @p stack and the state @p state, the rest runs @p other. */
static void mix(struct build *b, uint32_t thread, uint32_t stack, int state, uint32_t other, int of)
{
	for (int i = 0; i < 200; i++) {
		build_samples(b, thread, stack, state, PL_EXACT, of);
		build_samples(b, thread, other, RUN, PL_EXACT, 10 - of);
	}
}

static uint32_t text(struct build *b, const char *file, const char *source)
{
	uint32_t id = build_string(b, file);

	assert_null(pl_profile_source(b->p, id, source, strlen(source), false));
	return id;
}

static void no_cpu(void **state)
{
	const int ready = RUN | PL_REASON_CPU << PL_STATE_BITS;
	struct build b;
	uint32_t f;

	for (int of = 1; of <= 4; of += 3) {
		build_start(&b);
		f = build_frame(&b, 0, "f", "/a.py", 3);
		mix(&b, 0, f, ready, f, of);
		if (of == 4)
			expect(&b, "cpu",
			       "threads were ready and waited for a CPU for 40 % of their time: the CPUs that they may "
			       "use are busy, or a limit of theirs is reached (as a container's)");
		else
			expect_nothing(&b);
		build_end(&b);
	}
}

static void garbage(void **state)
{
	struct build b;
	uint32_t f;

	for (int in_gc = 0; in_gc <= 2; in_gc++) {
		build_start(&b);
		f = build_frame(&b, 0, "f", "/a.py", 3);
		mix(&b, 0, f, RUN | PL_STATE_IN_GC, f, in_gc);
		if (in_gc)
			expect(&b, "gc",
			       in_gc == 1 ? "garbage collection took 10 % of the time"
					  : "garbage collection took 20 % of the time");
		else
			expect_nothing(&b);
		build_end(&b);
	}
}

/* 30 of 100 samples, but all of them in one stretch: what the next recording would say is anybody's guess. */
static void what_is_not_sure_is_not_told(void **state)
{
	struct build b;
	uint32_t f;

	build_start(&b);
	f = build_frame(&b, 0, "f", "/a.py", 3);
	build_samples(&b, 0, f, RUN | PL_STATE_IN_GC, PL_EXACT, 30);
	build_samples(&b, 0, f, RUN, PL_EXACT, 160);
	expect_nothing(&b);
	build_end(&b);
}

static void four_samples_are_not_enough(void **state)
{
	struct build b;
	uint32_t f;

	build_start(&b);
	f = build_frame(&b, 0, "f", "/a.py", 3);
	build_samples(&b, 0, f, RUN | PL_STATE_IN_GC, PL_EXACT, 4);
	expect_nothing(&b);
	build_end(&b);
}

static void nothing_is_told_of_a_selection(void **state)
{
	struct build b;
	uint32_t f;

	build_start(&b);
	f = build_frame(&b, 0, "f", "/a.py", 3);
	mix(&b, 0, f, RUN | PL_STATE_IN_GC, f, 10);
	b.p->meta.selected = true;
	expect_nothing(&b);
	build_end(&b);
}

static void imports(void **state)
{
	struct build b;
	uint32_t import, module, work;

	for (int of = 2; of <= 4; of += 2) {
		build_start(&b);
		import = build_frame(&b, 0, "_find_and_load", "<frozen importlib._bootstrap>", 1360);
		module = build_frame(&b, import, "<module>", "/a.py", 1);
		work = build_frame(&b, 0, "_find_and_load", "/mine.py", 5);
		mix(&b, 0, module, RUN, work, of);
		if (of == 4)
			expect(&b, "import", "imports took 40 % of the time");
		else
			expect_nothing(&b);
		build_end(&b);
	}
}

/* asyncio's loop in Python 3.12, or a program that calls a selector itself. */
static void build_loop(struct build *b, const char *file, int waits, const char *callback)
{
	uint32_t once, selects, calls;

	build_start(b);
	once = build_frame(b, 0, "BaseEventLoop._run_once", file, 1898);
	selects = build_frame(b, once, "EpollSelector.select", "/usr/lib/python3.12/selectors.py", 469);
	calls = build_frame(b, once, callback, "/a.py", 3);
	mix(b, 0, selects, 0, calls, waits);
}

static void event_loop(void **state)
{
	static const char asyncio[] = "/usr/lib/python3.12/asyncio/base_events.py";
	struct pl_export_options o = build_options(80);
	struct build b;
	char *got;

	build_loop(&b, asyncio, 8, "<lambda>");
	expect(&b, "event-loop", "the event loop waited 80 % of the time; of its CPU time <lambda> took 100 %");
	got = build_output(b.p, "markdown", &o, NULL); /* in which < means something */
	assert_non_null(
		strstr(got, "\n**the event loop waited 80 % of the time; of its CPU time `<lambda>` took 100 %**\n"));
	free(got);
	build_end(&b);
	build_loop(&b, asyncio, 5, "f");
	expect_nothing(&b); /* not for sure more than half */
	build_end(&b);
	build_loop(&b, "/mine.py", 8, "f");
	expect_nothing(&b);
	build_end(&b);
}

/* uvloop: the selector is called by no Python code. That a thread waits for events is known by its system call. */
static void an_event_loop_in_c(void **state)
{
	const int reasons[] = {PL_REASON_POLL, PL_REASON_SLEEP};

	for (size_t i = 0; i < 2; i++) {
		struct build b;
		uint32_t runs;

		build_start(&b);
		runs = build_frame(&b, 0, "run", "/usr/lib/python3.12/asyncio/runners.py", 118);
		mix(&b, 0, runs, reasons[i] << PL_STATE_BITS, build_frame(&b, runs, "f", "/a.py", 3), 8);
		if (i == 0)
			expect(&b, "event-loop",
			       "the event loop waited 80 % of the time; of its CPU time f took 100 %");
		else
			expect_nothing(&b);
		build_end(&b);
	}
}

/* @p count threads stand at one line of @p file in turns, of ten samples nine. */
static void build_waiters(struct build *b, int count, const char *file, const char *line, int state)
{
	char source[256];
	uint32_t waits, works;

	snprintf(source, sizeof source, "import threading\n    %s\n", line);
	build_start(b);
	text(b, file, source);
	waits = build_frame(b, 0, "Totals.add", file, 2);
	works = build_frame(b, 0, "main", "/main.py", 9);
	for (int i = 0; i < count; i++)
		build_thread(b, 5000 + (uint64_t)i, "worker", 0.1);
	for (int i = 0; i < 200; i++) {
		build_samples(b, 0, works, 0, PL_EXACT, 1);
		for (int t = 1; t <= count; t++) {
			build_samples(b, (uint32_t)t, waits, state, PL_EXACT, 9);
			build_samples(b, (uint32_t)t, works, RUN, PL_EXACT, 1);
		}
	}
}

static void lock(void **state)
{
	static const char one[] = "8 threads waited for a lock for 90 % of their time, in Totals.add (a.py:2): one "
				  "works while the others wait";
	static const struct {
		const char *file, *line, *finds;
		int threads, state;
	} cases[] = {
		{"/a.py", "with self.lock:", one, 8, 0},
		{"/a.py", "with locks[0], b: go(1)", one, 8, 0},
		{"/a.py", "self.lock.acquire()", one, 8, 0},
		{"/a.py", "with self.lock:",
		 "16 threads waited for a lock for 90 % of their time, in Totals.add (a.py:2)", 16, 0},
		{"/a.py", "with self.lock:", NULL, 1, 0},
		{"/a.py", "with self.lock:", NULL, 8, PL_STATE_ON_CPU},
		{"/a.py", "with self.lock:", NULL, 8, PL_STATE_UNKNOWN},
		{"/a.py", "with open(self.lock):", NULL, 8, 0},
		{"/a.py", "time.sleep(1) # with lock:", NULL, 8, 0},
		{"/usr/lib/python3.12/threading.py", "waiter.acquire()", NULL, 8, 0},
		{"/usr/lib/python3.12/concurrent/x.py", "self.filled.acquire()", NULL, 8, 0},
		{"/usr/lib/python3.12/logging/__init__.py", "self.lock.acquire()",
		 "8 threads waited for a lock for 90 % of their time, in Totals.add (logging/__init__.py:2): one works "
		 "while the others wait",
		 8, 0},
	};
	struct build b;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		build_waiters(&b, cases[i].threads, cases[i].file, cases[i].line, cases[i].state);
		if (cases[i].finds)
			expect(&b, "lock", cases[i].finds);
		else
			expect_nothing(&b);
		build_end(&b);
	}
}

static void a_lock_of_idle_threads_is_one(void **state)
{
	struct build b;

	build_waiters(&b, 8, "/a.py", "with self.lock:", 0);
	for (uint32_t i = 1; i <= 8; i++)
		b.p->threads[i].cpu_ns = 0;
	expect(&b, "lock",
	       "8 threads waited for a lock for 90 % of their time, in Totals.add (a.py:2): one works while the others "
	       "wait");
	build_end(&b);
}

/* The text has room for two, the gravest first. */
static void the_largest_share_is_told_first(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;
	uint32_t import, f;
	char *got;

	build_start(&b);
	import = build_frame(&b, 0, "_find_and_load", "<frozen importlib._bootstrap>", 1360);
	f = build_frame(&b, 0, "f", "/a.py", 3);
	for (int i = 0; i < 200; i++) {
		build_samples(&b, 0, f, RUN | PL_STATE_IN_GC, PL_EXACT, 4);
		build_samples(&b, 0, import, RUN, PL_EXACT, 6);
	}
	got = build_output(b.p, "text", &o, NULL);
	assert_non_null(strstr(got, "\n imports took 60 % of the time\n garbage collection took 40 % of the time\n\n"));
	free(got);
	got = findings(&b);
	assert_string_equal(got,
			    "\"findings\":[{\"rule\":\"import\",\"sentence\":\"imports took 60 % of the time\","
			    "\"figures\":{\"took\":0.600000}},{\"rule\":\"gc\",\"sentence\":\"garbage collection took "
			    "40 % of the time\",\"figures\":{\"took\":0.400000}}]");
	free(got);
	build_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_cpu),
		cmocka_unit_test(garbage),
		cmocka_unit_test(what_is_not_sure_is_not_told),
		cmocka_unit_test(four_samples_are_not_enough),
		cmocka_unit_test(nothing_is_told_of_a_selection),
		cmocka_unit_test(imports),
		cmocka_unit_test(event_loop),
		cmocka_unit_test(an_event_loop_in_c),
		cmocka_unit_test(lock),
		cmocka_unit_test(a_lock_of_idle_threads_is_one),
		cmocka_unit_test(the_largest_share_is_told_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
