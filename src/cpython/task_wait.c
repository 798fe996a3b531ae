/* SPDX-License-Identifier: Apache-2.0 */
/* What a suspended asyncio task waits for. Layer: cpython. Pure over pl_mem; one thread; allocates a few short texts.
 *
 * Locks, events and queues of asyncio are written in Python: a task that waits for one stands in a function of theirs,
 * whose `self` it is. Who holds an asyncio.Lock it does not know itself; but who is inside `async with lock:` has its
 * __aexit__ on the value stack. */
#include "task_wait.h"

#include <string.h>

#include "dict.h"
#include "role.h"
#include "slots.h"
#include "with.h"

#define FRAMES_MAX 6 /* Barrier.wait, _block, Condition.wait_for, wait */
#define LOCKS_MAX  64

enum place {
	INNER, /* it waits for a future of its own: nothing of its chain is further in */
	OUTER, /* it awaits another one of these */
};

static const struct pl_role roles[] = {
	{"asyncio/locks.py", "acquire", "asyncio.locks.Lock", PL_FOR_LOCK, INNER},
	{"asyncio/locks.py", "acquire", "asyncio.locks.Semaphore", PL_FOR_PERMIT, INNER},
	{"asyncio/locks.py", "wait", "asyncio.locks.Event", PL_FOR_EVENT, INNER},
	{"asyncio/locks.py", "wait", "asyncio.locks.Condition", PL_FOR_NOTICE, INNER},
	{"asyncio/locks.py", "wait_for", "asyncio.locks.Condition", PL_FOR_NOTICE, OUTER},
	{"asyncio/locks.py", "_block", "asyncio.locks.Barrier", PL_FOR_BARRIER, OUTER},
	{"asyncio/locks.py", "_wait", "asyncio.locks.Barrier", PL_FOR_BARRIER, OUTER},
	{"asyncio/locks.py", "wait", "asyncio.locks.Barrier", PL_FOR_BARRIER, OUTER},
	{"asyncio/queues.py", "get", "asyncio.queues.Queue", PL_FOR_ITEM, INNER},
	{"asyncio/queues.py", "put", "asyncio.queues.Queue", PL_FOR_ROOM, INNER},
	{"asyncio/queues.py", "join", "asyncio.queues.Queue", PL_FOR_DONE, OUTER},
	{"asyncio/tasks.py", "sleep", NULL, PL_FOR_TIME, INNER},
	{"asyncio/tasks.py", "_wait", NULL, PL_FOR_TASKS, INNER},
	{"asyncio/tasks.py", "wait_for", NULL, PL_FOR_TASKS, INNER},
	{"asyncio/taskgroups.py", "_aexit", "asyncio.taskgroups.TaskGroup", PL_FOR_TASKS, INNER}, /* 3.14+ */
	{"asyncio/taskgroups.py", "__aexit__", "asyncio.taskgroups.TaskGroup", PL_FOR_TASKS, INNER},
};

void pl_task_public_name(char type[static PL_TYPE_NAME])
{
	static const char *const modules[] = {"asyncio.locks.", "asyncio.queues.", "asyncio.futures.", "asyncio.tasks.",
					      "_asyncio."};

	for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
		size_t n = strlen(modules[i]);
		if (strncmp(type, modules[i], n) != 0)
			continue;
		char name[PL_TYPE_NAME];
		memcpy(name, type + n, strlen(type + n) + 1);
		memcpy(type, "asyncio.", 8);
		if (strlen(name) < PL_TYPE_NAME - 8)
			memcpy(type + 8, name, strlen(name) + 1);
		return;
	}
}

static pl_addr attribute(struct pl_values *v, pl_addr obj, const char *name)
{
	pl_addr value = 0;
	struct plumb_error *err = pl_instance_attr(v->mem, v->py, obj, name, &value);

	plumb_error_destroy(err);
	return err ? 0 : value;
}

bool pl_task_lock_held(struct pl_values *v, pl_addr lock, bool *known_ret)
{
	uint64_t held = 0;
	pl_addr value = attribute(v, lock, "_locked");
	struct plumb_error *err = value ? pl_long_value(v->mem, v->py, value, &held) : &pl_err_stale;

	plumb_error_destroy(err);
	*known_ret = !err;
	return !err && held == 1;
}

static const struct pl_role *role_of(struct pl_values *v, const struct pl_frame *f, pl_addr *self_ret)
{
	return pl_role_of(v, roles, sizeof roles / sizeof roles[0], f, self_ret);
}

/* The lock behind what `async with` entered: itself, or that of a Condition. 0: it is no lock. */
static pl_addr lock_behind(struct pl_values *v, pl_addr obj)
{
	if (pl_value_is_a(v, obj, "asyncio.locks.Lock"))
		return obj;
	if (!pl_value_is_a(v, obj, "asyncio.locks.Condition"))
		return 0;
	pl_addr lock = attribute(v, obj, "_lock");
	return lock && pl_value_is_a(v, lock, "asyncio.locks.Lock") ? lock : 0;
}

/* ---- what it waits for ------------------------------------------------------------------------------------------- */

static pl_addr argument(struct pl_values *v, const struct pl_frame *f, uint32_t i)
{
	struct pl_slots s;
	struct plumb_error *err = pl_slots_of(v->mem, v->py, f, &s);

	plumb_error_destroy(err);
	return err ? 0 : pl_slot_object(v->mem, v->py, s.variables, i);
}

/* wait_for(fut, timeout), _wait(fs, timeout, ...) */
static void tell_tasks(struct pl_values *v, const struct pl_frame *f, const struct pl_role *role, pl_addr first,
		       struct pl_task_await *ret)
{
	ret->object = first;
	if (role->class) {
		ret->tasks = PL_TASKS_IN_GROUP;
		return;
	}
	ret->tasks = strcmp(role->function, "_wait") == 0 ? PL_TASKS_IN_SET : PL_TASKS_ALONE;
	ret->limited |= argument(v, f, 1) != v->py->none;
}

/* The outermost of the functions that wait for one another at the inner end says what it is for. A Condition that waits
 * for its lock has been notified, and waits for that. */
static void find_role(struct pl_values *v, const struct pl_frame *frames, size_t count, struct pl_task_await *ret)
{
	for (size_t i = 0; i < count && i < FRAMES_MAX; i++) {
		pl_addr self;
		const struct pl_role *role = role_of(v, &frames[i], &self);

		if (!role || role->place != (i ? OUTER : INNER))
			return;
		ret->what = role->what;
		ret->object = role->what == PL_FOR_TIME ? 0 : self;
		if (role->what == PL_FOR_TASKS)
			tell_tasks(v, &frames[i], role, self, ret);
		if (role->what == PL_FOR_LOCK || role->what == PL_FOR_TIME || role->what == PL_FOR_TASKS)
			return;
	}
}

/* ---- `async with` ------------------------------------------------------------------------------------------------ */

struct entered {
	pl_addr lock;
	size_t frame;
};

struct inside {
	struct pl_values *v;
	const struct pl_frame *frames;
	struct pl_task_await *wait;
	size_t frame;
	struct entered locks[LOCKS_MAX];
	size_t count;
};

/* Of asyncio or another library. asyncio.timeout(None) is none. */
static bool is_time_limit(struct pl_values *v, pl_addr obj)
{
	static const char *const names[] = {"Timeout", "timeout", "CancelScope"};
	char type[PL_TYPE_NAME];

	if (!pl_value_type_name(v, obj, type))
		return false;
	if (strcmp(type, "asyncio.timeouts.Timeout") == 0)
		return attribute(v, obj, "_when") != v->py->none;
	const char *dot = strrchr(type, '.');
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(dot ? dot + 1 : type, names[i]) == 0)
			return true;
	return false;
}

/* 3.12+: the exit method is found while its object's __aenter__ is awaited, too. */
static bool is_being_entered(const struct inside *in, pl_addr obj)
{
	static const struct pl_role enter = {NULL, "__aenter__", NULL, 0, 0};
	pl_addr self;

	return in->frame && pl_role_of(in->v, &enter, 1, &in->frames[in->frame - 1], &self) && self == obj;
}

static void take_with(void *ctx, pl_addr obj)
{
	struct inside *in = ctx;
	pl_addr lock = lock_behind(in->v, obj);

	if (!lock)
		in->wait->limited |= is_time_limit(in->v, obj);
	else if (in->count < LOCKS_MAX && !is_being_entered(in, obj))
		in->locks[in->count++] = (struct entered){lock, in->frame};
}

/* The lock that Condition.wait lets go of, if the frame runs that; else 0. */
static pl_addr released_by(struct pl_values *v, const struct pl_frame *f)
{
	pl_addr self;
	const struct pl_role *role = role_of(v, f, &self);

	return role && role->what == PL_FOR_NOTICE ? lock_behind(v, self) : 0;
}

/* It was entered by whoever has called Condition.wait: by this task, or by one that made a task of that call. */
static void drop_released(struct inside *in, size_t count, pl_task_lock_fn *fn, void *ctx)
{
	pl_addr last = 0; /* wait_for() calls wait() */

	for (size_t i = 0; i < count && i < FRAMES_MAX; i++) {
		pl_addr lock = released_by(in->v, &in->frames[i]);
		size_t kept = 0;

		if (!lock || lock == last)
			continue;
		for (size_t k = 0; k < in->count; k++)
			if (in->locks[k].lock != lock)
				in->locks[kept++] = in->locks[k];
		if (kept == in->count)
			fn(ctx, lock, false);
		in->count = kept;
		last = lock;
	}
}

/* Does the very function that is inside `async with` await acquire()? Then it has let go of the lock, and takes it
 * back. */
static bool takes_back(const struct pl_task_await *wait, const struct entered *e)
{
	return wait->what == PL_FOR_LOCK && wait->object == e->lock && e->frame == 1;
}

void pl_task_wait_find(struct pl_values *v, const struct pl_frame *frames, size_t count, pl_task_lock_fn *fn, void *ctx,
		       struct pl_task_await *ret)
{
	struct inside in = {.v = v, .frames = frames, .wait = ret};

	*ret = (struct pl_task_await){0};
	find_role(v, frames, count, ret);
	if (ret->object && ret->what != PL_FOR_TASKS && !pl_value_type_name(v, ret->object, ret->type))
		ret->what = PL_FOR_UNKNOWN;
	pl_task_public_name(ret->type);
	for (in.frame = 0; in.frame < count; in.frame++)
		pl_with_each(v, &frames[in.frame], take_with, &in);
	if (in.count || ret->what == PL_FOR_NOTICE || ret->what == PL_FOR_LOCK)
		drop_released(&in, count, fn, ctx);
	for (size_t i = 0; i < in.count; i++)
		if (!takes_back(ret, &in.locks[i]))
			fn(ctx, in.locks[i].lock, true);
}
