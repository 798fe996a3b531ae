/* SPDX-License-Identifier: Apache-2.0 */
/* pprof: what we write comes back, and files as others write them. */
#include "import_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protobuf.h"
#include "words.h"

static void assert_same_text(const struct plumb_profile *p, uint32_t a, const struct plumb_profile *q, uint32_t b)
{
	assert_string_equal(pl_strtab_get(p->strings, a, NULL), pl_strtab_get(q->strings, b, NULL));
}

static void assert_same_meta(const struct plumb_profile *p, const struct plumb_profile *q)
{
	const struct pl_meta *a = &p->meta, *b = &q->meta;

	assert_int_equal(a->start_real_ns, b->start_real_ns);
	assert_int_equal(a->duration_ns, b->duration_ns);
	assert_int_equal(a->period_ns, b->period_ns);
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(a->complete, b->complete);
	assert_int_equal(a->jitter, b->jitter);
	for (const struct pl_meta_figure *f = pl_meta_figures; f->name; f++)
		assert_int_equal(*pl_meta_figure((struct pl_meta *)a, f), *pl_meta_figure((struct pl_meta *)b, f));
	assert_same_text(p, a->command, q, b->command);
	assert_same_text(p, a->engine, q, b->engine);
	assert_same_text(p, a->host, q, b->host);
	assert_same_text(p, a->plumb_version, q, b->plumb_version);
}

static void what_we_write_comes_back(void **state)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct plumb_profile *p = random_profile(seed, 400), *q = NULL;
		size_t len = 0;

		p->meta.complete = seed % 2;
		p->meta.jitter = seed % 3;
		if (seed % 4 == 0) /* as in a merged profile */
			check(pl_profile_string(p, "other", 5, &p->processes[1].host));
		uint8_t *bytes = exported(p, "pprof", &len);
		struct pl_import_input in = {.bytes = bytes, .len = len};
		assert_ptr_equal(pl_importer_for(&in), pl_importer_by_name("pprof"));
		check(import_bytes("pprof", bytes, len, &q));
		char *want = counts_text(p), *got = counts_text(q);
		assert_string_equal(got, want);
		assert_same_meta(p, q);
		free(want);
		free(got);
		free(bytes);
		pl_profile_destroy(p);
		pl_profile_destroy(q);
	}
}

static void each_state_comes_back(void **state)
{
	struct plumb_profile *p = random_profile(3, 1), *q = NULL;
	size_t len = 0;

	for (unsigned i = 0; i < 2 * PL_STATE_JIT; i++) {
		struct pl_sample s = {.state = (uint8_t)i, .weight_ns = 1000, .extra = i};
		check(pl_profile_add(p, &s));
	}
	for (unsigned i = 0; i < PL_REASONS; i++) {
		struct pl_sample s = {.state = pl_reason_state((enum pl_reason)i), .weight_ns = 1000, .extra = i};
		check(pl_profile_add(p, &s));
	}
	uint8_t *bytes = exported(p, "pprof", &len);
	check(import_bytes("pprof", bytes, len, &q));
	char *want = counts_text(p), *got = counts_text(q);
	assert_string_equal(got, want);
	free(want);
	free(got);
	free(bytes);
	pl_profile_destroy(p);
	pl_profile_destroy(q);
}

static void what_came_back_is_written_alike(void **state)
{
	struct plumb_profile *p = random_profile(5, 500), *q = NULL, *r = NULL;
	size_t len = 0, again_len = 0;
	uint8_t *bytes = exported(p, "pprof", &len), *again;

	check(import_bytes("pprof", bytes, len, &q));
	again = exported(q, "pprof", &again_len);
	check(import_bytes("pprof", again, again_len, &r));
	char *want = counts_text(q), *got = counts_text(r);
	assert_string_equal(got, want);
	free(want);
	free(got);
	free(bytes);
	free(again);
	pl_profile_destroy(p);
	pl_profile_destroy(q);
	pl_profile_destroy(r);
}

static uint32_t string(struct plumb_profile *p, const char *text)
{
	uint32_t id;

	check(pl_profile_string(p, text, strlen(text), &id));
	return id;
}

static void add_native(struct plumb_profile *p, const char *file, const char *build_id)
{
	struct pl_function f = {.name = string(p, "deflate"), .file = string(p, file), .origin = PL_ORIGIN_NATIVE};
	struct pl_location l = {.column = -1, .end_column = -1};
	struct pl_module m = {.file = f.file, .build_id = string(p, build_id)};
	struct pl_sample s = {.weight_ns = 1000};
	uint32_t location;

	f.qualname = f.name;
	check(pl_profile_module(p, &m));
	check(pl_profile_function(p, &f, &l.function));
	check(pl_profile_location(p, &l, &location));
	check(pl_profile_stack(p, 0, location, &s.stack));
	check(pl_profile_add(p, &s));
}

static void libraries_come_back_with_their_builds(void **state)
{
	static const char *const files[] = {"/lib/libz.so.1", "/lib/bare.so", "/lib/libm.so.6"}, *const builds[] = {
													 "ab01", "",
													 "cd02"};
	struct plumb_profile *p = random_profile(3, 1), *q = NULL;
	size_t len = 0, natives = 0;

	for (int i = 0; i < 3; i++)
		add_native(p, files[i], builds[i]);
	uint8_t *bytes = exported(p, "pprof", &len);
	check(import_bytes("pprof", bytes, len, &q));
	for (int i = 0; i < 3; i++)
		assert_string_equal(pl_strtab_get(q->strings, pl_profile_build_id(q, string(q, files[i])), NULL),
				    builds[i]);
	for (uint32_t i = 0; i < q->function_count; i++)
		if (strcmp(pl_strtab_get(q->strings, q->functions[i].name, NULL), "deflate") == 0)
			natives += q->functions[i].origin == PL_ORIGIN_NATIVE;
	assert_int_equal(natives, 3);
	free(bytes);
	pl_profile_destroy(p);
	pl_profile_destroy(q);
}

static void an_empty_profile_comes_back(void **state)
{
	struct plumb_profile *p = random_profile(1, 0), *q = NULL;
	size_t len = 0;
	uint8_t *bytes = exported(p, "pprof", &len);

	check(import_bytes("pprof", bytes, len, &q));
	assert_int_equal(q->cell_count, 0);
	assert_int_equal(q->meta.period_ns, p->meta.period_ns);
	free(bytes);
	pl_profile_destroy(p);
	pl_profile_destroy(q);
}

/* ---- Files as others write them -------------------------------------------------------------------------------------
 */

static void type(struct pl_pb *w, uint32_t field, uint64_t name, uint64_t unit)
{
	size_t m = pl_pb_begin(w, field);
	pl_pb_u64(w, 1, name);
	pl_pb_u64(w, 2, unit);
	pl_pb_end(w, m);
}

/* Location and values one by one, as old writers do; @p tid 0: no label. */
static void sample(struct pl_pb *w, const uint64_t *locations, int count, uint64_t a, uint64_t b, uint64_t tid)
{
	size_t m = pl_pb_begin(w, 2), label;

	for (int i = 0; i < count; i++)
		pl_pb_u64(w, 1, locations[i]);
	label = pl_pb_begin(w, 2);
	pl_pb_raw_u64(w, a);
	pl_pb_raw_u64(w, b);
	pl_pb_end(w, label);
	if (tid) {
		label = pl_pb_begin(w, 3);
		pl_pb_u64(w, 1, 13); /* thread_id */
		pl_pb_u64(w, 2, tid);
		pl_pb_end(w, label);
	}
	pl_pb_end(w, m);
}

static void location(struct pl_pb *w, uint64_t id, uint64_t address, const uint64_t (*lines)[2], int count)
{
	size_t m = pl_pb_begin(w, 4);

	pl_pb_u64(w, 1, id);
	pl_pb_u64(w, 2, 1);
	pl_pb_u64(w, 3, address);
	for (int i = 0; i < count; i++) {
		size_t line = pl_pb_begin(w, 4);
		pl_pb_u64(w, 1, lines[i][0]);
		pl_pb_u64(w, 2, lines[i][1]);
		pl_pb_end(w, line);
	}
	pl_pb_end(w, m);
}

static void function(struct pl_pb *w, uint64_t id, uint64_t name, uint64_t file)
{
	size_t m = pl_pb_begin(w, 5);
	pl_pb_u64(w, 1, id);
	pl_pb_u64(w, 2, name);
	pl_pb_u64(w, 3, name);
	pl_pb_u64(w, 4, file);
	pl_pb_end(w, m);
}

static const char *const strings[] = {"",	 "samples", "count", "cpu",	  "milliseconds", "main", "work",
				      "inlined", "main.go", "a.py",  "/bin/prog", "77",		  "odd",  "thread_id"};

/* Samples first; location 9 has an inlined line, location 7 nothing but an address; ids are not in order. */
static struct plumb_profile *foreign(uint64_t first_unit, uint64_t second_unit)
{
	static const uint64_t nine[][2] = {{300, 5}, {200, 12}}, eight[][2] = {{100, 3}};
	static const uint64_t stack[] = {9, 8}, other[] = {7, 8};
	struct plumb_profile *p = NULL;
	char *bytes = NULL;
	size_t len = 0, m;
	FILE *out = open_memstream(&bytes, &len);
	struct pl_pb w;

	pl_pb_init(&w, out);
	sample(&w, stack, 2, 4, 40, 11);
	sample(&w, other, 2, 1, 10, 0);
	sample(&w, stack, 2, (uint64_t)-3, 10, 0); /* of a difference */
	sample(&w, stack, 2, 0, 0, 0);
	function(&w, 300, 7, 8);
	function(&w, 100, 5, 9);
	function(&w, 200, 6, 8);
	location(&w, 8, 0, eight, 1);
	location(&w, 9, 0x40, nine, 2);
	location(&w, 7, 0xabc, NULL, 0);
	m = pl_pb_begin(&w, 3);
	pl_pb_u64(&w, 1, 1);
	pl_pb_u64(&w, 5, 10);
	pl_pb_end(&w, m);
	type(&w, 1, 1, first_unit);
	type(&w, 1, 3, second_unit);
	type(&w, 11, 3, 4);
	pl_pb_u64(&w, 12, 10);
	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		pl_pb_item(&w, 6, strings[i], strlen(strings[i]));
	check(pl_pb_flush(&w));
	pl_pb_deinit(&w);
	fclose(out);
	struct pl_import_input in = {.bytes = (uint8_t *)bytes, .len = len};
	assert_ptr_equal(pl_importer_for(&in), pl_importer_by_name("pprof"));
	check(import_bytes("pprof", bytes, len, &p));
	free(bytes);
	return p;
}

static void assert_frame(const struct plumb_profile *p, uint32_t *stack, const char *name, const char *file, int line,
			 int origin)
{
	const struct pl_location *l = &p->locations[p->stacks[*stack].location];
	const struct pl_function *f = &p->functions[l->function];

	assert_true(*stack);
	assert_string_equal(pl_strtab_get(p->strings, f->name, NULL), name);
	assert_string_equal(pl_strtab_get(p->strings, f->file, NULL), file);
	assert_int_equal(l->line, line);
	assert_int_equal(f->origin, origin);
	*stack = p->stacks[*stack].parent;
}

static void inlined_lines_are_frames_and_tables_may_come_last(void **state)
{
	struct plumb_profile *p = foreign(2, 4);
	uint32_t stack;

	assert_int_equal(p->cell_count, 2);
	stack = p->cells[0].stack;
	assert_frame(p, &stack, "inlined", "main.go", 5, PL_ORIGIN_NATIVE);
	assert_frame(p, &stack, "work", "main.go", 12, PL_ORIGIN_NATIVE);
	assert_frame(p, &stack, "main", "a.py", 3, PL_ORIGIN_PYTHON);
	assert_int_equal(stack, 0);
	stack = p->cells[1].stack;
	assert_frame(p, &stack, "0xabc", "/bin/prog", 0, PL_ORIGIN_NATIVE);
	assert_frame(p, &stack, "main", "a.py", 3, PL_ORIGIN_PYTHON);
	assert_int_equal(p->cells[0].samples, 4);
	assert_int_equal(p->cells[0].weight_ns, 40000000);
	assert_int_equal(p->cells[0].state, PL_STATE_ON_CPU);
	assert_int_equal(p->threads[p->cells[0].thread].tid, 77);
	assert_int_equal(p->cells[1].samples, 1);
	assert_string_equal(pl_strtab_get(p->strings, p->processes[0].name, NULL), "prog");
	assert_int_equal(p->meta.mode, PL_MODE_CPU);
	assert_int_equal(p->meta.period_ns, 10000000);
	assert_string_equal(pl_strtab_get(p->strings, p->meta.command, NULL), "/bin/prog");
	pl_profile_destroy(p);
}

static void values_without_time_or_without_count_are_made_up_from_the_period(void **state)
{
	struct plumb_profile *p = foreign(2, 2); /* two counts: the last is taken */

	assert_int_equal(p->cells[0].samples, 40);
	assert_int_equal(p->cells[0].weight_ns, 400000000);
	pl_profile_destroy(p);
	p = foreign(12, 4); /* time alone */
	assert_int_equal(p->cells[0].samples, 4);
	assert_int_equal(p->cells[0].weight_ns, 40000000);
	pl_profile_destroy(p);
	p = foreign(12, 12); /* neither */
	assert_int_equal(p->cells[0].samples, 40);
	pl_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_we_write_comes_back),
		cmocka_unit_test(each_state_comes_back),
		cmocka_unit_test(what_came_back_is_written_alike),
		cmocka_unit_test(libraries_come_back_with_their_builds),
		cmocka_unit_test(an_empty_profile_comes_back),
		cmocka_unit_test(inlined_lines_are_frames_and_tables_may_come_last),
		cmocka_unit_test(values_without_time_or_without_count_are_made_up_from_the_period),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
