/* SPDX-License-Identifier: Apache-2.0 */
/* Tags of another process, which here is this one: what it keeps is read, and whatever it says is no harm. */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "target_tags.h"

#define NUMBERS 8

static const struct {
	struct plumb_tag_texts head;
	char labels[15], text[18];
} one = {{15, 18}, "job\0zip\0user\0003", "[job=zip, user=3]"};
static const struct {
	struct plumb_tag_texts head;
	char text[4];
} plain = {{0, 4}, "[x]"}, endless = {{0, 4}, {'[', 'x', ']', '!'}}, empty = {{0, 0}, ""};
static const struct plumb_tag_texts long_text = {0, PLUMB_TAG_TEXT_BYTES + 1}, far = {UINT32_MAX, UINT32_MAX};

static struct plumb_tags place;
static uint64_t texts[NUMBERS];
static struct plumb_tag_table table;

static void set_up(void)
{
	place = (struct plumb_tags){.ready = 1, .hash = 7, .var = 0x1000};
	memset(texts, 0, sizeof texts);
	table = (struct plumb_tag_table){PLUMB_TAG_TABLE_MAGIC, sizeof place, NUMBERS, (uintptr_t)&place,
					 (uintptr_t)texts};
}

static struct pl_target_tags *opened(void)
{
	struct pl_target_tags *t;

	assert_ok(pl_target_tags_create(getpid(), (uintptr_t)&table, &t));
	return t;
}

static bool text(const struct pl_target_tags *t, uint32_t id, char ret[static PLUMB_TAG_TEXT_BYTES])
{
	const struct plumb_tags *tags = pl_target_tags_get(t);

	return tags->text(tags->ctx, id, ret, PLUMB_TAG_TEXT_BYTES);
}

static size_t labels(const struct pl_target_tags *t, uint32_t id, char ret[static PLUMB_TAG_LABEL_BYTES])
{
	const struct plumb_tags *tags = pl_target_tags_get(t);

	return tags->labels(tags->ctx, id, ret, PLUMB_TAG_LABEL_BYTES);
}

static void test_texts_and_labels_are_those_of_the_process(void **state)
{
	char got[PLUMB_TAG_LABEL_BYTES];

	set_up();
	struct pl_target_tags *t = opened();
	texts[2] = (uintptr_t)&one; /* it came after that */
	texts[3] = (uintptr_t)&plain;
	assert_int_equal(pl_target_tags_get(t)->hash, 7);
	assert_int_equal(pl_target_tags_get(t)->var, 0x1000);
	assert_true(text(t, 2, got));
	assert_string_equal(got, "[job=zip, user=3]");
	assert_int_equal(labels(t, 2, got), sizeof one.labels);
	assert_memory_equal(got, one.labels, sizeof one.labels);
	assert_true(text(t, 3, got));
	assert_string_equal(got, "[x]");
	assert_int_equal(labels(t, 3, got), 0);
	pl_target_tags_destroy(t);
}

static void test_what_makes_no_sense_is_no_text(void **state)
{
	const uint64_t wrong[] = {0, 1, UINT64_MAX - 4, (uintptr_t)&empty, (uintptr_t)&long_text, (uintptr_t)&far};
	char got[PLUMB_TAG_LABEL_BYTES];

	set_up();
	table.numbers = UINT32_MAX;
	struct pl_target_tags *t = opened();
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		texts[2] = wrong[i];
		assert_false(text(t, 2, got));
		assert_int_equal(labels(t, 2, got), 0);
	}
	assert_false(text(t, UINT32_MAX - 1, got));
	texts[2] = (uintptr_t)&endless;
	assert_true(text(t, 2, got));
	assert_string_equal(got, "[x]");
	pl_target_tags_destroy(t);

	set_up();
	table.numbers = 2;
	t = opened();
	texts[2] = (uintptr_t)&one;
	assert_false(text(t, 2, got));
	pl_target_tags_destroy(t);
}

static void refused(pid_t pid, uint64_t at, enum plumb_error_code code)
{
	struct pl_target_tags *t = NULL;

	assert_code(pl_target_tags_create(pid, at, &t), code);
	assert_null(t);
}

static void test_what_is_no_table_is_refused(void **state)
{
	set_up();
	refused(getpid(), 0, PLUMB_ERR_INVALID);
	refused(getpid(), UINT64_MAX, PLUMB_ERR_INVALID);
	table.magic++;
	refused(getpid(), (uintptr_t)&table, PLUMB_ERR_INVALID);
	set_up();
	table.place_size--;
	refused(getpid(), (uintptr_t)&table, PLUMB_ERR_INVALID);
	set_up();
	table.place = 8;
	refused(getpid(), (uintptr_t)&table, PLUMB_ERR_INVALID);
	set_up();
	place.ready = 0;
	refused(getpid(), (uintptr_t)&table, PLUMB_ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_and_labels_are_those_of_the_process),
		cmocka_unit_test(test_what_makes_no_sense_is_no_text),
		cmocka_unit_test(test_what_is_no_table_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
