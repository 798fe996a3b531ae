/* SPDX-License-Identifier: Apache-2.0 */
/* pstats and callgrind come in as what they are: the own cost of each function exactly, inclusive costs as long as
 * there is no recursion, and nothing that breaks on hostile bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing.h"
#include "import.h"
#include "view.h"

/* What was read, or why not. */
struct got {
	struct plumb_profile *p;
	pl_function_rows rows;
	struct pl_sink sink;
	struct plumb_error *err;
};

static const struct pl_filter everything = {.idle = PL_IDLE_KEEP};

static void read_bytes(const char *format, const void *bytes, size_t len, struct got *g)
{
	uint8_t *copy = malloc(len + 1);
	struct pl_import_input in = {.bytes = copy, .len = len};

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	memset(g, 0, sizeof *g);
	assert_null(pl_profile_create(&g->p));
	g->sink = (struct pl_sink){.profile = g->p};
	assert_ptr_equal(pl_importer_for(&in), pl_importer_by_name(format));
	g->err = pl_importer_run(pl_importer_by_name(format), &in, &g->sink);
	free(copy);
	assert_null(pl_view_functions(g->p, &everything, &g->rows));
}

static void release(struct got *g)
{
	plumb_error_destroy(g->err);
	pl_vec_deinit(&g->rows);
	pl_profile_destroy(g->p);
}

static const struct pl_function_row *row(const struct got *g, const char *name)
{
	for (size_t i = 0; i < g->rows.len; i++) {
		const struct pl_function *f = &g->p->functions[g->rows.data[i].function];

		if (strcmp(pl_strtab_get(g->p->strings, f->name, NULL), name) == 0)
			return &g->rows.data[i];
	}
	fail_msg("there is no function %s", name);
	return NULL;
}

static void expect(const struct got *g, const char *name, uint64_t self, uint64_t total)
{
	const struct pl_function_row *r = row(g, name);

	if (r->self.weight_ns != self || r->total.weight_ns != total)
		fail_msg("%s: %lu and %lu, not %lu and %lu", name, r->self.weight_ns, r->total.weight_ns, self, total);
}

static void expect_failure(const char *format, const char *text, const char *message)
{
	struct got g;

	read_bytes(format, text, strlen(text), &g);
	assert_non_null(g.err);
	assert_string_equal(plumb_error_message(g.err), message);
	release(&g);
}

#define HEAD "# callgrind format\nevents: Ir Dr\n"

/* a (10) calls b for 60 and c for 30; b (20) calls c for 40; c has 70 in two lines. */
/* Nothing stands in front of what is counted: no mark, no version. */
static void a_file_that_begins_with_its_events_is_known(void **state)
{
	static const char text[] = "events: Ir\nfl=x.py\nfn=a\n5 10\n";
	struct got g;

	read_bytes("callgrind", text, strlen(text), &g);
	assert_null(g.err);
	expect(&g, "a", 10, 10);
	release(&g);
}

static void expect_complete(const char *text, bool complete)
{
	struct got g;

	read_bytes("callgrind", text, strlen(text), &g);
	assert_null(g.err);
	assert_int_equal(g.p->meta.complete, complete);
	release(&g);
}

/* At its beginning or its end it says what all costs: in each part, if there are several. */
static void a_callgrind_file_that_was_cut_is_incomplete(void **state)
{
	expect_complete(HEAD "fn=f\n1 20\nfn=g\n1 10\n", true);
	expect_complete(HEAD "summary: 30 7\nfn=f\n1 20\nfn=g\n1 10\ntotals: 30 7\n", true);
	expect_complete(HEAD "summary: 30 7\nfn=f\n1 20\nfn=g\n", false);
	expect_complete(HEAD "fn=f\n1 20\nfn=g\ntotals: 30 7\n", false);
	expect_complete(HEAD "summary: 20\nfn=f\n1 20\npart: 2\nsummary: 10\nfn=g\n1 10\n", true);
	expect_complete(HEAD "summary: 20\nfn=f\n1 20\npart: 2\nsummary: 10\nfn=g\n", false);
	/* Other tools round each cost, and count what may be less than nothing. */
	expect_complete(HEAD "summary: 1000 -3\nfn=f\n1 999\n", true);
	expect_complete("# callgrind format\nevents: Memory Time\nsummary: -5 9\nfn=f\n1 2 3\n", true);
	expect_complete("creator: plumb 0.1.0\nevents: Samples ns\nsummary: 1000 5\nfn=f\n1 999 4\n", false);
}

/* Within its last costs, too, and in the calls behind them. */
static void a_cut_of_our_own_at_any_byte_is_told(void **state)
{
	static const char text[] = "# callgrind format\ncreator: plumb 0.1.0\nevents: Samples ns\nsummary: 30 3000\n\n"
				   "fl=(0) ~\nfn=(0) <all>\ncfi=(1) a.py\ncfn=(1) f\ncalls=30 1\n0 30 3000\n\n"
				   "fl=(1)\nfn=(1)\n2 10 1000\ncfi=(1)\ncfn=(2) g\ncalls=20 5\n3 20 2000\n\n"
				   "fl=(1)\nfn=(2)\n6 20 2000\ncfi=(1)\ncfn=(1)\ncalls=12 1\n7 12 1200\n\n"
				   "totals: 30 3000\n";
	size_t creator_end = (size_t)(strstr(text, "events:") - text);
	size_t all = (size_t)(strstr(text, "totals: 30") - text) + strlen("totals: 30"); /* what follows is known */
	struct got g;

	for (size_t len = creator_end; len < sizeof text; len++) {
		read_bytes("callgrind", text, len, &g);
		if (!g.err && g.p->meta.complete != (len >= all))
			fail_msg("%zu bytes: complete is %d", len, g.p->meta.complete);
		release(&g);
	}
}

static void without_recursion_all_figures_are_kept(void **state)
{
	static const char text[] = HEAD "fl=(1) x.py\nfn=(1) a\n5 10 1\ncfn=(2) b\ncalls=3 7\n6 60\n"
					"cfn=(3) c\ncalls=1 9\n+1 30 2\n"
					"fn=(2)\n0x7 20\ncfn=(3)\ncalls=2 9\n* 40\nfn=(3)\n9 50\n+2 20\n";
	struct got g;

	read_bytes("callgrind", text, strlen(text), &g);
	assert_null(g.err);
	expect(&g, "a", 10, 100);
	expect(&g, "b", 20, 60);
	expect(&g, "c", 70, 70);
	for (size_t i = 0; i < g.p->location_count; i++)
		assert_true(g.p->locations[i].line >= 5 && g.p->locations[i].line <= 11);
	assert_int_equal(g.p->functions[0].origin, PL_ORIGIN_PYTHON);
	release(&g);
}

/* As valgrind writes with --collect-jumps=yes. */
static void names_that_come_first_in_jumps_are_known(void **state)
{
	static const char text[] = HEAD "fl=(1) x.c\nfn=(1) a\n5 10\njfi=(2) y.c\njfn=(2) b\njcnd=1/2 +5\n* \n"
					"fl=(2)\nfn=(2)\n7 20\n";
	struct got g;

	read_bytes("callgrind", text, sizeof text - 1, &g);
	assert_null(g.err);
	expect(&g, "a", 10, 10);
	expect(&g, "b", 20, 20);
	release(&g);
}

static void recursion_is_folded_and_own_costs_stay(void **state)
{
	static const char text[] = HEAD "fl=x.c\nfn=main\n1 10\ncfn=f\ncalls=1 1\n2 500\n"
					"fn=f\n5 200\ncfn=g\ncalls=9 1\n6 450\ncfn=f\ncalls=5 1\n7 350\n"
					"fn=g\n8 300\ncfn=f\ncalls=2 1\n9 400\nfn=lost\n1 7\n";
	struct got g;

	read_bytes("callgrind", text, strlen(text), &g);
	assert_null(g.err);
	expect(&g, "main", 10, 510);
	expect(&g, "f", 200, 500);
	expect(&g, "g", 300, 300);
	expect(&g, "lost", 7, 7);
	release(&g);
}

static void a_cycle_that_nobody_calls_is_not_lost(void **state)
{
	static const char text[] =
		HEAD "fl=x.c\nfn=f\n5 20\ncfn=g\ncalls=9 1\n6 100\nfn=g\n8 80\ncfn=f\ncalls=2 1\n9 100\n";
	struct got g;

	read_bytes("callgrind", text, strlen(text), &g);
	assert_null(g.err);
	assert_int_equal(row(&g, "f")->self.weight_ns, 20);
	assert_int_equal(row(&g, "g")->self.weight_ns, 80);
	release(&g);
}

/* 2 to the power of 60 paths: as many nodes as the length of the file allows, and all own costs. */
static void more_paths_than_can_be_counted_end(void **state)
{
	static char text[32768];
	size_t len = (size_t)sprintf(text, HEAD "fl=x.c\n");
	struct got g;

	for (int i = 0; i < 60; i++)
		len += (size_t)sprintf(text + len,
				       "fn=l%d\n1 1000\ncfn=l%d\ncalls=1 1\n2 1000000\ncfn=r%d\ncalls=1 1\n3 1000000\n"
				       "fn=r%d\n1 1000\ncfn=l%d\ncalls=1 1\n2 1000000\ncfn=r%d\ncalls=1 1\n3 1000000\n",
				       i, i + 1, i + 1, i, i + 1, i + 1);
	len += (size_t)sprintf(text + len, "fn=l60\n1 5\nfn=r60\n1 5\n");
	read_bytes("callgrind", text, len, &g);
	assert_null(g.err);
	for (size_t i = 0; i < g.rows.len; i++)
		assert_true(g.rows.data[i].self.weight_ns == 1000 || g.rows.data[i].self.weight_ns == 5);
	assert_int_equal(g.rows.len, 122);
	assert_true(g.p->stack_count < 100000);
	release(&g);
}

/* One sample, two equal callers: the first gets it, and the weight that is the second's part is not lost. */
static void weights_are_kept_where_samples_are_few(void **state)
{
	static const char text[] = "# callgrind format\nevents: Samples ns\nfl=x.py\nfn=f\n1 1 1000001\nfn=g\n1 0 17\n"
				   "fn=a\ncfn=f\ncalls=1 1\n1 1 10\nfn=b\ncfn=f\ncalls=1 1\n1 1 10\n";
	struct got g;

	read_bytes("callgrind", text, sizeof text - 1, &g);
	assert_null(g.err);
	assert_int_equal(row(&g, "f")->self.weight_ns, 1000001);
	assert_int_equal(row(&g, "f")->self.samples, 1);
	assert_int_equal(row(&g, "g")->self.weight_ns, 17);
	release(&g);
}

static void callgrind_errors_name_the_line(void **state)
{
	expect_failure("callgrind", HEAD "1 2\n", "line 3: costs come before any function");
	expect_failure("callgrind", HEAD "fn=(2)\n", "line 3: a number stands for no name yet");
	expect_failure("callgrind", HEAD "fn=f\n1 2x\n", "line 4: a cost is no number");
	expect_failure("callgrind", HEAD "fn=f\n1 99999999999999999999\n", "line 4: a cost is no number");
	expect_failure("callgrind", HEAD "fn=f\n+x 2\n", "line 4: a position is no number");
	expect_failure("callgrind", HEAD "positions:\n", "line 3: there are no positions");
}

#define KEY(name)   "(\3\0\0\0s\1\0\0\0fi\1\0\0\0s\1\0\0\0" name
#define ONE_SECOND  "g\0\0\0\0\0\0\xf0\x3f"
#define TWO_SECONDS "g\0\0\0\0\0\0\0\x40"
#define COUNT	    "i\2\0\0\0"

static void callers_may_be_numbers_of_calls(void **state)
{
	static const char bytes[] =
		"{" KEY("a") "(\5\0\0\0" COUNT COUNT ONE_SECOND TWO_SECONDS
			     "{0" KEY("b") "(\5\0\0\0" COUNT COUNT ONE_SECOND ONE_SECOND "{" KEY("a") COUNT "00";
	struct got g;

	read_bytes("pstats", bytes, sizeof bytes - 1, &g);
	assert_null(g.err);
	expect(&g, "a", 1000000000, 2000000000);
	expect(&g, "b", 1000000000, 1000000000);
	assert_int_equal(g.p->meta.duration_ns, 2000000000);
	release(&g);
}

static void pstats_errors_name_the_byte(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *message;
	} cases[] = {
#define CASE(bytes, message) {bytes, sizeof(bytes) - 1, message}
		CASE("{(\3\0\0\0i\1\0\0\0", "byte 11: the file of a function is no text"),
		CASE("{(\3\0\0\0t\xff\xff\xff\x7f", "byte 11: the data ends in the middle of an object"),
		CASE("{(\3\0\0\0r\1\0\0\0", "byte 11: an object refers to one that has not come yet"),
		CASE("{(\3\0\0\0R\0\0\0\0", "byte 11: an object refers to one that has not come yet"),
		CASE("{(\3\0\0\0X\0\0\0", "byte 7: an object of a kind that profiles do not have"),
		CASE("{" KEY("a") "i\1\0\0\0", "byte 28: the figures of a function are no tuple"),
		CASE("{" KEY("a") "(\4\0\0\0" COUNT COUNT COUNT COUNT,
		     "byte 28: the figures of a function are not five"),
		CASE("{" KEY("a") "(\5\0\0\0" COUNT COUNT COUNT "g\0\0\0\0\0\0\xf8\x7f{0"
				  "0",
		     "byte 52: a figure of a function is no number"),
		CASE("{" KEY("a") "(\5\0\0\0" COUNT COUNT COUNT "l\4\0\0\0\0\0\0\0\0\0\1\0{0"
				  "0",
		     "byte 56: a time is longer than a century"),
		CASE("{" KEY("a"), "byte 23: the data ends in the middle of an object"),
	};
	struct got g;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		read_bytes("pstats", cases[i].bytes, cases[i].len, &g);
		assert_non_null(g.err);
		assert_string_equal(plumb_error_message(g.err), cases[i].message);
		release(&g);
	}
}

static char *golden(const char *file, size_t *len)
{
	char path[4096], *bytes = calloc(1, 1 << 20);
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", GOLDEN_DIR, file);
	f = fopen(path, "rb");
	assert_true(f && bytes);
	*len = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

/* What export/ makes of its example; the figures are those of example.json there. */
static void our_own_files_come_back(void **state)
{
	static const char *const formats[] = {"pstats", "callgrind"};

	for (int i = 0; i < 2; i++) {
		char file[64];
		size_t len;
		struct got g;

		snprintf(file, sizeof file, "example.%s", formats[i]);
		char *bytes = golden(file, &len);
		read_bytes(formats[i], bytes, len, &g);
		assert_null(g.err);
		const char *load = "load_orders", *decode = "raw_decode";
		if (i == 1) {
			load = "Shop.load_orders";
			decode = "JSONDecoder.raw_decode";
			assert_int_equal(row(&g, decode)->self.samples, 5000);
			assert_int_equal(g.p->meta.period_ns, 1000000);
		}
		expect(&g, decode, 5000000000, 5000000000);
		expect(&g, load, 1000000000, 7050000000);
		expect(&g, i == 1 ? "Thread._bootstrap" : "_bootstrap", 10000000000, 10000000000);
		free(bytes);
		release(&g);
	}
}

static void read_without_memory(void *ctx)
{
	const char *const *args = ctx;
	struct pl_import_input in = {.bytes = (const uint8_t *)args[1], .len = strlen(args[1])};
	struct plumb_profile *p;
	struct plumb_error *err = pl_profile_create(&p);

	if (err) {
		assert_ptr_equal(err, &pl_err_no_memory);
		return;
	}
	struct pl_sink sink = {.profile = p};
	err = pl_importer_run(pl_importer_by_name(args[0]), &in, &sink);
	assert_true(!err || err == &pl_err_no_memory);
	pl_profile_destroy(p);
}

static void without_memory_it_is_said(void **state)
{
	const char *args[] = {"callgrind", HEAD "fl=x\nfn=f\n1 2\ncfn=g\ncalls=1 1\n1 6\nfn=g\n1 6\n"};

	failing_each(read_without_memory, args, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_begins_with_its_events_is_known),
		cmocka_unit_test(without_recursion_all_figures_are_kept),
		cmocka_unit_test(names_that_come_first_in_jumps_are_known),
		cmocka_unit_test(recursion_is_folded_and_own_costs_stay),
		cmocka_unit_test(a_cycle_that_nobody_calls_is_not_lost),
		cmocka_unit_test(more_paths_than_can_be_counted_end),
		cmocka_unit_test(weights_are_kept_where_samples_are_few),
		cmocka_unit_test(callgrind_errors_name_the_line),
		cmocka_unit_test(a_callgrind_file_that_was_cut_is_incomplete),
		cmocka_unit_test(a_cut_of_our_own_at_any_byte_is_told),
		cmocka_unit_test(callers_may_be_numbers_of_calls),
		cmocka_unit_test(pstats_errors_name_the_byte),
		cmocka_unit_test(our_own_files_come_back),
		cmocka_unit_test(without_memory_it_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
