/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_reader.h"

/* The tokens of @p text as one line, the way they nest. */
static struct plumb_error *tokens(const char *text, size_t len, char *ret, size_t size)
{
	static const char *const signs[] = {"end", "{", "}", "[", "]", "k:", "s:", "n:", "bool", "null"};
	struct pl_json_reader r;
	struct plumb_error *err;
	FILE *out = fmemopen(ret, size, "w");

	assert_non_null(out);
	pl_json_reader_init(&r, text, len);
	do {
		err = pl_json_reader_next(&r);
		if (err)
			break;
		fprintf(out, "%s", signs[r.token]);
		if (r.token == PL_JSON_KEY || r.token == PL_JSON_STRING || r.token == PL_JSON_NUMBER)
			fwrite(r.str, 1, r.str_len, out);
		if (r.token == PL_JSON_BOOL)
			fprintf(out, "=%d", r.boolean);
		fputc(' ', out);
	} while (r.token != PL_JSON_END);
	pl_json_reader_deinit(&r);
	fclose(out);
	return err;
}

static void assert_tokens(const char *text, const char *want)
{
	char got[1000] = "";

	assert_ok(tokens(text, strlen(text), got, sizeof got));
	assert_string_equal(got, want);
}

static void assert_corrupt(const char *text, const char *want)
{
	char got[1000] = "";
	struct plumb_error *err = tokens(text, strlen(text), got, sizeof got);

	if (!err)
		fail_msg("%s was read as %s", text, got);
	assert_string_equal(plumb_error_message(err), want);
	assert_code(err, PLUMB_ERR_CORRUPT);
}

static void tokens_come_in_order(void **state)
{
	assert_tokens("{}", "{ } end ");
	assert_tokens(" [ ] ", "[ ] end ");
	assert_tokens("{\"a\":[1,-2.5e3,true,false,null,\"x\"],\"b\":{\"c\":{}}}",
		      "{ k:a [ n:1 n:-2.5e3 bool=1 bool=0 null s:x ] k:b { k:c { } } } end ");
	assert_tokens("\xef\xbb\xbf\t\"mark\"\r\n", "s:mark end ");
	assert_tokens("0", "n:0 end ");
	assert_tokens("[[],[[]],{}]", "[ [ ] [ [ ] ] { } ] end ");
}

static void strings_are_unescaped(void **state)
{
	assert_tokens("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s:\"\\/\b\f\n\r\t end ");
	assert_tokens("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00!\"", "s:A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80! end ");
	assert_tokens("{\"a\\u003bb\":\"\xff\x80\"}", "{ k:a;b s:\xff\x80 } end ");
	assert_tokens("\"\\u2028 </script>\"", "s:\xe2\x80\xa8 </script> end ");
}

static void lone_surrogates_are_kept_as_three_bytes(void **state)
{
	assert_tokens("\"\\ud800\"", "s:\xed\xa0\x80 end ");
	assert_tokens("\"\\udc80x\"", "s:\xed\xb2\x80x end ");
	assert_tokens("\"\\ud800\\ud83d\\ude00\"", "s:\xed\xa0\x80\xf0\x9f\x98\x80 end ");
	assert_tokens("\"\\ud800\\n\"", "s:\xed\xa0\x80\n end ");
	assert_tokens("\"\\ud800\\u0041\"", "s:\xed\xa0\x80\x41 end ");
}

static void nul_is_a_character(void **state)
{
	struct pl_json_reader r;

	pl_json_reader_init(&r, "\"a\\u0000b\"", 10);
	assert_ok(pl_json_reader_next(&r));
	assert_int_equal(r.str_len, 3);
	assert_memory_equal(r.str, "a\0b", 3);
	pl_json_reader_deinit(&r);
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
	assert_corrupt("", "line 1, column 1: the file ends where a value was expected");
	assert_corrupt("{\n  \"a\": 1,\n  b", "line 3, column 3: a key was expected");
	assert_corrupt("[1 2]", "line 1, column 4: a comma or the end of the container was expected");
	assert_corrupt("[1,]", "line 1, column 4: a value was expected");
	assert_corrupt("{\"a\":1,}", "line 1, column 8: a key was expected");
	assert_corrupt("{\"a\" 1}", "line 1, column 6: a colon was expected");
	assert_corrupt("[1", "line 1, column 3: the file ends within a container");
	assert_corrupt("{\"a\":1", "line 1, column 7: the file ends within a container");
	assert_corrupt("{", "line 1, column 2: the file ends within an object");
	assert_corrupt("[}", "line 1, column 2: a value was expected");
	assert_corrupt("{]", "line 1, column 2: a key was expected");
	assert_corrupt("\"abc", "line 1, column 5: the file ends within a string");
	assert_corrupt("\"abc\\", "line 1, column 5: a backslash with nothing JSON knows behind it");
	assert_corrupt("\"a\\x\"", "line 1, column 3: a backslash with nothing JSON knows behind it");
	assert_corrupt("\"\\u12\"", "line 1, column 2: a backslash with nothing JSON knows behind it");
	assert_corrupt("\"\\n\n\"", "line 1, column 4: a control character within a string");
	assert_corrupt("\"\n\"", "line 1, column 2: a control character within a string");
	assert_corrupt("1 1", "line 1, column 3: something follows the end of the document");
	assert_corrupt("truth", "line 1, column 1: a value was expected");
	assert_corrupt("'a'", "line 1, column 1: a value was expected");
}

static void only_numbers_of_json_are_numbers(void **state)
{
	static const char *const wrong[] = {"01", "-", "1.", ".5", "1e", "1e+", "+1", "-a", "00", "1.e3", "--1"};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		char got[100] = "";

		assert_code(tokens(wrong[i], strlen(wrong[i]), got, sizeof got), PLUMB_ERR_CORRUPT);
	}
}

static struct pl_json_reader number(const char *text)
{
	struct pl_json_reader r;

	pl_json_reader_init(&r, text, strlen(text));
	assert_ok(pl_json_reader_next(&r));
	return r;
}

static void assert_i64(const char *text, bool fits, int64_t want)
{
	struct pl_json_reader r = number(text);
	int64_t v = 77;

	assert_int_equal(pl_json_reader_i64(&r, &v), fits);
	assert_int_equal(v, fits ? want : 77);
}

static void assert_scaled(const char *text, int digits, int64_t want)
{
	struct pl_json_reader r = number(text);
	int64_t v;

	assert_true(pl_json_reader_scaled(&r, digits, &v));
	assert_int_equal(v, want);
}

static void integers_are_exact(void **state)
{
	struct pl_json_reader r = number("18446744073709551615");
	uint64_t v = 0;

	assert_true(pl_json_reader_u64(&r, &v));
	assert_int_equal(v, UINT64_MAX);
	r = number("18446744073709551616");
	assert_false(pl_json_reader_u64(&r, &v));
	r = number("-1");
	assert_false(pl_json_reader_u64(&r, &v));
	r = number("-0");
	assert_true(pl_json_reader_u64(&r, &v));
	assert_int_equal(v, 0);
	assert_i64("9223372036854775807", true, INT64_MAX);
	assert_i64("-9223372036854775808", true, INT64_MIN);
	assert_i64("9223372036854775808", false, 0);
	assert_i64("-9223372036854775809", false, 0);
	assert_i64("1e3", true, 1000);
	assert_i64("10.0", true, 10);
	assert_i64("1200e-2", true, 12);
	assert_i64("10.5", false, 0);
	assert_i64("0e999999999999999999999", true, 0);
	assert_i64("1e999999999999999999999", false, 0);
	assert_i64("9000000000000000000.0000000000000001", false, 0);
}

static void scaling_is_decimal(void **state)
{
	assert_scaled("1234.567891", 6, 1234567891);
	assert_scaled("0.1", 9, 100000000);
	assert_scaled("0.0000004", 6, 0);
	assert_scaled("0.0000005", 6, 1);
	assert_scaled("-0.0000005", 6, -1);
	assert_scaled("0.00000049", 6, 0);
	assert_scaled("1e-300", 9, 0);
	assert_scaled("1765432198765.4321", 6, INT64_C(1765432198765432100));
	assert_scaled("5000", -3, 5);
}

static void doubles_do_not_ask_the_locale(void **state)
{
	struct pl_json_reader r = number("-1234.5e-1");
	double v;

	setlocale(LC_ALL, "de_DE.UTF-8");
	assert_true(pl_json_reader_double(&r, &v));
	assert_true(v == -123.45);
	r = number("1e400");
	assert_false(pl_json_reader_double(&r, &v));
	r = number("1e-400");
	assert_true(pl_json_reader_double(&r, &v));
	assert_true(v == 0);
	r = number("null");
	assert_false(pl_json_reader_double(&r, &v));
	setlocale(LC_ALL, "C");
}

static void depth_has_a_limit(void **state)
{
	char text[2 * PL_JSON_DEPTH_MAX + 2], got[8 * PL_JSON_DEPTH_MAX];

	memset(text, '[', PL_JSON_DEPTH_MAX + 1);
	memset(text + PL_JSON_DEPTH_MAX + 1, ']', PL_JSON_DEPTH_MAX + 1);
	assert_code(tokens(text, sizeof text, got, sizeof got), PLUMB_ERR_LIMIT);
	assert_ok(tokens(text + 1, sizeof text - 2, got, sizeof got));
}

struct seen {
	char text[200];
	int items;
};

static struct plumb_error *see_text(struct pl_json_reader *r, void *ctx)
{
	struct seen *seen = ctx;

	strncat(seen->text, r->str, r->str_len);
	return NULL;
}

static struct plumb_error *see_item(struct pl_json_reader *r, void *ctx)
{
	((struct seen *)ctx)->items++;
	return r->token == PL_JSON_ARRAY ? pl_json_reader_next(r) : NULL; /* a part of it */
}

static struct plumb_error *see_items(struct pl_json_reader *r, void *ctx)
{
	return pl_json_reader_array(r, see_item, ctx);
}

static const struct pl_json_field fields[] = {{"name", see_text}, {"items", see_items}, {NULL, NULL}};

static void members_are_read_by_name_and_the_rest_is_skipped(void **state)
{
	const char *text = "{\"x\":{\"name\":\"no\",\"y\":[[1]]},\"items\":[1,[2,[3,{\"name\":4}]],{\"a\":[]},[]],"
			   "\"name\":\"yes\",\"z\":[0]}";
	struct seen seen = {.items = 0};
	struct pl_json_reader r;

	pl_json_reader_init(&r, text, strlen(text));
	assert_ok(pl_json_reader_next(&r));
	assert_ok(pl_json_reader_object(&r, fields, &seen));
	assert_string_equal(seen.text, "yes");
	assert_int_equal(seen.items, 4);
	assert_ok(pl_json_reader_next(&r));
	assert_int_equal(r.token, PL_JSON_END);
	pl_json_reader_deinit(&r);
}

static void the_wrong_container_is_an_error(void **state)
{
	struct pl_json_reader r;

	pl_json_reader_init(&r, "{\"items\":\n{}}", 13);
	assert_ok(pl_json_reader_next(&r));
	struct plumb_error *err = pl_json_reader_object(&r, fields, NULL);
	assert_string_equal(plumb_error_message(err), "line 2, column 1: an array was expected");
	plumb_error_destroy(err);
	pl_json_reader_deinit(&r);
}

static void skip_ends_with_the_value(void **state)
{
	struct pl_json_reader r;

	pl_json_reader_init(&r, "[[1,[2]],{\"a\":[]},3]", 20);
	assert_ok(pl_json_reader_next(&r));
	for (int i = 0; i < 2; i++) {
		assert_ok(pl_json_reader_next(&r));
		assert_ok(pl_json_reader_skip(&r));
		assert_int_equal(r.depth, 1);
	}
	assert_ok(pl_json_reader_next(&r));
	assert_ok(pl_json_reader_skip(&r));
	assert_int_equal(r.token, PL_JSON_NUMBER);
	pl_json_reader_deinit(&r);
}

static void what_is_passed_over_ends_where_it_ends(void **state)
{
	static const char *const texts[] = {"[[1,[2]],3]", "[{\"a]}\\\"]\":[\"}\"]},3]", "[[nonsense\t],3]", "[[],3]"};
	struct pl_json_reader r;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		pl_json_reader_init(&r, texts[i], strlen(texts[i]));
		assert_ok(pl_json_reader_next(&r));
		assert_ok(pl_json_reader_next(&r));
		assert_ok(pl_json_reader_pass(&r));
		assert_int_equal(r.depth, 1);
		assert_ok(pl_json_reader_next(&r));
		assert_ok(pl_json_reader_pass(&r)); /* a number is passed already */
		assert_int_equal(r.token, PL_JSON_NUMBER);
		assert_ok(pl_json_reader_next(&r));
		assert_int_equal(r.token, PL_JSON_ARRAY_END);
		pl_json_reader_deinit(&r);
	}
}

/* Most bytes are passed many at a time: what means something stands everywhere among them. */
static void what_is_passed_over_ends_whatever_its_length(void **state)
{
	static const char *const ends[] = {
		"]", ",[]]", ",{}]", ",\"]\"]", ",[[4],5]]", ",\"\\\"[\",\"\"]", ",\"\xdb\xdd\"]"};
	const int longest = 70;
	char text[200];
	struct pl_json_reader r;

	for (int i = 0; i < longest * (int)(sizeof ends / sizeof *ends); i++) {
		const char *end = ends[i / longest];
		int len = snprintf(text, sizeof text, "[[1%0*d%s,3]", i % longest + 1, 7, end);

		pl_json_reader_init(&r, text, (size_t)len);
		assert_ok(pl_json_reader_next(&r));
		assert_ok(pl_json_reader_next(&r));
		assert_ok(pl_json_reader_pass(&r));
		assert_int_equal(r.at, len - 3);
		assert_int_equal(r.depth, 1);
		pl_json_reader_deinit(&r);
	}
}

static void what_does_not_end_is_not_passed_over(void **state)
{
	static const char *const texts[] = {"[[1", "[\"a", "[\"a\\", "[\"a\\\"", "[", "{\"a\":[]"};
	struct pl_json_reader r;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		pl_json_reader_init(&r, texts[i], strlen(texts[i]));
		assert_ok(pl_json_reader_next(&r));
		struct plumb_error *err = pl_json_reader_pass(&r);
		assert_non_null(strstr(plumb_error_message(err), "the file ends within a container"));
		assert_code(err, PLUMB_ERR_CORRUPT);
		pl_json_reader_deinit(&r);
	}
}

static void the_text_of_an_array_ends_at_a_bracket(void **state)
{
	const char *text;
	size_t len;
	struct pl_json_reader r;

	pl_json_reader_init(&r, "[[1, 2],[],3", 12);
	assert_ok(pl_json_reader_next(&r));
	assert_ok(pl_json_reader_next(&r));
	assert_true(pl_json_reader_text(&r, &text, &len));
	assert_true(len == 4 && memcmp(text, "1, 2", 4) == 0);
	pl_json_reader_end(&r, len);
	assert_int_equal(r.token, PL_JSON_ARRAY_END);
	assert_ok(pl_json_reader_next(&r));
	assert_true(pl_json_reader_text(&r, &text, &len) && len == 0);
	pl_json_reader_end(&r, len);
	assert_int_equal(r.depth, 1);
	assert_ok(pl_json_reader_next(&r));
	assert_false(pl_json_reader_text(&r, &text, &len)); /* a number */
	pl_json_reader_deinit(&r);
	pl_json_reader_init(&r, "[1", 2);
	assert_ok(pl_json_reader_next(&r));
	assert_false(pl_json_reader_text(&r, &text, &len));
	pl_json_reader_deinit(&r);
}

static void the_whole_text_of_an_array_ends_at_its_own_bracket(void **state)
{
	static const char json[] = "[[1,[2,\"]\\\"]\"],{\"a\":[]}],3]", inner[] = "1,[2,\"]\\\"]\"],{\"a\":[]}";
	static const char *const open[] = {"[[1,2", "[[1,[2]", "[[\"]"};
	const char *text;
	size_t len;
	struct pl_json_reader r;

	pl_json_reader_init(&r, json, strlen(json));
	assert_ok(pl_json_reader_next(&r));
	assert_ok(pl_json_reader_next(&r));
	assert_true(pl_json_reader_whole_text(&r, &text, &len));
	assert_true(len == strlen(inner) && memcmp(text, inner, len) == 0);
	assert_true(pl_json_reader_whole_text(&r, &text, &len)); /* the reader is where it was */
	pl_json_reader_end(&r, len);
	assert_int_equal(r.token, PL_JSON_ARRAY_END);
	assert_ok(pl_json_reader_next(&r));
	assert_true(r.token == PL_JSON_NUMBER && !pl_json_reader_whole_text(&r, &text, &len));
	pl_json_reader_deinit(&r);
	for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
		pl_json_reader_init(&r, open[i], strlen(open[i]));
		assert_ok(pl_json_reader_next(&r));
		assert_ok(pl_json_reader_next(&r));
		assert_false(pl_json_reader_whole_text(&r, &text, &len));
		assert_true(r.at == 2);
		pl_json_reader_deinit(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_come_in_order),
		cmocka_unit_test(strings_are_unescaped),
		cmocka_unit_test(lone_surrogates_are_kept_as_three_bytes),
		cmocka_unit_test(nul_is_a_character),
		cmocka_unit_test(what_is_wrong_is_told_with_its_place),
		cmocka_unit_test(only_numbers_of_json_are_numbers),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(scaling_is_decimal),
		cmocka_unit_test(doubles_do_not_ask_the_locale),
		cmocka_unit_test(depth_has_a_limit),
		cmocka_unit_test(members_are_read_by_name_and_the_rest_is_skipped),
		cmocka_unit_test(the_wrong_container_is_an_error),
		cmocka_unit_test(skip_ends_with_the_value),
		cmocka_unit_test(what_is_passed_over_ends_where_it_ends),
		cmocka_unit_test(what_is_passed_over_ends_whatever_its_length),
		cmocka_unit_test(what_does_not_end_is_not_passed_over),
		cmocka_unit_test(the_text_of_an_array_ends_at_a_bracket),
		cmocka_unit_test(the_whole_text_of_an_array_ends_at_its_own_bracket),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
