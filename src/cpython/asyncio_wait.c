/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for whom among tasks: what a task waits for, and what is known of those that wait for it. Layer: cpython.
 * Pure over pl_mem; one thread; allocates what struct pl_tasks and the walk hold. */
#include <string.h>

#include "asyncio_parts.h"
#include "dict.h"
#include "task_wait.h"

#define EDGES_MAX    (PL_MAX_TASKS * 4)
#define MEMBERS_SEEN 64

static struct plumb_error *unless_fatal(struct plumb_error *err)
{
	if (!err || pl_task_is_fatal(err))
		return err;
	plumb_error_destroy(err);
	return NULL;
}

/* PLUMB_ERR_LIMIT: there is no room. Who goes through many of a task ends it then, not to look at those of each. */
static struct plumb_error *add_edge(struct pl_task_walk *w, pl_addr task, pl_addr waiter)
{
	const struct pl_task_edge e = {task, waiter};

	if (w->edges.len >= EDGES_MAX)
		return &pl_err_limit;
	return pl_vec_push(&w->edges, e) ? NULL : &pl_err_no_memory;
}

/* One of several that it waits for. */
static void note_member(struct pl_task_walk *w, struct pl_task *task, pl_addr other)
{
	if (task->members_tasks || task->members_seen == MEMBERS_SEEN)
		return;
	task->members_seen++;
	if (pl_future_is_done(&w->a, other))
		return;
	bool is_task = pl_task_derives(&w->a, other, w->a.task_type);
	task->members_tasks |= is_task;
	task->members_futures |= !is_task;
}

/* Where all have ended it is about to go on: that is no wait either. */
static bool is_for_tasks(struct pl_task_walk *w, const struct pl_task *task, const struct pl_task_await *wait)
{
	if (wait->tasks == PL_TASKS_IN_GROUP)
		return true;
	if (wait->tasks == PL_TASKS_IN_SET || task->wait_kind == PL_WAIT_GATHER)
		return task->members_tasks || !task->members_futures;
	pl_addr other = wait->tasks == PL_TASKS_ALONE ? wait->object : task->waits_for;
	return pl_task_derives(&w->a, other, w->a.task_type);
}

/* The task waits for the end of @p other, another one or a future. Each need has an edge. */
static struct plumb_error *add_need(struct pl_task_walk *w, struct pl_task *task, pl_addr other)
{
	struct plumb_error *err = add_edge(w, other, task->addr);

	if (err)
		return err;
	if (!pl_vec_push(&w->out->needs, other))
		return &pl_err_no_memory;
	task->needs++;
	return NULL;
}

/* ---- what it waits for ------------------------------------------------------------------------------------------- */

/* The task waits for every child of what asyncio.gather returned. */
static struct plumb_error *add_children(struct pl_task_walk *w, struct pl_task *task, pl_addr gather)
{
	const struct pl_layout *lay = &w->a.py->layout;
	pl_addr list, first = 0, child;
	uint64_t count = 0, most = w->again ? MEMBERS_SEEN : PL_MAX_TASKS;
	struct plumb_error *err = pl_instance_attr(w->a.mem, w->a.py, gather, "_children", &list);

	if (!err)
		err = pl_mem_read_u64(w->a.mem, list + lay->bytes.ob_size, &count);
	if (!err)
		err = pl_mem_read_u64(w->a.mem, list + lay->list.items, &first);
	for (uint64_t i = 0; !err && i < count && i < most; i++) {
		err = pl_mem_read_u64(w->a.mem, first + i * 8, &child);
		if (!err)
			err = add_need(w, task, child);
		if (!err)
			note_member(w, task, child);
	}
	return unless_fatal(err);
}

static bool is_gather(struct pl_task_walk *w, pl_addr future)
{
	return pl_value_is_a(&w->a.values, future, "asyncio.tasks._GatheringFuture");
}

static struct plumb_error *add_future(struct pl_task_walk *w, struct pl_task *task, pl_addr future)
{
	return is_gather(w, future) ? add_children(w, task, future) : unless_fatal(add_need(w, task, future));
}

/* A set of tasks. */
struct members {
	struct pl_task_walk *w;
	struct pl_task *task;
	pl_addr pending; /* the last one met that has not ended */
	size_t count;	 /* of those */
};

static struct plumb_error *add_group_member(void *ctx, pl_addr obj)
{
	struct members *m = ctx;

	return add_need(m->w, m->task, obj);
}

static struct plumb_error *add_set_member(void *ctx, pl_addr obj)
{
	struct members *m = ctx;

	if (m->w->edges.len >= EDGES_MAX || m->w->futures >= EDGES_MAX)
		return &pl_err_limit;
	m->w->futures++;
	if (pl_future_is_done(&m->w->a, obj))
		return NULL;
	note_member(m->w, m->task, obj);
	m->pending = obj;
	m->count++;
	return add_edge(m->w, obj, m->task->addr);
}

/* A TaskGroup waits for all of its tasks. asyncio.wait may be content with the first one that ends: only if one is left
 * it is clear which. */
static struct plumb_error *add_members(struct pl_task_walk *w, struct pl_task *task, const struct pl_task_await *wait)
{
	struct members m = {.w = w, .task = task};
	pl_addr set = wait->object;
	bool group = wait->tasks == PL_TASKS_IN_GROUP;
	struct plumb_error *err = group ? pl_instance_attr(w->a.mem, w->a.py, set, "_tasks", &set) : NULL;

	if (!err)
		err = pl_set_each(&w->a, set, false, group ? add_group_member : add_set_member, &m);
	if (!err && m.count == 1)
		err = add_need(w, task, m.pending);
	return unless_fatal(err);
}

static void take_lock(void *ctx, pl_addr lock, bool inside)
{
	struct pl_task_walk *w = ctx;
	const struct pl_task_lock found = {lock, inside};

	if (w->out->locks.len < EDGES_MAX)
		(void)pl_vec_push(&w->out->locks, found); /* without memory: not told */
}

static struct plumb_error *set_object(struct pl_task_walk *w, struct pl_task *task, const struct pl_task_await *wait)
{
	struct pl_buf *text = &w->out->text;

	task->what = (uint8_t)wait->what;
	task->object = wait->object;
	task->type_at = (uint32_t)text->len;
	struct plumb_error *err = pl_buf_add_str(text, wait->type);
	task->type_len = (uint32_t)text->len - task->type_at;
	return err;
}

/* It waits for a future that nothing more is known of: that may yet turn out to be one of the tasks. */
static struct plumb_error *set_result(struct pl_task_walk *w, struct pl_task *task, pl_addr future)
{
	struct pl_task_await wait = {.what = PL_FOR_RESULT, .object = future};

	if (is_gather(w, future) || !pl_value_type_name(&w->a.values, future, wait.type))
		return NULL;
	pl_task_public_name(wait.type);
	return set_object(w, task, &wait);
}

static struct plumb_error *add_object(struct pl_task_walk *w, struct pl_task *task, const struct pl_task_await *wait)
{
	struct plumb_error *err;

	if (wait->tasks == PL_TASKS_IN_GROUP || wait->tasks == PL_TASKS_IN_SET)
		return add_members(w, task, wait);
	if (wait->tasks == PL_TASKS_ALONE) {
		err = wait->object == task->waits_for ? NULL : add_future(w, task, wait->object);
		return err ? err : set_result(w, task, wait->object);
	}
	return wait->what ? set_object(w, task, wait) : set_result(w, task, task->waits_for);
}

/* Of a task that runs most of its frames are elsewhere. */
struct plumb_error *pl_task_add_wait(struct pl_task_walk *w, struct pl_task *task)
{
	const struct pl_frame *frames = task->frames ? &w->out->frames.data[task->frames_at] : NULL;
	struct pl_task_await wait;
	struct plumb_error *err;

	task->needs_at = (uint32_t)w->out->needs.len;
	task->locks_at = (uint32_t)w->out->locks.len;
	if (task->state == PL_TASK_RUNNING)
		return NULL;
	pl_task_wait_find(&w->a.values, frames, task->frames, take_lock, w, &wait);
	task->locks = (uint32_t)w->out->locks.len - task->locks_at;
	if (task->state != PL_TASK_WAITING)
		return NULL;
	task->limited = wait.limited;
	/* Unless it turns out to be one of the tasks: add_waiters. */
	task->wait_kind = is_gather(w, task->waits_for) ? PL_WAIT_GATHER : PL_WAIT_FUTURE;
	err = add_future(w, task, task->waits_for);
	if (!err)
		err = add_object(w, task, &wait);
	task->for_tasks = is_for_tasks(w, task, &wait);
	return err;
}

/* ---- who waits for it -------------------------------------------------------------------------------------------- */

/* A member of awaited_by. */
struct awaiter {
	struct pl_task_walk *w;
	pl_addr task;
};

static struct plumb_error *add_awaiter(void *ctx, pl_addr obj)
{
	struct awaiter *a = ctx;

	return add_edge(a->w, a->task, obj);
}

/* 3.14+: the task itself knows who awaits it: one, or a set of them. */
static struct plumb_error *add_awaited_by(struct pl_task_walk *w, pl_addr task)
{
	const struct pl_task_layout *t = &w->a.layout;
	struct awaiter a = {w, task};
	pl_addr by = 0;
	uint8_t is_set = 0;
	struct plumb_error *err = pl_mem_read_u64(w->a.mem, task + t->awaited_by, &by);

	if (!err)
		err = pl_mem_read(w->a.mem, task + t->awaited_by_is_set, &is_set, 1);
	if (!err && by)
		err = is_set ? pl_set_each(&w->a, by, false, add_awaiter, &a) : add_awaiter(&a, by);
	return unless_fatal(err);
}

/* 3.11 - 3.13: a task of a TaskGroup tells the group when it is done, by the first of its callbacks, a bound method;
 * the group knows the task that made it and waits for its tasks. */
static struct plumb_error *add_group(struct pl_task_walk *w, pl_addr task)
{
	const struct pl_layout *lay = &w->a.py->layout;
	pl_addr method, group, parent;
	struct plumb_error *err = pl_mem_read_u64(w->a.mem, task + lay->object.size + 8, &method);

	if (!err && !pl_value_is_a(&w->a.values, method, "method"))
		return NULL;
	if (!err)
		err = pl_mem_read_u64(w->a.mem, method + lay->method.function + 8, &group);
	if (!err && pl_value_is_a(&w->a.values, group, "asyncio.taskgroups.TaskGroup"))
		err = pl_instance_attr(w->a.mem, w->a.py, group, "_parent_task", &parent);
	else if (!err)
		return NULL;
	if (!err)
		err = add_edge(w, task, parent);
	return unless_fatal(err);
}

struct plumb_error *pl_task_add_waiters(struct pl_task_walk *w, pl_addr task)
{
	return w->a.layout.awaited_by != PL_NONE ? add_awaited_by(w, task) : add_group(w, task);
}
