/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: what they are read from, which are asked for, and how much each of them took. */
#include "labels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"
#include "view.h"

/* "name|value|name|value|" of the text of a tag. */
static void expect_text(const char *text, const char *labels)
{
	struct plumb_profile *p;
	struct pl_function f = {0};
	char found[256];

	check(pl_profile_create(&p));
	check(pl_labels_of_text(p, text, strlen(text), &f.labels));
	assert_string_equal(labels_text(p, &f, found), labels);
	pl_profile_destroy(p);
}

static void the_text_of_a_tag_names_its_labels(void **state)
{
	expect_text("[route=/x]", "route|/x|");
	expect_text("[method=GET, route=/x?a=b]", "method|GET|route|/x?a=b|");
	expect_text("[job=]", "job||");
	expect_text("[job=a, b, user=3]", "job|a, b|user|3|");
	expect_text("[job=a, b]", "job|a, b|");
	expect_text("[job=a, ]", "job|a, |");
}

static void other_texts_name_none(void **state)
{
	static const char *const texts[] = {"", "[", "]", "[]", "[=]", "[=x]", "[other tags]", "<GC>", "a=b", "[a=b"};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		expect_text(texts[i], "");
}

/* What a file says that others have made: cut short, without ends, too many. */
static void labels_of_any_bytes_are_bounded(void **state)
{
	static const char odd[] = "a\0b\0c", lone[] = "alone", empty[] = "\0\0\0";
	char many[400];
	struct pl_label l[PL_LABELS_MAX];
	struct plumb_profile *p;
	struct pl_function f = {.origin = PL_ORIGIN_MARKER};
	uint32_t id;

	memset(many, 0, sizeof many);
	for (size_t i = 0; i < sizeof many; i += 4)
		memcpy(many + i, "n\0v", 4);
	const struct {
		const char *bytes;
		size_t len;
		unsigned labels;
	} all[] = {{odd, 5, 1},	  {odd, 4, 1},	 {odd, 3, 1},
		   {odd, 2, 1},	  {odd, 1, 0},	 {lone, 5, 0},
		   {empty, 3, 2}, {empty, 1, 1}, {many, sizeof many, PL_LABELS_MAX}};
	check(pl_profile_create(&p));
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		check(pl_profile_string(p, all[i].bytes, all[i].len, &f.labels));
		check(pl_profile_function(p, &f, &id));
		assert_int_equal(pl_function_labels(p, id, l), all[i].labels);
	}
	pl_profile_destroy(p);
}

static bool matches(const char *const *asked, size_t count)
{
	static const struct pl_label labels[] = {{"method", "GET", 6, 3}, {"route", "/x=1", 5, 4}, {"user", "", 4, 0}};

	return pl_labels_match(labels, 3, asked, count);
}

static void one_of_each_name_has_to_be_there(void **state)
{
	const struct {
		const char *asked[4];
		bool is;
	} cases[] = {
		{{"method=GET"}, true},
		{{"method"}, true},
		{{"meth"}, false},
		{{"method=GE"}, false},
		{{"method=GETS"}, false},
		{{"route=/x=1"}, true},
		{{"route=/x"}, false},
		{{"user="}, true},
		{{"user=3"}, false},
		{{"job"}, false},
		{{"method=PUT", "method=GET"}, true},
		{{"method=PUT", "method=POST"}, false},
		{{"method=GET", "user"}, true},
		{{"method=GET", "job"}, false},
		{{"method=PUT", "user"}, false},
		{{"method=PUT", "user", "method=GET"}, true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n = 0;

		while (cases[i].asked[n])
			n++;
		assert_int_equal(matches(cases[i].asked, n), cases[i].is);
	}
	assert_true(matches(NULL, 0));
}

static void expect_row(const struct pl_label_row *r, const char *name, const char *value, uint64_t samples,
		       double share)
{
	assert_string_equal(r->label.name, name);
	assert_string_equal(r->label.value, value);
	assert_int_equal(r->total.samples, samples);
	assert_int_equal(r->total.weight_ns, samples * 1000);
	assert_true(r->total.share > share - 1e-9 && r->total.share < share + 1e-9);
}

/* Whatever other labels there are beside, at whatever depth. */
static void each_label_is_told_what_it_took(void **state)
{
	static const char a[] = "route\0/a", a3[] = "route\0/a\0user\0003", b[] = "route\0/b", unused[] = "job\0x";
	static const char *const worker[] = {"worker"};
	struct pl_filter f = {.idle = PL_IDLE_KEEP};
	pl_label_rows rows = {0};
	struct plumb_profile *p;
	uint32_t tag[4];

	check(pl_profile_create(&p));
	check(pl_profile_tag(p, "[route=/a]", a, sizeof a, &tag[0]));
	check(pl_profile_tag(p, "[route=/a, user=3]", a3, sizeof a3, &tag[1]));
	check(pl_profile_tag(p, "[route=/b]", b, sizeof b, &tag[2]));
	check(pl_profile_tag(p, "[job=x]", unused, sizeof unused, &tag[3]));
	uint32_t main = add_thread(p, 1, 1, "MainThread", true), other = add_thread(p, 1, 2, "worker", false);
	uint32_t deep = add_frame(p, add_frame(p, tag[1], "f", "a.py", 1), "g", "a.py", 2);
	add_samples(p, tag[0], main, PL_STATE_ON_CPU, 0, 10, 1000);
	add_samples(p, deep, main, PL_STATE_ON_CPU, 0, 20, 1000);
	add_samples(p, add_frame(p, tag[2], "f", "a.py", 1), other, 0, 0, 50, 1000);
	add_samples(p, add_frame(p, 0, "f", "a.py", 1), main, 0, 0, 20, 1000);
	check(pl_view_labels(p, &f, &rows));
	assert_int_equal(rows.len, 3);
	expect_row(&rows.data[0], "route", "/b", 50, 0.5);
	expect_row(&rows.data[1], "route", "/a", 30, 0.3);
	expect_row(&rows.data[2], "user", "3", 20, 0.2);
	assert_int_equal(rows.data[1].total.on_cpu_ns, 30000);
	pl_vec_deinit(&rows);
	f.threads = worker;
	f.thread_count = 1;
	check(pl_view_labels(p, &f, &rows));
	assert_int_equal(rows.len, 1);
	expect_row(&rows.data[0], "route", "/b", 50, 1);
	pl_vec_deinit(&rows);
	pl_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_of_a_tag_names_its_labels),
		cmocka_unit_test(other_texts_name_none),
		cmocka_unit_test(labels_of_any_bytes_are_bounded),
		cmocka_unit_test(one_of_each_name_has_to_be_there),
		cmocka_unit_test(each_label_is_told_what_it_took),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
