/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options from text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "values.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{"10", 10000000000},	  {"0.5", 500000000},	  {".25", 250000000},	   {"10s", 10000000000},
		{"500ms", 500000000},	  {"2m", 120000000000},	  {"2min", 120000000000},  {"1h", 3600000000000},
		{"1h30m", 5400000000000}, {"1m30s", 90000000000}, {"1.5h", 5400000000000}, {"250us", 250000},
		{"1e1", 10000000000},
	};
	static const char *const bad[] = {"",	  "0", "0s",  "-1",  "+1",   " 1",    "1 ",	     "1x",  "ten",
					  "1m30", "s", "nan", "inf", "0x10", "1e300", "99999999999", "1s2", "1..2"};
	uint64_t ns;

	for (size_t i = 0; i < COUNT(good); i++) {
		if (!value_duration(good[i].text, &ns) || ns != good[i].ns)
			fail_msg("%s", good[i].text);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (value_duration(bad[i], &ns))
			fail_msg("'%s' was taken for a duration", bad[i]);
	}
}

static void ranges_of_time_may_begin_at_nought_however_it_is_written(void **state)
{
	static const struct {
		const char *text;
		uint64_t from, to;
	} good[] = {{"0..1", 0, 1000000000},
		    {"0.000000000..0.5", 0, 500000000},
		    {"0s..", 0, 0},
		    {"..1m30s", 0, 90000000000},
		    {"10..20", 10000000000, 20000000000}};
	static const char *const bad[] = {"", "..", "5", "5..3", "..0", "0..0.0", "a..1", "-1..1", "0..1..2"};
	uint64_t from, to;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(value_time_range(good[i].text, &from, &to));
		assert_true(from == good[i].from && to == good[i].to);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(value_time_range(bad[i], &from, &to));
}

static void rates(void **state)
{
	static const struct {
		const char *text;
		double hz;
	} good[] = {
		{"1000", 1000}, {"1k", 1000}, {"1kHz", 1000}, {"2.5khz", 2500}, {"100hz", 100}, {"100Hz", 100},
		{"0.1", 0.1},	{"1M", 1e6},  {"100/s", 100}, {"max", 0},	{"MAX", 0},
	};
	static const char *const bad[] = {"",	   "0",	  "-1",	 "0.001", "2M", "1g",	   "1kk", "fast",
					  "1000 ", "nan", "inf", "1khzz", "k",	"maximum", "0x64"};
	double hz;

	for (size_t i = 0; i < COUNT(good); i++) {
		if (!value_rate(good[i].text, &hz) || hz != good[i].hz)
			fail_msg("%s", good[i].text);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (value_rate(bad[i], &hz))
			fail_msg("'%s' was taken for a rate", bad[i]);
	}
}

static void percentages(void **state)
{
	static const char *const bad[] = {"", "0", "0.001", "-1", "100.1", "1%%", "% 1", "1 %", "nan", "inf", "one"};
	double share;

	assert_true(value_percent("1", &share) && share == 0.01);
	assert_true(value_percent("0.5%", &share) && share == 0.005);
	assert_true(value_percent("100", &share) && share == 1);
	for (size_t i = 0; i < COUNT(bad); i++)
		if (value_percent(bad[i], &share))
			fail_msg("'%s' was taken for a percentage", bad[i]);
}

static void whole_numbers(void **state)
{
	uint64_t v = 1;
	int i = 1;

	assert_true(value_u64("0", &v) && v == 0);
	assert_true(value_u64("18446744073709551615", &v) && v == UINT64_MAX);
	assert_false(value_u64("0xff", &v));
	assert_false(value_u64("010", &v)); /* 8 to ps, 10 to kill */
	assert_false(value_u64("+5", &v));
	assert_false(value_u64(" 5", &v));
	assert_false(value_u64("5 ", &v));
	assert_false(value_u64("18446744073709551616", &v));
	assert_false(value_u64("-1", &v));
	assert_false(value_u64("", &v));
	assert_false(value_u64("1.5", &v));
	assert_true(value_pid("4242", &i) && i == 4242);
	assert_false(value_pid("0", &i));
	assert_false(value_pid("0x10", &i));
	assert_false(value_pid("4294967297", &i));
	assert_false(value_pid("self", &i));
	assert_true(value_int("20", 20, 1000, &i));
	assert_false(value_int("19", 20, 1000, &i));
	assert_false(value_int("1001", 20, 1000, &i));
}

static void lists_grow_and_leave_out_what_is_empty(void **state)
{
	struct word_list l = {0};

	assert_true(word_list_add(&l, "main,4243"));
	assert_true(word_list_add(&l, ",worker 1,,"));
	assert_false(word_list_add(&l, ""));
	assert_false(word_list_add(&l, ",,"));
	assert_int_equal(l.count, 3);
	assert_string_equal(l.words[0], "main");
	assert_string_equal(l.words[1], "4243");
	assert_string_equal(l.words[2], "worker 1");
	word_list_free(&l);
	assert_int_equal(l.count, 0);
}

static void amounts_have_a_unit_and_positive_numbers(void **state)
{
	static const char *const bad[] = {
		"",	  "request",	  "request=",	  "=1,2",  "request=1",	   "request=1,0",
		"r=1,-2", "request=1,2,", "request=,1,2", "r=1;2", "request=1,2x", "r=nan,1"};
	struct value_amounts a = {0};

	assert_true(value_amounts("route=/x=1200,1250.5,3e6", &a));
	assert_string_equal(a.unit, "route=/x");
	assert_int_equal(a.count, 3);
	assert_true(a.counts[0] == 1200 && a.counts[1] == 1250.5 && a.counts[2] == 3e6);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(value_amounts(bad[i], &a));
	assert_int_equal(a.count, 3);
	assert_true(value_amounts("row=1,2", &a));
	assert_string_equal(a.unit, "row");
	value_amounts_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_of_time_may_begin_at_nought_however_it_is_written),
		cmocka_unit_test(durations),
		cmocka_unit_test(rates),
		cmocka_unit_test(percentages),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(lists_grow_and_leave_out_what_is_empty),
		cmocka_unit_test(amounts_have_a_unit_and_positive_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
