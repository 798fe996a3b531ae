/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with --wrap=malloc,calloc,realloc: a recording is made, read, asked and merged with its first allocation
 * failing, then its second, ... until none fails. No crash, no leak (the sanitizer build looks), and after each failure
 * the profile still says what it said before. */
#include "capture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "failing.h"
#include "recording.h"
#include "view.h"

#define SAMPLES 400

struct scene {
	char *path;
	struct plumb_profile *p, *back;
	struct pl_capture_writer *w;
};

/* True if all went well; anything but a want of memory fails the test. */
static bool well(struct plumb_error *err)
{
	assert_true(!err || plumb_error_code(err) == PLUMB_ERR_NO_MEMORY);
	plumb_error_destroy(err);
	return !err;
}

/* The next sample: a chain of calls that is different each time. */
static bool next_sample(struct plumb_profile *p, int i, struct pl_sample *s)
{
	char name[16];
	struct pl_process proc = {.pid = (uint32_t)i / 100};
	struct pl_thread t = {.tid = (uint64_t)(i % 40)};
	*s = (struct pl_sample){.time_ns = (uint64_t)i * PL_BATCH_MIN_NS / 4, .weight_ns = (uint64_t)i};
	if (!well(pl_profile_process(p, &proc, &t.process)) || !well(pl_profile_thread(p, &t, &s->thread)))
		return false;
	for (int depth = 0; depth < 3; depth++) {
		struct pl_function f = {.firstline = (uint32_t)depth};
		struct pl_location l = {.line = i};
		uint32_t location = 0;
		int len = snprintf(name, sizeof name, "f%d", i % 50 + depth);
		if (!well(pl_profile_string(p, name, (size_t)len, &f.name)) ||
		    !well(pl_profile_function(p, &f, &l.function)) || !well(pl_profile_location(p, &l, &location)) ||
		    !well(pl_profile_stack(p, s->stack, location, &s->stack)))
			return false;
	}
	return true;
}

/* Of two files; each has another text at first. */
static bool add_text(struct plumb_profile *p, int i)
{
	uint32_t file = 0;
	const char *text = i < 200 ? "pass # twice\n" : "pass\n";
	return well(pl_profile_string(p, i % 200 == 50 ? "f1" : "f2", 2, &file)) &&
	       well(pl_profile_source(p, file, text, strlen(text), false));
}

static bool record(struct scene *s)
{
	if (!well(pl_profile_create(&s->p)) || !well(pl_capture_create(s->path, s->p, &s->w)))
		return false;
	for (int i = 0; i < SAMPLES; i++) {
		struct pl_sample sample;
		if (!next_sample(s->p, i, &sample))
			return false;
		uint64_t before = samples_in(s->p);
		bool added = well(pl_profile_add(s->p, &sample));
		assert_int_equal(samples_in(s->p), before + added);
		if (!added || !well(pl_capture_add(s->w, &sample)))
			return false;
		if (i % 100 == 50 && !add_text(s->p, i))
			return false;
		if (i == SAMPLES / 2 && !well(pl_capture_flush(s->w, s->p)))
			return false;
	}
	return well(pl_capture_finish(s->w, s->p));
}

static bool read_back(struct scene *s)
{
	struct pl_capture_info info;
	int fd = open(s->path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	bool ok = well(pl_profile_create(&s->back)) && well(pl_capture_read(fd, s->back, NULL, NULL, &info));
	close(fd);
	assert_true(!ok || (samples_in(s->back) == SAMPLES && s->back->source_count == 2));
	return ok;
}

static bool ask(const struct plumb_profile *p)
{
	struct pl_filter f = {.lines = true};
	struct pl_totals totals;
	pl_function_rows functions = {0};
	pl_tree_rows tree = {0};
	pl_thread_rows threads = {0};
	pl_stack_rows stacks = {0};
	pl_process_rows processes = {0};
	bool ok = well(pl_view_totals(p, &f, &totals)) && well(pl_view_functions(p, &f, &functions)) &&
		  well(pl_view_tree(p, &f, 0, &tree)) && well(pl_view_threads(p, &f, &threads)) &&
		  well(pl_view_stacks(p, &f, &stacks)) && well(pl_view_processes(p, &f, &processes));
	pl_vec_deinit(&functions);
	pl_vec_deinit(&tree);
	pl_vec_deinit(&threads);
	pl_vec_deinit(&stacks);
	pl_vec_deinit(&processes);
	return ok;
}

static void run(void *ctx)
{
	struct scene s = {.path = ctx};
	if (record(&s) && read_back(&s) && ask(s.back) && well(pl_profile_merge(s.back, s.p)))
		assert_int_equal(samples_in(s.back), 2 * SAMPLES);
	pl_capture_destroy(s.w);
	pl_profile_destroy(s.p);
	pl_profile_destroy(s.back);
}

static void every_failed_allocation_is_survived(void **state)
{
	char *path = temp_file();
	failing_each(run, path, 100);
	unlink(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_failed_allocation_is_survived)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
