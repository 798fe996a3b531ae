/* SPDX-License-Identifier: Apache-2.0 */
/* The question which process took how much (layer model). Read-only. */
#include "view.h"

#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "select.h"

/* Weight of one process in each batch. */
struct weights {
	uint64_t batch_ns[PL_BATCHES];
};

/* One row for each process that has cells; @p row_of: process -> row, for those. */
static bool list_processes(const struct pl_selection *s, uint32_t *row_of, pl_process_rows *rows)
{
	memset(row_of, 0xff, s->profile->process_count * sizeof *row_of);
	for (uint32_t i = 0; i < s->start[PL_BATCHES]; i++) {
		uint32_t process = s->profile->threads[s->cells[i]->thread].process;

		if (row_of[process] != UINT32_MAX)
			continue;
		row_of[process] = (uint32_t)rows->len;
		if (!pl_vec_push(rows, ((struct pl_process_row){.process = process})))
			return false;
	}
	return true;
}

static void sum_weights(const struct pl_selection *s, const uint32_t *row_of, struct weights *of, pl_process_rows *rows)
{
	for (int b = 0; b < PL_BATCHES; b++) {
		for (uint32_t i = s->start[b]; i < s->start[b + 1]; i++) {
			const struct pl_cell *c = s->cells[i];
			uint32_t row = row_of[s->profile->threads[c->thread].process];
			struct pl_share *total = &rows->data[row].total;

			total->samples = pl_sum_u64(total->samples, c->samples);
			total->weight_ns = pl_sum_u64(total->weight_ns, c->weight_ns);
			of[row].batch_ns[b] = pl_sum_u64(of[row].batch_ns[b], c->weight_ns);
		}
	}
}

static void set_share(const struct pl_selection *s, const struct weights *w, struct pl_share *total)
{
	total->share = s->weight_ns ? (double)total->weight_ns / (double)s->weight_ns : 0;
	total->half_width = pl_select_half_width(w->batch_ns, s->batch_weight_ns, s->samples);
}

static int heavier_first(const void *va, const void *vb)
{
	const struct pl_process_row *a = va, *b = vb;

	if (a->total.weight_ns != b->total.weight_ns)
		return a->total.weight_ns < b->total.weight_ns ? 1 : -1;
	return (a->process > b->process) - (a->process < b->process);
}

static struct plumb_error *make_rows(const struct pl_selection *s, uint32_t *row_of, pl_process_rows *rows)
{
	struct weights *w;

	if (!list_processes(s, row_of, rows))
		return &pl_err_no_memory;
	if (!rows->len)
		return NULL;
	w = calloc(rows->len, sizeof *w);
	if (!w)
		return &pl_err_no_memory;
	sum_weights(s, row_of, w, rows);
	for (size_t i = 0; i < rows->len; i++)
		set_share(s, &w[i], &rows->data[i].total);
	free(w);
	qsort(rows->data, rows->len, sizeof *rows->data, heavier_first);
	return NULL;
}

struct plumb_error *pl_view_processes(const struct plumb_profile *p, const struct pl_filter *f, pl_process_rows *ret)
{
	uint32_t *row_of = calloc((size_t)p->process_count + 1, sizeof *row_of);
	pl_process_rows rows = {0};
	struct pl_selection s = {0};
	struct plumb_error *err = row_of ? pl_select(p, f, &s) : &pl_err_no_memory;

	if (!err) {
		err = make_rows(&s, row_of, &rows);
		pl_selection_deinit(&s);
	}
	free(row_of);
	if (err)
		pl_vec_deinit(&rows);
	else
		*ret = rows;
	return err;
}
