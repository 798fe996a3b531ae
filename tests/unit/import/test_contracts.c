/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of samples, of collapsed stacks and of Dask's trees understand; and all of them, with the writers
 * they are made for, with each allocation failing once. The real collectors are tests/integration/test_contracts.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export.h"
#include "failing.h"
#include "folded_line.h"
#include "import.h"
#include "module_name.h"

static const char samples[] = "{\"samples\":[{\"interpreters\":[{\"threads\":[{\"frames\":[[\"~\",null,\"<GC>\",null],["
			      "\"/a.py\",[3,4,5,6],\"f\",7]],"
			      "\"status\":51,\"id\":9},{\"id\":10,\"status\":12,\"frames\":[]}]}],\"weight\":3},"
			      "{\"awaited\":[{\"thread_id\":9,\"tasks\":[{\"id\":1,\"name\":\"in\",\"coros\":[{"
			      "\"frames\":[[\"/b.py\",2,\"co\",null]]}],"
			      "\"awaited_by\":[3,2]},{\"id\":2,\"coros\":[]}]}]}],"
			      "\"sample_interval_usec\":2000,\"stats\":{\"duration_sec\":1.5,\"mode\":2}}";
static const char tree[] =
	"{\"children\":{\"f;/a.py;3\":{\"children\":{\"g;/a.py;9\":{\"count\":1,\"identifier\":\"g;/"
	"a.py;9\",\"description\":"
	"{\"filename\":\"/a.py\",\"name\":\"g\",\"line_number\":10,\"line\":\"\"},\"children\":{}}},\"count\":4,"
	"\"identifier\":\"f;/a.py;3\",\"description\":{\"filename\":\"/"
	"a.py\",\"name\":\"f\",\"line_number\":5,\"line\":\"\"}}},"
	"\"count\":4,\"identifier\":\"root\",\"description\":{\"filename\":\"\",\"name\":\"\",\"line_number\":0,"
	"\"line\":\"\"}}";
static const char folded[] = "pid:5 a b;tid:7;a.py:f:3;<GC> 2\npid:6;tid:8;x.py:g:1 3\nno count\n";

static void an_input_format_is_listed_once(void **state)
{
	for (const struct pl_importer *i = pl_importers; i->name; i++)
		assert_ptr_equal(pl_importer_by_name(i->name), i);
}

struct got {
	struct pl_sample samples[8];
	size_t count;
};

static struct plumb_error *take(void *ctx, const struct pl_sample *s)
{
	struct got *got = ctx;

	assert_true(got->count < 8);
	got->samples[got->count++] = *s;
	return NULL;
}

static struct plumb_error *read_text(struct plumb_profile *p, const char *from, const char *text, struct got *got)
{
	struct pl_import_input in = {.bytes = (const uint8_t *)text, .len = strlen(text)};
	struct pl_sink sink = {.profile = p, .fn = got ? take : NULL, .ctx = got};
	const struct pl_importer *importer = pl_importer_for(&in);

	assert_non_null(importer);
	assert_string_equal(importer->name, from);
	return pl_importer_run(importer, &in, &sink);
}

static void samples_keep_what_the_collectors_need(void **state)
{
	struct plumb_profile *p;
	struct got got = {.count = 0};
	const struct pl_stack *leaf;

	assert_null(pl_profile_create(&p));
	assert_null(read_text(p, "samples", samples, &got));
	assert_int_equal(got.count, 3);
	assert_int_equal(got.samples[0].extra, 2);
	assert_int_equal(got.samples[0].weight_ns, 6000000);
	assert_int_equal(got.samples[0].state,
			 PL_STATE_HAS_GIL | PL_STATE_ON_CPU | PL_STATE_EXCEPTION | PL_STATE_IN_GC);
	assert_true(p->threads[got.samples[0].thread].main);
	leaf = &p->stacks[got.samples[0].stack];
	assert_int_equal(leaf->depth, 2);
	assert_int_equal(p->functions[p->locations[leaf->location].function].origin, PL_ORIGIN_MARKER);
	assert_int_equal(p->locations[p->stacks[leaf->parent].location].opcode, 8);
	assert_int_equal(p->locations[p->stacks[leaf->parent].location].end_column, 6);
	assert_int_equal(got.samples[1].stack, 0);
	assert_int_equal(got.samples[1].state, PL_STATE_UNKNOWN | PL_STATE_WANTS_GIL);
	assert_int_equal(got.samples[1].time_ns, got.samples[0].time_ns);
	assert_int_equal(got.samples[2].time_ns, got.samples[0].time_ns + 6000000);
	assert_int_equal(p->stacks[got.samples[2].stack].depth, 3); /* Task-2, the task that awaits; in; co */
	assert_int_equal(p->meta.ticks, 4);
	assert_int_equal(p->meta.period_ns, 2000000);
	assert_int_equal(p->meta.mode, PL_MODE_GIL);
	assert_int_equal(p->meta.duration_ns, 1500000000);
	pl_profile_destroy(p);
}

/* What is told of the run may stand before the samples, behind them, or both; frames come again. */
static void samples_are_the_same_wherever_the_run_is_told(void **state)
{
	static const char told[] = "\"sample_interval_usec\":500,\"skip_idle\":true";
	static const char list[] =
		"\"samples\":[{\"interpreters\":[{\"threads\":[{\"id\":1,\"frames\":["
		"[\"/a]\\\".py\",[3,4,5,6],\"f\",7],[\"~\",null,\"<GC>\",null],[\"/a]\\\".py\",[3,4,5,6],"
		"\"f\",7]]}]}]},{\"interpreters\":[{\"threads\":[{\"id\":1,\"frames\":[[\"/a]\\\".py\","
		"[3,4,5,6],\"f\",7]]}]}]},{\"awaited\":[{\"thread_id\":1,\"tasks\":[{\"id\":1,\"coros\":[{"
		"\"frames\":[[\"/a]\\\".py\",[3,4,5,6],\"f\",7]]}]}]}]}]";
	static const char *const orders[][2] = {{told, list}, {list, told}};

	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		char text[2048];
		struct plumb_profile *p;
		struct got got = {.count = 0};

		(void)snprintf(text, sizeof text, "{%s,%s}", orders[i][0], orders[i][1]);
		assert_null(pl_profile_create(&p));
		assert_null(read_text(p, "samples", text, &got));
		assert_int_equal(got.count, 3);
		assert_int_equal(p->stacks[got.samples[0].stack].depth, 3);
		assert_int_equal(got.samples[0].state, PL_STATE_IN_GC);
		assert_int_equal(got.samples[1].state, 0);
		assert_int_equal(got.samples[2].state, PL_STATE_ON_CPU);
		const struct pl_stack *one = &p->stacks[got.samples[1].stack],
				      *three = &p->stacks[got.samples[0].stack];
		assert_int_equal(one->depth, 1);
		assert_int_equal(one->location, three->location);
		assert_int_equal(p->stacks[p->stacks[three->parent].parent].location, one->location);
		assert_int_equal(p->locations[one->location].end_column, 6);
		assert_int_equal(got.samples[1].time_ns, 500000);
		assert_int_equal(p->cell_count, 3);
		pl_profile_destroy(p);
	}
}

static void assert_outermost(const struct plumb_profile *p, uint32_t stack, uint32_t depth, const char *name)
{
	assert_int_equal(p->stacks[stack].depth, depth);
	while (p->stacks[stack].depth > 1)
		stack = p->stacks[stack].parent;
	const struct pl_function *f = &p->functions[p->locations[p->stacks[stack].location].function];
	assert_string_equal(pl_strtab_get(p->strings, f->name, NULL), name);
}

/* As the collectors of CPython walk it: from each leaf once round, to where the ring was entered. */
static void a_ring_of_tasks_ends_where_it_was_entered(void **state)
{
	static const char ring[] =
		"{\"sample_interval_usec\":1,\"samples\":[{\"awaited\":[{\"thread_id\":9,\"tasks\":["
		"{\"id\":1,\"awaited_by\":[2]},{\"id\":2,\"awaited_by\":[3]},{\"id\":3,\"awaited_by\":[1]},"
		"{\"id\":10,\"awaited_by\":[1]},{\"id\":11,\"awaited_by\":[2]},{\"id\":12,\"awaited_by\":[13]},"
		"{\"id\":13,\"awaited_by\":[2]},{\"id\":14,\"awaited_by\":[13]}]}]}]}";
	struct plumb_profile *p;
	struct got got = {.count = 0};

	assert_null(pl_profile_create(&p));
	assert_null(read_text(p, "samples", ring, &got));
	assert_int_equal(got.count, 4);
	assert_outermost(p, got.samples[0].stack, 4, "Task-3");
	assert_outermost(p, got.samples[1].stack, 4, "Task-1");
	assert_outermost(p, got.samples[2].stack, 5, "Task-1");
	assert_outermost(p, got.samples[3].stack, 5, "Task-1");
	pl_profile_destroy(p);
}

static void counts_of_a_tree_become_samples_of_its_nodes(void **state)
{
	struct plumb_profile *p;
	struct got got = {.count = 0};
	const struct pl_location *loc;

	assert_null(pl_profile_create(&p));
	assert_null(read_text(p, "dask", tree, &got));
	assert_int_equal(got.count, 2);
	assert_int_equal(got.samples[0].extra + 1, 3);
	assert_int_equal(got.samples[1].extra + 1, 1);
	loc = &p->locations[p->stacks[got.samples[0].stack].location];
	assert_int_equal(loc->line, 5);
	assert_int_equal(p->functions[loc->function].firstline, 3);
	pl_profile_destroy(p);
}

static void expect_part(const char *text, enum pl_folded_place place, enum pl_folded_kind kind, uint64_t number,
			const char *name, const char *file, int line)
{
	struct pl_folded_part p = pl_folded_read((struct pl_span){text, strlen(text)}, place);

	assert_int_equal(p.kind, kind);
	assert_int_equal(p.number, number);
	assert_int_equal(p.name.len, strlen(name));
	assert_memory_equal(p.name.s, name, p.name.len);
	assert_int_equal(p.file.len, strlen(file));
	assert_memory_equal(p.file.s, file, p.file.len);
	assert_int_equal(p.line, line);
}

static void parts_mean_what_they_look_like(void **state)
{
	expect_part("pid:12 a b", PL_FOLDED_START, PL_FOLDED_PROCESS, 12, "a b", "", 0);
	expect_part("pid:12", PL_FOLDED_INSIDE, PL_FOLDED_FRAME, 0, "pid:12", "", 0);
	expect_part("process 3:\"x \"y\"\"", PL_FOLDED_START, PL_FOLDED_PROCESS, 3, "x \"y\"", "", 0);
	expect_part("thread (0xfF): w (1)", PL_FOLDED_START, PL_FOLDED_THREAD, 255, "w (1)", "", 0);
	expect_part("tid:18446744073709551615", PL_FOLDED_START, PL_FOLDED_THREAD, UINT64_MAX, "", "", 0);
	expect_part("tid:18446744073709551616", PL_FOLDED_START, PL_FOLDED_FRAME, 0, "tid:18446744073709551616", "", 0);
	expect_part("T0:7", PL_FOLDED_AUSTIN, PL_FOLDED_THREAD, 7, "", "", 0);
	expect_part("T7", PL_FOLDED_START, PL_FOLDED_FRAME, 0, "T7", "", 0);
	expect_part("c:/a.py:f:9", PL_FOLDED_START, PL_FOLDED_FRAME, 0, "f", "c:/a.py", 9);
	expect_part("f (a b.py:9)", PL_FOLDED_START, PL_FOLDED_FRAME, 0, "f", "a b.py", 9);
	expect_part("f (a.py)", PL_FOLDED_START, PL_FOLDED_FRAME, 0, "f", "a.py", 0);
	expect_part("f (int)", PL_FOLDED_START, PL_FOLDED_FRAME, 0, "f (int)", "", 0);
	expect_part("std::f", PL_FOLDED_START, PL_FOLDED_FRAME, 0, "std::f", "", 0);
	expect_part("", PL_FOLDED_START, PL_FOLDED_FRAME, 0, "", "", 0);
}

static void counts_are_what_follows_the_last_blank(void **state)
{
	static const struct {
		const char *line, *stack;
		uint64_t count;
	} lines[] = {{"a;b 3", "a;b", 3},
		     {"a b 12 3.5\r", "a b 12", 4},
		     {"a 2.", "a", 2},
		     {"a\t7", "a", 7},
		     {" 9", "", 9},
		     {"a 5,1,-3", "a", 5},
		     {"a", NULL, 0},
		     {"a 1e3", NULL, 0},
		     {"a 1.2.3", NULL, 0},
		     {"a -1", NULL, 0},
		     {"a 99999999999999999999", NULL, 0}};

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct pl_span stack = {NULL, 0};
		uint64_t count = 0;
		bool ok = pl_folded_split((struct pl_span){lines[i].line, strlen(lines[i].line)}, &stack, &count);

		assert_int_equal(ok, lines[i].stack != NULL);
		assert_int_equal(count * ok, lines[i].count);
		assert_true(!ok ||
			    (stack.len == strlen(lines[i].stack) && !memcmp(stack.s, lines[i].stack, stack.len)));
	}
}

static void modules_are_named_as_python_imports_them(void **state)
{
	static const char *const names[][2] = {{"/usr/lib/python3.15/json/decoder.py", "json.decoder"},
					       {"/usr/lib64/python3.13t/json/__init__.py", "json"},
					       {"/v/lib/python3.9/site-packages/a/b.py", "a.b"},
					       {"/home/x/app.py", "home.x.app"},
					       {"", "unknown"},
					       {"~", "~"},
					       {"/__init__.py", "__init__"},
					       {"//a//./b/", "a.b"},
					       {"/usr/lib/python/x.py", "usr.lib.python.x"},
					       {"/usr/lib/python3.15", "usr.lib.python3.15"}};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct pl_buf b = PL_BUF_INIT(1024);

		assert_null(pl_module_name_add(&b, (struct pl_text){names[i][0], strlen(names[i][0])}));
		assert_string_equal(pl_buf_str(&b), names[i][1]);
		pl_buf_deinit(&b);
	}
}

/* True if all went well; anything but a want of memory fails the test. */
static bool well(struct plumb_error *err)
{
	assert_true(!err || plumb_error_code(err) == PLUMB_ERR_NO_MEMORY);
	plumb_error_destroy(err);
	return !err;
}

struct scene {
	const char *from, *text;
};

static void write_all(const struct plumb_profile *p)
{
	static const char *const formats[] = {"flamegraph-json", "dask", "dask-plot", "collapsed"};
	struct pl_export_options o = {.filter.idle = PL_IDLE_KEEP};

	for (size_t i = 0; i < 8; i++) {
		FILE *out = fopen("/dev/null", "w");

		if (!out)
			continue;
		setbuf(out, NULL);
		o.seed = i >= 4;
		well(pl_format_by_name(formats[i % 4])->write(p, &o, out));
		fclose(out);
	}
}

static void scenario(void *ctx)
{
	const struct scene *s = ctx;
	struct plumb_profile *p = NULL;

	if (!well(pl_profile_create(&p)))
		return;
	if (well(read_text(p, s->from, s->text, NULL)))
		write_all(p);
	pl_profile_destroy(p);
}

static void every_allocation_may_fail(void **state)
{
	static struct scene scenes[] = {{"samples", samples}, {"dask", tree}, {"collapsed", folded}};

	for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
		failing_each(scenario, &scenes[i], 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_input_format_is_listed_once),
		cmocka_unit_test(samples_keep_what_the_collectors_need),
		cmocka_unit_test(samples_are_the_same_wherever_the_run_is_told),
		cmocka_unit_test(a_ring_of_tasks_ends_where_it_was_entered),
		cmocka_unit_test(counts_of_a_tree_become_samples_of_its_nodes),
		cmocka_unit_test(parts_mean_what_they_look_like),
		cmocka_unit_test(counts_are_what_follows_the_last_blank),
		cmocka_unit_test(modules_are_named_as_python_imports_them),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
