/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of the report page, added up by node, thread, state and bin of time (layer export; one owner at a time).
 *
 * A long recording has more of them than a page can hold, and of many stacks that were seen once their times are what
 * cannot be compressed. So neighbouring bins are added up, as often as it takes, until the times of all rows take no
 * more than so many bits: memory and size follow the distinct stacks. */
#include "page_parts.h"

#include <stdlib.h>

#include "index.h"

#define ROW_BITS 8 /* about what a row takes without its bin, compressed */

static uint32_t hash_of(const struct pl_page_cell *c)
{
	return pl_row_hash((uint64_t)c->node << 32 | c->thread,
			   (uint64_t)(c->held_by ^ c->lock << 16) << 32 | (uint32_t)c->what << 16 | c->bin);
}

static bool same_key(const struct pl_page_cell *a, const struct pl_page_cell *b)
{
	return a->node == b->node && a->thread == b->thread && a->what == b->what && a->bin == b->bin &&
	       a->held_by == b->held_by && a->lock == b->lock;
}

/* Add @p c to the row with its key among the first @p *count, or put it behind them: there is room. False: no memory.
 */
static bool count(struct pl_page_cells *cells, const struct pl_page_cell *c, size_t *count)
{
	uint32_t hash = hash_of(c), row;
	size_t at = pl_row_index_start(&cells->index, hash);

	while (pl_row_index_next(&cells->index, hash, &at, &row)) {
		struct pl_page_cell *known = &cells->rows.data[row];

		if (!same_key(known, c))
			continue;
		known->samples = pl_sum_u64(known->samples, c->samples);
		known->weight_ns = pl_sum_u64(known->weight_ns, c->weight_ns);
		return true;
	}
	if (*count >= UINT32_MAX - 1 || !pl_row_index_add(&cells->index, hash, (uint32_t)*count))
		return false;
	cells->rows.data[(*count)++] = *c;
	return true;
}

/* Two bins become one. Rows move to the front only: none is lost before it was read. */
static bool fold(struct pl_page_cells *cells)
{
	size_t kept = 0;

	pl_row_index_deinit(&cells->index);
	cells->shift++;
	for (size_t i = 0; i < cells->rows.len; i++) {
		struct pl_page_cell c = cells->rows.data[i];

		c.bin = (uint16_t)(c.bin >> 1);
		if (!count(cells, &c, &kept))
			return false;
	}
	cells->rows.len = kept;
	return true;
}

/* About what the page would save without times: bins, and all rows of a stack but one. */
static uint64_t bits_of_times(const struct pl_page_cells *cells)
{
	uint64_t bits = cells->rows.len * (ROW_BITS + cells->max_shift - cells->shift),
		 without = cells->stacks * ROW_BITS;

	return bits > without ? bits - without : 0;
}

struct plumb_error *pl_page_cells_add(struct pl_page_cells *cells, struct pl_page_cell c)
{
	c.bin = (uint16_t)(c.bin >> cells->shift);
	if (!pl_vec_reserve(&cells->rows, 1) || !count(cells, &c, &cells->rows.len))
		return &pl_err_no_memory;
	while (cells->shift < cells->max_shift && bits_of_times(cells) > cells->max_bits) {
		if (!fold(cells))
			return &pl_err_no_memory;
	}
	return NULL;
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_cells(const void *va, const void *vb)
{
	const struct pl_page_cell *a = va, *b = vb;
	int order = compare(a->node, b->node);

	if (!order)
		order = compare(a->thread, b->thread);
	if (!order)
		order = compare(a->what, b->what);
	if (!order)
		order = compare(a->bin, b->bin);
	if (!order)
		order = compare(a->held_by, b->held_by);
	return order ? order : compare(a->lock, b->lock);
}

/* Weights as differences from what the samples stand for. False: there are none, and nothing was written. */
static bool write_weights(const struct pl_page_cells *cells, uint64_t period_ns, struct pl_page_columns *c)
{
	bool any = false;

	for (size_t i = 0; i < cells->rows.len && !any; i++)
		any = cells->rows.data[i].weight_ns != cells->rows.data[i].samples * period_ns;
	for (size_t i = 0; i < cells->rows.len && any; i++) {
		const struct pl_page_cell *cell = &cells->rows.data[i];

		pl_page_column_i64(c, (int64_t)(cell->weight_ns - cell->samples * period_ns));
	}
	return any;
}

static uint32_t held_by(const struct pl_page_cell *c)
{
	return c->held_by;
}

static uint32_t lock(const struct pl_page_cell *c)
{
	return c->lock;
}

/* What most recordings have none of. False: so it is, and nothing was written. */
static bool write_if_any(const struct pl_page_cells *cells, uint32_t (*of)(const struct pl_page_cell *),
			 struct pl_page_columns *c)
{
	bool any = false;

	for (size_t i = 0; i < cells->rows.len && !any; i++)
		any = of(&cells->rows.data[i]) != 0;
	for (size_t i = 0; i < cells->rows.len && any; i++)
		pl_page_column_u64(c, of(&cells->rows.data[i]));
	return any;
}

struct plumb_error *pl_page_cells_write(struct pl_page_cells *cells, uint64_t period_ns, FILE *out)
{
	struct pl_page_columns all, threads, whats, bins, samples, weights, holders, locks;
	bool weighed, held, locked;
	uint32_t last_node = 0;
	uint64_t last_bin = 0;

	pl_page_columns_init(&all);
	pl_page_columns_init(&threads);
	pl_page_columns_init(&whats);
	pl_page_columns_init(&bins);
	pl_page_columns_init(&samples);
	pl_page_columns_init(&weights);
	pl_page_columns_init(&holders);
	pl_page_columns_init(&locks);
	if (cells->rows.len)
		qsort(cells->rows.data, cells->rows.len, sizeof *cells->rows.data, compare_cells);
	pl_page_column_u64(&all, cells->shift);
	weighed = write_weights(cells, period_ns, &weights);
	held = write_if_any(cells, held_by, &holders);
	locked = write_if_any(cells, lock, &locks);
	pl_page_column_u64(&all, (weighed ? 1u : 0) | (held ? 2u : 0) | (locked ? 4u : 0));
	pl_page_column_u64(&all, cells->rows.len);
	for (size_t i = 0; i < cells->rows.len; i++) {
		const struct pl_page_cell *cell = &cells->rows.data[i];

		pl_page_column_u64(&all, cell->node - last_node);
		last_node = cell->node;
		pl_page_column_u64(&threads, cell->thread);
		pl_page_column_u64(&whats, cell->what);
		pl_page_column_delta(&bins, &last_bin, cell->bin);
		pl_page_column_u64(&samples, cell->samples);
	}
	pl_page_columns_join(&all, &threads);
	pl_page_columns_join(&all, &whats);
	pl_page_columns_join(&all, &bins);
	pl_page_columns_join(&all, &samples);
	pl_page_columns_join(&all, &weights);
	pl_page_columns_join(&all, &holders);
	pl_page_columns_join(&all, &locks);
	return pl_page_columns_end(&all, PL_PAGE_CELLS, out);
}

void pl_page_cells_deinit(struct pl_page_cells *cells)
{
	pl_vec_deinit(&cells->rows);
	pl_row_index_deinit(&cells->index);
}
