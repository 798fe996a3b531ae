/* SPDX-License-Identifier: Apache-2.0 */
/* Hash index of a table whose rows hold their own keys: 8 bytes a slot, a third of what pl_map takes, which keeps the
 * keys itself. For tables of millions of rows. Rows are never removed. Not thread-safe.
 *
 *   size_t at = pl_row_index_start(&x, hash);
 *   while (pl_row_index_next(&x, hash, &at, &row))
 *           if (rows[row] has the key) return row;
 *   ... append the row, then pl_row_index_add(&x, hash, row)
 */
#ifndef PL_ROW_INDEX_H
#define PL_ROW_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"

struct pl_row_slot {
	uint32_t hash, row; /* row: number + 1; 0: free */
};

struct pl_row_index {
	struct pl_row_slot *slots;
	size_t cap, len; /* cap is 0 or a power of two */
};

void pl_row_index_deinit(struct pl_row_index *x);
/** Without rows; in time that follows their number, however many it once held. */
void pl_row_index_clear(struct pl_row_index *x);
/** Make room for @p extra more rows at once; false without memory, the index is then as it was. */
bool pl_row_index_reserve(struct pl_row_index *x, size_t extra);
/** Enter a row that is not in it; @p row < UINT32_MAX. False without memory, the index is then as it was. */
bool pl_row_index_add(struct pl_row_index *x, uint32_t hash, uint32_t row);

/** Of a key of two words, for this process. */
static inline uint32_t pl_row_hash(uint64_t k0, uint64_t k1)
{
	return (uint32_t)pl_hash_words(k0, k1);
}

/** Where looking for a hash begins. */
static inline size_t pl_row_index_start(const struct pl_row_index *x, uint32_t hash)
{
	return x->cap ? hash & (x->cap - 1) : 0;
}

/** The next row with that hash, which may have another key; false: there is no more. */
static inline bool pl_row_index_next(const struct pl_row_index *x, uint32_t hash, size_t *at, uint32_t *row_ret)
{
	while (x->cap && x->slots[*at].row) {
		const struct pl_row_slot *s = &x->slots[*at];
		*at = (*at + 1) & (x->cap - 1);
		if (s->hash == hash) {
			*row_ret = s->row - 1;
			return true;
		}
	}
	return false;
}

/** Fetch what looking for the hash will need: for loops over large tables, some rows ahead. */
static inline void pl_row_index_expect(const struct pl_row_index *x, uint32_t hash)
{
	if (x->cap)
		__builtin_prefetch(&x->slots[hash & (x->cap - 1)]);
}

#endif
