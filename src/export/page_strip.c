/* SPDX-License-Identifier: Apache-2.0 */
/* What each thread did when, for the timeline of the report page (layer export; one owner at a time). Memory follows
 * the bins in which threads were seen, of which a page has a limited number. */
#include "page_parts.h"

#include <stdlib.h>

#include "index.h"
#include "words.h"

static const struct {
	uint16_t bit;
	uint8_t rank;
} activities[] = {
#define PLUMB_ACTIVITY(name, bit, rank, ...) {bit, rank},
#include <plumb/words.def>
};

static bool has(uint16_t state, uint16_t bit)
{
	return bit > UINT8_MAX ? (unsigned)pl_reason_of(state) == bit >> PL_STATE_BITS : (state & bit) != 0;
}

/* What has no bit is true of every state, and has the last rank. */
static unsigned activity_of(uint16_t state)
{
	unsigned best = PL_PAGE_WAITING;

	for (unsigned i = 0; i < PL_PAGE_ACTIVITIES; i++) {
		if (has(state, activities[i].bit) && activities[i].rank < activities[best].rank)
			best = i;
	}
	return best;
}

static struct pl_page_run *find(struct pl_page_strip *s, uint32_t thread, uint32_t bin)
{
	uint32_t hash = pl_row_hash(thread, bin), row;
	size_t at = pl_row_index_start(&s->index, hash);

	while (pl_row_index_next(&s->index, hash, &at, &row)) {
		if (s->rows.data[row].thread == thread && s->rows.data[row].bin == bin)
			return &s->rows.data[row];
	}
	row = (uint32_t)s->rows.len;
	if (row >= UINT32_MAX - 1 || !pl_vec_push(&s->rows, ((struct pl_page_run){.thread = thread, .bin = bin})) ||
	    !pl_row_index_add(&s->index, hash, row))
		return NULL;
	return &s->rows.data[row];
}

struct plumb_error *pl_page_strip_add(struct pl_page_strip *s, uint32_t thread, uint32_t bin, uint16_t state,
				      uint64_t samples)
{
	struct pl_page_run *run = find(s, thread, bin);
	unsigned activity = activity_of(state);

	if (!run)
		return &pl_err_no_memory;
	run->samples[activity] = pl_sum_u64(run->samples[activity], samples);
	return NULL;
}

static int compare_runs(const void *va, const void *vb)
{
	const struct pl_page_run *a = va, *b = vb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->bin > b->bin) - (a->bin < b->bin);
}

static void write_thread(struct pl_page_columns *c, const struct pl_page_run *runs, size_t count)
{
	uint32_t next = 0;

	pl_page_column_u64(c, count);
	for (size_t i = 0; i < count; i++) {
		pl_page_column_u64(c, runs[i].bin - next);
		next = runs[i].bin + 1;
	}
	for (unsigned activity = 0; activity < PL_PAGE_ACTIVITIES; activity++) {
		for (size_t i = 0; i < count; i++)
			pl_page_column_u64(c, runs[i].samples[activity]);
	}
}

struct plumb_error *pl_page_strip_write(struct pl_page_strip *s, uint32_t threads, uint32_t bins, FILE *out)
{
	struct pl_page_columns c;
	size_t at = 0;

	pl_page_columns_init(&c);
	if (s->rows.len)
		qsort(s->rows.data, s->rows.len, sizeof *s->rows.data, compare_runs);
	pl_page_column_u64(&c, bins);
	pl_page_column_u64(&c, threads);
	for (uint32_t thread = 0; thread < threads; thread++) {
		size_t begin = at;

		while (at < s->rows.len && s->rows.data[at].thread == thread)
			at++;
		write_thread(&c, s->rows.data + begin, at - begin);
	}
	return pl_page_columns_end(&c, PL_PAGE_STRIP, out);
}

void pl_page_strip_deinit(struct pl_page_strip *s)
{
	pl_vec_deinit(&s->rows);
	pl_row_index_deinit(&s->index);
}
