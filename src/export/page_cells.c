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

#define WHAT_HIGH_BITS (PL_PAGE_WHAT_BITS - PL_PAGE_WHAT_LOW_BITS)
#define BINS	       ((((uint64_t)1 << PL_PAGE_BIN_BITS) - 1) << PL_PAGE_BIN_SHIFT)

static uint32_t node_of(const struct pl_page_cell *c)
{
	return (uint32_t)(c->where >> (64 - PL_PAGE_NODE_BITS));
}

static uint32_t thread_of(const struct pl_page_cell *c)
{
	return (uint32_t)(c->where >> WHAT_HIGH_BITS);
}

static uint32_t what_of(const struct pl_page_cell *c)
{
	uint32_t high = (uint32_t)c->where & ((1u << WHAT_HIGH_BITS) - 1);

	return high << PL_PAGE_WHAT_LOW_BITS | (uint32_t)(c->when >> (64 - PL_PAGE_WHAT_LOW_BITS));
}

static uint32_t bin_of(const struct pl_page_cell *c)
{
	return (uint32_t)((c->when & BINS) >> PL_PAGE_BIN_SHIFT);
}

static uint32_t holder_of(const struct pl_page_cell *c)
{
	return (uint32_t)(c->when >> 16);
}

static uint32_t lock_of(const struct pl_page_cell *c)
{
	return (uint16_t)c->when;
}

static uint64_t shifted(uint64_t when, unsigned shift)
{
	return ((when & BINS) >> shift & BINS) | (when & ~BINS);
}

static uint32_t hash_of(const struct pl_page_cell *c)
{
	return pl_row_hash(c->where, c->when);
}

/* Add @p c to the row with its key among the first @p *count, or put it behind them: there is room. False: no memory.
 */
static bool count(struct pl_page_cells *cells, const struct pl_page_cell *c, uint32_t hash, size_t *count)
{
	uint32_t row;
	size_t at = pl_row_index_start(&cells->index, hash);

	while (pl_row_index_next(&cells->index, hash, &at, &row)) {
		struct pl_page_cell *known = &cells->rows.data[row];

		if (known->where != c->where || known->when != c->when)
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

		c.when = shifted(c.when, 1);
		if (!count(cells, &c, hash_of(&c), &kept))
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

/* The table is large, and each is somewhere else in it: all are asked of memory before the first one is waited for. */
static void expect(struct pl_page_cells *cells, size_t n, uint32_t *hashes)
{
	uint32_t row;

	for (size_t i = 0; i < n; i++) {
		struct pl_page_cell *c = &cells->coming[i];

		c->when = shifted(c->when, cells->shift);
		hashes[i] = hash_of(c);
		pl_row_index_expect(&cells->index, hashes[i]);
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = pl_row_index_start(&cells->index, hashes[i]);

		if (pl_row_index_next(&cells->index, hashes[i], &at, &row))
			__builtin_prefetch(&cells->rows.data[row], 1);
	}
}

static struct plumb_error *count_coming(struct pl_page_cells *cells)
{
	uint32_t hashes[PL_PAGE_COMING];
	size_t n = cells->coming_count;

	cells->coming_count = 0;
	if (!pl_vec_reserve(&cells->rows, n))
		return &pl_err_no_memory;
	expect(cells, n, hashes);
	for (size_t i = 0; i < n; i++)
		if (!count(cells, &cells->coming[i], hashes[i], &cells->rows.len))
			return &pl_err_no_memory;
	while (cells->shift < cells->max_shift && bits_of_times(cells) > cells->max_bits) {
		if (!fold(cells))
			return &pl_err_no_memory;
	}
	return NULL;
}

struct plumb_error *pl_page_cells_add(struct pl_page_cells *cells, const struct pl_page_cell *c)
{
	cells->coming[cells->coming_count++] = *c;
	return cells->coming_count < PL_PAGE_COMING ? NULL : count_coming(cells);
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_cells(const void *va, const void *vb)
{
	const struct pl_page_cell *a = va, *b = vb;

	return a->where != b->where ? compare(a->where, b->where) : compare(a->when, b->when);
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
	struct plumb_error *err = count_coming(cells);

	if (err)
		return err;
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
	held = write_if_any(cells, holder_of, &holders);
	locked = write_if_any(cells, lock_of, &locks);
	pl_page_column_u64(&all, (weighed ? 1u : 0) | (held ? 2u : 0) | (locked ? 4u : 0));
	pl_page_column_u64(&all, cells->rows.len);
	for (size_t i = 0; i < cells->rows.len; i++) {
		const struct pl_page_cell *cell = &cells->rows.data[i];

		pl_page_column_u64(&all, node_of(cell) - last_node);
		last_node = node_of(cell);
		pl_page_column_u64(&threads, thread_of(cell));
		pl_page_column_u64(&whats, what_of(cell));
		pl_page_column_delta(&bins, &last_bin, bin_of(cell));
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
