/* SPDX-License-Identifier: Apache-2.0 */
/* The differential flame graph byte by byte, where its boxes lie, and what happens without memory. What a browser makes
 * of it is tested in tests/integration. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"
#include "diff_export.h"
#include "diff_svg_layout.h"
#include "failing.h"

#define RUN    (PL_STATE_ON_CPU | PL_STATE_HAS_GIL)
#define ROUNDS 1000
#define LEAST  0.0005
#define NASTY  "</script><script>alert(1)</script>;\xff\n]]>&\""

enum { MAIN, PARSE, WORK, RENDER, RARE, LEGACY, OLD, OLDER, NEW, PATHS };

/* Samples of each path in a round; of RARE in all of them. */
static const int before_counts[PATHS] = {[PARSE] = 8, [WORK] = 4, [RENDER] = 5, [RARE] = 3, [OLD] = 1, [OLDER] = 2};
static const int after_counts[PATHS] = {[PARSE] = 8, [WORK] = 7, [RENDER] = 4, [NEW] = 1};
static const int steady_counts[PATHS] = {[PARSE] = 8, [WORK] = 4, [RENDER] = 5};

struct pair {
	struct build sides[PL_DIFF_SIDES];
	struct pl_diff diff;
};

static void build_side(struct build *b, const int counts[PATHS])
{
	uint32_t paths[PATHS];

	build_start(b);
	paths[MAIN] =
		build_frame(b, build_frame(b, 0, "<module>", "/srv/app/app.py", 1), "main", "/srv/app/app.py", 90);
	paths[PARSE] = build_frame(b, paths[MAIN], "Shop.parse", "/srv/app/app.py", 10);
	paths[WORK] = build_frame(b, paths[MAIN], "Shop.work", "/srv/app/app.py", 20);
	paths[RENDER] = build_frame(b, paths[MAIN], "render", "/srv/app/page.py", 30);
	paths[RARE] = build_frame(b, paths[PARSE], "rare", "/srv/app/page.py", 35);
	paths[LEGACY] = build_frame(b, paths[MAIN], "legacy", "/srv/app/old.py", 5);
	paths[OLD] = build_frame(b, paths[LEGACY], NASTY, "/srv/app/old.py", 40);
	paths[OLDER] = build_frame(b, paths[OLD], "older", "/srv/app/old.py", 50);
	paths[NEW] = build_frame(b, paths[RENDER], "fancy", "/srv/app/page.py", 60);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < PATHS; i++) {
			if (i != RARE || round < counts[RARE])
				build_samples(b, 0, paths[i], RUN, PL_EXACT, i == RARE ? 1 : counts[i]);
		}
	}
}

static void pair_init(struct pair *p, const int before[PATHS], const int after[PATHS], const char *reference)
{
	struct pl_diff_options o = {.rows = PL_DIFF_PATHS,
				    .scale = reference ? PL_DIFF_BY_FUNCTION : PL_DIFF_BY_TIME,
				    .reference = reference};
	struct pl_diff_input sides[PL_DIFF_SIDES];
	const struct plumb_profile *profiles[PL_DIFF_SIDES];

	build_side(&p->sides[PL_DIFF_BEFORE], before);
	build_side(&p->sides[PL_DIFF_AFTER], after);
	for (int side = 0; side < PL_DIFF_SIDES; side++) {
		profiles[side] = p->sides[side].p;
		sides[side] = (struct pl_diff_input){&profiles[side], 1};
	}
	assert_null(pl_diff_make(sides, &o, &p->diff));
}

static void pair_deinit(struct pair *p)
{
	pl_diff_deinit(&p->diff);
	build_end(&p->sides[PL_DIFF_BEFORE]);
	build_end(&p->sides[PL_DIFF_AFTER]);
}

static const struct pl_diff_look look = {.names = {"old <1>.plumb", "new & \"2\".plumb"},
					 .made_by = "plumb 0.1.0: plumb diff 'old <1>.plumb' b",
					 .fail_above = -1,
					 .unicode = true,
					 .escape = true};

static char *write_it(const struct pl_diff *d, size_t *len_ret)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len_ret);

	assert_non_null(out);
	assert_null(pl_diff_svg_write(d, &look, out));
	assert_int_equal(fclose(out), 0);
	return text;
}

static void it_is_as_it_was(void **state)
{
	struct pair p;
	size_t len;
	char *got;

	pair_init(&p, before_counts, after_counts, NULL);
	got = write_it(&p.diff, &len);
	build_assert_golden("diff.svg", got, len);
	free(got);
	pair_deinit(&p);
}

/* The box of a path in the first tree, or in that of what is gone. */
static const struct pl_svg_box *box_of(const struct pair *p, const struct pl_diff_svg_layout *l, const char *name,
				       bool gone)
{
	size_t from = gone ? l->gone : 0, to = gone ? l->boxes.list.len : l->gone;

	for (size_t i = from; i < to; i++) {
		const struct pl_svg_box *b = &l->boxes.list.data[i];
		const struct pl_diff_key *k = &p->diff.keys[p->diff.table[b->row].key];
		const struct pl_function *f = &k->profile->functions[k->function];

		if (b->depth && !b->frames && strcmp(pl_strtab_get(k->profile->strings, f->qualname, NULL), name) == 0)
			return b;
	}
	return NULL;
}

static void widths_are_shares_after_and_gone_ones_those_before(void **state)
{
	static const char *const there[] = {"<module>", "main", "Shop.parse", "Shop.work", "render", "fancy"};
	struct pl_diff_svg_layout l;
	struct pair p;

	pair_init(&p, before_counts, after_counts, NULL);
	assert_null(pl_diff_svg_layout_make(&p.diff, 0, &l));
	double unit = l.boxes.list.data[0].width, gone = 3003.0 / 20003; /* older and what called it, and rare */
	for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
		const struct pl_svg_box *b = box_of(&p, &l, there[i], false);

		assert_non_null(b);
		assert_true(fabs(b->width / unit - p.diff.table[b->row].total.after) < 1e-12);
		assert_int_equal(b->total.samples, p.diff.table[b->row].total.after_samples);
	}
	assert_null(box_of(&p, &l, "older", false));
	assert_true(fabs(l.boxes.list.data[l.gone].width / unit - gone) < 1e-12);
	assert_true(fabs(box_of(&p, &l, "main", true)->width / unit - gone) < 1e-12);
	assert_true(fabs(box_of(&p, &l, "legacy", true)->width / unit - 3000.0 / 20003) < 1e-12);
	assert_true(fabs(box_of(&p, &l, "older", true)->width / unit - 2000.0 / 20003) < 1e-12);
	assert_true(fabs(box_of(&p, &l, "Shop.parse", true)->width / unit - 3.0 / 20003) < 1e-12);
	assert_null(box_of(&p, &l, "Shop.work", true)); /* it called nothing that is gone */
	pl_diff_svg_layout_deinit(&l);
	pair_deinit(&p);
}

/* Every box lies on its caller and beside its neighbours, within the picture; a strip may be wider than what it stands
 * for, so that it is seen. */
static void no_box_lies_on_another(void **state)
{
	struct pl_diff_svg_layout l;
	struct pair p;

	pair_init(&p, before_counts, after_counts, NULL);
	assert_null(pl_diff_svg_layout_make(&p.diff, LEAST, &l));
	for (size_t i = 0; i < l.boxes.list.len; i++) {
		const struct pl_svg_box *b = &l.boxes.list.data[i];
		bool on_something = b->depth == 0;

		assert_true(b->x >= 0 && b->x + b->width <= 1 + LEAST);
		for (size_t k = 0; k < l.boxes.list.len; k++) {
			const struct pl_svg_box *o = &l.boxes.list.data[k];
			double from = fmax(b->x, o->x), to = fmin(b->x + b->width, o->x + o->width);

			if (k != i && o->depth == b->depth)
				assert_true(to - from < LEAST);
			on_something =
				on_something || (o->depth + 1 == b->depth && to - from > b->width - LEAST - 1e-12);
		}
		assert_true(on_something);
	}
	pl_diff_svg_layout_deinit(&l);
	pair_deinit(&p);
}

static void where_nothing_is_gone_there_is_one_tree(void **state)
{
	struct pl_diff_svg_layout l;
	struct pair p;
	size_t len;
	char *got;

	pair_init(&p, steady_counts, steady_counts, NULL);
	assert_null(pl_diff_svg_layout_make(&p.diff, 0, &l));
	assert_int_equal(l.gone, l.boxes.list.len);
	assert_true(l.boxes.list.data[0].width == 1);
	got = write_it(&p.diff, &len);
	assert_null(strstr(got, "only before"));
	assert_null(strstr(got, "<rect x=\"10\" y=\"96\" width=\"11\" height=\"11\" fill=\"#3a80cc\"/>"));
	free(got);
	pl_diff_svg_layout_deinit(&l);
	pair_deinit(&p);
}

/* A function's time is the measure, but its callers take more than that: the picture is as wide as the widest. */
static void by_a_function_all_fits(void **state)
{
	struct pl_diff_svg_layout l;
	struct pair p;

	pair_init(&p, before_counts, after_counts, "work");
	assert_null(pl_diff_svg_layout_make(&p.diff, 0, &l));
	assert_true(l.boxes.list.data[0].total.share > 2.8); /* 20 of 7 */
	for (size_t i = 0; i < l.boxes.list.len; i++)
		assert_true(l.boxes.list.data[i].x + l.boxes.list.data[i].width <= 1 + 1e-12);
	pl_diff_svg_layout_deinit(&l);
	pair_deinit(&p);
}

static void write_without_memory(void *ctx)
{
	const struct pair *p = ctx;
	FILE *out = fopen("/dev/null", "w");
	struct plumb_error *err;

	assert_non_null(out);
	err = pl_diff_svg_write(&p->diff, &look, out);
	assert_true(!err || err == &pl_err_no_memory);
	fclose(out);
}

static void without_memory_it_is_said(void **state)
{
	struct pair p;

	pair_init(&p, before_counts, after_counts, NULL);
	failing_each(write_without_memory, &p, 8);
	pair_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_as_it_was),
		cmocka_unit_test(widths_are_shares_after_and_gone_ones_those_before),
		cmocka_unit_test(no_box_lies_on_another),
		cmocka_unit_test(where_nothing_is_gone_there_is_one_tree),
		cmocka_unit_test(by_a_function_all_fits),
		cmocka_unit_test(without_memory_it_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
