/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks with tags: what becomes of them in the profile. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "labels.h"
#include "tagged.h"

#define DEPTH 5

static bool text_of(void *ctx, uint32_t id, char *ret, size_t size)
{
	unsigned *asked = ctx;

	++*asked;
	if (id > 1000)
		return false;
	snprintf(ret, size, id == PLUMB_TAG_OTHER ? "[other tags]" : "[id=%u]", id);
	return true;
}

struct stage {
	struct plumb_profile *p;
	struct plumb_tags tags;
	struct pl_tagged t;
	unsigned asked;
	uint32_t stacks[DEPTH + 1]; /* by depth */
};

static void set_up(struct stage *s, size_t max)
{
	*s = (struct stage){.tags = {.text = text_of}};
	s->tags.ctx = &s->asked;
	s->t = (struct pl_tagged){.tags = &s->tags, .max = max};
	assert_ok(pl_profile_create(&s->p));
	for (uint32_t i = 0; i < DEPTH; i++) {
		struct pl_function f = {.firstline = i + 1};
		struct pl_location l = {.line = (int32_t)i + 1};

		assert_ok(pl_profile_function(s->p, &f, &l.function));
		uint32_t location;
		assert_ok(pl_profile_location(s->p, &l, &location));
		assert_ok(pl_profile_stack(s->p, s->stacks[i], location, &s->stacks[i + 1]));
	}
}

static void clean_up(struct stage *s)
{
	pl_tagged_deinit(&s->t);
	pl_profile_destroy(s->p);
}

static uint32_t put(struct stage *s, uint32_t tag, uint32_t depth)
{
	uint32_t ret;

	assert_ok(pl_tagged_stack(&s->t, s->p, tag, s->stacks[depth], &ret));
	return ret;
}

/* The frames of @p stack on a marker of that name. */
static void expect(const struct stage *s, uint32_t stack, const char *marker, uint32_t depth)
{
	const struct plumb_profile *p = s->p;

	assert_int_equal(p->stacks[stack].depth, depth + 1);
	for (uint32_t d = depth; d > 0; d--, stack = p->stacks[stack].parent)
		assert_int_equal(p->stacks[stack].location, p->stacks[s->stacks[d]].location);
	const struct pl_function *f = &p->functions[p->locations[p->stacks[stack].location].function];
	assert_int_equal(f->origin, PL_ORIGIN_MARKER);
	assert_string_equal(pl_strtab_get(p->strings, f->name, NULL), marker);
	assert_int_equal(p->stacks[stack].parent, 0);
}

static void the_frames_stand_on_the_tag(void **state)
{
	struct stage s;

	set_up(&s, 0);
	for (uint32_t depth = DEPTH + 1; depth-- > 0;) {
		expect(&s, put(&s, 7, depth), "[id=7]", depth);
		expect(&s, put(&s, 8, depth), "[id=8]", depth);
		assert_int_equal(put(&s, 0, depth), s.stacks[depth]);
	}
	uint32_t stacks = s.p->stack_count;
	assert_int_equal(stacks, 1 + DEPTH + 2 * (1 + DEPTH));
	for (uint32_t depth = 0; depth <= DEPTH; depth++)
		expect(&s, put(&s, 7, depth), "[id=7]", depth);
	assert_int_equal(s.p->stack_count, stacks);
	assert_int_equal(s.asked, 2);
	clean_up(&s);
}

static size_t labels_of(void *ctx, uint32_t id, char *ret, size_t size)
{
	static const char labels[] = "id\0some, x=3";

	if (id != 7 || size < sizeof labels)
		return 0;
	memcpy(ret, labels, sizeof labels);
	return sizeof labels;
}

static void expect_label(const struct stage *s, uint32_t stack, const char *value)
{
	struct pl_label labels[PL_LABELS_MAX];

	while (s->p->stacks[stack].parent)
		stack = s->p->stacks[stack].parent;
	assert_int_equal(pl_function_labels(s->p, s->p->locations[s->p->stacks[stack].location].function, labels), 1);
	assert_string_equal(labels[0].name, "id");
	assert_string_equal(labels[0].value, value);
}

static void labels_are_told_or_read_out_of_the_text(void **state)
{
	struct stage s;

	set_up(&s, 0);
	expect_label(&s, put(&s, 7, 2), "7");
	clean_up(&s);
	set_up(&s, 0);
	s.tags.labels = labels_of;
	expect_label(&s, put(&s, 7, 2), "some, x=3");
	expect_label(&s, put(&s, 8, 2), "8");
	clean_up(&s);
}

static void a_tag_without_a_text_is_none(void **state)
{
	struct stage s;

	set_up(&s, 0);
	assert_int_equal(put(&s, UINT32_MAX, 3), s.stacks[3]);
	assert_int_equal(put(&s, UINT32_MAX, 2), s.stacks[2]);
	assert_int_equal(s.asked, 1);
	s.t.tags = NULL;
	assert_int_equal(put(&s, 7, 3), s.stacks[3]);
	clean_up(&s);
}

static void beyond_the_limit_tags_are_not_told_apart(void **state)
{
	struct stage s;

	set_up(&s, 10);
	for (uint32_t tag = 100; tag < 600; tag++)
		(void)put(&s, tag, DEPTH);
	expect(&s, put(&s, 100, DEPTH), "[id=100]", DEPTH);
	expect(&s, put(&s, 600, DEPTH), "[other tags]", DEPTH);
	assert_int_equal(put(&s, 601, 2), put(&s, PLUMB_TAG_OTHER, 2));
	assert_int_equal(s.p->stack_count, 1 + DEPTH + 3 * (1 + DEPTH)); /* two tags, and the others */
	clean_up(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_frames_stand_on_the_tag),
		cmocka_unit_test(labels_are_told_or_read_out_of_the_text),
		cmocka_unit_test(a_tag_without_a_text_is_none),
		cmocka_unit_test(beyond_the_limit_tags_are_not_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
