/* SPDX-License-Identifier: Apache-2.0 */
/* The time of profiles that are added up (layer model). One owner at a time.
 *
 * Batches lie on a grid that begins in 1970 and is the same for all profiles: batch i of a recording becomes the piece
 * of real time in which its start is, plus i. A sum has the pieces of all its parts; when they are more than a profile
 * can have batches, each two neighbours of the grid become one. So pieces only ever follow from those of the parts by
 * union and by halving, and in whatever order profiles are added the sum has the same ones. */
#include "axis.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"

/* Where a recording lies that does not know when it began: behind all that do. */
#define UNKNOWN_START (1ull << 63)

#define NO_BATCH UINT8_MAX

void pl_axis_deinit(struct pl_axis *a)
{
	free(a->spans);
	*a = (struct pl_axis){0};
}

bool pl_axis_copy(struct pl_axis *ret, const struct pl_axis *a)
{
	*ret = (struct pl_axis){0};
	struct pl_recorded *spans = a->span_count ? malloc(a->span_count * sizeof *spans) : NULL;
	if (a->span_count && !spans)
		return false;
	if (spans)
		memcpy(spans, a->spans, a->span_count * sizeof *spans);
	*ret = *a;
	ret->spans = spans;
	return true;
}

uint64_t pl_axis_covered_ns(const struct pl_axis *a)
{
	uint64_t sum = 0; /* cannot exceed what time there is: the spans lie apart */
	for (size_t i = 0; i < a->span_count; i++)
		sum += a->spans[i].to_ns - a->spans[i].from_ns;
	return sum;
}

static uint64_t start_of(const struct plumb_profile *p)
{
	uint64_t start = p->meta.start_real_ns;
	return start && start < UNKNOWN_START ? start : UNKNOWN_START;
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

/* When @p p was recorded; of one that was not added up in @p one, which has room for it. */
static const struct pl_recorded *spans_of(const struct plumb_profile *p, struct pl_recorded *one, size_t *count)
{
	uint64_t start = start_of(p);
	if (p->axis.merged) {
		*count = p->axis.span_count;
		return p->axis.spans;
	}
	*one = (struct pl_recorded){start, pl_sum_u64(start, p->meta.duration_ns)};
	*count = one->to_ns > one->from_ns;
	return one;
}

/* Of spans that come in the order of their beginnings. */
static void add_span(struct pl_recorded *ret, size_t *count, const struct pl_recorded *s)
{
	struct pl_recorded *last = *count ? &ret[*count - 1] : NULL;
	if (!last || s->from_ns > last->to_ns)
		ret[(*count)++] = *s;
	else if (s->to_ns > last->to_ns)
		last->to_ns = s->to_ns;
}

static bool unite_spans(const struct plumb_profile *into, bool blank, const struct plumb_profile *from,
			struct pl_recorded **ret, size_t *count_ret)
{
	struct pl_recorded one, other;
	size_t n = 0, m = 0, count = 0;
	const struct pl_recorded *a = blank ? NULL : spans_of(into, &one, &n), *b = spans_of(from, &other, &m);
	struct pl_recorded *spans = malloc((n + m + 1) * sizeof *spans);
	if (!spans)
		return false;
	for (size_t i = 0, k = 0; i < n || k < m;) {
		bool first = i < n && (k >= m || a[i].from_ns <= b[k].from_ns);
		add_span(spans, &count, first ? &a[i++] : &b[k++]);
	}
	*ret = spans;
	*count_ret = count;
	return true;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* The pieces of real time that a profile's batches are, each 1 << shift long. */
struct pieces {
	uint32_t count;
	unsigned shift;
	uint64_t piece[PL_BATCHES];
};

static uint32_t batches_of(const struct plumb_profile *p)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->cell_count; i++)
		count = p->cells[i].batch >= count ? p->cells[i].batch + 1u : count;
	return count;
}

/* What would go on behind the end of all time, as a damaged recording can, begins so much earlier. */
static uint64_t first_piece(const struct plumb_profile *p, const struct pieces *own)
{
	uint64_t first = start_of(p) >> own->shift, latest = (UINT64_MAX >> own->shift) - (own->count - 1);

	return first < latest ? first : latest;
}

static void pieces_of(const struct plumb_profile *p, bool blank, struct pieces *ret)
{
	*ret = (struct pieces){.shift = p->index->batch_shift};
	if (blank)
		return;
	if (p->axis.merged) {
		ret->count = p->axis.count;
		memcpy(ret->piece, p->axis.piece, sizeof ret->piece);
		return;
	}
	ret->count = batches_of(p);
	for (uint32_t b = 0; b < ret->count; b++)
		ret->piece[b] = first_piece(p, ret) + b;
}

/* The pieces of both, as long as @p ret has them; false if there are too many. */
static bool unite(const struct pieces *a, const struct pieces *b, struct pieces *ret)
{
	unsigned a_by = ret->shift - a->shift, b_by = ret->shift - b->shift;
	ret->count = 0;
	for (uint32_t i = 0, k = 0; i < a->count || k < b->count;) {
		uint64_t mine = i < a->count ? a->piece[i] >> a_by : UINT64_MAX;
		uint64_t theirs = k < b->count ? b->piece[k] >> b_by : UINT64_MAX;
		uint64_t next = mine < theirs ? mine : theirs;
		if (ret->count == PL_BATCHES)
			return false;
		ret->piece[ret->count++] = next;
		while (i < a->count && a->piece[i] >> a_by == next)
			i++;
		while (k < b->count && b->piece[k] >> b_by == next)
			k++;
	}
	return true;
}

/* Number of each piece of @p part in @p whole. */
static void map_pieces(const struct pieces *part, const struct pieces *whole, uint8_t ret[PL_BATCHES])
{
	uint32_t at = 0;
	memset(ret, NO_BATCH, PL_BATCHES);
	for (uint32_t b = 0; b < part->count; b++) {
		while (whole->piece[at] < part->piece[b] >> (whole->shift - part->shift))
			at++;
		ret[b] = (uint8_t)at;
	}
}

struct plumb_error *pl_axis_unite(struct plumb_profile *into, bool blank, const struct plumb_profile *from,
				  uint8_t ret[PL_BATCHES])
{
	struct pieces a, b, sum = {0};
	uint8_t map[PL_BATCHES];
	struct pl_axis axis = {.merged = true};
	pieces_of(into, blank, &a);
	pieces_of(from, false, &b);
	for (sum.shift = a.shift > b.shift ? a.shift : b.shift; !unite(&a, &b, &sum);)
		sum.shift++;
	map_pieces(&a, &sum, map);
	map_pieces(&b, &sum, ret);
	if (!unite_spans(into, blank, from, &axis.spans, &axis.span_count))
		return &pl_err_no_memory;
	struct plumb_error *err = pl_cells_rebatch(into, map, sum.shift);
	if (err) {
		pl_axis_deinit(&axis);
		return err;
	}
	axis.count = sum.count;
	memcpy(axis.piece, sum.piece, sum.count * sizeof *axis.piece);
	pl_axis_deinit(&into->axis);
	into->axis = axis;
	return NULL;
}

struct plumb_error *pl_axis_begin(struct plumb_profile *p)
{
	struct pieces own;
	struct pl_axis axis = {.merged = true};
	if (!unite_spans(p, true, p, &axis.spans, &axis.span_count))
		return &pl_err_no_memory;
	pieces_of(p, false, &own);
	axis.count = own.count;
	memcpy(axis.piece, own.piece, sizeof axis.piece);
	p->axis = axis;
	return NULL;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

uint64_t pl_axis_start_ns(const struct pl_axis *a, unsigned shift, uint32_t b)
{
	uint64_t start = b < a->count ? a->piece[b] << shift : 0;
	return start < UNKNOWN_START ? start : 0;
}

/* What was recorded in a time. */
static void cut_spans(struct pl_axis *a, uint64_t from_ns, uint64_t to_ns)
{
	size_t kept = 0;
	for (size_t i = 0; a->spans && i < a->span_count; i++) {
		struct pl_recorded s = a->spans[i];
		s.from_ns = s.from_ns > from_ns ? s.from_ns : from_ns;
		s.to_ns = s.to_ns < to_ns ? s.to_ns : to_ns;
		if (s.from_ns < s.to_ns)
			a->spans[kept++] = s;
	}
	a->span_count = kept;
}

/* A recording may begin and end within a batch, and its last batch is shifted by that: what was recorded up to the next
 * batch belongs to the one before it. */
bool pl_axis_part(const struct pl_axis *a, unsigned shift, uint32_t first, uint32_t end, struct pl_axis *ret)
{
	end = end < a->count ? end : a->count;
	first = first < end ? first : end;
	if (!pl_axis_copy(ret, a))
		return false;
	ret->count = end - first;
	memset(ret->piece, 0, sizeof ret->piece);
	memcpy(ret->piece, a->piece + first, ret->count * sizeof *ret->piece);
	uint64_t from_ns = first && first < a->count ? a->piece[first] << shift : 0;
	uint64_t to_ns = end < a->count ? a->piece[end] << shift : UINT64_MAX;
	cut_spans(ret, from_ns, ret->count ? to_ns : from_ns);
	return true;
}

static bool is_good(const struct pl_axis *a, unsigned shift)
{
	for (uint32_t b = 0; b < a->count; b++)
		if (a->piece[b] > UINT64_MAX >> shift || (b && a->piece[b] <= a->piece[b - 1]))
			return false;
	for (size_t i = 0; i < a->span_count; i++)
		if (a->spans[i].from_ns >= a->spans[i].to_ns || (i && a->spans[i].from_ns <= a->spans[i - 1].to_ns))
			return false;
	return true;
}

struct plumb_error *pl_axis_set(struct plumb_profile *p, unsigned shift, struct pl_axis *a)
{
	assert(!p->axis.merged);
	if (shift < p->index->batch_shift || shift >= 64 || !is_good(a, shift))
		return &pl_err_corrupt;
	uint32_t last = batches_of(p);
	if (last && (uint64_t)(last - 1) >> (shift - p->index->batch_shift) >= a->count)
		return &pl_err_corrupt;
	struct plumb_error *err = pl_cells_widen(p, shift);
	if (err)
		return err;
	p->axis = *a;
	p->axis.merged = true;
	*a = (struct pl_axis){0};
	return NULL;
}
