/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "utf8.h"

struct sink {
	struct pl_json j;
	char *text;
	size_t len;
};

static void sink_init(struct sink *s, int indent)
{
	FILE *f = open_memstream(&s->text, &s->len);
	assert_non_null(f);
	pl_json_init(&s->j, f, indent);
}

static void assert_json(struct sink *s, const char *want)
{
	fclose(s->j.out);
	assert_string_equal(s->text, want);
	free(s->text);
}

static void assert_string(const char *bytes, size_t len, const char *want)
{
	struct sink s;
	sink_init(&s, 0);
	pl_json_strn(&s.j, bytes, len);
	assert_json(&s, want);
}

static void nesting_and_commas(void **state)
{
	struct sink s;
	sink_init(&s, 0);
	pl_json_object(&s.j);
	pl_json_key(&s.j, "a");
	pl_json_array(&s.j);
	pl_json_u64(&s.j, UINT64_MAX);
	pl_json_i64(&s.j, INT64_MIN);
	pl_json_array(&s.j);
	pl_json_array_end(&s.j);
	pl_json_object(&s.j);
	pl_json_object_end(&s.j);
	pl_json_array_end(&s.j);
	pl_json_key(&s.j, "b");
	pl_json_bool(&s.j, true);
	pl_json_key(&s.j, "c");
	pl_json_null(&s.j);
	pl_json_object_end(&s.j);
	assert_json(&s, "{\"a\":[18446744073709551615,-9223372036854775808,[],{}],\"b\":true,\"c\":null}");
}

static void numbers_read_back_as_they_were(void **state)
{
	struct sink s;
	sink_init(&s, 0);
	pl_json_array(&s.j);
	pl_json_number(&s.j, 0.1);
	pl_json_number(&s.j, 1.0 / 3);
	pl_json_number(&s.j, 1e300);
	pl_json_number(&s.j, -3);
	pl_json_number(&s.j, 0.0 / 0.0);
	pl_json_array_end(&s.j);
	assert_json(&s, "[0.1,0.3333333333333333,1e+300,-3,null]");
}

static void members(void **state)
{
	struct sink s;
	sink_init(&s, 0);
	pl_json_object(&s.j);
	pl_json_key_str(&s.j, "a", "x");
	pl_json_key_strn(&s.j, "b", "yz", 1);
	pl_json_key_u64(&s.j, "c", UINT64_MAX);
	pl_json_key_i64(&s.j, "d", -1);
	pl_json_key_double(&s.j, "e", 0.25, 3);
	pl_json_key_bool(&s.j, "f", false);
	pl_json_key_null(&s.j, "g");
	pl_json_key_u64_or_null(&s.j, "h", true, 0);
	pl_json_key_u64_or_null(&s.j, "i", false, 7);
	pl_json_key_str_or_null(&s.j, "j", "");
	pl_json_key_str_or_null(&s.j, "k", NULL);
	pl_json_key_str_or_null(&s.j, "l", "z");
	pl_json_key_time(&s.j, "m", UINT64_C(1709251199000001999));
	pl_json_key_time(&s.j, "n", UINT64_MAX);
	pl_json_object_end(&s.j);
	assert_json(&s, "{\"a\":\"x\",\"b\":\"y\",\"c\":18446744073709551615,\"d\":-1,\"e\":0.250,\"f\":false,"
			"\"g\":null,\"h\":0,\"i\":null,\"j\":null,\"k\":null,\"l\":\"z\","
			"\"m\":\"2024-02-29T23:59:59.000001Z\",\"n\":\"2554-07-21T23:34:33.709551Z\"}");
}

static void indentation(void **state)
{
	struct sink s;
	sink_init(&s, 2);
	pl_json_object(&s.j);
	pl_json_key(&s.j, "a");
	pl_json_array(&s.j);
	pl_json_bool(&s.j, false);
	pl_json_str(&s.j, "x");
	pl_json_array_end(&s.j);
	pl_json_key(&s.j, "b");
	pl_json_object(&s.j);
	pl_json_object_end(&s.j);
	pl_json_object_end(&s.j);
	assert_json(&s, "{\n  \"a\": [\n    false,\n    \"x\"\n  ],\n  \"b\": {}\n}");
}

#define assert_text(literal, want) assert_string(literal, sizeof literal - 1, want)

static void characters_that_json_cannot_hold_are_escaped(void **state)
{
	assert_text("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	assert_text("\n\t\r\b\f\x01\x1f\x7f", "\"\\n\\t\\r\\b\\f\\u0001\\u001f\\u007f\"");
	assert_text("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\"\\u0080\\u009b\\u009f\xc2\xa0\"");
	assert_text("a\0b", "\"a\\u0000b\"");
	assert_text("", "\"\"");
}

static void a_script_element_around_it_is_not_ended(void **state)
{
	assert_text("</script>", "\"<\\/script>\"");
	assert_text("<</", "\"<<\\/\"");
	assert_text("/<a/", "\"/<a/\"");
	assert_text("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa", "\"\\u2028\\u2029\xe2\x80\xaa\"");
}

#define FFFD "\xef\xbf\xbd"

static void valid_utf8_is_kept(void **state)
{
	assert_text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8d", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8d\"");
	assert_text("\xc2\xa0\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
		    "\"\xc2\xa0\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
	assert_text("\xed\x9f\xbf\xee\x80\x80", "\"\xed\x9f\xbf\xee\x80\x80\"");
}

static void invalid_utf8_becomes_one_replacement_per_sequence(void **state)
{
	assert_text("\xc0\xaf", "\"" FFFD "\"");		      /* overlong "/" */
	assert_text("\xe0\x80\xaf", "\"" FFFD "\"");		      /* and again */
	assert_text("\xf0\x80\x80\xaf", "\"" FFFD "\"");	      /* and again */
	assert_text("\xc1\xbf", "\"" FFFD "\"");		      /* overlong U+007F */
	assert_text("\xed\xa0\x80\xed\xbf\xbf", "\"" FFFD FFFD "\""); /* surrogates */
	assert_text("\xf4\x90\x80\x80", "\"" FFFD "\"");	      /* U+110000 */
	assert_text("\xf7\xbf\xbf\xbf", "\"" FFFD "\"");
	assert_text("\x80\xbf", "\"" FFFD FFFD "\""); /* no lead byte */
	assert_text("\xf8\xff", "\"" FFFD FFFD "\"");
	assert_text("\xe2\x82", "\"" FFFD "\""); /* cut at the end */
	assert_text("\xe2\x82z\xc3", "\"" FFFD "z" FFFD "\"");
	assert_text("\xe2\x82\"", "\"" FFFD "\\\"\"");
	assert_text("\xe2\xc3\xa9", "\"" FFFD "\xc3\xa9\"");
}

/* Every pair and triple of bytes around the edges, against a second implementation: a table of the ranges in RFC 3629.
 */
static bool is_valid_by_table(const uint8_t *s, size_t len)
{
	static const struct {
		uint8_t lead_low, lead_high, second_low, second_high, len;
	} rows[] = {
		{0x00, 0x7f, 0, 0, 1},	     {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (s[0] < rows[i].lead_low || s[0] > rows[i].lead_high || len != rows[i].len)
			continue;
		bool ok = len < 2 || (s[1] >= rows[i].second_low && s[1] <= rows[i].second_high);
		for (size_t k = 2; k < len; k++)
			ok = ok && (s[k] & 0xc0) == 0x80;
		return ok;
	}
	return false;
}

static void decoding_agrees_with_the_table_of_the_rfc(void **state)
{
	static const uint8_t edge[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
	const size_t edges = sizeof edge;
	for (unsigned lead = 0; lead < 256; lead++) {
		for (size_t i = 0; i < edges * edges * edges; i++) {
			uint8_t s[4] = {(uint8_t)lead, edge[i % edges], edge[i / edges % edges],
					edge[i / edges / edges]};
			for (size_t len = 1; len <= 4; len++) {
				uint32_t code;
				size_t used = pl_utf8_decode(s, len, &code);
				bool whole = used == len && code != PL_UTF8_INVALID;
				assert_true(used >= 1 && used <= len);
				if (whole != is_valid_by_table(s, len))
					fail_msg("%02x %02x %02x %02x, length %zu", s[0], s[1], s[2], s[3], len);
			}
		}
	}
}

static void numbers(void **state)
{
	struct sink s;
	sink_init(&s, 0);
	pl_json_array(&s.j);
	pl_json_double(&s.j, 1.5, 2);
	pl_json_double(&s.j, -0.001, 2);
	pl_json_double(&s.j, -2.5, 1);
	pl_json_double(&s.j, 3.7, 0);
	pl_json_double(&s.j, NAN, 2);
	pl_json_double(&s.j, -INFINITY, 2);
	pl_json_double(&s.j, 0, 3);
	pl_json_array_end(&s.j);
	assert_json(&s, "[1.50,0.00,-2.5,4,null,null,0.000]");
}

static void decimals_are_exact(void **state)
{
	struct sink s;
	sink_init(&s, 0);
	pl_json_array(&s.j);
	pl_json_decimal(&s.j, 0, 3);
	pl_json_decimal(&s.j, 7, 3);
	pl_json_decimal(&s.j, 1000, 3);
	pl_json_decimal(&s.j, 1234567, 6);
	pl_json_decimal(&s.j, 42, 0);
	pl_json_decimal(&s.j, UINT64_MAX, 6);
	pl_json_decimal(&s.j, 1, 17);
	pl_json_array_end(&s.j);
	assert_json(&s, "[0.000,0.007,1.000,1.234567,42,18446744073709.551615,0.00000000000000001]");
}

static void the_largest_double_fits(void **state)
{
	struct sink s;
	sink_init(&s, 0);
	pl_json_double(&s.j, -1.7976931348623157e308, 17);
	fclose(s.j.out);
	assert_int_equal(s.len, 1 + 309 + 1 + 17);
	assert_memory_equal(s.text, "-17976931348623157", 18);
	free(s.text);
}

static void another_locale_does_not_change_numbers(void **state)
{
	static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "ps_AF.UTF-8"};
	const char *got = NULL;
	for (size_t i = 0; !got && i < sizeof locales / sizeof *locales; i++)
		got = setlocale(LC_NUMERIC, locales[i]);
	if (!got) {
		print_message("no locale with a decimal comma is installed\n");
		skip();
	}
	struct sink s;
	sink_init(&s, 0);
	pl_json_double(&s.j, 1234.5, 2);
	assert_json(&s, "1234.50");
	setlocale(LC_NUMERIC, "C");
}

static void value_without_key(struct pl_json *j)
{
	pl_json_object(j);
	pl_json_u64(j, 1);
}

static void key_in_array(struct pl_json *j)
{
	pl_json_array(j);
	pl_json_key(j, "a");
}

static void key_after_key(struct pl_json *j)
{
	pl_json_object(j);
	pl_json_key(j, "a");
	pl_json_key(j, "b");
}

static void wrong_end(struct pl_json *j)
{
	pl_json_object(j);
	pl_json_array_end(j);
}

static void end_after_key(struct pl_json *j)
{
	pl_json_object(j);
	pl_json_key(j, "a");
	pl_json_object_end(j);
}

static void end_of_nothing(struct pl_json *j)
{
	pl_json_object_end(j);
}

static void second_document(struct pl_json *j)
{
	pl_json_u64(j, 1);
	pl_json_u64(j, 2);
}

static void too_deep(struct pl_json *j)
{
	for (int i = 0; i < 64; i++)
		pl_json_array(j);
}

static void misuse_aborts(void **state)
{
	static void (*const misuses[])(struct pl_json *) = {value_without_key, key_in_array,  key_after_key,
							    wrong_end,	       end_after_key, end_of_nothing,
							    second_document,   too_deep};
	for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			struct rlimit no_core = {0, 0};
			struct pl_json j;
			setrlimit(RLIMIT_CORE, &no_core);
			signal(SIGABRT, SIG_DFL);
			if (!freopen("/dev/null", "w", stderr))
				_exit(1);
			pl_json_init(&j, stderr, 0);
			misuses[i](&j);
			_exit(0);
		}
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nesting_and_commas),
		cmocka_unit_test(indentation),
		cmocka_unit_test(numbers_read_back_as_they_were),
		cmocka_unit_test(characters_that_json_cannot_hold_are_escaped),
		cmocka_unit_test(a_script_element_around_it_is_not_ended),
		cmocka_unit_test(valid_utf8_is_kept),
		cmocka_unit_test(invalid_utf8_becomes_one_replacement_per_sequence),
		cmocka_unit_test(decoding_agrees_with_the_table_of_the_rfc),
		cmocka_unit_test(members),
		cmocka_unit_test(numbers),
		cmocka_unit_test(decimals_are_exact),
		cmocka_unit_test(the_largest_double_fits),
		cmocka_unit_test(another_locale_does_not_change_numbers),
		cmocka_unit_test(misuse_aborts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
