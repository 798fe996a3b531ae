/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: see cycles.h. Under `work`. */
#include "cycles.h"

#include <stdlib.h>
#include <string.h>

static void cycle_deinit(struct pl_cycle *c)
{
	pl_vec_deinit(&c->cells);
	pl_row_index_deinit(&c->index);
}

void pl_cycles_deinit(struct pl_cycles *c)
{
	pl_cycles_clear(c);
	pl_vec_deinit(&c->list);
}

void pl_cycles_clear(struct pl_cycles *c)
{
	for (size_t i = 0; i < c->list.len; i++)
		cycle_deinit(&c->list.data[i]);
	pl_vec_clear(&c->list);
	c->ended = 0;
	c->cells = 0;
}

static void drop(struct pl_cycles *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		c->cells -= c->list.data[i].cells.len;
		cycle_deinit(&c->list.data[i]);
	}
	c->list.len -= count;
	c->ended -= count;
	memmove(c->list.data, c->list.data + count, c->list.len * sizeof *c->list.data);
}

void pl_cycles_drop(struct pl_cycles *c)
{
	drop(c, 1);
}

const struct pl_cycle *pl_cycles_oldest(const struct pl_cycles *c)
{
	return c->ended ? &c->list.data[0] : NULL;
}

static uint64_t last_number(const struct pl_cycles *c)
{
	return c->list.data[c->list.len - 1].number;
}

/* Up to @p number; of a long time in which nothing was counted the end is enough. */
static struct plumb_error *reach(struct pl_cycles *c, uint64_t number)
{
	uint64_t next = c->list.len ? last_number(c) + 1 : number;

	if (next < number && number - next > c->max)
		next = number - c->max;
	for (; next <= number; next++) {
		if (!pl_vec_push(&c->list, ((struct pl_cycle){.number = next})))
			return &pl_err_no_memory;
	}
	return NULL;
}

static struct pl_cycle *cycle_of(struct pl_cycles *c, uint64_t number)
{
	for (size_t i = c->list.len; i-- > 1;)
		if (c->list.data[i].number <= number)
			return &c->list.data[i];
	return &c->list.data[0];
}

static bool same_key(const struct pl_cell *a, const struct pl_cell *b)
{
	return a->stack == b->stack && a->thread == b->thread && a->state == b->state && a->quality == b->quality;
}

static struct plumb_error *count(struct pl_cycle *cycle, const struct pl_sample *s)
{
	struct pl_cell c = {.stack = s->stack, .thread = s->thread, .state = s->state, .quality = s->quality};
	uint32_t row, hash = pl_row_hash((uint64_t)c.stack << 32 | c.thread, (uint64_t)c.state << 8 | c.quality);

	for (size_t at = pl_row_index_start(&cycle->index, hash); pl_row_index_next(&cycle->index, hash, &at, &row);)
		if (same_key(&cycle->cells.data[row], &c)) {
			cycle->cells.data[row].samples += 1 + s->extra;
			cycle->cells.data[row].weight_ns += s->weight_ns;
			return NULL;
		}
	c.samples = 1 + s->extra;
	c.weight_ns = s->weight_ns;
	if (cycle->cells.len >= UINT32_MAX || !pl_vec_reserve(&cycle->cells, 1) ||
	    !pl_row_index_add(&cycle->index, hash, (uint32_t)cycle->cells.len))
		return &pl_err_no_memory;
	cycle->cells.data[cycle->cells.len++] = c;
	return NULL;
}

struct plumb_error *pl_cycles_add(struct pl_cycles *c, const struct pl_sample *s)
{
	if (!c->length_ns)
		return NULL;
	struct plumb_error *err = reach(c, s->time_ns / c->length_ns);

	if (err)
		return err;
	struct pl_cycle *cycle = cycle_of(c, s->time_ns / c->length_ns);
	size_t before = cycle->cells.len;
	err = count(cycle, s);
	c->cells += cycle->cells.len - before;
	return err;
}

/* The oldest of those that have ended, as there is room for so many only. */
static void drop_beyond(struct pl_cycles *c)
{
	size_t gone = 0, cells = c->cells;

	for (size_t open = c->ended; open < c->list.len; open++)
		cells -= c->list.data[open].cells.len;
	while (gone < c->ended && (c->ended - gone > c->max || (c->max_cells && cells > c->max_cells)))
		cells -= c->list.data[gone++].cells.len;
	if (gone)
		drop(c, gone);
}

/* It will seldom grow again. */
static void trim(struct pl_cycle *c)
{
	void *less = c->cells.len ? realloc(c->cells.data, c->cells.len * sizeof *c->cells.data) : NULL;

	if (!less)
		return;
	c->cells.data = less;
	c->cells.cap = c->cells.len;
}

struct plumb_error *pl_cycles_advance(struct pl_cycles *c, uint64_t elapsed_ns, uint64_t real_ns)
{
	if (!c->length_ns)
		return NULL;
	struct plumb_error *err = reach(c, elapsed_ns / c->length_ns);

	for (; c->ended < c->list.len; c->ended++) {
		struct pl_cycle *cycle = &c->list.data[c->ended];
		uint64_t end_ns = (cycle->number + 1) * c->length_ns;

		if (end_ns > elapsed_ns)
			break;
		cycle->end_real_ns = real_ns - (elapsed_ns - end_ns);
		pl_row_index_deinit(&cycle->index);
		trim(cycle);
	}
	drop_beyond(c);
	return err;
}

void pl_cycles_finish(struct pl_cycles *c, uint64_t real_ns)
{
	if (c->ended == c->list.len)
		return;
	struct pl_cycle *last = &c->list.data[c->list.len - 1];
	for (; c->ended < c->list.len; c->ended++)
		c->list.data[c->ended].end_real_ns = real_ns;
	if (!last->cells.len) {
		cycle_deinit(last);
		c->list.len--;
		c->ended--;
	}
	drop_beyond(c);
}
