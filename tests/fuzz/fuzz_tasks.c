/* SPDX-License-Identifier: Apache-2.0 */
/* The asyncio tasks of any memory: what is found must lie within its pools. */
#include "asyncio.h"
#include "process.h"
#include "task_stack.h"
#include "task_wait.h"

#define LOOKED_AT 4

static void check_task(const struct pl_tasks *t, const struct pl_task *task)
{
	if (task->name_at > t->text.len || task->name_len > t->text.len - task->name_at ||
	    task->inner_at > t->text.len || task->inner_len > t->text.len - task->inner_at)
		__builtin_trap();
	if (task->type_at > t->text.len || task->type_len > t->text.len - task->type_at ||
	    task->needs_at > t->needs.len || task->needs > t->needs.len - task->needs_at ||
	    task->locks_at > t->locks.len || task->locks > t->locks.len - task->locks_at)
		__builtin_trap();
	if (task->frames > PL_MAX_TASK_FRAMES || task->frames_at > t->frames.len ||
	    task->frames > t->frames.len - task->frames_at)
		__builtin_trap();
	if (task->waiters > PL_MAX_TASK_WAITERS || task->waiters_at > t->waiters.len ||
	    task->waiters > t->waiters.len - task->waiters_at)
		__builtin_trap();
}

/* What a second look at them finds, and the state of the locks. */
static void look_again(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in, const struct pl_tasks *t)
{
	struct pl_tasks_again *again = NULL;
	struct pl_tasks some;
	struct pl_values values;
	bool known;

	pl_tasks_init(&some);
	pl_values_init(&values, mem, py, NULL);
	struct plumb_error *err = pl_tasks_again_create(mem, py, in, &again);
	for (size_t i = 0; i < t->list.len && i < LOOKED_AT && !err; i++) {
		err = pl_tasks_again_read(again, &t->list.data[i].addr, 1, &some);
		for (size_t k = 0; k < some.list.len; k++)
			check_task(&some, &some.list.data[k]);
		(void)pl_task_lock_held(&values, t->list.data[i].object, &known);
	}
	plumb_error_destroy(err);
	pl_tasks_again_destroy(again);
	pl_tasks_deinit(&some);
}

/* Who awaits each of the first ones. */
static void look_outwards(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in,
			  const struct pl_tasks *t)
{
	struct pl_task_stacks *stacks = NULL;
	pl_frame_vec frames = {0};
	struct plumb_error *err = pl_task_stacks_create(mem, py, in, &stacks);

	for (size_t i = 0; i < t->list.len && i < LOOKED_AT && stacks; i++) {
		plumb_error_destroy(pl_task_awaiters_read(stacks, mem, t->list.data[i].addr, &frames));
		if (frames.len > PL_TASK_STACK_FRAMES + PL_MAX_TASK_FRAMES)
			__builtin_trap();
		pl_vec_clear(&frames);
	}
	plumb_error_destroy(err);
	pl_task_stacks_destroy(stacks);
	pl_vec_deinit(&frames);
}

static void use_interp(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in)
{
	struct pl_tasks t;

	pl_tasks_init(&t);
	plumb_error_destroy(pl_tasks_read(mem, py, in, &t));
	if (t.list.len > PL_MAX_TASKS)
		__builtin_trap();
	for (size_t i = 0; i < t.list.len; i++)
		check_task(&t, &t.list.data[i]);
	look_again(mem, py, in, &t);
	look_outwards(mem, py, in, &t);
	pl_tasks_deinit(&t);
}

static void use(struct pl_mem *mem, const struct pl_py *py)
{
	process_each_interp(mem, py, use_interp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	process_fuzz(data, size, use);
	return 0;
}
