/* SPDX-License-Identifier: Apache-2.0 */
/* A profile in columns (layer export; any thread). The samples are read once; all else follows the distinct stacks. */
#include <stdlib.h>

#include "gil_waits.h"
#include "index.h"
#include "page.h"

#define BINS_IN_BATCH 32u /* at most, a power of two: with up to 64 batches more than a screen has columns */
#define STACK_BITS    40u /* about what a stack takes, compressed */

#define MOST_NODES 4000000u
_Static_assert(MOST_NODES < 1u << PL_PAGE_NODE_BITS, "a node has room in a cell");
_Static_assert(BINS_IN_BATCH <= (1u << PL_PAGE_BIN_BITS) / PL_BATCHES, "a bin has room in a cell");

const struct pl_page_limits pl_page_limits = {.nodes = MOST_NODES, .times = 4000000, .data = 40000000, .strip = 524288};

struct writer {
	const struct plumb_profile *p;
	const struct pl_export_options *o;
	const struct pl_page_limits *limits;
	FILE *out;
	struct pl_page_nodes nodes;
	struct pl_page_tables tables;
	struct pl_page_locks locks;
	uint32_t *line_of; /* stack -> 1 + L node */
	pl_thread_rows threads;
	uint32_t *thread_of; /* of the profile -> row */
	uint64_t bin_ns;
	uint32_t last_bin, bins;
	struct pl_page_cells cells;
	struct pl_page_strip strip;
};

/* All threads with samples, the idle ones, too: the page shows or hides them itself. */
static struct plumb_error *number_threads(struct writer *w)
{
	struct pl_filter all = {.idle = PL_IDLE_KEEP};
	struct plumb_error *err = pl_view_threads(w->p, &all, &w->threads);

	w->thread_of = calloc((size_t)w->p->thread_count + 1, sizeof *w->thread_of);
	if (!w->thread_of && !err)
		err = &pl_err_no_memory;
	for (size_t i = 0; i < w->threads.len && !err; i++)
		w->thread_of[w->threads.data[i].thread] = (uint32_t)i;
	return err;
}

static uint32_t bits_for_times(const struct pl_page_limits *limits, uint64_t stacks)
{
	uint64_t taken = stacks * STACK_BITS, left = limits->data > taken ? limits->data - taken : 0;

	return left > limits->times ? (uint32_t)left : limits->times;
}

/* Bins are whole parts of batches, so that intervals can be made of them. Without instants the batch is all that is
 * known. */
static void choose_bins(struct writer *w)
{
	uint32_t in_batch = pl_profile_is_timed(w->p) ? BINS_IN_BATCH : 1;

	while (in_batch > 1 && (uint64_t)in_batch * PL_BATCHES * w->threads.len > w->limits->strip)
		in_batch /= 2;
	w->bin_ns = w->p->batch_ns / in_batch;
	w->last_bin = in_batch * PL_BATCHES - 1;
	w->cells.stacks = w->nodes.own;
	w->cells.max_bits = bits_for_times(w->limits, w->nodes.own);
	while (w->last_bin >> w->cells.max_shift)
		w->cells.max_shift++;
}

static uint32_t holder_of(const struct writer *w, uint32_t held_by)
{
	uint32_t function = held_by && held_by != PL_GIL_UNSEEN ? w->tables.function_of[held_by - 1] : PL_PAGE_NONE;

	return function == PL_PAGE_NONE ? held_by != 0 : 2 + function;
}

/* It is told where its share has an interval, as `lock_blame` of JSON is. */
static struct plumb_error *lock_of(struct writer *w, const struct pl_sample *s, uint32_t *ret)
{
	*ret = 0;
	if (!s->lock || !pl_profile_is_timed(w->p))
		return NULL;
	return pl_page_locks_number(&w->locks, w->p, w->p->threads[s->thread].process, s->lock - 1, ret);
}

static struct plumb_error *add_sample(void *ctx, const struct pl_sample *s)
{
	struct writer *w = ctx;
	uint64_t bin = s->time_ns / w->bin_ns, samples = pl_sum_u64(1, s->extra);
	uint32_t at = bin > w->last_bin ? w->last_bin : (uint32_t)bin;
	uint32_t thread = w->thread_of[s->thread], lock;
	struct plumb_error *err = lock_of(w, s, &lock);
	unsigned what = (unsigned)s->state << 2 | s->quality;
	struct pl_page_cell cell = {.where = pl_page_where(w->line_of[s->stack], thread, what),
				    .when = pl_page_when(what, at, holder_of(w, s->held_by), lock),
				    .samples = samples,
				    .weight_ns = s->weight_ns};

	if (!err)
		err = pl_page_cells_add(&w->cells, &cell);
	w->bins = at >= w->bins ? at + 1 : w->bins;
	return err ? err : pl_page_strip_add(&w->strip, thread, at, s->state, samples);
}

static struct plumb_error *write_samples(struct writer *w)
{
	struct plumb_error *err = pl_gil_each(w->p, add_sample, w);

	if (!err)
		err = pl_page_cells_write(&w->cells, w->p->meta.period_ns, w->out);
	if (!err)
		err = pl_page_strip_write(&w->strip, (uint32_t)w->threads.len, w->bins, w->out);
	return err;
}

static struct plumb_error *write_meta(struct writer *w)
{
	struct pl_page_meta m = {.o = w->o,
				 .nodes = &w->nodes,
				 .tables = &w->tables,
				 .locks = &w->locks,
				 .threads = &w->threads,
				 .bin_ns = w->bin_ns,
				 .bins = w->bins};

	return pl_page_meta_write(w->p, &m, w->out);
}

static struct plumb_error *write_tables(struct writer *w)
{
	struct plumb_error *err = pl_page_functions_write(&w->tables, w->p, w->out);

	if (!err)
		err = pl_page_locations_write(&w->tables, w->p, w->out);
	if (!err)
		err = pl_page_sources_write(w->p, &w->tables, w->out);
	return err ? err : pl_page_strings_write(&w->tables, w->out);
}

static struct plumb_error *write_all(struct writer *w)
{
	struct plumb_error *err = pl_page_nodes_init(&w->nodes, w->p, w->limits->nodes);

	if (!err)
		err = number_threads(w);
	if (!err)
		err = pl_page_tables_init(&w->tables, w->p, &w->nodes);
	if (!err)
		err = pl_page_tree_write(w->p, &w->nodes, &w->tables, w->out, &w->line_of);
	if (err)
		return err;
	choose_bins(w);
	err = write_samples(w);
	if (!err)
		err = write_meta(w);
	return err ? err : write_tables(w);
}

struct plumb_error *pl_page_data_write(const struct plumb_profile *p, const struct pl_export_options *o,
				       const struct pl_page_limits *limits, FILE *out)
{
	struct writer w = {.p = p, .o = o, .limits = limits, .out = out};
	struct plumb_error *err = write_all(&w);

	pl_page_nodes_deinit(&w.nodes);
	pl_page_tables_deinit(&w.tables);
	pl_page_locks_deinit(&w.locks);
	pl_page_cells_deinit(&w.cells);
	pl_page_strip_deinit(&w.strip);
	pl_vec_deinit(&w.threads);
	free(w.thread_of);
	free(w.line_of);
	return err;
}
