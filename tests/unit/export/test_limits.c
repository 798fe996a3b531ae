/* SPDX-License-Identifier: Apache-2.0 */
/* A format in which a profile would be larger than anyone can read is refused before it is written. */
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "diff_export.h"
#include "dump_model.h"
#include "unit.h"

/* And it is said what to do next. */
static void assert_is_too_much(struct plumb_error *err)
{
	assert_non_null(plumb_error_hint(err));
	assert_code(err, PLUMB_ERR_LIMIT);
}

/* One function all the way down, as deep as a stack may be. */
static uint32_t build_recursion(struct build *b, const char *name, size_t len)
{
	uint32_t stack = build_frame_n(b, 0, name, len, "a.py", 4, 1), location = b->p->stacks[stack].location;

	while (b->p->stacks[stack].depth < PL_STACK_MAX_DEPTH)
		assert_ok(pl_profile_stack(b->p, stack, location, &stack));
	return stack;
}

/* perf-script has the whole stack of each sample, by name: of twenty with long names, deep down, each. */
static void perf_script_of_more_than_anyone_can_read_is_not_begun(void **state)
{
	const struct pl_export_options o = build_options(100);
	const unsigned len = 60000;
	char *name = calloc(1, len);
	uint32_t stack;
	struct build b;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	assert_non_null(name);
	memset(name, 'A', len);
	build_start(&b);
	stack = build_recursion(&b, name, len);
	for (unsigned i = 0; i < 20; i++, stack = b.p->stacks[stack].parent)
		build_samples(&b, 0, stack, 0, PL_EXACT, 1);
	assert_is_too_much(pl_format_by_name("perf-script")->write(b.p, &o, full));
	build_end(&b);
	fclose(full);
	free(name);
}

/* Of @p ctx, a thread: 120,000 samples without a frame. */
static struct plumb_error *stand_still(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const uint32_t *thread = ctx;
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < 120000 && !err; i++)
		err = fn(fn_ctx, &(struct pl_sample){.thread = *thread, .time_ns = i});
	return err;
}

/* And the name of the thread of each. */
static void perf_script_of_long_threads_is_not_begun(void **state)
{
	const struct pl_export_options o = build_options(100);
	char *name = calloc(1, 1000001);
	FILE *full = fopen("/dev/full", "w");
	uint32_t thread;
	struct build b;

	assert_non_null(full);
	assert_non_null(name);
	memset(name, 'A', 1000000);
	build_start(&b);
	thread = build_thread(&b, 5, name, 0);
	build_samples(&b, thread, 0, 0, PL_EXACT, 1);
	b.p->stream.each = stand_still;
	b.p->stream.ctx = &thread;
	assert_is_too_much(pl_format_by_name("perf-script")->write(b.p, &o, full));
	b.p->stream = (struct pl_stream){0};
	build_end(&b);
	fclose(full);
	free(name);
}

/* collapsed has the name of the process in each line: one of a megabyte in 120,000. */
static void collapsed_of_long_processes_is_not_begun(void **state)
{
	const struct pl_export_options o = build_options(100);
	char *name = calloc(1, 1000001);
	FILE *full = fopen("/dev/full", "w");
	uint32_t thread;
	struct build b;

	assert_non_null(full);
	assert_non_null(name);
	memset(name, 'A', 1000000);
	build_start(&b);
	thread = build_process(&b, 5, 1, name);
	for (int line = 1; line <= 120000; line++)
		build_samples(&b, thread, build_frame(&b, 0, "f", "a.py", line), 0, PL_EXACT, 1);
	assert_is_too_much(pl_format_by_name("collapsed")->write(b.p, &o, full));
	build_end(&b);
	fclose(full);
	free(name);
}

/* CPython's flame graphs have the threads of each frame: of many that stand deep down. */
static void a_flame_graph_of_many_deep_threads_is_not_begun(void **state)
{
	const struct pl_export_options o = build_options(100);
	uint32_t stack;
	struct build b;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	build_start(&b);
	stack = build_recursion(&b, "f", 1);
	for (unsigned i = 0; i < 80; i++)
		build_samples(&b, build_thread(&b, 10 + i, "t", 0), stack, 0, PL_EXACT, 1);
	assert_is_too_much(pl_format_by_name("flamegraph-json")->write(b.p, &o, full));
	build_end(&b);
	fclose(full);
}

/* OpenTelemetry's profiles have it in each window of 65,536 samples: here are a thousand. */
static void otlp_of_long_processes_is_not_begun(void **state)
{
	const struct pl_export_options o = build_options(100);
	char *name = calloc(1, 100000001);
	FILE *full = fopen("/dev/full", "w");
	uint32_t thread;
	struct build b;

	assert_non_null(full);
	assert_non_null(name);
	memset(name, 'A', 100000000);
	build_start(&b);
	thread = build_process(&b, 5, 1, name);
	b.p->stream.each = stand_still;
	b.p->stream.ctx = &thread;
	assert_ok(pl_profile_add(b.p, &(struct pl_sample){.thread = thread, .extra = 65536 * 1000}));
	assert_is_too_much(pl_format_by_name("otlp")->write(b.p, &o, full));
	b.p->stream = (struct pl_stream){0};
	build_end(&b);
	fclose(full);
	free(name);
}

/* A sample on each stack, from one as deep as may be to the root. */
static void build_each_depth(struct build *b)
{
	uint32_t stack = build_recursion(b, "f", 1);

	for (; stack; stack = b->p->stacks[stack].parent)
		build_samples(b, 0, stack, 0, PL_EXACT, 1);
}

/* What has written anything has said so to the full device. */
static void is_not_begun(const char *format)
{
	const struct pl_export_options o = build_options(100);
	struct build b;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	build_start(&b);
	build_each_depth(&b);
	assert_is_too_much(pl_format_by_name(format)->write(b.p, &o, full));
	build_end(&b);
	fclose(full);
}

/* pprof has the whole stack for each state of each thread. */
static void pprof_of_more_than_anyone_can_read_is_not_begun(void **state)
{
	is_not_begun("pprof");
}

/* The dictionary of OpenTelemetry's has each whole stack once. */
static void otlp_of_more_stacks_than_anyone_can_read_is_not_begun(void **state)
{
	is_not_begun("otlp");
	is_not_begun("otlp-json");
}

/* Before anything is written. */
static void assert_diff_collapsed_is_refused(const struct build *before, const struct build *after)
{
	static const struct pl_diff_look look = {.escape = true, .width = 80};
	const struct pl_diff_options o = {.rows = PL_DIFF_PATHS};
	const struct plumb_profile *first[] = {before->p}, *second[] = {after->p};
	const struct pl_diff_input sides[PL_DIFF_SIDES] = {{first, 1}, {second, 1}};
	struct pl_diff d;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	assert_ok(pl_diff_make(sides, &o, &d));
	assert_is_too_much(pl_diff_collapsed_write(&d, &look, full));
	pl_diff_deinit(&d);
	fclose(full);
}

/* A comparison as collapsed stacks has the whole stack of each path that has samples of its own. */
static void diff_collapsed_of_more_than_anyone_can_read_is_not_begun(void **state)
{
	static const char name[] = "a_function_that_calls_itself_again_and_again_to_no_end";
	struct build b;

	build_start(&b);
	for (uint32_t stack = build_recursion(&b, name, sizeof name - 1); stack; stack = b.p->stacks[stack].parent)
		build_samples(&b, 0, stack, 0, PL_EXACT, 1);
	assert_diff_collapsed_is_refused(&b, &b);
	build_end(&b);
}

/* 240 million frames of two bytes each, of recordings of some kilobytes. */
static void diff_collapsed_of_small_recordings_is_less(void **state)
{
	struct build b;
	uint32_t stack = 0;

	build_start(&b);
	for (unsigned depth = 0; depth < 22000; depth++) {
		stack = build_frame(&b, stack, "f", "a.py", 1);
		build_samples(&b, 0, stack, 0, PL_EXACT, 1);
	}
	b.p->meta.file_bytes = 1570;
	assert_diff_collapsed_is_refused(&b, &b);

	struct build large;
	build_start(&large);
	build_samples(&large, 0, build_frame(&large, 0, "f", "a.py", 1), 0, PL_EXACT, 1);
	large.p->meta.file_bytes = 1000000;
	assert_diff_collapsed_is_refused(&b, &large);
	assert_diff_collapsed_is_refused(&large, &b);
	build_end(&large);
	build_end(&b);
}

/* Some 700 bytes of figures each: gzip data of another tool have millions in some kilobytes. */
static void a_diff_of_more_paths_than_small_files_have_is_refused(void **state)
{
	const struct pl_diff_options paths = {.rows = PL_DIFF_PATHS}, functions = {.rows = PL_DIFF_FUNCTIONS};
	struct build b;
	struct pl_diff d;

	build_start(&b);
	for (int i = 0; i < 7; i++) { /* each as deep as a stack may be */
		const char name[] = {(char)('f' + i)};

		build_samples(&b, 0, build_recursion(&b, name, 1), 0, PL_EXACT, 1);
	}
	const struct plumb_profile *one[] = {b.p};
	const struct pl_diff_input sides[PL_DIFF_SIDES] = {{one, 1}, {one, 1}};
	b.p->meta.file_bytes = 20000;
	assert_is_too_much(pl_diff_make(sides, &paths, &d));
	assert_ok(pl_diff_make(sides, &functions, &d));
	pl_diff_deinit(&d);
	b.p->meta.file_bytes = 100000;
	assert_ok(pl_diff_make(sides, &paths, &d));
	pl_diff_deinit(&d);
	build_end(&b);
}

struct to_and_fro {
	uint32_t stack, apart; /* from the stack to the one that many before it, and back */
};

static struct plumb_error *go_to_and_fro(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const struct to_and_fro *x = ctx;
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < 120000 && !err; i++)
		err = fn(fn_ctx, &(struct pl_sample){.stack = x->stack - i % 2 * x->apart, .time_ns = i});
	return err;
}

/* Deep down, 120,000 samples that go to and fro between two stacks. */
static void refuse_up_and_down(const char *format, uint32_t apart)
{
	const struct pl_export_options o = build_options(100);
	struct to_and_fro samples = {.apart = apart};
	struct build b;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	build_start(&b);
	for (int line = 1; line <= 2; line++) {
		for (uint32_t depth = 0; depth < PL_STACK_MAX_DEPTH; depth++)
			samples.stack = build_frame(&b, depth ? samples.stack : 0, "f", "a.py", line);
	}
	b.p->stream.each = go_to_and_fro;
	b.p->stream.ctx = &samples;
	build_samples(&b, 0, samples.stack, 0, PL_EXACT, 1);
	assert_is_too_much(pl_format_by_name(format)->write(b.p, &o, full));
	b.p->stream = (struct pl_stream){0};
	build_end(&b);
	fclose(full);
}

/* speedscope has the whole stack of each run of equal samples: here they differ by a frame. */
static void speedscope_of_more_than_anyone_can_read_is_not_begun(void **state)
{
	refuse_up_and_down("speedscope", 1);
}

/* A trace has a slice for each frame that was not there before: here all of them are others. */
static void a_trace_of_more_than_anyone_can_read_is_not_begun(void **state)
{
	refuse_up_and_down("chrome-trace", PL_STACK_MAX_DEPTH);
}

static struct plumb_error *change_labels(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < 20000 && !err; i++)
		err = fn(fn_ctx, &(struct pl_sample){.stack = 1 + i % 2, .time_ns = i});
	return err;
}

/* Two thousand million frames are what a long recording may have, but not one of a kilobyte. */
static void of_a_small_recording_less_is_written(void **state)
{
	static const char *const formats[] = {"speedscope", "chrome-trace", "perf-script"};
	const struct pl_export_options o = build_options(100);
	struct to_and_fro samples = {.apart = 1};
	FILE *full = fopen("/dev/full", "w");
	struct build b;

	assert_non_null(full);
	build_start(&b);
	for (unsigned depth = 0; depth < 20000; depth++)
		samples.stack = build_frame(&b, samples.stack, "f", "a.py", 1);
	build_samples(&b, 0, samples.stack, 0, PL_EXACT, 1);
	b.p->meta.file_bytes = 1570;
	b.p->stream.each = go_to_and_fro;
	b.p->stream.ctx = &samples;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		assert_is_too_much(pl_format_by_name(formats[i])->write(b.p, &o, full));
	b.p->stream = (struct pl_stream){0};
	build_end(&b);
	fclose(full);
}

/* Firefox's format has a marker with all labels for each stretch of time in which a thread bore them. */
static void firefox_of_long_labels_is_not_begun(void **state)
{
	const struct pl_export_options o = build_options(100);
	char *tag = calloc(1, 6000003);
	FILE *full = fopen("/dev/full", "w");
	struct build b;

	assert_non_null(full);
	assert_non_null(tag);
	memset(tag, 'A', 6000000);
	build_start(&b);
	for (int i = 0; i < 2; i++) {
		uint32_t stack;

		tag[6000000] = (char)('0' + i);
		assert_ok(pl_profile_tag(b.p, tag, "n\0v", 4, &stack));
		assert_int_equal(stack, 1 + i);
	}
	b.p->stream.each = change_labels;
	build_samples(&b, 0, 1, 0, PL_EXACT, 1);
	assert_is_too_much(pl_format_by_name("firefox")->write(b.p, &o, full));
	b.p->stream = (struct pl_stream){0};
	build_end(&b);
	fclose(full);
	free(tag);
}

#define END_BYTES 256

/* What was written: how much, and how it ends. */
struct told {
	uint64_t bytes;
	char end[END_BYTES + 1];
};

static ssize_t hear(void *cookie, const char *data, size_t len)
{
	struct told *told = cookie;
	size_t n = len < END_BYTES ? len : END_BYTES;

	told->bytes += len;
	memmove(told->end, told->end + n, END_BYTES - n);
	memcpy(told->end + END_BYTES - n, data + len - n, n);
	return told->bytes < 1000000000 ? (ssize_t)len : 0;
}

/* The heaviest stacks, no more than can be read; what JSON says behind them of those that it leaves out. */
static void assert_left_out(const struct plumb_profile *p, const char *left_out)
{
	const struct pl_export_options o = build_options(100);
	struct told told = {0};
	FILE *f = fopencookie(&told, "w", (cookie_io_functions_t){.write = hear});

	assert_non_null(f);
	assert_ok(pl_format_by_name("json")->write(p, &o, f));
	assert_int_equal(fclose(f), 0);
	assert_non_null(strstr(told.end, left_out));
}

/* As often each: the least deep first. */
static void json_leaves_out_stacks_beyond_what_anyone_can_read(void **state)
{
	struct build b;

	build_start(&b);
	build_each_depth(&b);
	assert_left_out(b.p, "],\"stacks_left_out\":{\"count\":121073,\"samples\":121073,\"weight_ns\":121073000000}");
	b.p->meta.file_bytes = 10000; /* less is left of a small recording, which has so many by compression alone */
	assert_left_out(b.p, "],\"stacks_left_out\":{\"count\":126383,\"samples\":126383,\"weight_ns\":126383000000}");
	build_end(&b);
}

/* Whose frames have names. */
static void json_leaves_out_waits_beyond_what_anyone_can_read(void **state)
{
	struct build b;

	build_start(&b);
	uint32_t stack = build_recursion(&b, "f", 1);
	for (unsigned i = 0; i < 1000; i++) {
		const struct pl_wait w = {.stack = stack,
					  .thread = build_thread(&b, 10 + i, "t", 0),
					  .what = PL_DUMP_FOR_LOCK,
					  .tasks = 1,
					  .task_ns = 1000};

		assert_ok(pl_profile_wait(b.p, &w));
	}
	pl_profile_waited(b.p, &(struct pl_waited){.looks = 1});
	assert_left_out(b.p, "],\"stacks_left_out\":{\"count\":947,\"task_ns\":947000}}");
	b.p->meta.file_bytes = 10000;
	assert_left_out(b.p, "],\"stacks_left_out\":{\"count\":992,\"task_ns\":992000}}");
	build_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_script_of_more_than_anyone_can_read_is_not_begun),
		cmocka_unit_test(perf_script_of_long_threads_is_not_begun),
		cmocka_unit_test(collapsed_of_long_processes_is_not_begun),
		cmocka_unit_test(a_flame_graph_of_many_deep_threads_is_not_begun),
		cmocka_unit_test(otlp_of_long_processes_is_not_begun),
		cmocka_unit_test(pprof_of_more_than_anyone_can_read_is_not_begun),
		cmocka_unit_test(otlp_of_more_stacks_than_anyone_can_read_is_not_begun),
		cmocka_unit_test(a_trace_of_more_than_anyone_can_read_is_not_begun),
		cmocka_unit_test(speedscope_of_more_than_anyone_can_read_is_not_begun),
		cmocka_unit_test(of_a_small_recording_less_is_written),
		cmocka_unit_test(firefox_of_long_labels_is_not_begun),
		cmocka_unit_test(diff_collapsed_of_more_than_anyone_can_read_is_not_begun),
		cmocka_unit_test(diff_collapsed_of_small_recordings_is_less),
		cmocka_unit_test(a_diff_of_more_paths_than_small_files_have_is_refused),
		cmocka_unit_test(json_leaves_out_stacks_beyond_what_anyone_can_read),
		cmocka_unit_test(json_leaves_out_waits_beyond_what_anyone_can_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
