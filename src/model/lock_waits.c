/* SPDX-License-Identifier: Apache-2.0 */
/* For which locks threads waited (layer model). One thread at a time: a stream has a place in its file.
 *
 * One pass over the samples fills three tables of sums: of locks, of the places where they were waited for, of those
 * that held them. Keys of more than two words are interned in steps. */
#include "lock_waits.h"

#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "timed_sums.h"

/* Rows of each of the tables; what is beyond counts among the others. */
#define MOST_ROWS (1u << 16)

struct place_sum {
	uint32_t lock;
	struct pl_lock_place place;
	struct pl_timed_sum sum;
};

struct place_sums {
	struct pl_map by_place; /* (lock, place) -> of */
	PL_VEC(struct place_sum) of;
};

struct holder_sum {
	uint32_t lock;
	struct pl_lock_holding holding;
	struct pl_timed_sum sum;
};

struct lock_sum {
	struct pl_lock_row row;
	struct pl_timed_sum sum, passed_on, unknown;
};

struct adder {
	const struct plumb_profile *p;
	struct pl_filter filter;
	struct pl_map by_lock;	  /* (process, object) -> locks */
	struct pl_map by_thread;  /* (lock, thread) */
	struct pl_map by_line;	  /* (function, line) -> the first location there */
	struct pl_map by_holding; /* (tid, inside and function) -> a number */
	struct pl_map by_holder;  /* (lock, that number) -> holders */
	PL_VEC(struct lock_sum) locks;
	struct place_sums places, held_in;
	PL_VEC(struct holder_sum) holders;
	struct pl_timed_sum all, others;
};

static void adder_deinit(struct adder *a)
{
	pl_map_deinit(&a->by_lock);
	pl_map_deinit(&a->by_thread);
	pl_map_deinit(&a->by_line);
	pl_map_deinit(&a->by_holding);
	pl_map_deinit(&a->by_holder);
	pl_vec_deinit(&a->locks);
	pl_map_deinit(&a->places.by_place);
	pl_vec_deinit(&a->places.of);
	pl_map_deinit(&a->held_in.by_place);
	pl_vec_deinit(&a->held_in.of);
	pl_vec_deinit(&a->holders);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The row for a key, *len of them now; that is a new one if *new_ret. */
static struct plumb_error *row_of(struct pl_map *m, uint64_t k0, uint64_t k1, size_t len, uint32_t *ret, bool *new_ret)
{
	*new_ret = !pl_map_get(m, k0, k1, ret);
	if (!*new_ret)
		return NULL;
	*ret = (uint32_t)len;
	if (len >= MOST_ROWS)
		return &pl_err_limit;
	return pl_map_set(m, k0, k1, *ret) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *lock_of(struct adder *a, const struct pl_sample *s, uint32_t *ret)
{
	const struct pl_lock_state *l = &a->p->locks[s->lock - 1];
	const struct lock_sum row = {
		.row = {.process = a->p->threads[s->thread].process, .object = l->object, .recursive = l->recursive}};
	bool is_new;
	struct plumb_error *err = row_of(&a->by_lock, row.row.process, row.row.object, a->locks.len, ret, &is_new);

	return err || !is_new || pl_vec_push(&a->locks, row) ? err : &pl_err_no_memory;
}

static struct plumb_error *note_thread(struct adder *a, uint32_t lock, uint32_t thread)
{
	uint32_t any;

	if (pl_map_get(&a->by_thread, lock, thread, &any))
		return NULL;
	a->locks.data[lock].row.threads++;
	return pl_map_set(&a->by_thread, lock, thread, 1) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *add_place(struct adder *a, struct place_sums *sums, uint32_t lock, uint32_t function,
				     int32_t line, const struct pl_sample *s)
{
	const struct place_sum row = {.lock = lock, .place = {.function = function, .line = line}};
	uint32_t i;
	bool is_new;
	struct plumb_error *err =
		row_of(&sums->by_place, lock, (uint64_t)function << 32 | (uint32_t)line, sums->of.len, &i, &is_new);

	if (!err && is_new && !pl_vec_push(&sums->of, row))
		err = &pl_err_no_memory;
	if (!err)
		pl_timed_sum_add(&sums->of.data[i].sum, a->p, s);
	return err;
}

/* Of an empty stack, of which all frames are hidden, no place is known. */
static struct plumb_error *add_waiter(struct adder *a, uint32_t lock, const struct pl_sample *s)
{
	const struct pl_location *at = s->stack ? &a->p->locations[a->p->stacks[s->stack].location] : NULL;

	return !at ? NULL : add_place(a, &a->places, lock, at->function, at->line, s);
}

static struct plumb_error *add_held_in(struct adder *a, uint32_t lock, const struct pl_sample *s)
{
	uint32_t inside = a->p->locations[a->p->locks[s->lock - 1].inside - 1].function;

	return add_place(a, &a->held_in, lock, inside, (int32_t)a->p->functions[inside].firstline, s);
}

/* Of all places in a line one stands for them. *place: 1 + its location, 0 none. */
static struct plumb_error *by_line(struct adder *a, uint32_t *place)
{
	const struct pl_location *l = *place ? &a->p->locations[*place - 1] : NULL;
	uint32_t first;

	if (!l)
		return NULL;
	if (pl_map_get(&a->by_line, l->function, (uint32_t)l->line, &first)) {
		*place = first;
		return NULL;
	}
	return pl_map_set(&a->by_line, l->function, (uint32_t)l->line, *place) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *add_holder(struct adder *a, uint32_t lock, const struct pl_sample *s)
{
	const struct pl_lock_state *l = &a->p->locks[s->lock - 1];
	struct holder_sum row = {.lock = lock, .holding = {.tid = l->tid, .name = l->name, .inside = l->inside}};
	uint32_t number, i;
	bool is_new;
	struct plumb_error *err = by_line(a, &row.holding.inside);

	row.holding.function = l->location ? 1 + a->p->locations[l->location - 1].function : 0;
	if (!err)
		err = row_of(&a->by_holding, row.holding.tid, (uint64_t)row.holding.inside << 32 | row.holding.function,
			     a->by_holding.len, &number, &is_new);
	if (!err)
		err = row_of(&a->by_holder, lock, number, a->holders.len, &i, &is_new);
	if (!err && is_new && !pl_vec_push(&a->holders, row))
		err = &pl_err_no_memory;
	if (!err)
		pl_timed_sum_add(&a->holders.data[i].sum, a->p, s);
	return err;
}

static struct plumb_error *add_to_lock(struct adder *a, uint32_t lock, const struct pl_sample *s)
{
	struct lock_sum *sums = &a->locks.data[lock];
	uint8_t holder = a->p->locks[s->lock - 1].holder;
	struct plumb_error *err;

	pl_timed_sum_add(&sums->sum, a->p, s);
	if (holder != PL_LOCK_HELD)
		pl_timed_sum_add(holder == PL_LOCK_FREE ? &sums->passed_on : &sums->unknown, a->p, s);
	err = note_thread(a, lock, s->thread);
	if (!err)
		err = add_waiter(a, lock, s);
	if (!err && holder == PL_LOCK_HELD)
		err = add_holder(a, lock, s);
	if (!err && a->p->locks[s->lock - 1].inside)
		err = add_held_in(a, lock, s);
	return err;
}

static struct plumb_error *add(void *ctx, const struct pl_sample *s)
{
	struct adder *a = ctx;
	const struct pl_cell cell = {.thread = s->thread, .state = s->state};
	uint32_t lock;

	if (!s->lock || !pl_view_passes(a->p, &a->filter, &cell))
		return NULL;
	pl_timed_sum_add(&a->all, a->p, s);
	struct plumb_error *err = a->p->locks[s->lock - 1].object ? lock_of(a, s, &lock) : &pl_err_limit;
	if (!err)
		err = add_to_lock(a, lock, s);
	if (err != &pl_err_limit)
		return err;
	pl_timed_sum_add(&a->others, a->p, s);
	return NULL;
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_locks(const void *va, const void *vb)
{
	const struct lock_sum *a = va, *b = vb;
	int order = compare_u64(b->row.waited.weight_ns, a->row.waited.weight_ns);

	if (!order)
		order = compare_u64(a->row.process, b->row.process);
	return order ? order : compare_u64(a->row.object, b->row.object);
}

static int compare_places(const void *va, const void *vb)
{
	const struct pl_lock_place *a = va, *b = vb;
	int order = compare_u64(b->share.weight_ns, a->share.weight_ns);

	if (!order)
		order = compare_u64(a->function, b->function);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int compare_holders(const void *va, const void *vb)
{
	const struct pl_lock_holding *a = va, *b = vb;
	int order = compare_u64(b->held.weight_ns, a->held.weight_ns);

	if (!order)
		order = compare_u64(a->tid, b->tid);
	if (!order)
		order = compare_u64(a->inside, b->inside);
	return order ? order : compare_u64(a->function, b->function);
}

static bool give_places(struct adder *a, struct place_sums *sums, bool held)
{
	for (size_t i = 0; i < sums->of.len; i++) {
		struct place_sum *place = &sums->of.data[i];
		struct lock_sum *lock = &a->locks.data[place->lock];

		place->place.share = pl_timed_sum_share(&place->sum, &lock->sum);
		if (held ? !pl_vec_push(&lock->row.held_in, place->place)
			 : !pl_vec_push(&lock->row.places, place->place))
			return false;
	}
	return true;
}

static bool give_holders(struct adder *a)
{
	for (size_t i = 0; i < a->holders.len; i++) {
		struct holder_sum *holder = &a->holders.data[i];
		struct lock_sum *lock = &a->locks.data[holder->lock];

		holder->holding.held = pl_timed_sum_share(&holder->sum, &lock->sum);
		if (!pl_vec_push(&lock->row.holders, holder->holding))
			return false;
	}
	return true;
}

static void sort(struct pl_lock_row *row)
{
	if (row->places.len)
		qsort(row->places.data, row->places.len, sizeof *row->places.data, compare_places);
	if (row->held_in.len)
		qsort(row->held_in.data, row->held_in.len, sizeof *row->held_in.data, compare_places);
	if (row->holders.len)
		qsort(row->holders.data, row->holders.len, sizeof *row->holders.data, compare_holders);
}

static void add_sums(struct pl_timed_sum *to, const struct pl_timed_sum *from)
{
	to->samples += from->samples;
	for (int b = 0; b < PL_BATCHES; b++)
		to->ns[b] += from->ns[b];
}

static void row_deinit(struct pl_lock_row *row)
{
	pl_vec_deinit(&row->places);
	pl_vec_deinit(&row->held_in);
	pl_vec_deinit(&row->holders);
}

/* The result has the row from now on; else it counts among the others. */
static bool give_row(struct adder *a, struct lock_sum *lock, struct pl_lock_blame *ret)
{
	if (ret->rows.len == PL_LOCK_ROWS) {
		add_sums(&a->others, &lock->sum);
		return true;
	}
	sort(&lock->row);
	lock->row.passed_on = pl_timed_sum_share(&lock->passed_on, &lock->sum);
	lock->row.unknown = pl_timed_sum_share(&lock->unknown, &lock->sum);
	if (!pl_vec_push(&ret->rows, lock->row))
		return false;
	lock->row.places.data = NULL;
	lock->row.held_in.data = NULL;
	lock->row.holders.data = NULL;
	return true;
}

static bool finish(struct adder *a, struct pl_lock_blame *ret)
{
	bool ok = give_places(a, &a->places, false) && give_places(a, &a->held_in, true) && give_holders(a);

	for (size_t i = 0; i < a->locks.len; i++)
		a->locks.data[i].row.waited = pl_timed_sum_share(&a->locks.data[i].sum, &a->all);
	if (a->locks.len)
		qsort(a->locks.data, a->locks.len, sizeof *a->locks.data, compare_locks);
	for (size_t i = 0; i < a->locks.len && ok; i++)
		ok = give_row(a, &a->locks.data[i], ret);
	for (size_t i = 0; i < a->locks.len; i++)
		row_deinit(&a->locks.data[i].row);
	ret->others = pl_timed_sum_share(&a->others, &a->all);
	ret->samples = a->all.samples;
	ret->weight_ns = pl_timed_sum_ns(&a->all);
	return ok;
}

struct plumb_error *pl_lock_blame_find(const struct plumb_profile *p, const struct pl_filter *f,
				       struct pl_lock_blame *ret)
{
	struct adder a = {.p = p, .filter = *f};
	struct plumb_error *err;

	*ret = (struct pl_lock_blame){0};
	if (!p->lock_count || !pl_profile_is_timed(p))
		return NULL;
	/* Who waits for a lock is not idle. */
	if (a.filter.idle == PL_IDLE_HIDE_THREADS)
		a.filter.idle = PL_IDLE_KEEP;
	err = pl_profile_each(p, add, &a);
	if (!err && !finish(&a, ret))
		err = &pl_err_no_memory;
	adder_deinit(&a);
	return err;
}

void pl_lock_blame_deinit(struct pl_lock_blame *b)
{
	for (size_t i = 0; i < b->rows.len; i++)
		row_deinit(&b->rows.data[i]);
	pl_vec_deinit(&b->rows);
}
