/* SPDX-License-Identifier: Apache-2.0 */
/* The asyncio tasks of any memory: what is found must lie within its pools. */
#include "asyncio.h"
#include "process.h"

static void check_task(const struct pl_tasks *t, const struct pl_task *task)
{
	if (task->name_at > t->text.len || task->name_len > t->text.len - task->name_at ||
	    task->inner_at > t->text.len || task->inner_len > t->text.len - task->inner_at)
		__builtin_trap();
	if (task->frames > PL_MAX_TASK_FRAMES || task->frames_at > t->frames.len ||
	    task->frames > t->frames.len - task->frames_at)
		__builtin_trap();
	if (task->waiters > PL_MAX_TASK_WAITERS || task->waiters_at > t->waiters.len ||
	    task->waiters > t->waiters.len - task->waiters_at)
		__builtin_trap();
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
