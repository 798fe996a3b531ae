/* SPDX-License-Identifier: Apache-2.0 */
/* Counting samples (layer model): cells keyed by (stack, thread, state, quality, batch). One owner at a time.
 *
 * pl_profile_add runs once per sample, up to 150,000 times a second: a shift, a comparison with the last cell, and only
 * if that fails one map lookup. A recording of any length has at most PL_BATCHES batches: when a sample falls beyond
 * the last one, batches double until it fits, which happens once per doubling of the recording's length. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "index.h"
#include "profile.h"
#include "vec.h"

static uint64_t key_high(const struct pl_cell *c)
{
	return (uint64_t)c->stack << 32 | c->thread;
}

static uint32_t hash_of(const struct pl_cell *c)
{
	return pl_row_hash(key_high(c), (uint64_t)c->state << 8 | c->quality);
}

static bool same_key(const struct pl_cell *a, const struct pl_cell *b)
{
	return a->stack == b->stack && a->thread == b->thread && a->batch == b->batch && a->state == b->state &&
	       a->quality == b->quality;
}

static void add_counts(struct pl_cell *into, const struct pl_cell *c)
{
	into->samples = pl_sum_u64(into->samples, c->samples);
	into->weight_ns = pl_sum_u64(into->weight_ns, c->weight_ns);
}

/* The row of @p rows with the key of @p c. */
static bool find_row(const struct pl_row_index *x, const struct pl_cell *rows, const struct pl_cell *c, uint32_t hash,
		     uint32_t *ret)
{
	size_t at = pl_row_index_start(x, hash);
	while (pl_row_index_next(x, hash, &at, ret))
		if (same_key(&rows[*ret], c))
			return true;
	return false;
}

static struct plumb_error *append(struct plumb_profile *p, const struct pl_cell *c)
{
	struct plumb_error *err =
		pl_table_room((void **)&p->cells, &p->index->cell_cap, p->cell_count, sizeof *p->cells);
	if (!err)
		p->cells[p->cell_count++] = *c;
	return err;
}

/* Cells that were appended without looking. */
static struct plumb_error *index_cells(struct plumb_profile *p)
{
	struct pl_profile_index *x = p->index;
	for (; x->cells_indexed < p->cell_count; x->cells_indexed++) {
		const struct pl_cell *c = &p->cells[x->cells_indexed];
		if (!pl_row_index_add(&x->cells[c->batch], hash_of(c), x->cells_indexed))
			return &pl_err_no_memory;
	}
	return NULL;
}

/* A batch has about as many rows as the one before. Half of them at first: growing once more costs little, and where
 * there were more by chance memory is not kept for them for ever. */
static bool begin_batch(struct pl_row_index cells[PL_BATCHES], uint8_t batch)
{
	if (!batch || cells[batch].cap)
		return true;
	return pl_row_index_reserve(&cells[batch], cells[batch - 1].len / 2);
}

/* The id of the cell with the key of @p c, whose hash is @p hash, appended with no counts if there is none. */
static struct plumb_error *find_cell(struct plumb_profile *p, const struct pl_cell *c, uint32_t hash, uint32_t *ret)
{
	struct plumb_error *err = index_cells(p);
	if (err || find_row(&p->index->cells[c->batch], p->cells, c, hash, ret))
		return err;
	struct pl_cell none = *c;
	none.samples = none.weight_ns = 0;
	err = append(p, &none);
	if (err)
		return err;
	if (!begin_batch(p->index->cells, c->batch) ||
	    !pl_row_index_add(&p->index->cells[c->batch], hash, p->cell_count - 1)) {
		p->cell_count--;
		return &pl_err_no_memory;
	}
	p->index->cells_indexed = p->cell_count;
	*ret = p->cell_count - 1;
	return NULL;
}

static void add_to_thread(struct plumb_profile *p, const struct pl_cell *c)
{
	uint64_t *weight_ns = &p->index->thread_weight_ns[c->thread];
	*weight_ns = pl_sum_u64(*weight_ns, c->weight_ns);
}

struct plumb_error *pl_cells_append(struct plumb_profile *p, const struct pl_cell *c)
{
	struct pl_profile_index *x = p->index;
	struct plumb_error *err = NULL;
	if (x->last_cell != PL_NO_CELL && same_key(&p->cells[x->last_cell], c)) {
		add_counts(&p->cells[x->last_cell], c);
	} else {
		err = append(p, c);
		x->last_cell = err ? x->last_cell : p->cell_count - 1;
	}
	if (!err)
		add_to_thread(p, c);
	return err;
}

void pl_cells_forget(struct pl_row_index cells[PL_BATCHES])
{
	for (unsigned b = 0; b < PL_BATCHES; b++)
		pl_row_index_deinit(&cells[b]);
}

static bool is_last(const struct plumb_profile *p, const struct pl_cell *c)
{
	uint32_t last = p->index->last_cell;
	return last != PL_NO_CELL && same_key(&p->cells[last], c);
}

/* @p found: it is that of the last cell; else @p hash is its hash. */
static struct plumb_error *add_hashed(struct plumb_profile *p, const struct pl_cell *c, bool found, uint32_t hash)
{
	struct pl_profile_index *x = p->index;
	assert(c->stack < p->stack_count && c->thread < p->thread_count);
	assert(c->quality < PL_QUALITIES && c->batch < PL_BATCHES);
	struct plumb_error *err = found ? NULL : find_cell(p, c, hash, &x->last_cell);
	if (err)
		return err;
	add_counts(&p->cells[x->last_cell], c);
	add_to_thread(p, c);
	return NULL;
}

struct plumb_error *pl_cells_add(struct plumb_profile *p, const struct pl_cell *c)
{
	bool found = is_last(p, c);
	return add_hashed(p, c, found, found ? 0 : hash_of(c));
}

/* The row with that hash, if there is one. */
static void expect_row(const struct plumb_profile *p, const struct pl_cell *c, uint32_t hash)
{
	const struct pl_row_index *x = &p->index->cells[c->batch];
	size_t at = pl_row_index_start(x, hash);
	uint32_t row;
	if (pl_row_index_next(x, hash, &at, &row))
		__builtin_prefetch(&p->cells[row]);
}

struct plumb_error *pl_cells_add_all(struct plumb_profile *p, const struct pl_cell *c, size_t count)
{
	struct plumb_error *err = NULL;
	uint32_t hashes[PL_TOGETHER];
	assert(count <= PL_TOGETHER);
	for (size_t i = 0; i < count; i++) {
		hashes[i] = hash_of(&c[i]);
		pl_row_index_expect(&p->index->cells[c[i].batch], hashes[i]);
	}
	for (size_t i = 0; i < count; i++)
		expect_row(p, &c[i], hashes[i]);
	for (size_t i = 0; i < count && !err; i++)
		err = add_hashed(p, &c[i], is_last(p, &c[i]), hashes[i]);
	return err;
}

/* The cells of a profile on their way to other batches. */
struct fold {
	const uint8_t *map;
	struct pl_row_index index[PL_BATCHES];
	struct pl_cell *rows;
	uint32_t count;
};

static struct plumb_error *fold_one(struct fold *f, const struct pl_cell *c, uint32_t hash)
{
	struct pl_row_index *index = &f->index[c->batch];
	uint32_t at = 0;
	if (find_row(index, f->rows, c, hash, &at)) {
		add_counts(&f->rows[at], c);
		return NULL;
	}
	if (!pl_row_index_add(index, hash, f->count))
		return &pl_err_no_memory;
	f->rows[f->count++] = *c;
	return NULL;
}

static struct plumb_error *fold(const struct plumb_profile *p, struct fold *f)
{
	struct plumb_error *err = NULL;
	struct pl_cell cells[PL_TOGETHER];
	uint32_t hashes[PL_TOGETHER];
	for (uint32_t from = 0; from < p->cell_count && !err; from += PL_TOGETHER) {
		uint32_t left = p->cell_count - from, count = left < PL_TOGETHER ? left : PL_TOGETHER;
		for (uint32_t i = 0; i < count; i++) {
			cells[i] = p->cells[from + i];
			cells[i].batch = f->map[cells[i].batch];
			hashes[i] = hash_of(&cells[i]);
			pl_row_index_expect(&f->index[cells[i].batch], hashes[i]);
		}
		for (uint32_t i = 0; i < count && !err; i++)
			err = fold_one(f, &cells[i], hashes[i]);
	}
	return err;
}

/* A second set of tables, so that running out of memory half-way leaves the first one whole. */
static struct plumb_error *fold_cells(struct plumb_profile *p, const uint8_t map[PL_BATCHES])
{
	struct pl_profile_index *x = p->index;
	size_t cap = p->cell_count ? p->cell_count : 1;
	struct fold f = {.map = map, .rows = calloc(cap, sizeof *f.rows)};
	struct plumb_error *err = f.rows ? fold(p, &f) : &pl_err_no_memory;
	if (err) {
		pl_cells_forget(f.index);
		free(f.rows);
		return err;
	}
	pl_cells_forget(x->cells);
	free(p->cells);
	memcpy(x->cells, f.index, sizeof x->cells);
	p->cells = f.rows;
	p->cell_count = x->cells_indexed = f.count;
	x->cell_cap = cap;
	x->last_cell = PL_NO_CELL;
	return NULL;
}

/* Other numbers for the same batches: the cells stay where they are. */
static void renumber(struct plumb_profile *p, const uint8_t map[PL_BATCHES])
{
	struct pl_row_index old[PL_BATCHES], *cells = p->index->cells;
	bool same = true;

	memcpy(old, cells, sizeof old);
	memset(cells, 0, sizeof old);
	for (unsigned b = 0; b < PL_BATCHES; b++) {
		if (map[b] >= PL_BATCHES) { /* there is no such batch */
			pl_row_index_deinit(&old[b]);
			continue;
		}
		cells[map[b]] = old[b];
		same = same && map[b] == b;
	}
	for (uint32_t i = 0; !same && i < p->cell_count; i++)
		p->cells[i].batch = map[p->cells[i].batch];
}

struct plumb_error *pl_cells_rebatch(struct plumb_profile *p, const uint8_t map[PL_BATCHES], unsigned shift)
{
	struct pl_profile_index *x = p->index;
	assert(shift >= x->batch_shift && shift < 64);
	if (shift == x->batch_shift) {
		renumber(p, map);
		return NULL;
	}
	struct plumb_error *err = fold_cells(p, map);
	if (err)
		return err;
	x->batch_shift = shift;
	p->batch_ns = 1ull << shift;
	return NULL;
}

struct plumb_error *pl_cells_widen(struct plumb_profile *p, unsigned shift)
{
	assert(shift >= p->index->batch_shift && shift < 64 && !p->axis.merged);
	unsigned by = shift - p->index->batch_shift;
	uint8_t map[PL_BATCHES];
	if (!by)
		return NULL;
	for (unsigned b = 0; b < PL_BATCHES; b++)
		map[b] = by < 8 ? (uint8_t)(b >> by) : 0;
	return pl_cells_rebatch(p, map, shift);
}

void pl_profile_limit_cells(struct plumb_profile *p, uint32_t max)
{
	p->index->max_cells = max;
}

/* As long as there is more than one batch; without memory there are more cells for a while. */
static void save_room(struct plumb_profile *p, uint64_t time_ns)
{
	const struct pl_profile_index *x = p->index;
	if (x->max_cells && p->cell_count > x->max_cells && time_ns >> x->batch_shift > 0)
		plumb_error_destroy(pl_cells_widen(p, x->batch_shift + 1));
}

/* Batches long enough for a sample at @p time_ns. */
static struct plumb_error *reach(struct plumb_profile *p, uint64_t time_ns)
{
	assert(!p->axis.merged);
	save_room(p, time_ns);
	unsigned shift = p->index->batch_shift;
	if (time_ns >> shift < PL_BATCHES)
		return NULL;
	while (time_ns >> shift >= PL_BATCHES)
		shift++;
	return pl_cells_widen(p, shift);
}

struct plumb_error *pl_profile_expect_time(struct plumb_profile *p, uint64_t time_ns)
{
	return reach(p, time_ns);
}

static struct pl_cell cell_of(const struct plumb_profile *p, const struct pl_sample *s)
{
	return (struct pl_cell){.stack = s->stack,
				.thread = s->thread,
				.state = s->state,
				.quality = s->quality,
				.batch = (uint8_t)(s->time_ns >> p->index->batch_shift),
				.samples = pl_sum_u64(1, s->extra),
				.weight_ns = s->weight_ns};
}

struct plumb_error *pl_profile_add(struct plumb_profile *p, const struct pl_sample *s)
{
	struct plumb_error *err = reach(p, s->time_ns);
	if (err)
		return err;
	struct pl_cell c = cell_of(p, s);
	return pl_cells_add(p, &c);
}

struct plumb_error *pl_profile_add_all(struct plumb_profile *p, const struct pl_sample *s, size_t count)
{
	struct plumb_error *err = NULL;
	struct pl_cell cells[PL_TOGETHER];
	assert(count <= PL_TOGETHER);
	for (size_t i = 0; i < count && !err; i++)
		err = reach(p, s[i].time_ns);
	for (size_t i = 0; i < count && !err; i++)
		cells[i] = cell_of(p, &s[i]);
	return err ? err : pl_cells_add_all(p, cells, count);
}

void pl_profile_forget(struct plumb_profile *p)
{
	struct pl_profile_index *x = p->index;

	pl_cells_forget(x->cells);
	free(p->cells);
	p->cells = NULL;
	p->cell_count = x->cells_indexed = 0;
	x->cell_cap = 0;
	x->last_cell = PL_NO_CELL;
	p->batch_ns = PL_BATCH_MIN_NS;
	x->batch_shift = (unsigned)__builtin_ctzll(PL_BATCH_MIN_NS);
	pl_axis_deinit(&p->axis);
	if (p->thread_count)
		memset(x->thread_weight_ns, 0, p->thread_count * sizeof *x->thread_weight_ns);
	pl_map_clear(&x->waits);
	p->wait_count = 0;
	p->waited = (struct pl_waited){0};
	pl_map_clear(&x->events);
	x->event_text = 0;
	p->event_count = 0;
}

/* A sum that is at the maximum may have been more. */
struct plumb_error *pl_profile_check_sums(const struct plumb_profile *p)
{
	struct pl_cell all = {0};
	for (uint32_t i = 0; i < p->cell_count; i++)
		add_counts(&all, &p->cells[i]);
	if (all.samples < UINT64_MAX && all.weight_ns < UINT64_MAX)
		return NULL;
	return pl_error_hint(pl_error(PLUMB_ERR_LIMIT, "its %s together are more than can be counted",
				      all.samples < UINT64_MAX ? "times" : "samples"),
			     "they add up to 2^64 or more, of times to 584 years: no program was sampled so");
}
