/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing (layer base). One thread at a time.
 *
 * A slot keeps 32 bits of the hash: growing needs no look at the rows, and of rows with other keys hardly any is looked
 * at. At most 3/4 of the slots are used: every search ends at a free one. */
#include "row_index.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAP  16
#define MAX_ROWS   UINT32_MAX /* a slot has their number and one more */
#define MOST_SLOTS 64	      /* for each row, that clearing wipes */

static void place(struct pl_row_index *x, struct pl_row_slot s)
{
	size_t i = pl_row_index_start(x, s.hash);
	while (x->slots[i].row)
		i = (i + 1) & (x->cap - 1);
	x->slots[i] = s;
}

static bool resize(struct pl_row_index *x, size_t cap)
{
	struct pl_row_index bigger = {.slots = calloc(cap, sizeof *x->slots), .cap = cap, .len = x->len};
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < x->cap; i++) {
		if (x->slots[i].row)
			place(&bigger, x->slots[i]);
	}
	free(x->slots);
	*x = bigger;
	return true;
}

void pl_row_index_deinit(struct pl_row_index *x)
{
	free(x->slots);
	*x = (struct pl_row_index){0};
}

/* One that was large once is not wiped for a few rows. */
void pl_row_index_clear(struct pl_row_index *x)
{
	if (x->len < x->cap / MOST_SLOTS)
		pl_row_index_deinit(x);
	else if (x->len)
		memset(x->slots, 0, x->cap * sizeof *x->slots);
	x->len = 0;
}

bool pl_row_index_reserve(struct pl_row_index *x, size_t extra)
{
	if (extra > MAX_ROWS - x->len)
		return false;
	size_t cap = x->cap ? x->cap : FIRST_CAP;
	while (x->len + extra > cap / 4 * 3)
		cap *= 2;
	return cap == x->cap || resize(x, cap);
}

bool pl_row_index_add(struct pl_row_index *x, uint32_t hash, uint32_t row)
{
	if (x->len >= x->cap / 4 * 3 && !pl_row_index_reserve(x, 1))
		return false;
	place(x, (struct pl_row_slot){.hash = hash, .row = row + 1});
	x->len++;
	return true;
}
