/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os: the code of an entry: one piece, or a list of them (.debug_ranges; from version 5 on .debug_rnglists). */
#include <stdlib.h>

#include "dwarf_parts.h"

#define RANGES_MAX (1u << 22) /* of a file */
#define RANGE_WORK 16u	      /* of one that is read */
#define SORT_WORK  48u	      /* of one that is kept */
#define BACK_MAX   64	      /* pieces that lie inside others: looked at before nobody has the address */

enum list_entry {
	END,
	BASE_INDEX,
	INDEX_INDEX,
	INDEX_LENGTH,
	OFFSETS,
	BASE,
	ADDRESSES,
	ADDRESS_LENGTH,
};

/* The pieces of an entry, one after the other. */
struct walk {
	struct pl_dwarf *d;
	const struct pl_dwarf_unit *u;
	struct pl_dwarf_reader r; /* of a list */
	uint64_t base;
	uint64_t begin, end; /* the piece at hand */
	bool list, over;
};

bool pl_dwarf_has_code(const struct pl_dwarf_entry *e)
{
	return e->at[PL_AT_RANGES].kind != PL_VALUE_NONE || e->at[PL_AT_HIGH_PC].kind != PL_VALUE_NONE;
}

static void begin_list(struct walk *w, const struct pl_dwarf_value *at)
{
	const struct pl_dwarf_unit *u = w->u;
	uint64_t offset = at->number;

	w->list = true;
	w->base = u->base;
	if (at->kind == PL_VALUE_RANGES_INDEX) {
		struct pl_dwarf_reader r = pl_dwarf_section_at(w->d, PL_DWARF_RNGLISTS, u->rnglists_base);

		pl_dwarf_skip(&r, at->number < UINT64_MAX / 8 ? at->number * u->offset_size : UINT64_MAX);
		offset = u->rnglists_base + pl_dwarf_uint(&r, u->offset_size);
	}
	w->r = pl_dwarf_section_at(w->d, u->version >= 5 ? PL_DWARF_RNGLISTS : PL_DWARF_RANGES, offset);
}

static void begin(struct walk *w, struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_entry *e)
{
	const struct pl_dwarf_value *high = &e->at[PL_AT_HIGH_PC];

	*w = (struct walk){.d = d, .u = u};
	if (e->at[PL_AT_RANGES].kind != PL_VALUE_NONE) {
		begin_list(w, &e->at[PL_AT_RANGES]);
		return;
	}
	if (!pl_dwarf_value_address(d, u, &e->at[PL_AT_LOW_PC], &w->begin))
		w->over = true;
	else if (high->kind == PL_VALUE_NUMBER)
		w->end = w->begin + high->number;
	else if (!pl_dwarf_value_address(d, u, high, &w->end))
		w->over = true;
}

/* Up to version 4. False: it has no more. */
static bool next_pair(struct walk *w)
{
	const unsigned size = w->u->address_size;
	const uint64_t is_base = size == 8 ? UINT64_MAX : UINT32_MAX;

	while (pl_dwarf_may(w->d, RANGE_WORK)) {
		const uint64_t begin = pl_dwarf_uint(&w->r, size), end = pl_dwarf_uint(&w->r, size);

		if (w->r.bad || (!begin && !end))
			return false;
		if (begin == is_base) {
			w->base = end;
			continue;
		}
		w->begin = w->base + begin;
		w->end = w->base + end;
		return true;
	}
	return false;
}

static uint64_t address(struct walk *w)
{
	return pl_dwarf_uint(&w->r, w->u->address_size);
}

static uint64_t address_by_index(struct walk *w)
{
	const struct pl_dwarf_value v = {.kind = PL_VALUE_ADDRESS_INDEX, .number = pl_dwarf_uleb(&w->r)};
	uint64_t ret;

	if (pl_dwarf_value_address(w->d, w->u, &v, &ret))
		return ret;
	w->r.bad = true;
	return 0;
}

/* From version 5 on. *piece: it is one, and no base. False: it is the end. */
static bool read_list_entry(struct walk *w, uint64_t kind, bool *piece)
{
	*piece = true;
	switch (kind) {
	case BASE_INDEX:
	case BASE:
		*piece = false;
		w->base = kind == BASE ? address(w) : address_by_index(w);
		return true;
	case INDEX_INDEX:
		w->begin = address_by_index(w);
		w->end = address_by_index(w);
		return true;
	case OFFSETS:
		w->begin = w->base + pl_dwarf_uleb(&w->r);
		w->end = w->base + pl_dwarf_uleb(&w->r);
		return true;
	case ADDRESSES:
		w->begin = address(w);
		w->end = address(w);
		return true;
	case INDEX_LENGTH:
	case ADDRESS_LENGTH:
		w->begin = kind == INDEX_LENGTH ? address_by_index(w) : address(w);
		w->end = w->begin + pl_dwarf_uleb(&w->r);
		return true;
	default:
		return false;
	}
}

static bool next_of_list(struct walk *w)
{
	bool piece = false;

	while (!piece)
		if (!pl_dwarf_may(w->d, RANGE_WORK) || !read_list_entry(w, pl_dwarf_uint(&w->r, 1), &piece) || w->r.bad)
			return false;
	return true;
}

/* False: there is no more. */
static bool next(struct walk *w)
{
	if (w->over)
		return false;
	w->over = !w->list;
	if (!w->list)
		return true;
	return w->u->version >= 5 ? next_of_list(w) : next_pair(w);
}

/* What the linker has left out begins at 0, or at the last address. */
static bool is_there(const struct walk *w)
{
	return w->begin && w->begin < w->end;
}

bool pl_dwarf_range_add(struct pl_dwarf *d, struct pl_dwarf_range range, pl_dwarf_range_vec *ret)
{
	return ret->len >= RANGES_MAX || !pl_dwarf_may(d, SORT_WORK + sizeof range) || pl_vec_push(ret, range);
}

bool pl_dwarf_ranges_add(struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_entry *e,
			 uint64_t owner, pl_dwarf_range_vec *ret)
{
	struct walk w;

	for (begin(&w, d, u, e); next(&w) && ret->len < RANGES_MAX;)
		if (is_there(&w) && !pl_dwarf_range_add(d, (struct pl_dwarf_range){w.begin, w.end, owner}, ret))
			return false;
	return true;
}

bool pl_dwarf_ranges_have(struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_entry *e,
			  uint64_t addr)
{
	struct walk w;

	for (begin(&w, d, u, e); next(&w);)
		if (is_there(&w) && addr >= w.begin && addr < w.end)
			return true;
	return false;
}

static int by_begin(const void *a, const void *b)
{
	const struct pl_dwarf_range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->owner > y->owner) - (x->owner < y->owner);
}

void pl_dwarf_ranges_sort(pl_dwarf_range_vec *ranges)
{
	if (ranges->len)
		qsort(ranges->data, ranges->len, sizeof *ranges->data, by_begin);
}

const struct pl_dwarf_range *pl_dwarf_range_at(const pl_dwarf_range_vec *ranges, uint64_t addr)
{
	size_t low = 0, high = ranges->len;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (ranges->data[mid].begin <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t back = 0; back < BACK_MAX && back < low; back++)
		if (addr < ranges->data[low - 1 - back].end)
			return &ranges->data[low - 1 - back];
	return NULL;
}
