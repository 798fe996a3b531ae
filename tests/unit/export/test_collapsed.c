/* SPDX-License-Identifier: Apache-2.0 */
/* Collapsed stacks: the contract, statement by statement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"
#include "clock.h"

#define RUN (PL_STATE_ON_CPU | PL_STATE_HAS_GIL)

static void expect(const struct build *b, const struct pl_export_options *o, const char *want)
{
	char *got = build_output(b->p, "collapsed", o, NULL);

	assert_string_equal(got, want);
	free(got);
}

static struct pl_export_options exact(void)
{
	return (struct pl_export_options){.filter.idle = PL_IDLE_KEEP};
}

static void one_line_per_stack_and_thread_root_first(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	uint32_t main_frame, f;

	build_start(&b);
	build_thread(&b, 7, "w", 1);
	main_frame = build_frame(&b, 0, "main", "/srv/app.py", 10);
	f = build_frame(&b, main_frame, "Shop.load", "/srv/lib/shop.py", 20);
	build_samples(&b, 0, f, RUN, PL_EXACT, 3);
	build_samples(&b, 1, f, RUN, PL_EXACT, 2);
	build_samples(&b, 0, main_frame, RUN, PL_STOPPED, 1);
	build_samples(&b, 0, f, 0, PL_EXACT, 1); /* another state: the same line */
	expect(&b, &o,
	       "tid:4242;app.py:main:10;shop.py:load:20 4\n"
	       "tid:7;app.py:main:10;shop.py:load:20 2\n"
	       "tid:4242;app.py:main:10 1\n");
	o.full_names = true;
	expect(&b, &o,
	       "tid:4242;/srv/app.py:main:10;/srv/lib/shop.py:Shop.load:20 4\n"
	       "tid:7;/srv/app.py:main:10;/srv/lib/shop.py:Shop.load:20 2\n"
	       "tid:4242;/srv/app.py:main:10 1\n");
	build_end(&b);
}

static void each_of_several_processes_is_a_root(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	uint32_t f, second, third;

	o.escape = true;
	build_start(&b);
	f = build_frame(&b, 0, "main", "/srv/app.py", 10);
	second = build_process(&b, 4243, 4242, "work;er.py");
	third = build_process(&b, 4243, 4242, "work;er.py"); /* the same one */
	assert_int_equal(second, third);
	build_samples(&b, 0, f, RUN, PL_EXACT, 3);
	build_samples(&b, second, f, RUN, PL_EXACT, 2);
	expect(&b, &o,
	       "pid:4242;tid:4242;app.py:main:10 3\n"
	       "pid:4243 work:er.py;tid:4243;app.py:main:10 2\n");
	o.filter.processes = (const char *const[]){"work;er.py"};
	o.filter.process_count = 1;
	expect(&b, &o, "pid:4243 work:er.py;tid:4243;app.py:main:10 2\n");
	build_end(&b);
}

static void lines_are_part_of_a_frame_but_columns_and_first_lines_are_not(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	struct pl_location l;
	uint32_t f, g, id;

	build_start(&b);
	f = build_frame(&b, 0, "f", "/a.py", 10);
	g = build_frame(&b, 0, "f", "/a.py", 11); /* another first line, too */
	build_samples(&b, 0, f, RUN, PL_EXACT, 2);
	build_samples(&b, 0, g, RUN, PL_EXACT, 1);
	l = b.p->locations[b.p->stacks[f].location];
	l.column = 99;
	assert_null(pl_profile_location(b.p, &l, &id));
	assert_null(pl_profile_stack(b.p, 0, id, &id));
	build_samples(&b, 0, id, RUN, PL_EXACT, 4);
	expect(&b, &o, "tid:4242;a.py:f:10 6\ntid:4242;a.py:f:11 1\n");
	build_end(&b);
}

static void files_of_the_same_base_name_stay_two_lines(void **state)
{
	struct pl_export_options o = exact();
	struct build b;

	build_start(&b);
	build_samples(&b, 0, build_frame(&b, 0, "f", "/a/x.py", 3), RUN, PL_EXACT, 1);
	build_samples(&b, 0, build_frame(&b, 0, "f", "/b/x.py", 3), RUN, PL_EXACT, 1);
	expect(&b, &o, "tid:4242;x.py:f:3 1\ntid:4242;x.py:f:3 1\n");
	build_end(&b);
}

static void frames_without_a_place_are_their_name(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	uint32_t f;

	build_start(&b);
	f = build_frame(&b, 0, "f", "/a.py", 0); /* no line: 0 */
	build_samples(&b, 0, build_frame(&b, f, "<moving>", NULL, 0), RUN, PL_PARTIAL, 1);
	build_samples(&b, 0, build_frame(&b, f, "<GC>", "~", 0), RUN, PL_EXACT, 2);
	build_samples(&b, 0, build_frame(&b, f, "x", "~", 4), RUN, PL_EXACT, 3);
	expect(&b, &o, "tid:4242;a.py:f:0;~:x:4 3\ntid:4242;a.py:f:0;<GC> 2\ntid:4242;a.py:f:0;<moving> 1\n");
	build_end(&b);
}

static void order_is_count_then_text(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	uint32_t a;

	build_start(&b);
	build_thread(&b, 10, "", 1);
	build_thread(&b, 9, "", 1);
	a = build_frame(&b, 0, "b", "m.py", 2);
	/* As text: "tid:10" < "tid:4242" < "tid:9"; a caller before what it calls; "m.py:b:10" < "m.py:b:2". */
	build_samples(&b, 2, a, RUN, PL_EXACT, 1);
	build_samples(&b, 1, build_frame(&b, a, "c", "m.py", 1), RUN, PL_EXACT, 1);
	build_samples(&b, 1, a, RUN, PL_EXACT, 1);
	build_samples(&b, 1, build_frame(&b, 0, "b", "m.py", 10), RUN, PL_EXACT, 1);
	build_samples(&b, 0, build_frame(&b, build_frame(&b, 0, "a", "m.py", 5), "z", "m.py", 5), RUN, PL_EXACT, 1);
	build_samples(&b, 0, build_frame(&b, 0, "z", "m.py", 1), RUN, PL_EXACT, 2);
	expect(&b, &o,
	       "tid:4242;m.py:z:1 2\n"
	       "tid:10;m.py:b:10 1\n"
	       "tid:10;m.py:b:2 1\n"
	       "tid:10;m.py:b:2;m.py:c:1 1\n"
	       "tid:4242;m.py:a:5;m.py:z:5 1\n"
	       "tid:9;m.py:b:2 1\n");
	build_end(&b);
}

#define STACKS	  400
#define DEPTH	  5
#define LINES_MAX (STACKS * DEPTH)

/* Frames whose texts begin alike, of two files of one base name, too. */
static uint32_t random_frame(struct build *b, struct pl_rng *rng, uint32_t parent)
{
	static const char *const names[] = {"f", "f!", "f-g", "g"}, *const files[] = {"m.py", "/n/m.py", "m.py:1"};
	static const int lines[] = {1, 2, 10, 12, 102};
	uint64_t r = pl_rng_next(rng);

	return build_frame(b, parent, names[r % 4], files[r / 4 % 3], lines[r / 12 % 5]);
}

/* A sample on each node of random stacks: all lines have the count 1. */
static void build_random(struct build *b)
{
	struct pl_rng rng = {.state = 7};

	for (int i = 0; i < STACKS; i++)
		for (uint32_t stack = 0, depth = 0; depth < DEPTH; depth++) {
			uint32_t before = b->p->stack_count;

			stack = random_frame(b, &rng, stack);
			if (b->p->stack_count > before)
				build_samples(b, 0, stack, RUN, PL_EXACT, 1);
		}
}

/* Against what sorting the lines themselves gives. */
static void lines_of_one_count_are_in_the_order_of_their_text(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	char *last = NULL;
	int lines = 0;

	build_start(&b);
	build_random(&b);
	char *got = build_output(b.p, "collapsed", &o, NULL);
	for (char *line = strtok(got, "\n"); line; line = strtok(NULL, "\n"), lines++) {
		char *count = strrchr(line, ' ');

		assert_string_equal(count, " 1");
		*count = '\0';
		assert_true(!last || strcmp(last, line) <= 0);
		last = line;
	}
	assert_in_range(lines, STACKS, LINES_MAX);
	free(got);
	build_end(&b);
}

/* The process comes first in a line, so it comes first in the order: as text, with the ';' that ends it. */
static void order_of_several_processes_is_that_of_their_text(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	uint32_t f;

	build_start(&b);
	f = build_frame(&b, 0, "f", "m.py", 1);
	build_samples(&b, build_process(&b, 9, 1, "b"), f, RUN, PL_EXACT, 2);
	build_samples(&b, build_process(&b, 10, 1, "a"), f, RUN, PL_EXACT, 1);
	build_samples(&b, build_process(&b, 424, 1, "z"), build_frame(&b, 0, "a", "a.py", 1), RUN, PL_EXACT, 1);
	build_samples(&b, 0, f, RUN, PL_EXACT, 1);
	build_samples(&b, build_process(&b, 42, 1, ""), f, RUN, PL_EXACT, 1);
	build_samples(&b, build_process(&b, 5, 1, "x"), f, RUN, PL_EXACT, 1);
	build_samples(&b, build_process(&b, 50, 1, ""), f, RUN, PL_EXACT, 1);
	expect(&b, &o,
	       "pid:9 b;tid:9;m.py:f:1 2\n"
	       "pid:10 a;tid:10;m.py:f:1 1\n"
	       "pid:424 z;tid:424;a.py:a:1 1\n"
	       "pid:4242;tid:4242;m.py:f:1 1\n"
	       "pid:42;tid:42;m.py:f:1 1\n"
	       "pid:5 x;tid:5;m.py:f:1 1\n"
	       "pid:50;tid:50;m.py:f:1 1\n");
	build_end(&b);
}

/* The format has no place to say what was left out. */
static void threads_that_did_nothing_are_there_unless_their_samples_are_not_wanted(void **state)
{
	struct pl_export_options o = {.filter.idle = PL_IDLE_HIDE_THREADS};
	struct build b;
	uint32_t f;

	build_start(&b);
	build_thread(&b, 7, "sleeper", 0);
	f = build_frame(&b, 0, "f", "m.py", 1);
	build_samples(&b, 0, f, RUN, PL_EXACT, 2);
	build_samples(&b, 1, f, 0, PL_EXACT, 1);
	expect(&b, &o, "tid:4242;m.py:f:1 2\ntid:7;m.py:f:1 1\n");
	o.filter.idle = PL_IDLE_SKIP_SAMPLES;
	expect(&b, &o, "tid:4242;m.py:f:1 2\n");
	build_end(&b);
}

static void counts_of_cpu_mode_are_cpu_time_in_periods(void **state)
{
	static const uint64_t weights[] = {2400000, 2500000, 1, 0};
	struct pl_export_options o = exact();
	struct build b;

	build_start(&b);
	b.p->meta.mode = PL_MODE_CPU;
	for (size_t i = 0; i < 4; i++) {
		struct pl_sample s = {.stack = build_frame(&b, 0, "f", "m.py", (int)i + 1), .weight_ns = weights[i]};

		assert_null(pl_profile_add(b.p, &s));
	}
	expect(&b, &o, "tid:4242;m.py:f:2 3\ntid:4242;m.py:f:1 2\ntid:4242;m.py:f:3 1\ntid:4242;m.py:f:4 1\n");
	b.p->meta.period_ns = 0; /* as fast as possible: nothing to count in */
	expect(&b, &o, "tid:4242;m.py:f:1 1\ntid:4242;m.py:f:2 1\ntid:4242;m.py:f:3 1\ntid:4242;m.py:f:4 1\n");
	build_end(&b);
}

static void skip_idle_drops_samples_that_neither_run_nor_hold_the_gil(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	uint32_t f;

	build_start(&b);
	f = build_frame(&b, 0, "f", "m.py", 1);
	build_samples(&b, 0, f, PL_STATE_ON_CPU, PL_EXACT, 1);
	build_samples(&b, 0, f, PL_STATE_HAS_GIL, PL_EXACT, 2);
	build_samples(&b, 0, f, PL_STATE_WANTS_GIL, PL_EXACT, 4);
	build_samples(&b, 0, f, 0, PL_EXACT, 8);
	o.filter.idle = PL_IDLE_SKIP_SAMPLES;
	expect(&b, &o, "tid:4242;m.py:f:1 3\n");
	build_end(&b);
}

static void frames_of_the_launcher_are_removed(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	uint32_t launcher;

	build_start(&b);
	launcher = build_frame(&b, 0, "execute", "/usr/lib/python3.15/profiling/sampling/_sync_coordinator.py", 9);
	build_samples(&b, 0, launcher, RUN, PL_EXACT, 5);
	build_samples(&b, 0, build_frame(&b, launcher, "main", "/a.py", 1), RUN, PL_EXACT, 1);
	build_samples(&b, 0, 0, RUN, PL_EXACT, 7); /* the empty stack */
	expect(&b, &o, "tid:4242;a.py:main:1 1\n");
	build_end(&b);
}

static void no_samples_are_an_empty_file(void **state)
{
	struct pl_export_options o = exact();
	struct build b;

	build_start(&b);
	expect(&b, &o, "");
	build_end(&b);
}

static void names_stay_as_they_are_unless_they_break_a_line_apart(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	static const char nul[] = "n\0l";
	uint32_t f;
	char *got;
	size_t len;

	build_start(&b);
	f = build_frame(&b, 0, "a;b\nc\r\xe2\x80\xa9z", "/x;\n/y;.py", 1);
	f = build_frame(&b, f, "Thread 12 \"\xce\xbb\" \xed\xb2\x80 </script>", "h\xc3\xa9.py", 2);
	f = build_frame_n(&b, f, nul, 3, "", 0, 3);
	build_samples(&b, 0, f, RUN, PL_EXACT, 1);
	got = build_output(b.p, "collapsed", &o, &len);
	static const char raw[] = "tid:4242;y;.py:a;b\nc\r\xe2\x80\xa9z:1;h\xc3\xa9.py:Thread 12 \"\xce\xbb\" "
				  "\xed\xb2\x80 </script>:2;:n\0l:3 1\n";
	assert_int_equal(len, sizeof raw - 1);
	assert_memory_equal(got, raw, len);
	free(got);
	o.escape = true;
	got = build_output(b.p, "collapsed", &o, &len);
	static const char escaped[] =
		"tid:4242;y:.py:a:b c  z:1;h\xc3\xa9.py:Thread 12 \"\xce\xbb\" \xed\xb2\x80 </script>:2;:n\0l:3 1\n";
	assert_int_equal(len, sizeof escaped - 1);
	assert_memory_equal(got, escaped, len);
	free(got);
	build_end(&b);
}

static uint32_t build_kernel(struct build *b, uint32_t parent, const char *name, const char *file)
{
	struct pl_function f = {.origin = PL_ORIGIN_KERNEL};
	struct pl_location l = {.column = -1, .end_column = -1};
	uint32_t location, stack;

	assert_null(pl_profile_string(b->p, name, strlen(name), &f.name));
	assert_null(pl_profile_string(b->p, file, strlen(file), &f.file));
	assert_null(pl_profile_function(b->p, &f, &l.function));
	assert_null(pl_profile_location(b->p, &l, &location));
	assert_null(pl_profile_stack(b->p, parent, location, &stack));
	return stack;
}

static void functions_of_the_kernel_are_marked_if_asked_for(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	uint32_t stack;

	build_start(&b);
	stack = build_frame(&b, 0, "main", "/srv/app.py", 10);
	stack = build_kernel(&b, stack, "vfs_read", PL_KERNEL_FILE);
	stack = build_kernel(&b, stack, "pipe_read_[k]", "");
	build_samples(&b, 0, stack, 0, PL_EXACT, 3);
	expect(&b, &o, "tid:4242;app.py:main:10;[kernel]:vfs_read:0;pipe_read_[k] 3\n");
	o.annotate = true;
	expect(&b, &o, "tid:4242;app.py:main:10;[kernel]:vfs_read:0_[k];pipe_read_[k] 3\n");
	build_end(&b);
}

static void deep_recursion_works(void **state)
{
	struct pl_export_options o = exact();
	struct build b;
	uint32_t f = 0;
	size_t len;
	char *got;

	build_start(&b);
	for (int i = 0; i < 10000; i++) {
		f = build_frame(&b, f, "fib", "/a.py", 2 + (i & 1));
		build_samples(&b, 0, f, RUN, PL_EXACT, i >= 9990);
	}
	got = build_output(b.p, "collapsed", &o, &len);
	assert_int_equal(len, 10 * strlen("tid:4242 1\n") + 99955 * strlen(";a.py:fib:2"));
	free(got);
	build_end(&b);
}

static void the_example(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;
	size_t len;
	char *got;

	build_example(&b);
	got = build_output(b.p, "collapsed", &o, &len);
	build_assert_golden("example.folded", got, len);
	free(got);
	build_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_line_per_stack_and_thread_root_first),
		cmocka_unit_test(each_of_several_processes_is_a_root),
		cmocka_unit_test(lines_are_part_of_a_frame_but_columns_and_first_lines_are_not),
		cmocka_unit_test(files_of_the_same_base_name_stay_two_lines),
		cmocka_unit_test(frames_without_a_place_are_their_name),
		cmocka_unit_test(order_is_count_then_text),
		cmocka_unit_test(lines_of_one_count_are_in_the_order_of_their_text),
		cmocka_unit_test(order_of_several_processes_is_that_of_their_text),
		cmocka_unit_test(threads_that_did_nothing_are_there_unless_their_samples_are_not_wanted),
		cmocka_unit_test(counts_of_cpu_mode_are_cpu_time_in_periods),
		cmocka_unit_test(skip_idle_drops_samples_that_neither_run_nor_hold_the_gil),
		cmocka_unit_test(frames_of_the_launcher_are_removed),
		cmocka_unit_test(no_samples_are_an_empty_file),
		cmocka_unit_test(names_stay_as_they_are_unless_they_break_a_line_apart),
		cmocka_unit_test(functions_of_the_kernel_are_marked_if_asked_for),
		cmocka_unit_test(deep_recursion_works),
		cmocka_unit_test(the_example),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
