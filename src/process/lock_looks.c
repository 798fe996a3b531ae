/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See lock_looks.h.
 *
 * Which lock it is, is read while the thread stands still that waits for it, within a ration. Who holds it, is read
 * after all threads have been sampled: an RLock names its owner; of a Lock the holder is the one thread that stands
 * inside its `with`. What a thread that has not run since holds is known from before; one that runs is read twice, and
 * what both readings find in the same frame counts. Whether the lock is held at all is read last. */
#include "lock_looks.h"

#include <stdlib.h>

#include "clock.h"
#include "python_process.h"

/* Bounds on what a round can take. */
#define LOCKS_MAX     64
#define THREAD_FRAMES 256
#define FRAMES	      8192
#define LOOK_NS	      2000000
#define TRIES	      4
#define SEARCH_WORK   (2u << 20) /* of one for the lock that a thread waits for */
/* How long types and code are believed to be what they were. */
#define FRESH_NS PL_NS_PER_S

struct plumb_error *pl_lock_looks_create(struct pl_reader *r, struct pl_lock_looks **ret)
{
	struct pl_lock_looks *l = calloc(1, sizeof *l);

	if (!l)
		return &pl_err_no_memory;
	l->reader = r;
	l->finder = (struct pl_hold_finder){.values = &l->values, .thread_frames = THREAD_FRAMES};
	*ret = l;
	return NULL;
}

void pl_lock_looks_destroy(struct pl_lock_looks *l)
{
	if (!l)
		return;
	pl_mem_pages_destroy(l->pages);
	pl_hold_finder_deinit(&l->finder);
	pl_vec_deinit(&l->first);
	pl_vec_deinit(&l->second);
	pl_vec_deinit(&l->frames);
	pl_map_deinit(&l->no_lock);
	pl_vec_deinit(&l->locks);
	pl_map_deinit(&l->by_object);
	free(l);
}

/* A type or a code that has gone may have left its place to another one. False: there is no memory to read into. */
static bool stay_fresh(struct pl_lock_looks *l, uint64_t now)
{
	if (l->pages && now < l->fresh_ns + FRESH_NS)
		return true;
	pl_mem_pages_destroy(l->pages);
	l->pages = NULL;
	struct plumb_error *err =
		pl_mem_pages_create(pl_mem_limited_init(&l->limited, l->reader->mem, &l->work), &l->pages);
	plumb_error_destroy(err);
	if (err)
		return false;
	l->fresh_ns = now;
	pl_values_init(&l->values, pl_mem_pages_mem(l->pages), &l->reader->py, NULL);
	pl_map_clear(&l->finder.codes);
	pl_map_clear(&l->finder.outside);
	pl_map_clear(&l->no_lock);
	return true;
}

static const struct pl_frame *innermost_python(const pl_frame_vec *frames)
{
	for (size_t i = 0; i < frames->len; i++)
		if (frames->data[i].kind == PL_FRAME_PYTHON)
			return &frames->data[i];
	return NULL;
}

/* Condition.wait waits at one instruction to be notified, and at another one for its lock: most threads that wait for
 * something to do wait there, again and again. */
static bool is_known_to_be_none(const struct pl_lock_looks *l, const struct pl_frame *f)
{
	uint32_t any;

	return !f || pl_map_get(&l->no_lock, f->code, f->instr, &any);
}

/* A search that ran out may have taken the lock within a Condition for a lock of the program, and have names of types
 * without their modules: nothing is said, and these are forgotten. The next one at this place would take as much. */
static void find_in_limits(struct pl_lock_looks *l, const pl_frame_vec *frames, pl_addr futex,
			   const struct pl_frame *innermost, struct pl_awaits *ret)
{
	struct pl_lock_wait wait;

	pl_mem_pages_forget(l->pages);
	pl_lock_wait_find(&l->values, frames, futex, &wait);
	if (l->work.ran_out) {
		pl_values_init(&l->values, pl_mem_pages_mem(l->pages), &l->reader->py, NULL);
		if (l->work.most == SEARCH_WORK)
			(void)pl_map_set(&l->no_lock, innermost->code, innermost->instr, 1);
		return;
	}
	l->work.most = UINT64_MAX; /* what a code may do is little to read, and kept: it is read as a whole */
	if (wait.what == PL_FOR_LOCK)
		*ret = (struct pl_awaits){.object = wait.object, .kind = wait.kind};
	else if (wait.what != PL_FOR_UNKNOWN && pl_hold_finder_may(&l->finder, innermost->code) & PL_MAY_RELEASE)
		(void)pl_map_set(&l->no_lock, innermost->code, innermost->instr, 1); /* without memory: asked again */
}

void pl_lock_looks_find(struct pl_lock_looks *l, const pl_frame_vec *frames, pl_addr futex, struct pl_awaits *ret)
{
	const struct pl_frame *innermost = innermost_python(frames);
	uint64_t now = pl_clock_monotonic_ns();

	*ret = (struct pl_awaits){0};
	if (!stay_fresh(l, now) || is_known_to_be_none(l, innermost))
		return;
	l->work = pl_ration_begin(&l->searches, now);
	if (l->work.most > SEARCH_WORK)
		l->work.most = SEARCH_WORK;
	if (l->work.most)
		find_in_limits(l, frames, futex, innermost, ret);
	pl_ration_end(&l->searches, &l->work);
}

void pl_lock_looks_begin(struct pl_lock_looks *l)
{
	pl_vec_clear(&l->locks);
	pl_map_clear(&l->by_object);
}

bool pl_lock_looks_add(struct pl_lock_looks *l, const struct pl_awaits *lock, uint32_t *ret)
{
	if (pl_map_get(&l->by_object, lock->object, PL_FOR_LOCK, ret))
		return true;
	*ret = (uint32_t)l->locks.len;
	if (*ret == LOCKS_MAX || !pl_vec_push(&l->locks, ((struct pl_look_at_lock){.lock = *lock})))
		return false;
	if (pl_map_set(&l->by_object, lock->object, PL_FOR_LOCK, *ret))
		return true;
	l->locks.len--;
	return false;
}

/* ---- what one thread holds --------------------------------------------------------------------------------------- */

static uint32_t node_of(const struct pl_seen_stack *seen, pl_addr frame)
{
	for (size_t i = seen->now.len; i-- > 0;)
		if (seen->now.data[i].addr == frame)
			return seen->now.data[i].node;
	return 0;
}

static void keep(struct pl_thread_sampler *thread, const struct pl_lock_hold *h)
{
	struct pl_thread_holds *holds = &thread->holds;

	if (holds->count == PL_THREAD_HOLDS) {
		holds->whole = false;
		return;
	}
	holds->of[holds->count].lock = h->lock;
	holds->of[holds->count].inside = h->inside;
	holds->of[holds->count].innermost = h->innermost;
	holds->of[holds->count++].node = h->inside ? node_of(&thread->stack.seen, h->frame) : 0;
}

static bool find_holds(struct pl_lock_looks *l, const struct pl_thread_sampler *thread, pl_lock_hold_vec *ret)
{
	pl_vec_clear(ret);
	pl_mem_pages_forget(l->pages);
	l->finder.in_part = false;
	pl_hold_finder_find(&l->finder, &thread->stack.frames, ret);
	return !l->finder.in_part;
}

/* False: its stack cannot be read as a whole. */
static bool read_stack(struct pl_reader *r, struct pl_thread_sampler *thread)
{
	struct pl_reading reading = {0};

	for (int i = 0; i < TRIES && !reading.complete; i++) {
		struct plumb_error *err = pl_stack_read(r, &thread->stack, &reading);

		plumb_error_destroy(err);
		if (err)
			return false;
	}
	thread->holds.node = reading.node;
	return reading.complete;
}

static bool has(const pl_lock_hold_vec *holds, const struct pl_lock_hold *h)
{
	for (size_t i = 0; i < holds->len; i++)
		if (holds->data[i].lock == h->lock && holds->data[i].frame == h->frame)
			return true;
	return false;
}

static bool has_frame(const pl_lock_hold_vec *holds, pl_addr frame)
{
	for (size_t i = 0; i < holds->len; i++)
		if (holds->data[i].inside && holds->data[i].frame == frame)
			return true;
	return false;
}

/* Of the frames that were inside of a lock, as they are now. */
static bool find_again(struct pl_lock_looks *l, const struct pl_thread_sampler *thread)
{
	pl_vec_clear(&l->frames);
	pl_vec_clear(&l->second);
	for (size_t i = 0; i < thread->stack.frames.len; i++)
		if (has_frame(&l->first, thread->stack.frames.data[i].addr) &&
		    !pl_vec_push(&l->frames, thread->stack.frames.data[i]))
			return false;
	pl_mem_pages_forget(l->pages);
	pl_hold_finder_find(&l->finder, &l->frames, &l->second);
	return !l->finder.in_part;
}

/* What it has let go of counts if one of the readings has seen it. */
static void read_twice(struct pl_lock_looks *l, struct pl_reader *r, struct pl_thread_sampler *thread)
{
	struct pl_thread_holds *holds = &thread->holds;

	holds->whole = read_stack(r, thread) && find_holds(l, thread, &l->first);
	if (!holds->whole || !l->first.len)
		return;
	holds->whole = read_stack(r, thread) && find_again(l, thread);
	for (size_t i = 0; i < l->first.len && holds->whole; i++)
		if (!l->first.data[i].inside)
			keep(thread, &l->first.data[i]);
	for (size_t i = 0; i < l->second.len && holds->whole; i++)
		if (l->second.data[i].inside && has(&l->first, &l->second.data[i]))
			keep(thread, &l->second.data[i]);
}

/* Its last sample has read the stack. */
static void take_at_rest(struct pl_lock_looks *l, struct pl_thread_sampler *thread)
{
	const struct pl_seen_stack *seen = &thread->stack.seen;

	thread->holds.node = seen->now.len ? seen->now.data[seen->now.len - 1].node : 0;
	thread->holds.whole = find_holds(l, thread, &l->first);
	for (size_t i = 0; i < l->first.len && thread->holds.whole; i++)
		keep(thread, &l->first.data[i]);
	thread->holds.known = thread->holds.whole;
	thread->holds.runs = thread->counters.runs;
}

static bool is_known(const struct pl_thread_sampler *thread)
{
	return thread->still && thread->holds.known && thread->holds.runs == thread->counters.runs;
}

static void look_at_thread(struct pl_lock_looks *l, struct pl_reader *r, struct pl_thread_sampler *thread)
{
	struct pl_thread_holds *holds = &thread->holds;

	if (is_known(thread))
		return;
	*holds = (struct pl_thread_holds){.whole = pl_thread_sampler_is_native(thread)};
	if (holds->whole) /* it holds no lock of Python */
		return;
	if (thread->still)
		take_at_rest(l, thread);
	else
		read_twice(l, r, thread);
	l->fn(l->ctx, thread);
}

/* In the time there is: of what is left out nothing is known. */
static void look_in_time(struct pl_lock_looks *l, struct pl_reader *r, struct pl_thread_sampler *thread)
{
	if (pl_clock_monotonic_ns() < l->finder.end_ns)
		look_at_thread(l, r, thread);
	else if (!is_known(thread))
		thread->holds = (struct pl_thread_holds){0};
}

/* What is left out may hold any lock. */
static void look_at_all(struct pl_lock_looks *l, struct pl_python_process *p)
{
	for (size_t i = 0; i < p->threads.samplers.len; i++)
		look_in_time(l, &p->reader, p->threads.samplers.data[i]);
}

/* ---- who holds a lock -------------------------------------------------------------------------------------------- */

static void name_holder(struct pl_look_at_lock *look, struct pl_thread_sampler *thread)
{
	const struct pl_thread_holds *holds = &thread->holds;

	look->known = PL_HOLDER_THREAD;
	look->holder = thread;
	look->node = holds->node;
	look->inside = 0;
	for (uint32_t i = 0; i < holds->count; i++)
		if (holds->of[i].lock == look->lock.object && holds->of[i].inside)
			look->inside = holds->of[i].node; /* the outermost comes last: it was taken there */
}

/* Does it wait for this lock in the very function that is inside its `with`? Then that has let go of it. */
static bool takes_back(const struct pl_thread_sampler *thread, pl_addr lock, uint32_t i)
{
	return thread->holds.of[i].innermost && thread->still && thread->awaits.object == lock;
}

/* Is it inside? *other_ret: it has let go of what another one has entered, or not all of it could be looked at. */
static bool is_inside(const struct pl_thread_sampler *thread, pl_addr lock, bool *other_ret)
{
	const struct pl_thread_holds *holds = &thread->holds;
	bool inside = false;

	*other_ret = !holds->whole;
	for (uint32_t i = 0; i < holds->count; i++) {
		if (holds->of[i].lock != lock || takes_back(thread, lock, i))
			continue;
		inside |= holds->of[i].inside;
		*other_ret |= !holds->of[i].inside;
	}
	return inside;
}

/* The one thread that stands inside. NULL: none, more than one, or that is not known. */
static struct pl_thread_sampler *only_one_inside(const struct pl_thread_list *list, pl_addr lock)
{
	struct pl_thread_sampler *only = NULL;

	for (size_t i = 0; i < list->samplers.len; i++) {
		struct pl_thread_sampler *thread = list->samplers.data[i];
		bool other, inside = is_inside(thread, lock, &other);

		if (other || (inside && only))
			return NULL;
		only = inside ? thread : only;
	}
	return only;
}

static struct pl_thread_sampler *thread_of_ident(const struct pl_thread_list *list, uint64_t ident)
{
	for (size_t i = 0; i < list->samplers.len; i++)
		if (ident && list->samplers.data[i]->ident == ident)
			return list->samplers.data[i];
	return NULL;
}

static void look_at_lock(struct pl_lock_looks *l, struct pl_python_process *p, struct pl_look_at_lock *look)
{
	struct pl_thread_sampler *holder;
	struct pl_lock lock;

	pl_mem_pages_forget(l->pages);
	if (!pl_lock_read(l->values.mem, l->values.py, look->lock.object, look->lock.kind, &lock))
		return;
	if (!lock.held) {
		look->known = PL_HOLDER_NOBODY;
		return;
	}
	if (look->lock.kind == PL_LOCK_PLAIN) {
		holder = only_one_inside(&p->threads, look->lock.object);
	} else {
		holder = thread_of_ident(&p->threads, lock.owner);
		if (holder)
			look_in_time(l, &p->reader, holder);
	}
	if (holder)
		name_holder(look, holder);
}

static bool any_is_plain(const struct pl_lock_looks *l)
{
	for (size_t i = 0; i < l->locks.len; i++)
		if (l->locks.data[i].lock.kind == PL_LOCK_PLAIN)
			return true;
	return false;
}

void pl_lock_looks_ask(struct pl_lock_looks *l, struct pl_python_process *p, pl_looked_fn *fn, void *ctx)
{
	uint64_t now = pl_clock_monotonic_ns();

	if (!l->locks.len || !stay_fresh(l, now))
		return;
	l->work = (struct pl_work){.most = UINT64_MAX}; /* time is the limit */
	l->fn = fn;
	l->ctx = ctx;
	l->finder.frames = FRAMES;
	l->finder.end_ns = now + LOOK_NS;
	if (any_is_plain(l))
		look_at_all(l, p);
	for (size_t i = 0; i < l->locks.len; i++)
		look_at_lock(l, p, &l->locks.data[i]);
}
