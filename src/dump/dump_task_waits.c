/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: what asyncio tasks wait for. The same thing is one entry for all that wait for it. A lock names its
 * holder if exactly one task is inside of it, and no other one has let go of it in its stead. */
#include "dump_task_waits.h"

#include "dump_locks.h"
#include "map.h"
#include "task_wait.h"
#include "wait_words.h"

#define NOT_KNOWN UINT32_MAX /* several are inside, or one that has let go of it */

static const enum pl_task_doing doings[] = {[PL_TASK_RUNNING] = PL_TASK_DOES_RUN,
					    [PL_TASK_WAITING] = PL_TASK_DOES_WAIT,
					    [PL_TASK_READY] = PL_TASK_IS_READY};

static const enum pl_task_wait waits[] = {[PL_WAIT_NOTHING] = PL_TASK_WAITS_NOTHING,
					  [PL_WAIT_TASK] = PL_TASK_WAITS_TASK,
					  [PL_WAIT_GATHER] = PL_TASK_WAITS_GATHER,
					  [PL_WAIT_FUTURE] = PL_TASK_WAITS_FUTURE};

/* Those of one interpreter. */
struct finder {
	struct pl_dump *d;
	struct pl_dump_process *p;
	struct pl_values *v;
	const struct pl_tasks *all;
	size_t first;
	struct pl_map by_object; /* (object, what) -> position in p->task_awaited */
};

bool pl_dump_task_of(struct pl_dump *d, const struct pl_tasks *all, const struct pl_task *task,
		     struct pl_dump_task *ret)
{
	bool ok = true;

	*ret = (struct pl_dump_task){
		.id = task->addr,
		.name = pl_dump_str(d, ""),
		.awaits = pl_dump_text(d, (const char *)all->text.data + task->inner_at, task->inner_len),
		.doing = doings[task->state],
		.wait = waits[task->wait_kind],
		.waits_for = task->waits_for,
		.what = pl_wait_word(task->what),
		.limited = task->limited};
	for (uint32_t i = 0; i < task->waiters && ok; i++)
		ok = pl_vec_push(&ret->awaited_by, all->waiters.data[task->waiters_at + i]);
	for (uint32_t i = 0; i < task->needs && ok; i++)
		ok = pl_vec_push(&ret->needs, all->needs.data[task->needs_at + i]);
	return ok;
}

/* ---- things ------------------------------------------------------------------------------------------------------ */

static bool find_or_add(struct finder *f, const struct pl_task *task, uint32_t *ret)
{
	const char *type = (const char *)f->all->text.data + task->type_at;
	const struct pl_dump_task_awaited a = {.thing = {.what = pl_wait_word(task->what),
							 .object = task->object,
							 .type = pl_dump_text(f->d, type, task->type_len)}};

	if (pl_map_get(&f->by_object, task->object, task->what, ret))
		return true;
	*ret = (uint32_t)f->p->task_awaited.len;
	return pl_vec_push(&f->p->task_awaited, a) && pl_map_set(&f->by_object, task->object, task->what, *ret);
}

static struct plumb_error *add_things(struct finder *f)
{
	for (size_t i = 0; i < f->all->list.len; i++) {
		const struct pl_task *task = &f->all->list.data[i];
		uint32_t thing;

		if (!task->object || pl_wait_word(task->what) == PL_DUMP_FOR_UNKNOWN)
			continue;
		if (!find_or_add(f, task, &thing))
			return &pl_err_no_memory;
		pl_dump_add_task_waiter(f->p, (uint32_t)(f->first + i), thing);
	}
	return NULL;
}

/* ---- holders ----------------------------------------------------------------------------------------------------- */

/* Where a task has let go of the lock for whoever had entered it, that one is inside and does not hold it. */
static void note_holder(struct finder *f, uint32_t task, const struct pl_task_lock *l)
{
	uint32_t thing;

	if (!pl_map_get(&f->by_object, l->lock, PL_FOR_LOCK, &thing))
		return;
	uint32_t *holder = &f->p->task_awaited.data[thing].holder;
	*holder = l->inside && (!*holder || *holder == task + 1) ? task + 1 : NOT_KNOWN;
}

static void find_holders(struct finder *f)
{
	for (size_t i = 0; i < f->all->list.len; i++) {
		const struct pl_task *task = &f->all->list.data[i];

		for (uint32_t k = 0; k < task->locks; k++)
			note_holder(f, (uint32_t)(f->first + i), &f->all->locks.data[task->locks_at + k]);
	}
}

static void tell_lock(struct finder *f, struct pl_dump_task_awaited *a)
{
	a->thing.held = pl_task_lock_held(f->v, a->thing.object, &a->thing.lock_known);
	if (!a->thing.held || a->holder == NOT_KNOWN)
		a->holder = 0;
	if (a->holder)
		a->thing.holder = f->p->tasks.data[a->holder - 1].id;
}

struct plumb_error *pl_dump_task_waits(struct pl_dump *d, struct pl_dump_process *p, struct pl_values *v,
				       const struct pl_tasks *all, size_t first)
{
	struct finder f = {.d = d, .p = p, .v = v, .all = all, .first = first, .by_object = PL_MAP_INIT};
	size_t before = p->task_awaited.len;
	struct plumb_error *err = add_things(&f);

	if (!err)
		find_holders(&f);
	for (size_t i = before; i < p->task_awaited.len && !err; i++)
		if (p->task_awaited.data[i].thing.what == PL_DUMP_FOR_LOCK)
			tell_lock(&f, &p->task_awaited.data[i]);
	pl_map_deinit(&f.by_object);
	return err;
}
