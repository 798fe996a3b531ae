/* SPDX-License-Identifier: Apache-2.0 */
/* Four times the profile is four times the work in each format, whatever is in it. */
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "counted.h"
#include "dump_export.h"
#include "dump_model.h"
#include "unit.h"
#include "waits_table.h"

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

/* More samples than can be counted: each function has half of them, so that none is left out as too little. */
static void build_counts_without_end(struct build *b, unsigned items)
{
	uint32_t thread = build_process(b, 10000, 1, "worker");

	for (unsigned i = 0; i < items; i++) {
		struct pl_sample s = {.thread = thread,
				      .stack = build_frame(b, 0, "work", "/srv/app.py", (int)i),
				      .quality = PL_EXACT,
				      .extra = UINT64_MAX / 2,
				      .weight_ns = UINT64_MAX / 2};
		assert_ok(pl_profile_add_all(b->p, &s, 1));
	}
}

static void functions_of_half_the_time_each_cost_no_more(void **state)
{
	write_all(build_counts_without_end);
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

#define GROUPS 64

/* A letter with marks above it, again and again, on a narrow page: at the end is what runs. */
static void write_marked_line(void *unused, unsigned items)
{
	static const struct pl_dump_look narrow = {.width = 20, .unicode = true};
	struct pl_dump_process process = {0};
	struct pl_dump_thread thread = {.python = true};
	unsigned bytes = GROUPS * (1 + items / GROUPS * 2), at = 0;
	char *line = malloc(bytes + 1);
	struct pl_dump *d;
	FILE *null = fopen("/dev/null", "w");

	assert_true(null && line);
	for (unsigned group = 0; group < GROUPS; group++) {
		line[at++] = 'a';
		for (unsigned i = 0; i < items / GROUPS; i++, at += 2)
			memcpy(line + at, "\xcc\xb6", 2);
	}
	line[at] = '\0';
	assert_ok(pl_dump_create(&d));
	struct pl_dump_frame frame = {.name = pl_dump_str(d, "f"),
				      .file = pl_dump_str(d, "a.py"),
				      .line = 1,
				      .end_line = 1,
				      .column = (int32_t)(bytes - 1 - items / GROUPS * 2),
				      .end_column = (int32_t)bytes,
				      .has_source = true,
				      .source = pl_dump_str(d, line)};
	assert_true(pl_vec_push(&thread.frames, frame) && pl_vec_push(&process.threads, thread));
	assert_true(pl_vec_push(&d->processes, process));
	counted_begin();
	assert_true(pl_dump_write_text(d, &narrow, null));
	counted_end();
	pl_dump_destroy(d);
	fclose(null);
	free(line);
}

static void what_runs_in_a_long_line_is_found_once(void **state)
{
	counted_linear(write_marked_line, NULL, ITEMS);
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

/* Whose file has a long path. */
static void build_long_path(struct build *b, unsigned items)
{
	char *path = calloc(1, 16 * items);
	uint32_t stack = 0;

	assert_non_null(path);
	memset(path, 'A', 16 * items);
	for (unsigned i = 0; i < items; i++)
		stack = build_frame_n(b, stack, i % 2 ? "f" : "g", 1, path, 16 * items, 1);
	build_samples(b, 0, stack, 0, PL_EXACT, 1);
	free(path);
}

static void a_path_is_searched_once(void **state)
{
	static const char *const formats[] = {"text", "tree", "markdown", "json", "svg", "flamegraph-json"};

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct shape shape = {pl_format_by_name(formats[i]), build_long_path};

		if (getenv("PLUMB_TEST_COUNTS"))
			print_message("%s: ", formats[i]);
		counted_linear(write_shape, &shape, ITEMS);
	}
}

static void a_name_is_searched_once(void **state)
{
	struct shape shape = {pl_format_by_name("flamegraph-json"), build_recursion};

	counted_linear(write_shape, &shape, ITEMS);
}

/* Each thread deep down, at one place. */
static void build_deep_threads(struct build *b, unsigned items)
{
	uint32_t stack = 0;

	for (unsigned i = 0; i < items; i++)
		stack = build_frame(b, stack, "f", "a.py", 1);
	for (unsigned i = 0; i < items; i++)
		build_samples(b, build_thread(b, 10000 + i, "t", 0), stack, 0, PL_EXACT, 1);
}

/* Not in pprof, whose samples have whole stacks. */
static void the_tag_of_a_deep_stack_is_found_once(void **state)
{
	struct shape shape = {pl_format_by_name("otlp"), build_deep_threads};

	counted_linear(write_shape, &shape, ITEMS);
}

static struct plumb_error *holders(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const struct plumb_profile *p = ctx;
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < p->stack_count && !err; i++)
		err = fn(fn_ctx,
			 &(struct pl_sample){.stack = p->stack_count - 1, .time_ns = i, .state = PL_STATE_HAS_GIL});
	return err;
}

/* A thread that holds the GIL deep down in what is not Python: as many samples as frames. */
static void build_holders(struct build *b, unsigned items)
{
	struct pl_location at = {.column = -1, .end_column = -1};
	struct pl_function f = {.name = build_string(b, "f"), .origin = PL_ORIGIN_NATIVE};
	uint32_t location, stack = 0;

	assert_ok(pl_profile_function(b->p, &f, &at.function));
	assert_ok(pl_profile_location(b->p, &at, &location));
	for (unsigned i = 0; i < items; i++)
		assert_ok(pl_profile_stack(b->p, stack, location, &stack));
	build_samples(b, 0, stack, PL_STATE_WANTS_GIL, PL_EXACT, 1);
	b->p->stream = (struct pl_stream){.each = holders, .ctx = b->p};
}

static void who_held_the_gil_deep_down_is_found_once(void **state)
{
	struct shape shape = {pl_format_by_name("json"), build_holders};

	counted_linear(write_shape, &shape, ITEMS);
}

static struct plumb_error *calls_in_turn(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const struct plumb_profile *p = ctx;
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < p->stack_count && !err; i++)
		err = fn(fn_ctx, &(struct pl_sample){.stack = p->stack_count - 1 - 2 * (i % 2), .time_ns = i});
	return err;
}

/* A loop that was started twice, once deep down, and calls the same both times: as many samples as frames. */
static void build_calls_of_loops(struct build *b, unsigned items)
{
	uint32_t starts[2] = {0};

	for (unsigned i = 0; i < items; i++)
		starts[1] = build_frame(b, starts[1], "f", "a.py", 1);
	for (int i = 0; i < 2; i++) {
		uint32_t loop = build_frame(b, starts[i], "_run_once", "/usr/lib/python3.12/asyncio/base_events.py", 1);

		build_samples(b, 0, build_frame(b, loop, "call", "a.py", 9), 0, PL_EXACT, 1);
	}
	b->p->stream = (struct pl_stream){.each = calls_in_turn, .ctx = b->p};
}

static void calls_of_a_loop_deep_down_are_compared_in_it(void **state)
{
	struct shape shape = {pl_format_by_name("json"), build_calls_of_loops};

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

/* A thread of another process that has the same number as all others. */
static uint32_t build_namesake(struct build *b, uint32_t pid)
{
	uint32_t id = build_process(b, pid, 1, "worker");
	const struct pl_thread t = {.process = b->p->threads[id].process, .tid = 1};

	assert_ok(pl_profile_thread(b->p, &t, &id));
	return id;
}

/* In each process a task waits deep down in a library, for one thing. Two chains that differ in the outermost frame. */
static void build_waits(struct build *b, unsigned items)
{
	static const char library[] = "/usr/lib/python3/site-packages/x.py";
	uint32_t stacks[2];

	for (int i = 0; i < 2; i++) {
		stacks[i] = build_frame(b, 0, i ? "serve" : "work", library, 1);
		for (unsigned deep = 1; deep < items; deep++)
			stacks[i] = build_frame(b, stacks[i], "f", library, 1);
	}
	for (unsigned i = 0; i < items; i++) {
		const struct pl_wait w = {.stack = stacks[i % 2],
					  .thread = build_namesake(b, 10000 + i),
					  .what = PL_DUMP_FOR_LOCK,
					  .tasks = 1,
					  .task_ns = 1000};

		assert_ok(pl_profile_wait(b->p, &w));
	}
	pl_profile_waited(b->p, &(struct pl_waited){.looks = 1});
}

static void what_tasks_wait_for_deep_down_is_found_once(void **state)
{
	struct shape shape = {pl_format_by_name("text"), build_waits};

	counted_linear(write_shape, &shape, ITEMS);
}

/* Onto a disk that is full: JSON has whole stacks, of which only the first are written. */
static void write_waits(void *ctx, unsigned items)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP};
	FILE *full = fopen("/dev/full", "w");
	struct pl_waits waits;
	struct pl_json j;
	struct build b;

	assert_non_null(full);
	build_start(&b);
	build_waits(&b, items);
	assert_ok(pl_waits_find(b.p, &everything, &waits));
	counted_begin();
	pl_json_init(&j, full, 0);
	pl_json_object(&j);
	assert_ok(pl_waits_json(&waits, &j));
	counted_end();
	pl_waits_deinit(&waits);
	build_end(&b);
	fclose(full);
}

static void deep_stacks_of_waits_are_compared_once(void **state)
{
	counted_linear(write_waits, NULL, ITEMS);
}

/* On each of two deep chains that differ in the outermost frame many stacks, as often each. */
static void build_deep_leaves(struct build *b, unsigned items)
{
	uint32_t stacks[2];

	for (int i = 0; i < 2; i++) {
		stacks[i] = build_frame(b, 0, i ? "serve" : "work", "a.py", 1);
		for (unsigned deep = 1; deep < items; deep++)
			stacks[i] = build_frame(b, stacks[i], "f", "a.py", 1);
	}
	for (unsigned leaf = 0; leaf < items; leaf++)
		for (int i = 0; i < 2; i++)
			build_samples(b, 0, build_frame(b, stacks[i], "g", "a.py", 2 + (int)leaf), 0, PL_EXACT, 1);
}

/* Onto a disk that is full: what is counted is the sorting. */
static void write_leaves(void *ctx, unsigned items)
{
	const struct pl_format *format = ctx;
	const struct pl_export_options o = build_options(100);
	FILE *full = fopen("/dev/full", "w");
	struct build b;

	assert_non_null(full);
	build_start(&b);
	build_deep_leaves(&b, items);
	counted_begin();
	assert_ok(format->write(b.p, &o, full));
	counted_end();
	build_end(&b);
	fclose(full);
}

static void deep_stacks_are_compared_once(void **state)
{
	static const char *const formats[] = {"json", "collapsed"};

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		counted_linear(write_leaves, (void *)(uintptr_t)pl_format_by_name(formats[i]), ITEMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_processes_cost_what_is_in_them),
		cmocka_unit_test(many_processes_with_times_cost_what_is_in_them),
		cmocka_unit_test(functions_of_half_the_time_each_cost_no_more),
		cmocka_unit_test(a_dump_of_deep_stacks_in_changed_files_costs_what_is_in_it),
		cmocka_unit_test(what_runs_in_a_long_line_is_found_once),
		cmocka_unit_test(a_name_is_searched_once),
		cmocka_unit_test(a_path_is_searched_once),
		cmocka_unit_test(the_tag_of_a_deep_stack_is_found_once),
		cmocka_unit_test(who_held_the_gil_deep_down_is_found_once),
		cmocka_unit_test(calls_of_a_loop_deep_down_are_compared_in_it),
		cmocka_unit_test(what_tasks_wait_for_deep_down_is_found_once),
		cmocka_unit_test(deep_stacks_of_waits_are_compared_once),
		cmocka_unit_test(deep_stacks_are_compared_once),
		cmocka_unit_test(a_tree_takes_no_more_memory_for_more_batches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
