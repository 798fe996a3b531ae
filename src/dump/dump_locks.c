/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: locks for a dump. What is waited for is found while the threads are read; who has it is asked when all
 * of them are known. A holder is named if the lock itself says it, or if exactly one thread stands inside `with` and no
 * other one has let go of it in its stead. */
#include "dump_locks.h"

#include <stdlib.h>

#include "clock.h"
#include "dump_parts.h"
#include "lock.h"
#include "wait_words.h"
#include "with.h"

/* Bounds on what a made-up process can ask for. */
#define THREAD_FRAMES_MAX 4096
#define FRAMES_MAX	  200000 /* of all threads */
#define HOLDS_MAX	  16384
#define RELEASED_MAX	  16	     /* by one thread: signal handlers within Condition.wait */
#define NOT_KNOWN	  UINT64_MAX /* no tid: several are inside, or one that has let go of it */

void pl_lock_finder_init(struct pl_lock_finder *l, struct pl_dump *d, struct pl_dump_process *p, struct pl_mem *mem,
			 const struct pl_py *py, uint64_t end_ns)
{
	l->d = d;
	l->p = p;
	l->end_ns = end_ns;
	pl_values_init(&l->values, mem, py, NULL);
}

void pl_lock_finder_deinit(struct pl_lock_finder *l)
{
	pl_map_deinit(&l->by_object);
	pl_map_deinit(&l->keeping);
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

/* A lock that a thread has let go of in Condition.wait. */
struct release {
	uint32_t awaited;
	bool own; /* the thread itself has entered it */
};

/* Goes through the frames of one thread, the innermost first: what lets go of a lock comes before what entered it. */
struct hold_taker {
	struct pl_lock_finder *l;
	pl_lock_hold_vec *ret;
	struct pl_lock_hold hold; /* the same for all of a frame but for the lock */
	struct release released[RELEASED_MAX];
	size_t count;
};

static void push(struct pl_lock_finder *l, pl_lock_hold_vec *holds, const struct pl_lock_hold *h)
{
	if (holds->len >= HOLDS_MAX || !pl_vec_push(holds, *h))
		l->in_part = true;
}

void pl_lock_finder_take(struct pl_lock_finder *l, const struct pl_lock_hold *h)
{
	push(l, &l->holds, h);
}

static struct release *find_release(struct hold_taker *t, uint32_t awaited)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->released[i].awaited == awaited)
			return &t->released[i];
	return NULL;
}

static void take_with(void *ctx, pl_addr obj)
{
	struct hold_taker *t = ctx;
	enum pl_lock_kind kind;
	pl_addr lock = pl_lock_behind(&t->l->values, obj, &kind);

	if (!lock || !pl_map_get(&t->l->by_object, lock, PL_FOR_LOCK, &t->hold.awaited))
		return;
	struct release *r = find_release(t, t->hold.awaited);
	if (r)
		r->own = true;
	else
		push(t->l, t->ret, &t->hold);
}

/* The lock that the frame has let go of, or 0. */
static pl_addr released_by(struct pl_lock_finder *l, const struct pl_frame *f)
{
	uint32_t any;

	if (pl_map_get(&l->keeping, f->code, 0, &any))
		return 0;
	if (pl_lock_may_release(&l->values, f->code))
		return pl_lock_released(&l->values, f);
	(void)pl_map_set(&l->keeping, f->code, 0, 1); /* without memory: asked again */
	return 0;
}

static void take_release(struct hold_taker *t, const struct pl_frame *f)
{
	pl_addr lock = released_by(t->l, f);
	uint32_t awaited;

	if (!lock || !pl_map_get(&t->l->by_object, lock, PL_FOR_LOCK, &awaited) || find_release(t, awaited))
		return;
	if (t->count < RELEASED_MAX)
		t->released[t->count++] = (struct release){.awaited = awaited};
	else
		t->l->in_part = true;
}

/* What it has let go of that it has not entered: another thread has. */
static void take_released_of_others(struct hold_taker *t)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct pl_lock_hold h = {.awaited = t->released[i].awaited, .tid = t->hold.tid};

		if (!t->released[i].own)
			push(t->l, t->ret, &h);
	}
}

/* May frame number @p i of a thread be looked at, too? */
static bool has_room(struct pl_lock_finder *l, size_t i)
{
	if (i < THREAD_FRAMES_MAX && l->frames < FRAMES_MAX && pl_clock_monotonic_ns() < l->end_ns) {
		l->frames++;
		return true;
	}
	l->in_part = true;
	return false;
}

void pl_lock_finder_holds(struct pl_lock_finder *l, const pl_frame_vec *frames, uint64_t tid, pl_lock_hold_vec *ret)
{
	struct hold_taker t = {.l = l, .ret = ret, .hold = {.tid = tid, .inside = true, .innermost = true}};

	for (size_t i = 0; i < frames->len && has_room(l, i); i++) {
		if (frames->data[i].kind != PL_FRAME_PYTHON)
			continue;
		t.hold.frame = frames->data[i].addr;
		pl_with_each(&l->values, &frames->data[i], take_with, &t);
		take_release(&t, &frames->data[i]);
		t.hold.innermost = false;
	}
	take_released_of_others(&t);
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
static bool takes_back(const struct pl_map *waits, const struct pl_lock_hold *h)
{
	uint32_t any;

	return h->innermost && pl_map_get(waits, h->tid, h->awaited, &any);
}

/* Of each thing awaited the one thread that stands inside; 0: none, more than one, or another one has let go of
 * it. NULL: that is not known. */
static uint64_t *only_holders(const struct pl_lock_finder *l)
{
	struct pl_map waits = PL_MAP_INIT;
	bool known = !l->in_part && l->found.len && list_waits(l, &waits);
	uint64_t *tids = known ? calloc(l->found.len, sizeof *tids) : NULL;

	for (size_t i = 0; i < l->holds.len && tids; i++) {
		const struct pl_lock_hold *h = &l->holds.data[i];
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
