/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: locks for a dump. What is waited for is found while the threads are read; who has it is asked when all
 * of them are known. A holder is named if the lock itself says it, or if exactly one thread stands inside `with` and no
 * other one has let go of it in its stead. */
#include "dump_locks.h"

#include <stdlib.h>

#include "dump_parts.h"
#include "lock.h"
#include "wait_words.h"

/* Bounds on what a made-up process can ask for. */
#define THREAD_FRAMES_MAX 4096
#define FRAMES_MAX	  200000 /* of all threads */
#define HOLDS_MAX	  16384
#define NOT_KNOWN	  UINT64_MAX /* no tid: several are inside, or one that has let go of it */

void pl_lock_finder_init(struct pl_lock_finder *l, struct pl_dump *d, struct pl_dump_process *p, struct pl_mem *mem,
			 const struct pl_py *py, uint64_t end_ns)
{
	l->d = d;
	l->p = p;
	l->finder = (struct pl_hold_finder){.values = &l->values,
					    .only = &l->by_object,
					    .thread_frames = THREAD_FRAMES_MAX,
					    .frames = FRAMES_MAX,
					    .end_ns = end_ns};
	pl_values_init(&l->values, mem, py, NULL);
}

void pl_lock_finder_deinit(struct pl_lock_finder *l)
{
	pl_map_deinit(&l->by_object);
	pl_hold_finder_deinit(&l->finder);
	pl_vec_deinit(&l->found);
	pl_vec_deinit(&l->holds);
}

/* ---- what is waited for ------------------------------------------------------------------------------------------ */

static bool add(struct pl_lock_finder *l, const struct pl_lock_wait *w, uint32_t *ret)
{
	const struct pl_dump_awaited a = {
		.what = pl_wait_word(w->what), .object = w->object, .type = pl_dump_str(l->d, w->type)};

	*ret = (uint32_t)l->found.len;
	if (!pl_vec_push(&l->found, *w))
		return false;
	if (pl_vec_push(&l->p->awaited, a)) {
		if (pl_map_set(&l->by_object, w->object, w->what, *ret))
			return true;
		l->p->awaited.len--;
	}
	l->found.len--;
	return false;
}

void pl_lock_finder_add(struct pl_lock_finder *l, const struct pl_lock_wait *w, struct pl_dump_thread *t)
{
	uint32_t at;

	if (w->what == PL_FOR_UNKNOWN)
		return;
	if (pl_map_get(&l->by_object, w->object, w->what, &at) || add(l, w, &at))
		t->awaited = at + 1;
}

/* ---- who has it -------------------------------------------------------------------------------------------------- */

void pl_lock_finder_take(struct pl_lock_finder *l, const struct pl_lock_hold *h, uint64_t tid)
{
	struct pl_dump_hold hold = {.tid = tid, .inside = h->inside, .innermost = h->innermost};

	if (pl_map_get(&l->by_object, h->lock, PL_FOR_LOCK, &hold.awaited) &&
	    (l->holds.len >= HOLDS_MAX || !pl_vec_push(&l->holds, hold)))
		l->finder.in_part = true;
}

/* (thread, what it waits for). False without memory. */
static bool list_waits(const struct pl_lock_finder *l, struct pl_map *ret)
{
	bool ok = true;

	for (size_t i = 0; i < l->p->threads.len && ok; i++) {
		const struct pl_dump_thread *t = &l->p->threads.data[i];

		ok = !t->awaited || pl_map_set(ret, t->tid, t->awaited - 1, 1);
	}
	return ok;
}

/* Does the thread wait for this lock in the very function that is inside its `with`? Then that has let go of it: it is
 * being taken back. */
static bool takes_back(const struct pl_map *waits, const struct pl_dump_hold *h)
{
	uint32_t any;

	return h->innermost && pl_map_get(waits, h->tid, h->awaited, &any);
}

/* Of each thing awaited the one thread that stands inside; 0: none, more than one, or another one has let go of
 * it. NULL: that is not known. */
static uint64_t *only_holders(const struct pl_lock_finder *l)
{
	struct pl_map waits = PL_MAP_INIT;
	bool known = !l->finder.in_part && l->found.len && list_waits(l, &waits);
	uint64_t *tids = known ? calloc(l->found.len, sizeof *tids) : NULL;

	for (size_t i = 0; i < l->holds.len && tids; i++) {
		const struct pl_dump_hold *h = &l->holds.data[i];
		uint64_t *tid = &tids[h->awaited];

		if (!takes_back(&waits, h))
			*tid = h->inside && (!*tid || *tid == h->tid) ? h->tid : NOT_KNOWN;
	}
	for (size_t i = 0; i < l->found.len && tids; i++)
		tids[i] = tids[i] == NOT_KNOWN ? 0 : tids[i];
	pl_map_deinit(&waits);
	return tids;
}

/* @p only: the one thread that stands inside. */
static void tell(const struct pl_lock_finder *l, uint32_t at, uint64_t only)
{
	const struct pl_lock_wait *w = &l->found.data[at];
	struct pl_dump_awaited *a = &l->p->awaited.data[at];
	struct pl_lock lock;

	if (w->what == PL_FOR_THREAD)
		a->holder = pl_dump_tid_of(l->p, w->ident);
	if (w->what != PL_FOR_LOCK || !pl_lock_read(l->values.mem, l->values.py, w->object, w->kind, &lock))
		return;
	a->lock_known = true;
	a->held = lock.held;
	a->count = lock.count;
	if (lock.held)
		a->holder = w->kind == PL_LOCK_PLAIN ? only : pl_dump_tid_of(l->p, lock.owner);
}

void pl_lock_finder_tell(struct pl_lock_finder *l)
{
	uint64_t *only = only_holders(l);

	for (uint32_t i = 0; i < l->found.len; i++)
		tell(l, i, only ? only[i] : 0);
	free(only);
}
