/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. Which locks a thread has entered. Its frames are gone through from the innermost
 * one on: what lets go of a lock comes before what entered it. */
#include "lock_holds.h"

#include "clock.h"
#include "lock_wait.h"
#include "with.h"

/* Bounds on what a made-up process can ask for. */
#define HOLDS_MAX    16384
#define RELEASED_MAX 16 /* by one thread: signal handlers within Condition.wait */

/* A lock that a thread has let go of in Condition.wait. */
struct release {
	pl_addr lock;
	bool own; /* the thread itself has entered it */
};

struct taker {
	struct pl_hold_finder *f;
	pl_lock_hold_vec *ret;
	struct pl_lock_hold hold; /* the same for all of a frame but for the lock */
	struct release released[RELEASED_MAX];
	size_t count;
};

void pl_hold_finder_deinit(struct pl_hold_finder *f)
{
	pl_map_deinit(&f->codes);
	pl_map_deinit(&f->outside);
}

static bool is_asked_for(const struct pl_hold_finder *f, pl_addr lock)
{
	uint32_t any;

	return lock && (!f->only || pl_map_get(f->only, lock, PL_FOR_LOCK, &any));
}

static void push(struct taker *t, const struct pl_lock_hold *h)
{
	if (t->ret->len >= HOLDS_MAX || !pl_vec_push(t->ret, *h))
		t->f->in_part = true;
}

static struct release *find_release(struct taker *t, pl_addr lock)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->released[i].lock == lock)
			return &t->released[i];
	return NULL;
}

static void take_with(void *ctx, pl_addr obj)
{
	struct taker *t = ctx;
	enum pl_lock_kind kind;

	t->hold.lock = pl_lock_behind(t->f->values, obj, &kind);
	if (!is_asked_for(t->f, t->hold.lock))
		return;
	struct release *r = find_release(t, t->hold.lock);
	if (r)
		r->own = true;
	else
		push(t, &t->hold);
}

static void take_withs(struct taker *t, const struct pl_frame *frame)
{
	struct pl_map *outside = &t->f->outside;
	uint32_t any;

	if (!pl_map_get(outside, frame->code, frame->instr, &any) && !pl_with_each(t->f->values, frame, take_with, t))
		(void)pl_map_set(outside, frame->code, frame->instr, 1); /* without memory: asked again */
}

unsigned pl_hold_finder_may(struct pl_hold_finder *f, pl_addr code)
{
	uint32_t may;

	if (pl_map_get(&f->codes, code, 0, &may))
		return may;
	may = (pl_with_may_be(f->values, code) ? PL_MAY_ENTER : 0) |
	      (pl_lock_may_release(f->values, code) ? PL_MAY_RELEASE : 0);
	(void)pl_map_set(&f->codes, code, 0, may); /* without memory: asked again */
	return may;
}

static void take_release(struct taker *t, const struct pl_frame *frame)
{
	pl_addr lock = pl_lock_released(t->f->values, frame);

	if (!is_asked_for(t->f, lock) || find_release(t, lock))
		return;
	if (t->count < RELEASED_MAX)
		t->released[t->count++] = (struct release){.lock = lock};
	else
		t->f->in_part = true;
}

/* What it has let go of that it has not entered: another thread has. */
static void take_released_of_others(struct taker *t)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct pl_lock_hold h = {.lock = t->released[i].lock};

		if (!t->released[i].own)
			push(t, &h);
	}
}

/* May frame number @p i of a thread be looked at, too? */
static bool has_room(struct pl_hold_finder *f, size_t i)
{
	if (i < f->thread_frames && f->frames && pl_clock_monotonic_ns() < f->end_ns) {
		f->frames--;
		return true;
	}
	f->in_part = true;
	return false;
}

void pl_hold_finder_find(struct pl_hold_finder *f, const pl_frame_vec *frames, pl_lock_hold_vec *ret)
{
	struct taker t = {.f = f, .ret = ret, .hold = {.inside = true, .innermost = true}};

	for (size_t i = 0; i < frames->len && has_room(f, i); i++) {
		if (frames->data[i].kind != PL_FRAME_PYTHON)
			continue;
		t.hold.frame = frames->data[i].addr;
		unsigned may = pl_hold_finder_may(f, frames->data[i].code);
		if (may & PL_MAY_ENTER)
			take_withs(&t, &frames->data[i]);
		if (may & PL_MAY_RELEASE)
			take_release(&t, &frames->data[i]);
		t.hold.innermost = false;
	}
	take_released_of_others(&t);
}
