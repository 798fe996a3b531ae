/* SPDX-License-Identifier: Apache-2.0 */
/* What a waiting thread waits for. Layer: cpython. Pure over pl_mem; one thread; allocates two short texts.
 *
 * The lock itself is proved by the futex: a thread parked for a PyMutex names it on its stack; a semaphore is that of
 * the lock whose object the innermost frame has among its slots, as `self` of the call or bound to its method. What the
 * lock is for is told by the functions of the standard library that stand on top of the stack, each with its `self`. */
#include "lock_wait.h"

#include <string.h>

#include "dict.h"
#include "pick.h"
#include "role.h"
#include "slots.h"

#define FRAMES_MAX	6 /* Barrier.wait, _wait, Condition.wait_for, wait */
#define HANDLE_BYTES	128
#define SLOTS_LOOKED_AT 256

/* May the function itself be what waits, in C, or only one that it has called? */
enum place {
	OUTER, /* if it is the innermost, it takes the lock that guards what it is about to wait for */
	INNER, /* it waits in a lock of its own */
	JOINS, /* 3.13+: it waits in the handle of its thread */
};

#define CONDITION_WAIT 0
static const struct pl_role roles[] = {
	[CONDITION_WAIT] = {"threading.py", "wait", "threading.Condition", PL_FOR_NOTICE, INNER},
	{"threading.py", "wait_for", "threading.Condition", PL_FOR_NOTICE, OUTER},
	{"threading.py", "wait", "threading.Event", PL_FOR_EVENT, OUTER},
	{"threading.py", "wait", "threading.Barrier", PL_FOR_BARRIER, OUTER},
	{"threading.py", "_wait", "threading.Barrier", PL_FOR_BARRIER, OUTER},
	{"threading.py", "_enter", "threading.Barrier", PL_FOR_BARRIER, OUTER},
	{"threading.py", "acquire", "threading.Semaphore", PL_FOR_PERMIT, OUTER},
	{"threading.py", "acquire", "threading.RLock", PL_FOR_LOCK, INNER},
	{"threading.py", "_acquire_restore", "threading.RLock", PL_FOR_LOCK, INNER},
	{"threading.py", "join", "threading.Thread", PL_FOR_THREAD, JOINS},
	{"threading.py", "_wait_for_tstate_lock", "threading.Thread", PL_FOR_THREAD, INNER},
	{"queue.py", "get", "queue.Queue", PL_FOR_ITEM, OUTER},
	{"queue.py", "put", "queue.Queue", PL_FOR_ROOM, OUTER},
	{"queue.py", "join", "queue.Queue", PL_FOR_DONE, OUTER},
	{"Queue.py", "get", "Queue.", PL_FOR_ITEM, OUTER}, /* 2.7 */
	{"Queue.py", "put", "Queue.", PL_FOR_ROOM, OUTER},
	{"Queue.py", "join", "Queue.", PL_FOR_DONE, OUTER},
	{"futures/_base.py", "result", "concurrent.futures._base.Future", PL_FOR_RESULT, OUTER},
	{"futures/_base.py", "exception", "concurrent.futures._base.Future", PL_FOR_RESULT, OUTER},
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

void pl_lock_public_name(char type[static PL_TYPE_NAME])
{
	static const char private[] = "threading._"; /* 2.7: what programs call are functions */
	size_t n = sizeof private - 1;

	if (strcmp(type, "_thread.lock") == 0 || strcmp(type, "thread.lock") == 0)
		strcpy(type, "threading.Lock");
	else if (strcmp(type, "_thread.RLock") == 0)
		strcpy(type, "threading.RLock");
	else if (strncmp(type, private, n) == 0)
		memmove(type + n - 1, type + n, strlen(type + n) + 1);
}

/* ---- the lock ---------------------------------------------------------------------------------------------------- */

static bool waits_in(struct pl_values *v, pl_addr obj, pl_addr futex, struct pl_lock_wait *ret)
{
	enum pl_lock_kind kind = obj ? pl_lock_kind_of(v, obj) : PL_LOCK_NONE;
	struct pl_lock lock;

	if (!pl_lock_read(v->mem, v->py, obj, kind, &lock) || lock.futex != futex)
		return false;
	ret->object = obj;
	ret->kind = kind;
	return true;
}

/* The semaphore of a lock that the frame is just taking. Slots that are in use come first: so a lock that is gone,
 * whose semaphore is another's by now, is not met before the right one. */
static bool find_in_slots(struct pl_values *v, const struct pl_frame *f, pl_addr futex, struct pl_lock_wait *ret)
{
	struct pl_slots s;
	struct plumb_error *err = pl_slots_of(v->mem, v->py, f, &s);
	uint32_t count = err ? 0 : (uint32_t)((s.stack - s.variables) / 8) + s.stack_size;

	plumb_error_destroy(err);
	for (uint32_t i = 0; i < count && i < SLOTS_LOOKED_AT; i++) {
		pl_addr obj = pl_slot_object(v->mem, v->py, s.variables, i);
		pl_addr self;
		if (waits_in(v, obj, futex, ret) ||
		    (pl_bound_method(v, obj, &self) != PL_METHOD_NONE && waits_in(v, self, futex, ret)))
			return true;
	}
	return false;
}

static void find_lock(struct pl_values *v, const struct pl_frame *innermost, pl_addr futex, struct pl_lock_wait *ret)
{
	pl_addr parked = pl_lock_parked(v->mem, v->py, futex) - v->py->layout.object.size;
	enum pl_lock_kind kind = pl_pointer_ok(parked) ? pl_lock_kind_of(v, parked) : PL_LOCK_NONE;

	if (kind == PL_LOCK_NONE) {
		(void)find_in_slots(v, innermost, futex, ret);
	} else {
		ret->object = parked;
		ret->kind = kind;
	}
	if (ret->kind != PL_LOCK_NONE)
		ret->what = ret->kind == PL_LOCK_QUEUE ? PL_FOR_ITEM : PL_FOR_LOCK;
}

/* ---- what it is for ---------------------------------------------------------------------------------------------- */

static uint64_t ident_of(struct pl_values *v, pl_addr thread)
{
	const char *name = v->py->layout.version < PL_PY_VERSION(3, 0, 0) ? "_Thread__ident" : "_ident";
	uint64_t ident = 0;
	pl_addr value;
	struct plumb_error *err = pl_instance_attr_of_few(v->mem, v->py, thread, name, &value);

	if (!err && value != v->py->none)
		err = pl_long_value(v->mem, v->py, value, &ident);
	if (err)
		ident = 0;
	plumb_error_destroy(err);
	return ident;
}

/* 3.13+: does a thread that waits in the futex wait for the end of @p thread? What it is parked in is part of what the
 * Thread's handle points to. */
static bool is_joined(struct pl_values *v, pl_addr thread, pl_addr futex)
{
	pl_addr handle = 0, parked = pl_lock_parked(v->mem, v->py, futex);
	const char *name = v->py->layout.version < PL_PY_VERSION(3, 14, 0) ? "_handle" : "_os_thread_handle";
	struct plumb_error *err = pl_instance_attr_of_few(v->mem, v->py, thread, name, &handle);

	if (!err)
		err = pl_pointer_ok(handle) ? pl_mem_read_u64(v->mem, handle + v->py->layout.object.size, &handle)
					    : &pl_err_corrupt;
	plumb_error_destroy(err);
	return !err && parked > handle && parked - handle < HANDLE_BYTES;
}

static const struct pl_role *role_of(struct pl_values *v, const struct pl_frame *f, pl_addr *self_ret)
{
	const struct pl_role *role = pl_role_of(v, roles, sizeof roles / sizeof roles[0], f, self_ret);

	return *self_ret ? role : NULL;
}

static bool may_be_innermost(struct pl_values *v, const struct pl_role *role, pl_addr self, pl_addr futex,
			     const struct pl_lock_wait *found)
{
	if (role->place == JOINS)
		return found->kind == PL_LOCK_NONE && is_joined(v, self, futex);
	return role->place == INNER && found->kind == PL_LOCK_PLAIN;
}

/* The outermost of the functions that wait for one another on top of the stack says what it is for. */
static void find_role(struct pl_values *v, const struct pl_frame *frames, size_t n, pl_addr futex,
		      struct pl_lock_wait *ret)
{
	for (size_t i = 0, seen = 0; i < n && seen < FRAMES_MAX; i++) {
		pl_addr self;

		if (frames[i].kind != PL_FRAME_PYTHON)
			continue;
		const struct pl_role *role = role_of(v, &frames[i], &self);
		if (!role || (!seen && !may_be_innermost(v, role, self, futex, ret)))
			return;
		seen++;
		ret->what = role->what;
		ret->object = self;
		ret->kind = role->what == PL_FOR_LOCK ? PL_LOCK_PYTHON : PL_LOCK_NONE;
		ret->ident = role->what == PL_FOR_THREAD ? ident_of(v, self) : 0;
		if (role->what == PL_FOR_LOCK)
			return;
	}
}

void pl_lock_wait_find(struct pl_values *v, const pl_frame_vec *frames, pl_addr futex, struct pl_lock_wait *ret)
{
	size_t at = 0;

	*ret = (struct pl_lock_wait){0};
	while (at < frames->len && frames->data[at].kind != PL_FRAME_PYTHON)
		at++;
	if (at == frames->len)
		return;
	find_lock(v, &frames->data[at], futex, ret);
	/* A Condition waits for its own RLock when it has been notified: that is no wait for a notice any more. */
	if (ret->kind != PL_LOCK_RECURSIVE && ret->kind != PL_LOCK_QUEUE)
		find_role(v, frames->data + at, frames->len - at, futex, ret);
	if (ret->object && !pl_value_type_name(v, ret->object, ret->type))
		*ret = (struct pl_lock_wait){0};
	pl_lock_public_name(ret->type);
}

pl_addr pl_lock_behind(struct pl_values *v, pl_addr obj, enum pl_lock_kind *kind_ret)
{
	const char *name = v->py->layout.version < PL_PY_VERSION(3, 0, 0) ? "_Condition__lock" : "_lock";
	pl_addr lock;

	*kind_ret = pl_lock_kind_of(v, obj);
	if (*kind_ret != PL_LOCK_NONE)
		return obj;
	if (!pl_role_is_of(v, obj, "threading.Condition"))
		return 0;
	struct plumb_error *err = pl_instance_attr_of_few(v->mem, v->py, obj, name, &lock);
	plumb_error_destroy(err);
	*kind_ret = err ? PL_LOCK_NONE : pl_lock_kind_of(v, lock);
	return *kind_ret == PL_LOCK_NONE ? 0 : lock;
}

pl_addr pl_lock_released(struct pl_values *v, const struct pl_frame *f)
{
	enum pl_lock_kind kind;
	pl_addr self;
	const struct pl_role *role = f->kind == PL_FRAME_PYTHON ? role_of(v, f, &self) : NULL;

	return role == &roles[CONDITION_WAIT] ? pl_lock_behind(v, self, &kind) : 0;
}

bool pl_lock_may_release(struct pl_values *v, pl_addr code)
{
	return pl_role_may_be(v, &roles[CONDITION_WAIT], code);
}
