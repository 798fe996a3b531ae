/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of two sets of recordings (layer model): the steps, and the order of the rows. */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff_parts.h"

double pl_diff_relative(const struct pl_diff *d, const struct pl_diff_value *v)
{
	double before = d->in_time ? v->time.before_ns : v->before, after = d->in_time ? v->time.after_ns : v->after;

	if (before > 0)
		return after / before - 1;
	return after > 0 ? INFINITY : 0;
}

double pl_diff_relative_half_width(const struct pl_diff *d, const struct pl_diff_value *v)
{
	return d->in_time ? v->time.relative_half_width : v->relative_half_width;
}

/* What is new has no before: it is held against everything. */
static bool is_slower(const struct pl_diff *d, const struct pl_diff_value *v, double above)
{
	if (v->verdict == PL_DIFF_NEW)
		return d->in_time ? v->time.after_ns > above * d->sides[PL_DIFF_BEFORE].mean_ns : v->after > above;
	return v->verdict == PL_DIFF_MORE && pl_diff_relative(d, v) > above;
}

uint32_t pl_diff_slower(const struct pl_diff *d, double above)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < d->row_count; r++)
		count += is_slower(d, &d->table[r].self, above) || is_slower(d, &d->table[r].total, above);
	return count;
}

/* New and gone first, then changed, by what the row takes itself or else with all it called; then the rest. */
static int rank(const struct pl_diff_row *r)
{
	enum pl_diff_verdict v = r->self.verdict != PL_DIFF_SAME ? r->self.verdict : r->total.verdict;

	return v == PL_DIFF_NEW || v == PL_DIFF_GONE ? 0 : v != PL_DIFF_SAME ? 1 : 2;
}

static double change_of(const struct pl_diff *d, const struct pl_diff_value *v)
{
	return d->in_time ? fabs(v->time.after_ns - v->time.before_ns) : fabs(v->after - v->before);
}

static double size_of(const struct pl_diff *d, const struct pl_diff_row *r)
{
	if (r->self.verdict != PL_DIFF_SAME)
		return change_of(d, &r->self);
	if (r->total.verdict != PL_DIFF_SAME)
		return change_of(d, &r->total);
	return fmax(r->self.before, r->self.after);
}

static int compare_names(const struct pl_diff_key *a, const struct pl_diff_key *b)
{
	const struct pl_function *f = &a->profile->functions[a->function], *g = &b->profile->functions[b->function];
	int order = strcmp(pl_strtab_get(a->profile->strings, f->qualname, NULL),
			   pl_strtab_get(b->profile->strings, g->qualname, NULL));

	if (!order)
		order = strcmp(pl_strtab_get(a->profile->strings, f->file, NULL),
			       pl_strtab_get(b->profile->strings, g->file, NULL));
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int compare_rows(const void *a, const void *b, void *diff)
{
	const struct pl_diff *d = diff;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct pl_diff_row *x = &d->table[i], *y = &d->table[j];
	int order = rank(x) - rank(y);

	if (order)
		return order;
	if (size_of(d, x) != size_of(d, y))
		return size_of(d, x) > size_of(d, y) ? -1 : 1;
	order = compare_names(&d->keys[x->key], &d->keys[y->key]);
	return order ? order : (i > j) - (i < j);
}

static void sort_rows(struct pl_diff *d)
{
	for (uint32_t r = 0; r < d->row_count; r++)
		d->order[r] = r;
	qsort_r(d->order, d->row_count, sizeof *d->order, compare_rows, d);
}

static struct plumb_error *name_rows(struct pl_diff *d, const struct pl_diff_tables *t)
{
	bool paths = d->rows == PL_DIFF_PATHS;

	d->table = calloc((size_t)d->row_count + 1, sizeof *d->table);
	d->order = calloc((size_t)d->row_count + 1, sizeof *d->order);
	if (!d->table || !d->order)
		return &pl_err_no_memory;
	for (uint32_t r = 0; r < d->row_count; r++) {
		uint32_t parent = paths ? t->nodes[r + 1].parent : 0;

		d->table[r].key = paths ? t->nodes[r + 1].key : r;
		d->table[r].parent = parent ? parent - 1 : PL_DIFF_NO_ROW;
	}
	return NULL;
}

/* That times were asked for which the recordings do not have. */
static struct plumb_error *no_times(const struct pl_diff_total *before, const struct pl_diff_total *after)
{
	if (!(before->timed && after->timed))
		return pl_error_hint(pl_error(PLUMB_ERR_INVALID, "a recording has numbers of samples but no times"),
				     "compare shares: --normalize total");
	if (before->unscaled || after->unscaled)
		return pl_error_hint(
			pl_error(PLUMB_ERR_INVALID,
				 "a recording of '%s' missed %.0f %% of its time, so how long it took is not known",
				 before->unscaled ? "before" : "after",
				 floor(100 * (before->unscaled ? before->unscaled : after->unscaled))),
			"record it again at a lower rate (-r) or on a machine that is less busy, or compare shares: "
			"--normalize total");
	return NULL;
}

/* By what rows are judged, from what the recordings are of. */
static struct plumb_error *choose_measure(struct pl_diff *d, const struct pl_diff_options *o)
{
	const struct pl_diff_total *before = &d->sides[PL_DIFF_BEFORE], *after = &d->sides[PL_DIFF_AFTER];
	bool asked = o->measure == PL_DIFF_IN_TIME || o->units, known = !before->unscaled && !after->unscaled;
	bool whole = before->whole && after->whole;
	struct plumb_error *err = NULL;

	d->between_runs = before->runs > 1 || after->runs > 1;
	d->per_unit = o->units != NULL;
	if (d->scale != PL_DIFF_BY_TIME || d->in_shares)
		return NULL;
	if (asked)
		err = no_times(before, after);
	d->in_time = asked || (whole && known);
	d->time_unknown = whole && !known;
	d->share_too = d->in_time && !asked && !d->between_runs;
	return err;
}

static struct plumb_error *compare(struct pl_diff_tables *t, const struct pl_diff_options *o, struct pl_diff *d)
{
	struct pl_diff_sums sums;
	struct plumb_error *err = pl_diff_sums_make(t, o, &sums);

	if (err)
		return err;
	d->row_count = sums.row_count;
	memcpy(d->sides, sums.sides, sizeof d->sides);
	d->moved = t->moved;
	d->keys = t->keys;
	d->key_count = t->key_count;
	t->keys = NULL;
	err = choose_measure(d, o);
	if (!err)
		err = name_rows(d, t);
	if (!err)
		err = pl_diff_test(&sums, d);
	if (!err)
		sort_rows(d);
	pl_diff_sums_deinit(&sums);
	return err;
}

static struct plumb_error *check_inputs(const struct pl_diff_input sides[PL_DIFF_SIDES])
{
	if (!sides[PL_DIFF_BEFORE].count || !sides[PL_DIFF_AFTER].count)
		return pl_error(PLUMB_ERR_INVALID, "a comparison needs a recording on either side");
	uint8_t mode = sides[PL_DIFF_BEFORE].profiles[0]->meta.mode;
	for (int side = 0; side < PL_DIFF_SIDES; side++) {
		for (size_t i = 0; i < sides[side].count; i++) {
			if (sides[side].profiles[i]->meta.mode != mode)
				return pl_error(
					PLUMB_ERR_INVALID,
					"recordings of different modes cannot be compared: wall-clock, CPU and GIL "
					"time are different quantities");
		}
	}
	return NULL;
}

struct plumb_error *pl_diff_make(const struct pl_diff_input sides[PL_DIFF_SIDES], const struct pl_diff_options *o,
				 struct pl_diff *ret)
{
	struct pl_diff d = {.rows = o->rows, .scale = o->scale, .in_shares = o->measure == PL_DIFF_IN_SHARES};
	struct pl_diff_tables t;
	struct plumb_error *err = check_inputs(sides);

	if (err)
		return err;
	err = pl_diff_tables_make(sides, o, &t);
	if (err)
		return err;
	err = compare(&t, o, &d);
	pl_diff_tables_deinit(&t);
	if (err) {
		pl_diff_deinit(&d);
		return err;
	}
	*ret = d;
	return NULL;
}

void pl_diff_deinit(struct pl_diff *d)
{
	free(d->keys);
	free(d->table);
	free(d->order);
	*d = (struct pl_diff){0};
}
