/* SPDX-License-Identifier: Apache-2.0 */
/* What of the report page the command line cannot ask for: limits, and what is missing. Its figures are compared with
 * the JSON report's in tests/integration/test_format_html.py. */
#include "labels.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "cursor.h"
#include "failing.h"
#include "formats.h"
#include "page.h"
#include "words.h"

/* In the place of the build's: one without Node. */
const struct pl_page_text pl_page_built = {0};

/* The columns of @p p. Owner: the caller, free(). */
static char *columns(const struct plumb_profile *p, const struct pl_page_limits *limits, size_t *len_ret)
{
	struct pl_export_options o = build_options(80);
	char *text = NULL;
	FILE *out = open_memstream(&text, len_ret);

	assert_non_null(out);
	assert_ok(pl_page_data_write(p, &o, limits, out));
	assert_int_equal(fclose(out), 0);
	return text;
}

static uint64_t number(struct pl_cursor *c)
{
	uint64_t v = 0;

	assert_true(pl_cursor_varint(c, &v));
	return v;
}

/* The content of section @p tag. */
static struct pl_cursor section(const char *data, size_t len, unsigned tag)
{
	struct pl_cursor c = {.p = (const uint8_t *)data, .end = (const uint8_t *)data + len}, content;
	uint64_t found;

	do {
		found = number(&c);
		size_t size = (size_t)number(&c);
		const uint8_t *bytes;

		assert_true(pl_cursor_bytes(&c, size, &bytes));
		content = (struct pl_cursor){.p = bytes, .end = bytes + size};
	} while (found != tag);
	return content;
}

/* A chain of calls, each of which also takes time itself; the last but a little. */
static void build_chain(struct build *b, int depth)
{
	uint32_t stack = 0;
	char name[16];

	build_start(b);
	for (int i = 0; i < depth; i++) {
		snprintf(name, sizeof name, "f%d", i);
		stack = build_frame(b, stack, name, "/srv/app.py", 10 * (i + 1));
		build_samples(b, 0, stack, PL_STATE_ON_CPU, PL_EXACT, i == depth - 1 ? 1 : 100);
	}
}

static uint64_t samples_in_cells(const char *data, size_t len, uint64_t *node_ret)
{
	struct pl_cursor c = section(data, len, PL_PAGE_CELLS);
	uint64_t shift = number(&c), flags = number(&c), count = number(&c), sum = 0;

	assert_int_equal(shift, 0);
	assert_int_equal(flags, 0);
	*node_ret = 0;
	for (uint64_t i = 0; i < count; i++)
		*node_ret += number(&c);
	for (uint64_t i = 0; i < 3 * count; i++) /* threads, states, bins */
		number(&c);
	for (uint64_t i = 0; i < count; i++)
		sum += number(&c);
	return sum;
}

static void what_is_too_light_is_counted_at_its_caller(void **state)
{
	const struct pl_page_limits limits = {.nodes = 3, .times = UINT32_MAX, .strip = 1000};
	struct build b;
	struct pl_cursor tree;
	uint64_t last_node;
	size_t len;

	build_chain(&b, 4);
	char *data = columns(b.p, &limits, &len);
	tree = section(data, len, PL_PAGE_TREE);
	assert_int_equal(number(&tree), 3);
	assert_int_equal(number(&tree), 3);
	assert_int_equal(samples_in_cells(data, len, &last_node), 301);
	assert_int_equal(last_node, 3);
	assert_non_null(memmem(data, len, "\"pruned\":{\"share\":0.0", 21));
	assert_non_null(memmem(data, len, "\"nodes\":1,\"weight\":0.003322}", 28));
	assert_null(memmem(data, len, "f3", 2));
	free(data);
	build_end(&b);
}

/* Samples are chosen by labels, which the text of a tag does not tell for sure. */
static void the_labels_of_tags_are_told(void **state)
{
	static const char labels[] = "route\0/a, b=1";
	struct build b;
	uint32_t tag;
	size_t len;

	build_start(&b);
	assert_null(pl_profile_tag(b.p, "[route=/a, b=1]", labels, sizeof labels, &tag));
	build_samples(&b, 0, build_frame(&b, tag, "f", "/a.py", 3), PL_STATE_ON_CPU, PL_EXACT, 10);
	char *data = columns(b.p, &pl_page_limits, &len);
	static const char want[] = "\"labels\":[{\"name\":\"route\",\"value\":\"/a, b=1\"}]}]";
	assert_non_null(memmem(data, len, want, sizeof want - 1));
	assert_non_null(memmem(data, len, "\"tags\":[{\"function\":", 20));
	free(data);
	build_end(&b);
}

static void a_page_that_is_whole_says_so(void **state)
{
	struct build b;
	size_t len;

	build_chain(&b, 4);
	char *data = columns(b.p, &pl_page_limits, &len);
	assert_non_null(memmem(data, len, "\"pruned\":null", 13));
	assert_non_null(memmem(data, len, "\"filter\":null", 13));
	free(data);
	build_end(&b);
}

/* Times of the page are those of JSON. */
static void of_what_was_missed_no_warning_says_that_times_are_scaled(void **state)
{
	struct build b;
	size_t len;

	build_example(&b);
	b.p->meta.losses[PL_LOSS_MISSED] = 500;
	char *data = columns(b.p, &pl_page_limits, &len);
	assert_non_null(memmem(data, len, "% of the time was missed: a busy", 32));
	assert_non_null(memmem(data, len, "\"time_scale\":1.0", 16));
	free(data);
	build_end(&b);
}

/* Without a budget for times each stack, thread and state has one cell, of all the time. */
static void times_give_way_before_samples_do(void **state)
{
	const struct pl_page_limits limits = {.nodes = 1000, .times = 0, .strip = 1000};
	struct build b;
	size_t len;

	build_chain(&b, 4);
	char *data = columns(b.p, &limits, &len);
	struct pl_cursor c = section(data, len, PL_PAGE_CELLS);
	assert_true(number(&c) > 0);
	assert_int_equal(number(&c), 0);
	assert_int_equal(number(&c), 4);
	free(data);
	build_end(&b);
}

/* For what a thread waits is a part of its state, and no part of who it is. */
static void a_thread_that_waits_is_still_that_thread(void **state)
{
	const struct pl_page_limits limits = {.nodes = 1000, .times = 0, .strip = 1000};
	const uint64_t want = (uint64_t)pl_reason_state(PL_REASON_SIGNAL) << 2 | PL_STOPPED;
	struct build b;
	size_t len;

	build_start(&b);
	build_samples(&b, 0, build_frame(&b, 0, "f", "/a.py", 3), pl_reason_state(PL_REASON_SIGNAL), PL_STOPPED, 10);
	build_samples(&b, 0, build_frame(&b, 0, "g", "/a.py", 7), PL_STATE_ON_CPU, PL_EXACT, 10);
	char *data = columns(b.p, &limits, &len);
	struct pl_cursor c = section(data, len, PL_PAGE_CELLS);
	number(&c); /* shift, flags */
	number(&c);
	assert_int_equal(number(&c), 2);
	number(&c); /* nodes */
	number(&c);
	assert_int_equal(number(&c), 0);
	assert_int_equal(number(&c), 0);
	uint64_t one = number(&c), other = number(&c);
	assert_int_equal(one + other, want + ((uint64_t)PL_STATE_ON_CPU << 2 | PL_EXACT));
	assert_true(one == want || other == want);
	free(data);
	build_end(&b);
}

static uint64_t shift_of_cells(const struct plumb_profile *p, const struct pl_page_limits *limits)
{
	size_t len;
	char *data = columns(p, limits, &len);
	struct pl_cursor c = section(data, len, PL_PAGE_CELLS);
	uint64_t shift = number(&c);

	free(data);
	return shift;
}

/* Samples at all times of two stacks: with room for them, each bin can be chosen. */
static void what_stacks_leave_of_the_data_is_for_times(void **state)
{
	struct pl_page_limits limits = {.nodes = 1000, .times = 0, .data = 100000, .strip = 100000};
	struct build b;

	build_chain(&b, 2);
	for (int i = 0; i < 1000; i++)
		build_samples(&b, 0, 1 + (uint32_t)i % 2, PL_STATE_ON_CPU, PL_EXACT, 1);
	assert_int_equal(shift_of_cells(b.p, &limits), 0);
	limits.data = 500;
	assert_true(shift_of_cells(b.p, &limits) > 0);
	build_end(&b);
}

static void a_recursion_that_is_deep_is_written(void **state)
{
	struct build b;
	uint32_t stack = 0;
	size_t len;

	build_start(&b);
	for (int i = 0; i < 100000; i++)
		stack = build_frame(&b, stack, "again", "/srv/app.py", 10);
	build_samples(&b, 0, stack, PL_STATE_ON_CPU, PL_EXACT, 1);
	char *data = columns(b.p, &pl_page_limits, &len);
	struct pl_cursor tree = section(data, len, PL_PAGE_TREE);
	assert_int_equal(number(&tree), 100000);
	free(data);
	build_end(&b);
}

static void without_node_nothing_is_written(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	build_start(&b);
	assert_code(pl_page_write(b.p, &o, out), PLUMB_ERR_NOT_BUILT);
	assert_code(pl_format_by_name("html")->check(), PLUMB_ERR_NOT_BUILT);
	fclose(out);
	assert_int_equal(len, 0);
	free(text);
	build_end(&b);
}

struct scenario {
	struct build b;
	FILE *out;
};

static void write_block(void *ctx)
{
	struct scenario *s = ctx;
	struct pl_export_options o = build_options(80);
	struct plumb_error *err = pl_page_profile_write(s->b.p, &o, s->out);

	assert_true(!err || plumb_error_code(err) == PLUMB_ERR_NO_MEMORY);
	/* A source text that there was no memory for is left out. */
	assert_true(!err || failing_happened());
	plumb_error_destroy(err);
}

static void without_memory_it_fails_and_leaks_nothing(void **state)
{
	static const char text[] = "def f():\n    pass\n";
	struct scenario s = {.out = fopen("/dev/null", "w")};

	assert_non_null(s.out);
	build_example(&s.b);
	assert_ok(pl_profile_source(s.b.p, s.b.p->functions[0].file, text, sizeof text - 1, false));
	failing_each(write_block, &s, 40);
	fclose(s.out);
	build_end(&s.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_too_light_is_counted_at_its_caller),
		cmocka_unit_test(the_labels_of_tags_are_told),
		cmocka_unit_test(a_page_that_is_whole_says_so),
		cmocka_unit_test(of_what_was_missed_no_warning_says_that_times_are_scaled),
		cmocka_unit_test(times_give_way_before_samples_do),
		cmocka_unit_test(a_thread_that_waits_is_still_that_thread),
		cmocka_unit_test(what_stacks_leave_of_the_data_is_for_times),
		cmocka_unit_test(a_recursion_that_is_deep_is_written),
		cmocka_unit_test(without_node_nothing_is_written),
		cmocka_unit_test(without_memory_it_fails_and_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
