/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canon.h"

/* As perf 6.1 writes it, with `perf script --header`. */
static const char real[] = "# ========\n"
			   "# hostname : box\n"
			   "# cmdline : /usr/bin/perf record -g -F 99 -- python3 -X perf app.py\n"
			   "# ========\n"
			   "#\n"
			   "python3  4242  1234.000100:   10101010 cpu-clock:pppH: \n"
			   "\tffffffff8103ce3b native_safe_halt+0xb ([kernel.kallsyms])\n"
			   "\tffffffffc05007d8 ipv4_local+0x7f ([nf_conntrack_ipv4])\n"
			   "\t    7f12ab5ec4f7 [unknown] (/usr/lib/libc.so.6)\n"
			   "\t          4f12aa _PyEval_EvalFrameDefault+0x1234 (/usr/bin/python3.12)\n"
			   "\t    7f12ab000000 py::Class.method:/srv/app.py (/tmp/perf-4242.map)\n"
			   "\t    7f12ab000010 py::<module>:/srv/app.py (/tmp/perf-4242.map)\n"
			   "\n"
			   "V8 Worker 12 4242/4250 [003]  1234.000200500:   10101010 cpu-clock:pppH: \n"
			   "\t    7ffd1000 __vdso_clock_gettime ([vdso])\n"
			   "\t  7f0001 operator()(int) const (/opt/a b/lib (x).so (deleted))\n"
			   "\n"
			   "python3  4242  1234.000300:          1 page-faults: \n"
			   "\t          4f12aa _PyEval_EvalFrameDefault+0x1234 (/usr/bin/python3.12)\n"
			   "\n";

static void frames_of_perf_have_their_origin(void **state)
{
	struct plumb_profile *p = canon_import("perf-script", real, sizeof real - 1);
	char *got = canon_text(p);

	assert_string_equal(
		got, "4242@0 4242* \"python3\"\"python3\" 2:\"native_safe_halt\"\"\"\"[kernel.kallsyms]\"0:0-0.-1--1"
		     " 2:\"ipv4_local\"\"\"\"[nf_conntrack_ipv4]\"0:0-0.-1--1"
		     " 1:\"[unknown]\"\"\"\"/usr/lib/libc.so.6\"0:0-0.-1--1"
		     " 1:\"_PyEval_EvalFrameDefault\"\"\"\"/usr/bin/python3.12\"0:0-0.-1--1"
		     " 0:\"Class.method\"\"\"\"/srv/app.py\"0:0-0.-1--1 0:\"<module>\"\"\"\"/srv/app.py\"0:0-0.-1--1"
		     " = 1 10101010\n"
		     "4242@0 4250 \"python3\"\"V8 Worker 12\" 1:\"__vdso_clock_gettime\"\"\"\"[vdso]\"0:0-0.-1--1"
		     " 1:\"operator()(int) const\"\"\"\"/opt/a b/lib (x).so (deleted)\"0:0-0.-1--1 = 1 10101010\n");
	assert_int_equal(p->meta.mode, PL_MODE_CPU);
	assert_int_equal(p->meta.period_ns, 10101010);
	assert_string_equal(pl_strtab_get(p->strings, p->meta.host, NULL), "box");
	assert_string_equal(pl_strtab_get(p->strings, p->meta.command, NULL),
			    "/usr/bin/perf record -g -F 99 -- python3 -X perf app.py");
	free(got);
	pl_profile_destroy(p);
}

static void other_events_are_skipped_and_counted(void **state)
{
	struct plumb_profile *p;
	struct pl_import_input in = {.bytes = (const uint8_t *)real, .len = sizeof real - 1};

	assert_ok(pl_profile_create(&p));
	struct pl_sink sink = {.profile = p};
	assert_ok(pl_importer_run(pl_importer_for(&in), &in, &sink));
	assert_int_equal(sink.skipped, 1);
	assert_true(sink.timed);
	pl_profile_destroy(p);
}

static bool is_complete(const char *text)
{
	struct plumb_profile *p = canon_import("perf-script", text, strlen(text));
	bool complete = p->meta.complete;

	pl_profile_destroy(p);
	return complete;
}

/* An empty line is behind each stack, unless that is in the line of its event. */
static void what_ends_within_a_stack_is_incomplete(void **state)
{
	assert_true(is_complete("a 7 1.5: cycles: \n\t10 f (x)\n\na 7 1.6: cycles: \n\t10 f (x)\n\n"));
	assert_false(is_complete("a 7 1.5: cycles: \n\t10 f (x)\n\na 7 1.6: cycles: \n\t10 f (x)\n"));
	assert_false(is_complete("a 7 1.5: cycles: \n\t10 f (x)\n\na 7 1.6: cycles: \n\t10 f (x"));
	assert_true(is_complete("a 7 1.5: cycles:  10 f (x)\na 7 1.6: cycles:  10 f (x)\n"));
	assert_true(is_complete("a 7 1.5: cycles: \n\t10 f (x)\n")); /* of one alone it is not known */
}

/* Is nothing missing, or nothing that could be known: of lines of whole stacks, and of the first one alone? */
static bool ends_well(const char *text, size_t len)
{
	const char *first_end = strstr(text, "\n\n");

	return text[len - 1] == '\n' && (text[len - 2] == '\n' || len <= (size_t)(first_end - text) + 1);
}

/* At every byte: what is within a line, which blanks begin, is no end of a stack. */
static void a_cut_anywhere_is_told(const char *text)
{
	size_t event = (size_t)(strstr(text, ": \n") - text);

	for (size_t len = 2; len <= strlen(text); len++) {
		struct plumb_profile *p;
		struct plumb_error *err = canon_try("perf-script", text, len, &p);

		if (err) {
			assert_true(len <= event); /* there is none yet */
			plumb_error_destroy(err);
			continue;
		}
		if (p->meta.complete != ends_well(text, len))
			fail_msg("%zu bytes: complete is %d", len, p->meta.complete);
		pl_profile_destroy(p);
	}
}

static void a_cut_at_any_byte_is_told(void **state)
{
	a_cut_anywhere_is_told(real);
	a_cut_anywhere_is_told("       a 7 1.5: cycles: \n\t    10 f (x)\n\t    20 g h (x y)\n\n"
			       "       a 7 1.6: cycles: \n\t    10 f (x)\n\t    20 g h (x y)\n\n");
}

static void assert_one(const char *text, const char *want)
{
	struct plumb_profile *p = canon_import("perf-script", text, strlen(text));
	char *got = canon_text(p);

	assert_string_equal(got, want);
	free(got);
	pl_profile_destroy(p);
}

static void heads_come_in_many_shapes(void **state)
{
	/* Counters have no time; without call chains the frame stands in the line; with neither, nothing does. */
	assert_one("a 7 1.5: cycles: \n\t10 f (x)\n", "7@0 7* \"a\"\"a\" 1:\"f\"\"\"\"x\"0:0-0.-1--1 = 1 1\n");
	assert_one("a b 9 7/8 [000] d..2. 1.5: 100 cycles:u: \n\t10 f (x)\n",
		   "7@0 8 \"\"\"a b 9\" 1:\"f\"\"\"\"x\"0:0-0.-1--1 = 1 1\n");
	assert_one("   a 7 1.5: 100 task-clock:u:  ffffffff9aa3c8de [unknown] ([unknown])\n"
		   "   a 7 1.6: 100 task-clock:u:  10 f (x)\n",
		   "7@0 7* \"a\"\"a\" 1:\"f\"\"\"\"x\"0:0-0.-1--1 = 1 100\n"
		   "7@0 7* \"a\"\"a\" 2:\"[unknown]\"\"\"\"\"0:0-0.-1--1 = 1 100\n");
	assert_one("a 7 1.5: sched:sched_switch: prev_comm=a prev_pid=7\n\t10 f (x)\n",
		   "7@0 7* \"a\"\"a\" 1:\"f\"\"\"\"x\"0:0-0.-1--1 = 1 1\n");
	assert_one("a 7 1.5: cycles:\r\n\t10 f (x)\r\n\r\na 7 1.6: cycles:\r\n\t10 f (x)",
		   "7@0 7* \"a\"\"a\" 1:\"f\"\"\"\"x\"0:0-0.-1--1 = 2 2\n");
}

static void what_is_no_event_is_refused(void **state)
{
	static const char *const texts[] = {"", "\n\n", "hello world\n", "a;b;c 12\n", "# only a comment\n"};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct pl_import_input in = {.bytes = (const uint8_t *)texts[i], .len = strlen(texts[i])};
		struct plumb_profile *p = NULL;

		assert_code(canon_try("perf-script", texts[i], in.len, &p), PLUMB_ERR_CORRUPT);
		assert_false(pl_importer_by_name("perf-script")->is(&in));
	}
}

/* The instants of the first sample, and so of all, move to 0 once; the second time nothing changes. */
static void what_is_written_comes_back(void **state)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct random_shape shape = {.seed = seed, .samples = 500, .plain = seed > 4};
		struct plumb_profile *p = canon_random(&shape), *second, *third;
		size_t len, second_len, third_len;
		char *text = canon_export(p, "perf-script", &len), *second_text, *third_text;

		second = canon_import("perf-script", text, len);
		second_text = canon_export(second, "perf-script", &second_len);
		third = canon_import("perf-script", second_text, second_len);
		third_text = canon_export(third, "perf-script", &third_len);
		assert_int_equal(second_len, third_len);
		assert_memory_equal(second_text, third_text, second_len);
		free(text);
		free(second_text);
		free(third_text);
		pl_profile_destroy(p);
		pl_profile_destroy(second);
		pl_profile_destroy(third);
	}
}

struct sums {
	const struct plumb_profile *p;
	uint64_t samples, weight_ns, frames;
};

static struct plumb_error *add(void *ctx, const struct pl_sample *s)
{
	struct sums *sums = ctx;

	sums->samples += 1 + s->extra;
	sums->weight_ns += s->weight_ns;
	sums->frames += (1 + s->extra) * sums->p->stacks[s->stack].depth;
	return NULL;
}

static void samples_weights_and_frames_are_all_there(void **state)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct random_shape shape = {.seed = seed, .samples = 500};
		struct plumb_profile *p = canon_random(&shape), *again;
		struct sums want = {.p = p}, got;
		size_t len;
		char *text = canon_export(p, "perf-script", &len);

		again = canon_import("perf-script", text, len);
		got = (struct sums){.p = again};
		assert_ok(pl_profile_each(p, add, &want));
		assert_ok(pl_profile_each(again, add, &got));
		assert_int_equal(got.samples, want.samples);
		assert_int_equal(got.weight_ns, want.weight_ns);
		assert_int_equal(got.frames, want.frames);
		free(text);
		pl_profile_destroy(p);
		pl_profile_destroy(again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_perf_have_their_origin),
		cmocka_unit_test(other_events_are_skipped_and_counted),
		cmocka_unit_test(what_ends_within_a_stack_is_incomplete),
		cmocka_unit_test(a_cut_at_any_byte_is_told),
		cmocka_unit_test(heads_come_in_many_shapes),
		cmocka_unit_test(what_is_no_event_is_refused),
		cmocka_unit_test(what_is_written_comes_back),
		cmocka_unit_test(samples_weights_and_frames_are_all_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
