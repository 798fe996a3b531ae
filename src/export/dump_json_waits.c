/* SPDX-License-Identifier: Apache-2.0 */
/* What threads and tasks wait for, and the tasks themselves, in the JSON of a dump (layer export). Any thread. */
#include "dump_json_parts.h"
#include "words.h"

static const char *const task_doings[PL_TASK_DOINGS] = {
	[PL_TASK_DOES_RUN] = "running", [PL_TASK_DOES_WAIT] = "waiting", [PL_TASK_IS_READY] = "ready"};

static const char *const task_waits[PL_TASK_WAITS] = {[PL_TASK_WAITS_NOTHING] = NULL,
						      [PL_TASK_WAITS_TASK] = "task",
						      [PL_TASK_WAITS_GATHER] = "gather",
						      [PL_TASK_WAITS_FUTURE] = "future"};

const char *pl_dump_json_purpose(enum pl_dump_for what)
{
	return *pl_awaited_words[what].word ? pl_awaited_words[what].word : NULL;
}

static void thing_members(struct pl_json *j, const struct pl_dump_awaited *a)
{
	pl_json_key_str_or_null(j, "what", pl_dump_json_purpose(a->what));
	pl_json_key_u64(j, "object", a->object);
	pl_dump_json_text(j, "type", a->type);
	if (a->lock_known)
		pl_json_key_bool(j, "held", a->held);
	else
		pl_json_key_null(j, "held");
	pl_json_key_u64_or_null(j, "holder", a->holder, a->holder);
}

/* What names member number @p i of a ring. */
typedef uint64_t member_id_fn(const struct pl_dump_process *p, uint32_t i);

static void rings_member(struct pl_json *j, const char *key, const pl_dump_deadlock_vec *rings,
			 const struct pl_dump_process *p, member_id_fn *id)
{
	pl_json_key(j, key);
	pl_json_array(j);
	for (size_t i = 0; i < rings->len; i++) {
		pl_json_array(j);
		for (size_t k = 0; k < rings->data[i].members.len; k++)
			pl_json_u64(j, id(p, rings->data[i].members.data[k]));
		pl_json_array_end(j);
	}
	pl_json_array_end(j);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void awaited_object(struct pl_json *j, const struct pl_dump_process *p, size_t i)
{
	const struct pl_dump_awaited *a = &p->awaited.data[i];

	pl_json_object(j);
	thing_members(j, a);
	pl_json_key_u64_or_null(j, "count", a->count, a->count);
	pl_json_key(j, "waiters");
	pl_json_array(j);
	for (size_t k = 0; k < p->threads.len; k++)
		if (p->threads.data[k].waits_on && p->threads.data[k].awaited == i + 1)
			pl_json_u64(j, p->threads.data[k].tid);
	pl_json_array_end(j);
	pl_json_object_end(j);
}

static uint64_t thread_id(const struct pl_dump_process *p, uint32_t i)
{
	return p->threads.data[i].tid;
}

void pl_dump_json_waits(struct pl_json *j, const struct pl_dump_process *p)
{
	pl_json_key(j, "awaited");
	pl_json_array(j);
	for (size_t i = 0; i < p->awaited.len; i++)
		awaited_object(j, p, i);
	pl_json_array_end(j);
	rings_member(j, "deadlocks", &p->deadlocks, p, thread_id);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static void task_object(struct pl_json *j, const struct pl_dump_process *p, const struct pl_dump_task *t)
{
	const struct pl_dump_task_awaited *a = pl_dump_task_awaited_of(p, t);

	pl_json_object(j);
	pl_json_key_u64(j, "id", t->id);
	pl_dump_json_text(j, "name", t->name);
	pl_json_key_u64(j, "interpreter", t->interpreter);
	pl_json_key_u64_or_null(j, "tid", t->tid, t->tid);
	pl_json_key_str_or_null(j, "doing", task_doings[t->doing]);
	pl_json_key_str_or_null(j, "waits_on", task_waits[t->wait]);
	pl_json_key_u64_or_null(j, "waits_for", t->waits_for, t->waits_for);
	pl_dump_json_text_or_null(j, "awaits", t->awaits);
	pl_json_key_str_or_null(j, "what", pl_dump_json_purpose(t->what));
	pl_json_key_u64_or_null(j, "object", a != NULL, a ? a->thing.object : 0);
	pl_json_key_bool(j, "limited", t->limited);
	pl_json_key(j, "awaited_by");
	pl_json_array(j);
	for (size_t i = 0; i < t->awaited_by.len; i++)
		pl_json_u64(j, t->awaited_by.data[i]);
	pl_json_array_end(j);
	pl_json_key_bool(j, "cut", t->cut);
	pl_dump_json_frames(j, &t->frames);
	pl_json_object_end(j);
}

static void task_awaited_object(struct pl_json *j, const struct pl_dump_process *p,
				const struct pl_dump_task_awaited *a)
{
	pl_json_object(j);
	thing_members(j, &a->thing);
	pl_json_key(j, "waiters");
	pl_json_array(j);
	for (uint32_t at = a->first_waiter; at; at = p->tasks.data[at - 1].next_waiter)
		pl_json_u64(j, p->tasks.data[at - 1].id);
	pl_json_array_end(j);
	pl_json_object_end(j);
}

static uint64_t task_id(const struct pl_dump_process *p, uint32_t i)
{
	return p->tasks.data[i].id;
}

void pl_dump_json_tasks(struct pl_json *j, const struct pl_dump_process *p)
{
	pl_json_key_u64(j, "tasks_lost", p->tasks_lost);
	pl_json_key(j, "tasks");
	pl_json_array(j);
	for (size_t i = 0; i < p->tasks.len; i++)
		task_object(j, p, &p->tasks.data[i]);
	pl_json_array_end(j);
	pl_json_key(j, "task_awaited");
	pl_json_array(j);
	for (size_t i = 0; i < p->task_awaited.len; i++)
		task_awaited_object(j, p, &p->task_awaited.data[i]);
	pl_json_array_end(j);
	rings_member(j, "task_deadlocks", &p->task_deadlocks, p, task_id);
}
