/* SPDX-License-Identifier: Apache-2.0 */
/* The questions that front ends ask of a profile. What the answers are made of: tests/unit/model. */
#include "unit.h"

#include <plumb/plumb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "support.h"

#define LIBRARY "/usr/lib/python3.11/json/decoder.py"

/* main -> work (lines 11 and 12) -> decode, of a library -> scan, in two threads. */
static struct plumb_profile *small_profile(void)
{
	struct plumb_profile *p;

	check(pl_profile_create(&p));
	uint32_t one = add_thread(p, 7, 1, "MainThread", true), two = add_thread(p, 7, 2, "t", false);
	uint32_t top = add_frame(p, 0, "main", "/app/m.py", 3);
	uint32_t work = add_frame(p, top, "work", "/app/m.py", 12), again = add_frame(p, top, "work", "/app/m.py", 11);
	uint32_t decode = add_frame(p, work, "decode", LIBRARY, 5), scan = add_frame(p, decode, "scan", LIBRARY, 9);

	add_samples(p, scan, one, PL_STATE_ON_CPU | PL_STATE_HAS_GIL, 0, 5, 100);
	add_samples(p, work, one, PL_STATE_ON_CPU, 100, 1, 100);
	add_samples(p, again, two, PL_STATE_WANTS_GIL, 200, 2, 100);
	add_samples(p, top, two, 0, 300, 2, 100);
	check(pl_profile_source(p, add_string(p, "/app/m.py"), "a\nb\0c", 5, true));
	p->meta.ticks = 10;
	p->meta.duration_ns = 1000;
	return p;
}

static struct plumb_view *open_view(const struct plumb_profile *p, struct plumb_report_options o)
{
	struct plumb_view *v;

	assert_ok(plumb_view_open(p, &o, &v));
	return v;
}

static struct plumb_view *open_all(const struct plumb_profile *p)
{
	return open_view(p, (struct plumb_report_options)PLUMB_REPORT_OPTIONS_INIT);
}

static size_t samples_of(const struct plumb_view *v, const char *name, bool self)
{
	struct plumb_view_function f = {.size = sizeof f};

	for (size_t i = 0; plumb_view_function_at(v, i, &f); i++)
		if (strcmp(f.name, name) == 0)
			return self ? f.self.samples : f.total.samples;
	return 0;
}

static void functions_have_self_and_total(void **state)
{
	struct plumb_profile *p = small_profile();
	struct plumb_view *v = open_all(p);
	struct plumb_view_function f = {.size = sizeof f};
	size_t count;

	assert_false(plumb_view_function_at(v, 0, &f)); /* nobody has asked */
	assert_ok(plumb_view_functions(v, &count));
	assert_int_equal(count, 4);
	assert_false(plumb_view_function_at(v, 4, &f));
	assert_true(plumb_view_function_at(v, 0, &f));
	assert_string_equal(f.name, "scan");
	assert_string_equal(f.short_file, "decoder.py");
	assert_true(f.library && !f.bare && f.kind == PLUMB_KIND_PYTHON && f.name_len == 4);
	assert_true(f.self.samples == 5 && f.self.share == 0.5 && f.self.half_width > 0);
	assert_true(samples_of(v, "work", true) == 3 && samples_of(v, "work", false) == 8);
	assert_true(samples_of(v, "main", true) == 2 && samples_of(v, "main", false) == 10);
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

static void filters_are_those_of_reports(void **state)
{
	struct plumb_profile *p = small_profile();
	struct plumb_report_options o = PLUMB_REPORT_OPTIONS_INIT;
	size_t count;

	o.threads = (const char *const[]){"t"};
	o.thread_count = 1;
	struct plumb_view *v = open_view(p, o);
	assert_ok(plumb_view_functions(v, &count));
	assert_true(count == 2 && samples_of(v, "main", false) == 4);
	plumb_view_close(v);
	o.states = PLUMB_DOING_WANTS_GIL;
	v = open_view(p, o);
	assert_ok(plumb_view_functions(v, &count));
	assert_true(count == 2 && samples_of(v, "main", false) == 2);
	plumb_view_close(v);
	o = (struct plumb_report_options)PLUMB_REPORT_OPTIONS_INIT;
	o.focus = "(";
	assert_code(plumb_view_open(p, &o, &v), PLUMB_ERR_INVALID);
	plumb_profile_destroy(p);
}

/* As one that was built for another plumb: behind his options there is somebody else's memory. */
static void options_are_as_long_as_their_caller_says(void **state)
{
	const size_t known = offsetof(struct plumb_report_options, format);
	struct plumb_profile *p = small_profile();
	struct plumb_report_options o;
	size_t count;

	memset(&o, 0x5a, sizeof o);
	memset(&o, 0, known);
	o.size = known;
	struct plumb_view *v = open_view(p, o);
	assert_ok(plumb_view_functions(v, &count));
	assert_int_equal(count, 4);
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

static void a_function_is_found_in_another_profile(void **state)
{
	struct plumb_profile *p = small_profile(), *q;
	struct plumb_view_function f = {.size = sizeof f}, other = {.size = sizeof other};
	size_t count;

	check(pl_profile_create(&q));
	uint32_t thread = add_thread(q, 7, 1, "MainThread", true);
	add_samples(q, add_frame(q, add_frame(q, 0, "x", "/app/m.py", 12), "scan", LIBRARY, 9), thread, 0, 0, 3, 100);
	struct plumb_view *v = open_all(p), *w = open_all(q);
	assert_ok(plumb_view_functions(v, &count));
	assert_ok(plumb_view_functions(w, &count));
	assert_true(plumb_view_function_at(v, 0, &f));
	assert_true(plumb_view_function_like(w, &f, &other));
	assert_true(other.self.samples == 3 && strcmp(other.name, "scan") == 0);
	assert_true(plumb_view_function_at(v, 1, &f));
	assert_false(plumb_view_function_like(w, &f, &other));
	plumb_view_close(v);
	plumb_view_close(w);
	plumb_profile_destroy(p);
	plumb_profile_destroy(q);
}

static void trees_are_of_own_code_or_of_all(void **state)
{
	struct plumb_profile *p = small_profile();
	struct plumb_view *v = open_all(p);
	struct plumb_view_tree_row row = {.size = sizeof row};
	size_t count;

	assert_ok(plumb_view_tree(v, PLUMB_VIEW_TREE_ALL, 0, &count));
	assert_int_equal(count, 4);
	assert_true(plumb_view_tree_at(v, 3, &row));
	assert_true(row.depth == 3 && row.kind == PLUMB_VIEW_ROW_FUNCTION && strcmp(row.function.name, "scan") == 0);
	assert_ok(plumb_view_tree(v, PLUMB_VIEW_TREE_OWN, 0, &count));
	bool library = false;
	for (size_t i = 0; plumb_view_tree_at(v, i, &row); i++)
		library |= row.kind == PLUMB_VIEW_ROW_LIBRARY && strcmp(row.function.name, "decode") == 0 &&
			   row.depth == 2 && row.function.total.samples == 5;
	assert_true(library);
	assert_false(plumb_view_tree_at(v, count, &row));
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

static void count_wait(struct plumb_profile *p, uint32_t stack, uint32_t thread, uint64_t tasks, uint64_t task_ns)
{
	const struct pl_wait w = {.stack = stack, .thread = thread, .tasks = tasks, .task_ns = task_ns};

	check(pl_profile_wait(p, &w));
}

/* main -> handler -> sleep, of a library, for six task seconds of eight; samples of these threads are none of it. */
static void waits_of_tasks_are_a_tree_of_their_own(void **state)
{
	struct plumb_profile *p = small_profile();
	uint32_t top = add_frame(p, 0, "main", "/app/m.py", 3), handler = add_frame(p, top, "handler", "/app/m.py", 30);
	struct plumb_view_tree_row row = {.size = sizeof row};
	struct plumb_view_waited w = {.size = sizeof w};
	size_t count;

	count_wait(p, add_frame(p, handler, "sleep", LIBRARY, 7), 0, 3, 6000);
	count_wait(p, top, 1, 1, 2000);
	pl_profile_waited(p, &(struct pl_waited){.looks = 4, .covered_ns = 1000, .lost_ns = 5});
	struct plumb_view *v = open_all(p);
	assert_false(plumb_view_wait_at(v, 0, &row)); /* nobody has asked */
	assert_ok(plumb_view_waited(v, &w));
	assert_true(w.looks == 4 && w.covered_ns == 1000 && w.task_ns == 8000 && w.lost_ns == 5);
	assert_ok(plumb_view_waits(v, PLUMB_VIEW_TREE_ALL, 0, &count));
	assert_int_equal(count, 3);
	assert_true(plumb_view_wait_at(v, 0, &row));
	assert_true(strcmp(row.function.name, "main") == 0 && row.function.total.weight_ns == 8000 &&
		    row.function.self.weight_ns == 2000 && row.function.total.share == 1);
	assert_true(plumb_view_wait_at(v, 2, &row));
	assert_true(strcmp(row.function.name, "sleep") == 0 && row.depth == 2 && row.function.self.samples == 3 &&
		    row.function.self.share == 0.75 && row.function.self.half_width == 0);
	assert_ok(plumb_view_waits(v, PLUMB_VIEW_TREE_OWN, 0, &count));
	assert_true(plumb_view_wait_at(v, 1, &row) && strcmp(row.function.name, "handler") == 0);
	assert_ok(plumb_view_tree(v, PLUMB_VIEW_TREE_ALL, 0, &count));
	assert_int_equal(count, 4); /* as ever */
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

static void threads_and_processes_are_told(void **state)
{
	struct plumb_profile *p = small_profile();
	struct plumb_view *v = open_all(p);
	struct plumb_view_thread t = {.size = sizeof t};
	struct plumb_view_process proc = {.size = sizeof proc};
	size_t count;

	assert_ok(plumb_view_threads(v, &count));
	assert_int_equal(count, 2);
	assert_true(plumb_view_thread_at(v, 0, &t));
	assert_true(t.tid == 1 && t.pid == 7 && t.main && t.samples == 6 && t.on_cpu == 6 && t.has_gil == 5);
	assert_string_equal(t.name, "MainThread");
	assert_false(plumb_view_thread_at(v, 2, &t));
	assert_ok(plumb_view_processes(v, &count));
	assert_true(count == 1 && plumb_view_process_at(v, 0, &proc));
	assert_true(proc.pid == 7 && proc.total.share == 1);
	assert_false(plumb_view_process_at(v, 1, &proc));
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

/* One sample may stand for more time than another. CPU time does not tell how long a thread waited. */
static void shares_are_of_the_time(void **state)
{
	struct plumb_profile *p;

	check(pl_profile_create(&p));
	p->meta.mode = PL_MODE_WALL;
	uint32_t one = add_thread(p, 7, 1, "MainThread", true), stack = add_frame(p, 0, "main", "/app/m.py", 3);
	add_samples(p, stack, one, PL_STATE_ON_CPU | PL_STATE_HAS_GIL, 0, 3, 100);
	add_samples(p, stack, one, PL_STATE_WANTS_GIL, 300, 1, 500);
	for (int by_number = 0; by_number < 2; by_number++) {
		struct plumb_view *v = open_all(p);
		struct plumb_view_totals all = {.size = sizeof all};
		struct plumb_view_thread t = {.size = sizeof t};
		double busy = by_number ? 0.75 : 0.375;
		size_t count;

		assert_ok(plumb_view_totals(v, &all));
		assert_true(all.on_cpu_share == busy && all.has_gil_share == busy && all.wants_gil_share == 1 - busy);
		assert_ok(plumb_view_threads(v, &count));
		assert_true(plumb_view_thread_at(v, 0, &t));
		assert_true(t.on_cpu_share == busy && t.has_gil_share == busy && t.wants_gil_share == 1 - busy);
		plumb_view_close(v);
		p->meta.mode = PL_MODE_CPU;
	}
	plumb_profile_destroy(p);
}

/* What it is called is known also where nothing of it passes but that there are threads which rest. */
static void threads_that_rest_are_of_a_process(void **state)
{
	struct plumb_profile *p;
	struct plumb_view_thread t = {.size = sizeof t};
	size_t count;

	check(pl_profile_create(&p));
	uint32_t stack = add_frame(p, 0, "main", "/app/m.py", 3), child = add_thread(p, 8, 2, "rests", false);
	p->processes[p->threads[child].process].name = add_string(p, "m.py");
	p->threads[child].cpu_known = true;
	add_samples(p, stack, child, 0, 0, 2, 100);
	struct plumb_view *v = open_all(p);
	assert_ok(plumb_view_processes(v, &count));
	assert_int_equal(count, 0);
	assert_ok(plumb_view_threads(v, &count));
	assert_true(count == 1 && plumb_view_thread_at(v, 0, &t) && t.idle && t.pid == 8);
	assert_string_equal(t.process, "m.py");
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

static void what_was_waited_for_is_told(void **state)
{
	struct plumb_profile *p = small_profile();
	struct plumb_view_reason r = {.size = sizeof r};
	uint32_t f = add_frame(p, 0, "work", "/app/m.py", 3);
	size_t count;

	add_samples(p, f, 0, PL_STATE_ON_CPU, 0, 4, 100);
	add_samples(p, f, 0, PL_STATE_WANTS_GIL, 0, 2, 100);
	struct plumb_view *v = open_all(p);
	assert_false(plumb_view_reason_at(v, 0, &r)); /* nobody has asked */
	assert_ok(plumb_view_reasons(v, &count));
	assert_int_equal(count, 0); /* of the GIL alone it is known everywhere */
	plumb_view_close(v);
	add_samples(p, f, 0, PL_REASON_SOCKET << PL_STATE_BITS, 0, 6, 100);
	v = open_all(p);
	assert_ok(plumb_view_reasons(v, &count));
	assert_int_equal(count, 3);
	assert_true(plumb_view_reason_at(v, 0, &r));
	assert_true(strcmp(r.word, "socket") == 0 && strcmp(r.text, "sockets") == 0 && r.samples == 6);
	assert_true(r.of_waiting > 0.499 && r.of_waiting < 0.501 && r.share < r.of_waiting && r.half_width > 0);
	assert_true(plumb_view_reason_at(v, 1, &r) && strcmp(r.word, "gil") == 0 && r.samples == 4);
	assert_true(plumb_view_reason_at(v, 2, &r) && strcmp(r.word, "unknown") == 0 && r.samples == 2);
	assert_false(plumb_view_reason_at(v, 3, &r));
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

static void labels_are_told_and_chosen(void **state)
{
	static const char both[] = "route\0/x\0user\0003", one[] = "route\0/y";
	struct plumb_profile *p = small_profile();
	struct plumb_report_options o = PLUMB_REPORT_OPTIONS_INIT;
	struct plumb_view_label l = {.size = sizeof l};
	size_t count;
	uint32_t x, y;

	check(pl_profile_tag(p, "[route=/x, user=3]", both, sizeof both, &x));
	check(pl_profile_tag(p, "[route=/y]", one, sizeof one, &y));
	add_samples(p, add_frame(p, x, "work", "/app/m.py", 3), 0, PL_STATE_ON_CPU, 0, 4, 100);
	add_samples(p, y, 0, PL_STATE_ON_CPU, 0, 6, 100);
	struct plumb_view *v = open_all(p);
	assert_false(plumb_view_label_at(v, 0, &l)); /* nobody has asked */
	assert_ok(plumb_view_labels(v, &count));
	assert_int_equal(count, 3);
	assert_true(plumb_view_label_at(v, 0, &l));
	assert_true(strcmp(l.name, "route") == 0 && strcmp(l.value, "/y") == 0 && l.total.samples == 6);
	assert_true(plumb_view_label_at(v, 2, &l));
	assert_true(strcmp(l.name, "user") == 0 && strcmp(l.value, "3") == 0 && l.total.samples == 4);
	assert_false(plumb_view_label_at(v, 3, &l));
	plumb_view_close(v);
	o.tags = (const char *const[]){"route=/x", "user"};
	o.tag_count = 2;
	v = open_view(p, o);
	assert_ok(plumb_view_functions(v, &count));
	assert_true(count == 2 && samples_of(v, "work", false) == 4);
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

static void lines_of_a_function_and_its_text(void **state)
{
	struct plumb_profile *p = small_profile();
	struct plumb_view *v = open_all(p);
	struct plumb_view_function f = {.size = sizeof f};
	struct plumb_view_line l = {.size = sizeof l};
	size_t count, len;
	bool changed = false;

	assert_ok(plumb_view_functions(v, &count));
	for (size_t i = 0; plumb_view_function_at(v, i, &f) && strcmp(f.name, "work") != 0; i++)
		continue;
	assert_ok(plumb_view_lines(v, &f, &count));
	assert_true(count == 2 && plumb_view_line_at(v, 1, &l));
	assert_true(l.line == 12 && l.self.samples == 1 && l.total.samples == 6);
	assert_true(plumb_view_line_at(v, 0, &l) && l.line == 11 && !plumb_view_line_at(v, 2, &l));
	const char *text = plumb_view_source(v, &f, &len, &changed);
	assert_true(text && len == 5 && memcmp(text, "a\nb\0c", 6) == 0 && changed);
	assert_true(plumb_view_function_at(v, 0, &f) && f.library);
	assert_null(plumb_view_source(v, &f, &len, NULL));
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

static void totals_and_what_is_wrong(void **state)
{
	struct plumb_profile *p = small_profile();
	struct plumb_view *v = open_all(p);
	struct plumb_view_totals t = {.size = sizeof t};
	const char *sentence;

	assert_ok(plumb_view_totals(v, &t));
	assert_true(t.samples == 10 && t.on_cpu == 6 && t.has_gil == 5 && t.wants_gil == 2 && t.threads == 2);
	assert_true(t.duration_ns == 1000 && t.gil_held == 0.5 && t.time_scale == 1);
	assert_ok(plumb_view_sentence(v, true, &sentence));
	assert_string_equal(sentence, ""); /* too few */
	plumb_view_close(v);
	add_samples(p, 1, 0, PL_STATE_HAS_GIL | PL_STATE_IN_GC, 400, 5000, 100);
	v = open_all(p);
	assert_ok(plumb_view_sentence(v, true, &sentence));
	assert_string_equal(sentence, "garbage collection took 100 % of the time");
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

/* Who was built before a member came is given those that he knows. */
static void a_smaller_struct_gets_what_it_has_room_for(void **state)
{
	struct plumb_profile *p = small_profile();
	struct plumb_view *v = open_all(p);
	union {
		struct plumb_view_totals totals;
		unsigned char bytes[sizeof(struct plumb_view_totals)];
	} u;

	memset(&u, 0xa5, sizeof u);
	u.totals.size = offsetof(struct plumb_view_totals, weight_ns);
	assert_ok(plumb_view_totals(v, &u.totals));
	assert_true(u.totals.size == offsetof(struct plumb_view_totals, weight_ns) && u.totals.samples == 10);
	for (size_t i = u.totals.size; i < sizeof u; i++)
		assert_int_equal(u.bytes[i], 0xa5);
	u.totals.size = 0;
	assert_ok(plumb_view_totals(v, &u.totals));
	u.totals.size = SIZE_MAX; /* or later */
	assert_ok(plumb_view_totals(v, &u.totals));
	assert_true(u.totals.time_scale == 1);
	plumb_view_close(v);
	plumb_profile_destroy(p);
}

static void an_empty_profile_has_no_rows(void **state)
{
	struct plumb_profile *p;
	size_t count = 1;

	check(pl_profile_create(&p));
	struct plumb_view *v = open_all(p);
	assert_ok(plumb_view_functions(v, &count));
	assert_int_equal(count, 0);
	assert_ok(plumb_view_tree(v, PLUMB_VIEW_TREE_OWN, 0.01, &count));
	assert_int_equal(count, 0);
	assert_ok(plumb_view_threads(v, &count));
	assert_int_equal(count, 0);
	plumb_view_close(v);
	plumb_profile_destroy(p);
	plumb_view_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_self_and_total),
		cmocka_unit_test(filters_are_those_of_reports),
		cmocka_unit_test(options_are_as_long_as_their_caller_says),
		cmocka_unit_test(a_function_is_found_in_another_profile),
		cmocka_unit_test(trees_are_of_own_code_or_of_all),
		cmocka_unit_test(waits_of_tasks_are_a_tree_of_their_own),
		cmocka_unit_test(threads_and_processes_are_told),
		cmocka_unit_test(shares_are_of_the_time),
		cmocka_unit_test(threads_that_rest_are_of_a_process),
		cmocka_unit_test(what_was_waited_for_is_told),
		cmocka_unit_test(labels_are_told_and_chosen),
		cmocka_unit_test(lines_of_a_function_and_its_text),
		cmocka_unit_test(totals_and_what_is_wrong),
		cmocka_unit_test(a_smaller_struct_gets_what_it_has_room_for),
		cmocka_unit_test(an_empty_profile_has_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
