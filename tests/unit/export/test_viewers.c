/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of viewers with an axis of time. That their viewers read them is shown in tests/integration. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "json_reader.h"
#include "labels.h"

static const char *const formats[] = {"speedscope", "firefox", "chrome-trace", "perf-script"};

/* Two threads, a wait, a marker, recursion; no times. */
static void build_small(struct build *b)
{
	const int run = PL_STATE_ON_CPU | PL_STATE_HAS_GIL;
	uint32_t root, work, deep, wait, gone;

	build_start(b);
	b->p->meta.duration_ns = 20000000;
	b->p->meta.losses[PL_LOSS_MISSED] = 3;
	root = build_frame(b, 0, "<module>", "/srv/app.py", 20);
	work = build_frame(b, root, "Shop.work", "/srv/app.py", 11);
	deep = build_frame(b, work, "Shop.work", "/srv/app.py", 12);
	wait = build_frame(b, 0, "wait;\n\"</script>\xed\xb2\x80", "/usr/lib/python3.12/threading.py", 355);
	gone = build_frame(b, work, "<moving>", NULL, 0);
	build_thread(b, 4243, "pool-1", 0);
	build_samples(b, 0, work, run, PL_EXACT, 5);
	build_samples(b, 0, deep, run | PL_STATE_IN_GC, PL_EXACT, 3);
	build_samples(b, 0, gone, run, PL_PARTIAL, 1);
	build_samples(b, 0, 0, run, PL_EXACT, 1);
	b->now_ns = 0;
	build_samples(b, 1, wait, 0, PL_EXACT, 10);
}

static void as_in_the_golden_files(void **state)
{
	static const char *const files[] = {"small.speedscope.json", "small.firefox.json", "small.trace.json",
					    "small.perf"};
	struct pl_export_options o = build_options(80);
	struct build b;

	o.made_by = "plumb 0.1.0: plumb convert a.plumb b";
	build_small(&b);
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		size_t len;
		char *got = build_output(b.p, formats[i], &o, &len);

		build_assert_golden(files[i], got, len);
		free(got);
	}
	build_end(&b);
}

/* Functions of two libraries, of which one is known by its build, and of one that was two in turn. */
static void build_libraries(struct build *b)
{
	static const char *const libraries[][3] = {{"/lib/libz.so.1", "0123456789abcdef0123456789abcdeffedcba98", NULL},
						   {"/lib/short.so", "ab01", NULL},
						   {"/lib/libm.so.6", "ab01", "cd02"},
						   {"/lib/bare.so", NULL, NULL}};
	struct pl_location at = {.column = -1, .end_column = -1};
	uint32_t location, stack = 0;

	build_start(b);
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		struct pl_function f = {.name = build_string(b, "deflate"),
					.file = build_string(b, libraries[i][0]),
					.origin = PL_ORIGIN_NATIVE};

		f.qualname = f.name;
		for (size_t k = 1; k < 3 && libraries[i][k]; k++)
			assert_ok(
				pl_profile_module(b->p, &(struct pl_module){f.file, build_string(b, libraries[i][k])}));
		assert_ok(pl_profile_function(b->p, &f, &at.function));
		assert_ok(pl_profile_location(b->p, &at, &location));
		assert_ok(pl_profile_stack(b->p, stack, location, &stack));
	}
	build_samples(b, 0, stack, PL_STATE_ON_CPU, PL_EXACT, 3);
}

static void libraries_are_known_by_their_builds(void **state)
{
	static const char *const forms[] = {"firefox", "otlp-json"};
	static const char *const files[] = {"libraries.firefox.json", "libraries.otlp.json"};
	struct pl_export_options o = build_options(80);
	struct build b;

	build_libraries(&b);
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		size_t len;
		char *got = build_output(b.p, forms[i], &o, &len);

		build_assert_golden(files[i], got, len);
		free(got);
	}
	build_end(&b);
}

static uint32_t tagged(struct build *b, const char *text, const char *labels, size_t len)
{
	uint32_t node;

	assert_ok(pl_profile_tag(b->p, text, labels, len, &node));
	return build_frame(b, node, "serve", "/srv/app.py", 7);
}

struct instants {
	struct pl_sample list[8];
	size_t count;
};

static struct plumb_error *each_instant(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const struct instants *all = ctx;
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < all->count && !err; i++)
		err = fn(fn_ctx, &all->list[i]);
	return err;
}

static void add_instant(struct build *b, struct instants *all, uint64_t ms, uint32_t stack)
{
	all->list[all->count] = (struct pl_sample){.time_ns = ms * 1000000, .stack = stack, .state = PL_STATE_ON_CPU};
	assert_ok(pl_profile_add(b->p, &all->list[all->count++]));
}

/* A request, the next one, none, and the first again, which was not seen for a while; a label that is called as a
 * member of markers. */
static void labels_are_markers_of_the_firefox_profiler(void **state)
{
	static const char x[] = "route\0/x\0type\0mine", y[] = "route\0/y";
	struct pl_export_options o = build_options(80);
	struct instants all = {.count = 0};
	struct build b;
	size_t len;

	build_start(&b);
	uint32_t first = tagged(&b, "[route=/x, type=mine]", x, sizeof x),
		 second = tagged(&b, "[route=/y]", y, sizeof y), none = build_frame(&b, 0, "serve", "/srv/app.py", 7);
	add_instant(&b, &all, 1, first);
	add_instant(&b, &all, 2, first);
	add_instant(&b, &all, 3, second);
	add_instant(&b, &all, 4, none);
	add_instant(&b, &all, 5, first);
	add_instant(&b, &all, 50, first);
	b.p->stream = (struct pl_stream){.each = each_instant, .ctx = &all};
	char *got = build_output(b.p, "firefox", &o, &len);
	build_assert_golden("labels.firefox.json", got, len);
	free(got);
	build_end(&b);
}

/* It shares a processor: half of the time it is ready. Nothing is before the first sample. */
static void who_is_ready_uses_no_cpu_time(void **state)
{
	struct pl_export_options o = build_options(80);
	struct instants all = {.count = 0};
	struct build b;
	size_t len;

	build_start(&b);
	uint32_t stack = build_frame(&b, 0, "serve", "/srv/app.py", 7);
	for (uint64_t ms = 1; ms <= 5; ms++)
		add_instant(&b, &all, ms, stack);
	all.list[2].state |= PL_REASON_CPU << PL_STATE_BITS;
	all.list[4].state |= PL_REASON_CPU << PL_STATE_BITS;
	b.p->stream = (struct pl_stream){.each = each_instant, .ctx = &all};
	char *got = build_output(b.p, "firefox", &o, &len);
	assert_non_null(strstr(got, "\"threadCPUDelta\":[0,1000000,0,1000000,0]"));
	free(got);
	build_end(&b);
}

static void an_empty_profile_is_written(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;

	build_start(&b);
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		struct pl_json_reader r;
		size_t len;
		char *got = build_output(b.p, formats[i], &o, &len);

		if (strcmp(formats[i], "perf-script") == 0) {
			assert_int_equal(len, 0);
		} else {
			pl_json_reader_init(&r, got, len);
			do
				assert_ok(pl_json_reader_next(&r));
			while (r.token != PL_JSON_END);
			pl_json_reader_deinit(&r);
		}
		free(got);
	}
	build_end(&b);
}

static void the_longest_suffix_says_the_format(void **state)
{
	assert_string_equal(pl_format_by_path("a.json")->name, "json");
	assert_string_equal(pl_format_by_path("a.speedscope.json")->name, "speedscope");
	assert_string_equal(pl_format_by_path("a.firefox.json")->name, "firefox");
	assert_string_equal(pl_format_by_path("a.profile.json")->name, "firefox");
	assert_string_equal(pl_format_by_path("a.profile.json.gz")->name, "firefox-gz");
	assert_string_equal(pl_format_by_path("a.trace.json")->name, "chrome-trace");
	assert_string_equal(pl_format_by_path("a.perf")->name, "perf-script");
	assert_string_equal(pl_format_by_path("x/trace.json")->name, "json");
	assert_null(pl_format_by_path("a.speedscope.json/b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_in_the_golden_files),
		cmocka_unit_test(libraries_are_known_by_their_builds),
		cmocka_unit_test(labels_are_markers_of_the_firefox_profiler),
		cmocka_unit_test(who_is_ready_uses_no_cpu_time),
		cmocka_unit_test(an_empty_profile_is_written),
		cmocka_unit_test(the_longest_suffix_says_the_format),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
