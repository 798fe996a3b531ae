/* SPDX-License-Identifier: Apache-2.0 */
/* svg, pstats, callgrind, csv and jsonl byte by byte, and what no reader of theirs can show: recursion, nothing at all,
 * no memory. Whether real readers find the right figures is tested in tests/integration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"
#include "callgraph.h"
#include "failing.h"

#define RUN (PL_STATE_ON_CPU | PL_STATE_HAS_GIL)

static const char *const formats[] = {"svg", "pstats", "callgrind", "csv", "jsonl", "tree"};
#define FORMATS (sizeof formats / sizeof formats[0])

static struct pl_export_options made_by(const char *what)
{
	struct pl_export_options o = build_options(80);

	o.made_by = what;
	return o;
}

static void golden(const char *format, const char *file)
{
	struct pl_export_options o = made_by("plumb 0.1.0: plumb report a.plumb -o b --x='<&>\n'");
	struct build b;
	size_t len;
	char *got;

	build_example(&b);
	got = build_output(b.p, format, &o, &len);
	build_assert_golden(file, got, len);
	free(got);
	build_end(&b);
}

static void every_format_of_the_example_is_as_it_was(void **state)
{
	golden("svg", "example.svg");
	golden("pstats", "example.pstats");
	golden("callgrind", "example.callgrind");
	golden("csv", "example.csv");
	golden("jsonl", "example.jsonl");
}

static void an_empty_profile_is_a_valid_file(void **state)
{
	struct pl_export_options o = made_by(NULL);
	struct build b;
	char *got;

	build_start(&b);
	for (size_t i = 0; i < FORMATS; i++) {
		got = build_output(b.p, formats[i], &o, NULL);
		assert_true(*got);
		free(got);
	}
	got = build_output(b.p, "pstats", &o, NULL);
	assert_string_equal(got, "{0");
	free(got);
	got = build_output(b.p, "callgrind", &o, NULL);
	assert_non_null(strstr(got, "creator: plumb 0.1.0\n"));
	assert_non_null(strstr(got, "summary: 0 0\n"));
	free(got);
	build_end(&b);
}

static struct pl_graph_cost edge(const struct pl_callgraph *g, const char *caller, const char *callee, bool once)
{
	for (size_t i = 0; i < g->edges.len; i++) {
		const struct pl_graph_edge *e = &g->edges.data[i];
		const char *from =
			e->caller == PL_GRAPH_ROOT ? "" : pl_callgraph_text(g, g->functions.data[e->caller].name).s;

		if (strcmp(from, caller) == 0 &&
		    strcmp(pl_callgraph_text(g, g->functions.data[e->callee].name).s, callee) == 0)
			return once ? e->once : e->total;
	}
	fail_msg("%s does not call %s", caller, callee);
	return (struct pl_graph_cost){0};
}

/* f g f g h, seven times. */
static void recursion_counts_once(void **state)
{
	struct pl_graph_options o = {.clean = pl_graph_clean_utf8};
	struct pl_callgraph g;
	struct build b;
	uint32_t s = 0;

	build_start(&b);
	for (int i = 0; i < 2; i++)
		s = build_frame(&b, build_frame(&b, s, "f", "a.py", 1), "g", "a.py", 5);
	build_samples(&b, 0, build_frame(&b, s, "h", "a.py", 9), RUN, PL_EXACT, 7);
	assert_null(pl_callgraph_build(b.p, &o, &g));
	assert_int_equal(g.functions.len, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(g.functions.data[i].total.samples, 7);
		assert_int_equal(g.functions.data[i].self.samples, i == 2 ? 7 : 0);
	}
	assert_int_equal(edge(&g, "f", "g", true).samples, 7);
	assert_int_equal(edge(&g, "f", "g", false).samples, 7);
	assert_int_equal(edge(&g, "g", "f", true).samples, 7);
	assert_int_equal(edge(&g, "g", "f", false).samples, 0);
	assert_int_equal(edge(&g, "g", "h", false).samples, 7);
	assert_int_equal(edge(&g, "", "f", false).samples, 7);
	pl_callgraph_deinit(&g);
	build_end(&b);
}

static void functions_of_equal_texts_are_one(void **state)
{
	struct pl_graph_options o = {.clean = pl_graph_clean_utf8};
	struct pl_callgraph g;
	struct build b;

	build_start(&b);
	build_samples(&b, 0, build_frame(&b, 0, "f\xff", "a.py", 1), RUN, PL_EXACT, 2);
	build_samples(&b, 0, build_frame(&b, 0, "f\xfe", "a.py", 1), RUN, PL_EXACT, 3);
	build_samples(&b, 0, 0, RUN, PL_EXACT, 4);
	assert_null(pl_callgraph_build(b.p, &o, &g));
	assert_int_equal(g.functions.len, 2);
	assert_int_equal(g.functions.data[0].self.samples, 5);
	assert_int_equal(edge(&g, "", "<no frame>", true).samples, 4);
	assert_int_equal(g.all.samples, 9);
	pl_callgraph_deinit(&g);
	build_end(&b);
}

static void export_one(void *ctx)
{
	const struct build *b = ctx;
	struct pl_export_options o = made_by(NULL);

	for (size_t i = 0; i < FORMATS; i++) {
		FILE *out = fopen("/dev/null", "w");
		struct plumb_error *err;

		assert_non_null(out);
		err = pl_format_by_name(formats[i])->write(b->p, &o, out);
		assert_true(!err || err == &pl_err_no_memory);
		fclose(out);
	}
}

/* Counts and periods of hostile recordings may be anything. */
static void a_time_without_end_is_told_by_dask_plot(void **state)
{
	const struct pl_export_options o = build_options(80);
	uint32_t stack;
	struct build b;

	build_start(&b);
	b.p->meta.period_ns = 10000000000;
	stack = build_frame(&b, 0, "f", "a.py", 1);
	assert_null(pl_profile_add(b.p, &(struct pl_sample){.stack = stack, .extra = (UINT64_C(1) << 62) - 1}));
	char *out = build_output(b.p, "dask-plot", &o, NULL);
	assert_non_null(strstr(out, "\"533759955836503d 6hr\""));
	free(out);
	build_end(&b);
}

static void without_memory_it_is_said(void **state)
{
	struct build b;

	build_start(&b);
	for (int i = 0; i < 20; i++)
		build_samples(&b, 0, build_frame(&b, i ? 1 : 0, i % 2 ? "f" : "g", "a.py", i), RUN, PL_EXACT, 2);
	failing_each(export_one, &b, 50);
	build_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_of_the_example_is_as_it_was),
		cmocka_unit_test(an_empty_profile_is_a_valid_file),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(functions_of_equal_texts_are_one),
		cmocka_unit_test(a_time_without_end_is_told_by_dask_plot),
		cmocka_unit_test(without_memory_it_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
