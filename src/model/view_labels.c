/* SPDX-License-Identifier: Apache-2.0 */
/* The question which labels took how much (layer model). Read-only. */
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "select.h"
#include "view.h"

/* Weight of one label in each batch. */
struct weights {
	uint64_t batch_ns[PL_BATCHES];
};

struct question {
	const struct plumb_profile *p;
	uint32_t *tags; /* of each stack: the node that is its tag, 0: none */
	struct weights *of;
	pl_label_rows rows;
	uint32_t (*rows_of)[PL_LABELS_MAX]; /* of each row of functions: 1 + row, 0: no more */
};

static int compare_labels(const struct pl_label *a, const struct pl_label *b)
{
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->value, b->value);
}

/* One label of one row of functions. */
struct found {
	struct pl_label label;
	uint32_t function, place;
};

static int compare_found(const void *va, const void *vb)
{
	const struct found *a = va, *b = vb;
	int order = compare_labels(&a->label, &b->label);

	if (!order)
		order = (a->function > b->function) - (a->function < b->function);
	return order ? order : (a->place > b->place) - (a->place < b->place);
}

typedef PL_VEC(struct found) found_labels;

static bool find_all(const struct plumb_profile *p, found_labels *ret)
{
	struct pl_label labels[PL_LABELS_MAX];

	for (uint32_t i = 0; i < p->function_count; i++) {
		unsigned n = p->functions[i].labels ? pl_function_labels(p, i, labels) : 0;

		for (unsigned k = 0; k < n; k++)
			if (!pl_vec_push(ret, ((struct found){.label = labels[k], .function = i, .place = k})))
				return false;
	}
	return true;
}

/* A row for each label, whatever tags it is of. A name that a tag has twice with one value counts once. */
static bool list_labels(struct question *q, const found_labels *all)
{
	const struct found *last = NULL;

	for (size_t i = 0; i < all->len; i++) {
		const struct found *f = &all->data[i];
		bool same = last && compare_labels(&last->label, &f->label) == 0;

		if (!same && !pl_vec_push(&q->rows, ((struct pl_label_row){.label = f->label})))
			return false;
		if (!same || last->function != f->function)
			q->rows_of[f->function][f->place] = (uint32_t)q->rows.len;
		last = f;
	}
	return true;
}

static void add_cell(struct question *q, const struct pl_cell *c, int batch)
{
	uint32_t tag = q->tags[c->stack];
	const uint32_t *rows = tag ? q->rows_of[q->p->locations[q->p->stacks[tag].location].function] : NULL;

	for (unsigned k = 0; rows && k < PL_LABELS_MAX; k++) {
		if (!rows[k])
			continue;
		struct pl_share *total = &q->rows.data[rows[k] - 1].total;
		uint64_t *batch_ns = &q->of[rows[k] - 1].batch_ns[batch];

		total->samples = pl_sum_u64(total->samples, c->samples);
		total->weight_ns = pl_sum_u64(total->weight_ns, c->weight_ns);
		if (c->state & PL_STATE_ON_CPU)
			total->on_cpu_ns = pl_sum_u64(total->on_cpu_ns, c->weight_ns);
		*batch_ns = pl_sum_u64(*batch_ns, c->weight_ns);
	}
}

static int by_name(const void *va, const void *vb)
{
	const struct pl_label_row *a = va, *b = vb;
	int order = strcmp(a->label.name, b->label.name);

	if (order)
		return order;
	if (a->total.weight_ns != b->total.weight_ns)
		return a->total.weight_ns < b->total.weight_ns ? 1 : -1;
	return strcmp(a->label.value, b->label.value);
}

static void count_all(struct question *q, const struct pl_selection *s)
{
	size_t kept = 0;

	for (int b = 0; b < PL_BATCHES; b++)
		for (uint32_t i = s->start[b]; i < s->start[b + 1]; i++)
			add_cell(q, s->cells[i], b);
	for (size_t i = 0; i < q->rows.len; i++) {
		struct pl_share *total = &q->rows.data[i].total;

		total->share = s->weight_ns ? (double)total->weight_ns / (double)s->weight_ns : 0;
		total->half_width = pl_select_half_width(q->of[i].batch_ns, s->batch_weight_ns, s->samples);
		if (total->samples)
			q->rows.data[kept++] = q->rows.data[i];
	}
	q->rows.len = kept;
	if (kept)
		qsort(q->rows.data, kept, sizeof *q->rows.data, by_name);
}

static struct plumb_error *answer(struct question *q, const struct pl_filter *f, const found_labels *all)
{
	struct pl_selection s = {0};

	q->tags = calloc((size_t)q->p->stack_count + 1, sizeof *q->tags);
	q->rows_of = calloc((size_t)q->p->function_count + 1, sizeof *q->rows_of);
	if (!q->tags || !q->rows_of || !list_labels(q, all) || !(q->of = calloc(q->rows.len + 1, sizeof *q->of)))
		return &pl_err_no_memory;
	struct plumb_error *err = pl_select(q->p, f, &s);
	if (err)
		return err;
	pl_tag_nodes(q->p, q->tags);
	count_all(q, &s);
	pl_selection_deinit(&s);
	return NULL;
}

struct plumb_error *pl_view_labels(const struct plumb_profile *p, const struct pl_filter *f, pl_label_rows *ret)
{
	struct question q = {.p = p};
	found_labels all = {0};
	struct plumb_error *err = find_all(p, &all) ? NULL : &pl_err_no_memory;

	/* Most profiles have none. */
	if (!err && all.len) {
		qsort(all.data, all.len, sizeof *all.data, compare_found);
		err = answer(&q, f, &all);
	}
	pl_vec_deinit(&all);
	free(q.tags);
	free(q.rows_of);
	free(q.of);
	if (err)
		pl_vec_deinit(&q.rows);
	else
		*ret = q.rows;
	return err;
}
