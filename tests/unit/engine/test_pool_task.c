/* SPDX-License-Identifier: Apache-2.0 */
/* What the workers of pools work on, found on their stacks. */
#include "unit.h"

#include <string.h>

#include "pool_task.h"

#define POOL	  "/usr/lib/python3.11/multiprocessing/pool.py"
#define PROCESS	  "/usr/lib/python3.11/concurrent/futures/process.py"
#define LOKY	  "/v/site-packages/joblib/externals/loky/process_executor.py"
#define WRAPPER	  "/v/site-packages/joblib/externals/loky/cloudpickle_wrapper.py"
#define PARALLEL  "/v/site-packages/joblib/parallel.py"
#define QUEUES	  "/usr/lib/python3.11/multiprocessing/queues.py"
#define REDUCTION "/usr/lib/python3.11/multiprocessing/reduction.py"

struct frame {
	const char *name, *file;
};

static struct plumb_profile *profile;
static struct pl_pool_tasks tasks;

static int set_up(void **state)
{
	assert_ok(pl_profile_create(&profile));
	pl_pool_tasks_init(&tasks, 0);
	return 0;
}

static int clean_up(void **state)
{
	pl_pool_tasks_deinit(&tasks);
	pl_profile_destroy(profile);
	return 0;
}

static uint32_t on(uint32_t stack, const char *name, const char *file, enum pl_frame_origin origin)
{
	struct pl_function f = {.firstline = 1, .origin = (uint8_t)origin};
	struct pl_location l = {.line = 1};
	uint32_t location;

	assert_ok(pl_profile_string(profile, name, strlen(name), &f.name));
	f.qualname = f.name;
	assert_ok(pl_profile_string(profile, file, strlen(file), &f.file));
	assert_ok(pl_profile_function(profile, &f, &l.function));
	assert_ok(pl_profile_location(profile, &l, &location));
	assert_ok(pl_profile_stack(profile, stack, location, &stack));
	return stack;
}

static uint32_t stack_of(const struct frame *frames)
{
	uint32_t stack = 0;

	for (; frames->name; frames++)
		stack = on(stack, frames->name, frames->file, PL_ORIGIN_PYTHON);
	return stack;
}

/* The tag that a stack stands on; NULL: it is none. */
static const char *tag_of(uint32_t stack)
{
	uint32_t tagged, depth = profile->stacks[stack].depth;

	assert_ok(pl_pool_task_stack(&tasks, profile, stack, &tagged));
	if (tagged == stack)
		return NULL;
	assert_int_equal(profile->stacks[tagged].depth, depth + 1);
	while (profile->stacks[tagged].parent)
		tagged = profile->stacks[tagged].parent;
	const struct pl_function *f =
		&profile->functions[profile->locations[profile->stacks[tagged].location].function];
	assert_int_equal(f->origin, PL_ORIGIN_MARKER);
	return pl_strtab_get(profile->strings, f->name, NULL);
}

#define TAG(...) tag_of(stack_of((const struct frame[]){__VA_ARGS__, {NULL, NULL}}))

static void what_a_worker_was_handed_is_its_task(void **state)
{
	assert_string_equal(TAG({"worker", POOL}, {"count", "/app/a.py"}, {"is_prime", "/app/a.py"}), "[task=count]");
	assert_string_equal(TAG({"worker", POOL}, {"mapstar", POOL}, {"count", "/app/a.py"}), "[task=count]");
	assert_string_equal(TAG({"_process_worker", PROCESS}, {"_process_chunk", PROCESS}, {"<listcomp>", PROCESS},
				{"Job.run", "/app/a.py"}),
			    "[task=Job.run]");
	assert_string_equal(TAG({"_process_worker", LOKY}, {"__call__", LOKY}, {"__call__", WRAPPER},
				{"__call__", PARALLEL}, {"<listcomp>", PARALLEL}, {"fit", "/app/a.py"},
				{"__call__", PARALLEL}, {"part", "/app/a.py"}),
			    "[task=fit]");
}

static void what_a_worker_does_between_tasks_has_none(void **state)
{
	assert_null(TAG({"main", "/app/a.py"}, {"count", "/app/a.py"}));
	assert_null(TAG({"worker", "/app/pool.py"}, {"count", "/app/a.py"}));
	assert_null(TAG({"worker", POOL}));
	assert_null(TAG({"worker", POOL}, {"get", QUEUES}, {"__setstate__", "/app/a.py"}));
	assert_null(TAG({"worker", POOL}, {"put", QUEUES}, {"dumps", REDUCTION}, {"__reduce__", "/app/a.py"}));
	assert_null(TAG({"_process_worker", PROCESS}, {"_sendback_result", PROCESS}, {"__reduce__", "/app/a.py"}));
	assert_null(tag_of(0));
}

/* A forked worker's stack stands on that of the process that it was forked from, which may be a worker itself. */
static void the_innermost_worker_counts(void **state)
{
	const struct frame outer[] = {
		{"worker", POOL}, {"count", "/app/a.py"}, {"_process_worker", PROCESS}, {NULL, NULL}};

	assert_null(tag_of(stack_of(outer)));
	assert_string_equal(
		TAG({"worker", POOL}, {"count", "/app/a.py"}, {"_process_worker", PROCESS}, {"inner", "/app/a.py"}),
		"[task=inner]");
}

static void functions_of_c_are_passed_over(void **state)
{
	uint32_t stack = stack_of((const struct frame[]){{"worker", POOL}, {NULL, NULL}});

	stack = on(stack, "long_pow", "/usr/bin/python3.11", PL_ORIGIN_NATIVE);
	assert_null(tag_of(stack));
	assert_string_equal(tag_of(on(stack, "key", "/app/a.py", PL_ORIGIN_PYTHON)), "[task=key]");
}

static void a_long_name_is_cut_between_characters(void **state)
{
	char name[1200] = "x";

	for (size_t i = 1; i + 2 < sizeof name; i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	const char *tag = TAG({"worker", POOL}, {name, "/app/a.py"});
	assert_int_equal(strlen(tag), strlen("[task=]") + 199);
	assert_memory_equal(tag + strlen(tag) - 3, "\xc3\xa9]", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_worker_was_handed_is_its_task, set_up, clean_up),
		cmocka_unit_test_setup_teardown(what_a_worker_does_between_tasks_has_none, set_up, clean_up),
		cmocka_unit_test_setup_teardown(the_innermost_worker_counts, set_up, clean_up),
		cmocka_unit_test_setup_teardown(functions_of_c_are_passed_over, set_up, clean_up),
		cmocka_unit_test_setup_teardown(a_long_name_is_cut_between_characters, set_up, clean_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
