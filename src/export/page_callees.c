/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the nodes of the report page (layer export; one owner at a time). A function calls few others: told
 * as which of these, the most frequent first, a node takes two or three bits and not ten. */
#include "page_parts.h"

#include <assert.h>
#include <stdlib.h>

#include "map.h"

struct callee {
	uint64_t key; /* caller << 32 | function */
	uint32_t nodes;
};
typedef PL_VEC(struct callee) callee_rows;

static uint32_t caller_of(uint64_t key)
{
	return (uint32_t)(key >> 32);
}

struct plumb_error *pl_page_callees_add(struct pl_page_callees *c, uint32_t caller, uint32_t function)
{
	return pl_vec_push(&c->nodes, (uint64_t)caller << 32 | function) ? NULL : &pl_err_no_memory;
}

void pl_page_callees_deinit(struct pl_page_callees *c)
{
	pl_vec_deinit(&c->nodes);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_callees(const void *va, const void *vb)
{
	const struct callee *a = va, *b = vb;
	int order = compare_u64(caller_of(a->key), caller_of(b->key));

	if (!order)
		order = compare_u64(b->nodes, a->nodes);
	return order ? order : compare_u64(a->key, b->key);
}

/* One row for each pair of functions, by caller, most frequent first. */
static bool count_pairs(const struct pl_page_callees *c, struct pl_map *row_of, callee_rows *rows)
{
	uint32_t row;

	for (size_t i = 0; i < c->nodes.len; i++) {
		uint64_t key = c->nodes.data[i];

		if (!pl_map_get(row_of, key, 0, &row)) {
			row = (uint32_t)rows->len;
			if (!pl_vec_push(rows, ((struct callee){.key = key})) || !pl_map_set(row_of, key, 0, row))
				return false;
		}
		assert(row < rows->len && rows->data);
		rows->data[row].nodes++;
	}
	if (rows->len)
		qsort(rows->data, rows->len, sizeof *rows->data, compare_callees);
	return true;
}

/* The lists of callees: how many each caller has, then all. */
static void write_lists(struct pl_page_columns *out, const callee_rows *rows, uint32_t callers)
{
	size_t at = 0;

	for (uint32_t caller = 0; caller < callers; caller++) {
		size_t begin = at;

		while (at < rows->len && caller_of(rows->data[at].key) == caller)
			at++;
		pl_page_column_u64(out, at - begin);
	}
	for (size_t i = 0; i < rows->len; i++)
		pl_page_column_u64(out, (uint32_t)rows->data[i].key);
}

static struct plumb_error *write_ranks(struct pl_page_columns *out, const struct pl_page_callees *c,
				       const callee_rows *rows, struct pl_map *rank_of)
{
	uint32_t rank = 0;

	for (size_t i = 0; i < rows->len; i++) {
		rank = i && caller_of(rows->data[i].key) == caller_of(rows->data[i - 1].key) ? rank + 1 : 0;
		if (!pl_map_set(rank_of, rows->data[i].key, 0, rank))
			return &pl_err_no_memory;
	}
	for (size_t i = 0; i < c->nodes.len; i++) {
		if (pl_map_get(rank_of, c->nodes.data[i], 0, &rank))
			pl_page_column_u64(out, rank);
	}
	return NULL;
}

struct plumb_error *pl_page_callees_write(const struct pl_page_callees *c, uint32_t callers,
					  struct pl_page_columns *lists, struct pl_page_columns *ranks)
{
	struct pl_map map = PL_MAP_INIT;
	callee_rows rows = {0};
	struct plumb_error *err = count_pairs(c, &map, &rows) ? NULL : &pl_err_no_memory;

	if (!err) {
		write_lists(lists, &rows, callers);
		err = write_ranks(ranks, c, &rows, &map);
	}
	pl_map_deinit(&map);
	pl_vec_deinit(&rows);
	return err;
}
