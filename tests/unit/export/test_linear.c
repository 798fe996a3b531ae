/* SPDX-License-Identifier: Apache-2.0 */
/* Four times the profile is four times the work in each format, whatever is in it. */
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "counted.h"
#include "dump_export.h"
#include "unit.h"

#define ITEMS 1024u

struct shape {
	const struct pl_format *format;
	void (*build)(struct build *b, unsigned items);
};

static void write_shape(void *ctx, unsigned items)
{
	const struct shape *shape = ctx;
	struct pl_export_options o = build_options(100);
	struct build b;

	build_start(&b);
	shape->build(&b, items);
	counted_begin();
	free(build_output(b.p, shape->format->name, &o, NULL));
	counted_end();
	b.p->stream = (struct pl_stream){0};
	build_end(&b);
}

static void write_all(void (*build)(struct build *b, unsigned items))
{
	for (const struct pl_format *f = pl_formats; f->name; f++) {
		struct plumb_error *missing = f->check ? f->check() : NULL;
		struct shape shape = {f, build};

		plumb_error_destroy(missing);
		if (missing)
			continue;
		if (getenv("PLUMB_TEST_COUNTS"))
			print_message("%s: ", f->name);
		counted_linear(write_shape, &shape, ITEMS);
	}
}

/* Whose parents are not there: each is looked for among all. */
static void build_orphans(struct build *b, unsigned items)
{
	uint32_t stack = build_frame(b, 0, "work", "/srv/app.py", 1);

	for (unsigned i = 0; i < items; i++)
		build_samples(b, build_process(b, 10000 + i, 1, "worker"), stack, 0, PL_EXACT, 1);
}

static void many_processes_cost_what_is_in_them(void **state)
{
	write_all(build_orphans);
}

static struct plumb_error *one_of_each_thread(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const struct plumb_profile *p = ctx;
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < p->thread_count && !err; i++)
		err = fn(fn_ctx, &(struct pl_sample){.thread = i, .stack = 1, .time_ns = i});
	return err;
}

static void build_orphans_with_times(struct build *b, unsigned items)
{
	build_orphans(b, items);
	b->p->stream = (struct pl_stream){.each = one_of_each_thread, .ctx = b->p};
}

static void many_processes_with_times_cost_what_is_in_them(void **state)
{
	write_all(build_orphans_with_times);
}

static const struct pl_dump_look plain = {.width = 100};

/* Deep in files that are as they were, and as deep in one that was changed. */
static void write_dump(void *unused, unsigned items)
{
	struct pl_dump_process process = {0};
	struct pl_dump *d;
	FILE *null = fopen("/dev/null", "w");

	assert_non_null(null);
	assert_ok(pl_dump_create(&d));
	for (int changed = 0; changed < 2; changed++) {
		struct pl_dump_thread thread = {.python = true};

		for (unsigned i = 0; i < items; i++) {
			struct pl_dump_frame frame = {.name = pl_dump_str(d, "f"),
						      .file = pl_dump_str(d, changed ? "b.py" : "a.py"),
						      .source_changed = changed};
			assert_true(pl_vec_push(&thread.frames, frame));
		}
		assert_true(pl_vec_push(&process.threads, thread));
	}
	assert_true(pl_vec_push(&d->processes, process));
	counted_begin();
	assert_true(pl_dump_write_text(d, &plain, null));
	counted_end();
	pl_dump_destroy(d);
	fclose(null);
}

static void a_dump_of_deep_stacks_in_changed_files_costs_what_is_in_it(void **state)
{
	counted_linear(write_dump, NULL, ITEMS);
}

/* One function all the way down, with a long name. */
static void build_recursion(struct build *b, unsigned items)
{
	char *name = calloc(1, 16 * items);
	uint32_t stack = 0;

	assert_non_null(name);
	memset(name, 'A', 16 * items);
	for (unsigned i = 0; i < items; i++)
		stack = build_frame_n(b, stack, name, 16 * items, "a.py", 4, 1);
	build_samples(b, 0, stack, 0, PL_EXACT, 1);
	free(name);
}

static void a_name_is_searched_once(void **state)
{
	struct shape shape = {pl_format_by_name("flamegraph-json"), build_recursion};

	counted_linear(write_shape, &shape, ITEMS);
}

/* What the tree of one deep stack takes that has samples in so many of the batches. */
static uint64_t bytes_of_tree(unsigned batches)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP};
	pl_tree_rows rows = {0};
	struct build b;
	uint32_t stack = 0;

	build_start(&b);
	for (unsigned i = 0; i < ITEMS; i++)
		stack = build_frame(&b, stack, "f", "a.py", 1);
	for (unsigned i = 0; i < batches; i++) {
		b.now_ns = i * PL_BATCH_MIN_NS;
		build_samples(&b, 0, stack, 0, PL_EXACT, 1);
	}
	uint64_t before = counted_now().allocated;
	assert_ok(pl_view_tree(b.p, &everything, 0, &rows));
	uint64_t bytes = counted_now().allocated - before;
	assert_int_equal(rows.len, ITEMS);
	pl_vec_deinit(&rows);
	build_end(&b);
	return bytes;
}

static void a_tree_takes_no_more_memory_for_more_batches(void **state)
{
	assert_true(bytes_of_tree(PL_BATCHES) < bytes_of_tree(1) + (64 << 10));
}

/* perf-script has the whole stack of each sample, by name: of twenty with long names, deep down, each. */
static void perf_script_of_more_than_anyone_can_read_is_not_begun(void **state)
{
	const struct pl_export_options o = build_options(100);
	const unsigned len = 60000;
	char *name = calloc(1, len);
	uint32_t stack = 0;
	struct build b;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	assert_non_null(name);
	memset(name, 'A', len);
	build_start(&b);
	while (b.p->stacks[stack].depth < PL_STACK_MAX_DEPTH)
		stack = build_frame_n(&b, stack, name, len, "a.py", 4, 1);
	for (unsigned i = 0; i < 20; i++, stack = b.p->stacks[stack].parent)
		build_samples(&b, 0, stack, 0, PL_EXACT, 1);
	assert_code(pl_format_by_name("perf-script")->write(b.p, &o, full), PLUMB_ERR_LIMIT);
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
	assert_code(pl_format_by_name("perf-script")->write(b.p, &o, full), PLUMB_ERR_LIMIT);
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
	assert_code(pl_format_by_name("collapsed")->write(b.p, &o, full), PLUMB_ERR_LIMIT);
	build_end(&b);
	fclose(full);
	free(name);
}

/* CPython's flame graphs have the threads of each frame: of many that stand deep down. */
static void a_flame_graph_of_many_deep_threads_is_not_begun(void **state)
{
	const struct pl_export_options o = build_options(100);
	uint32_t stack = 0;
	struct build b;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	build_start(&b);
	while (b.p->stacks[stack].depth < PL_STACK_MAX_DEPTH)
		stack = build_frame(&b, stack, "f", "a.py", 1);
	for (unsigned i = 0; i < 80; i++)
		build_samples(&b, build_thread(&b, 10 + i, "t", 0), stack, 0, PL_EXACT, 1);
	assert_code(pl_format_by_name("flamegraph-json")->write(b.p, &o, full), PLUMB_ERR_LIMIT);
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
	assert_code(pl_format_by_name("otlp")->write(b.p, &o, full), PLUMB_ERR_LIMIT);
	b.p->stream = (struct pl_stream){0};
	build_end(&b);
	fclose(full);
	free(name);
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
	assert_code(pl_format_by_name(format)->write(b.p, &o, full), PLUMB_ERR_LIMIT);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_processes_cost_what_is_in_them),
		cmocka_unit_test(many_processes_with_times_cost_what_is_in_them),
		cmocka_unit_test(a_dump_of_deep_stacks_in_changed_files_costs_what_is_in_it),
		cmocka_unit_test(a_name_is_searched_once),
		cmocka_unit_test(a_tree_takes_no_more_memory_for_more_batches),
		cmocka_unit_test(perf_script_of_more_than_anyone_can_read_is_not_begun),
		cmocka_unit_test(perf_script_of_long_threads_is_not_begun),
		cmocka_unit_test(collapsed_of_long_processes_is_not_begun),
		cmocka_unit_test(a_flame_graph_of_many_deep_threads_is_not_begun),
		cmocka_unit_test(otlp_of_long_processes_is_not_begun),
		cmocka_unit_test(a_trace_of_more_than_anyone_can_read_is_not_begun),
		cmocka_unit_test(speedscope_of_more_than_anyone_can_read_is_not_begun),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
