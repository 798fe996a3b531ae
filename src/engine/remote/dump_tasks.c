/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine: from the tasks that src/cpython finds to those of a dump. A loop that runs changes its tasks while they
 * are read: a frame whose code has gone meanwhile ends the chain. */
#include "dump_tasks.h"

#include "dump_locals.h"

static const enum pl_task_doing doings[] = {[PL_TASK_RUNNING] = PL_TASK_DOES_RUN,
					    [PL_TASK_WAITING] = PL_TASK_DOES_WAIT,
					    [PL_TASK_READY] = PL_TASK_IS_READY};

static const enum pl_task_wait waits[] = {[PL_WAIT_NOTHING] = PL_TASK_WAITS_NOTHING,
					  [PL_WAIT_TASK] = PL_TASK_WAITS_TASK,
					  [PL_WAIT_GATHER] = PL_TASK_WAITS_GATHER,
					  [PL_WAIT_FUTURE] = PL_TASK_WAITS_FUTURE};

static bool add_frame(const struct pl_task_dumper *u, const struct pl_frame *f, struct pl_code *code,
		      struct pl_dump_task *t)
{
	struct plumb_error *err = pl_code_read(u->mem, u->py, f->code, code);

	if (err) {
		plumb_error_destroy(err);
		return false;
	}
	struct pl_dump_frame frame = pl_dump_frame_of(u->d, u->sources, u->py, code, pl_code_offset(u->py, code, f));
	if (u->values)
		pl_dump_add_locals(u->d, u->values, f, &frame);
	if (pl_vec_push(&t->frames, frame))
		return true;
	pl_vec_deinit(&frame.locals);
	return false;
}

static void add_frames(const struct pl_task_dumper *u, const struct pl_tasks *all, const struct pl_task *task,
		       struct pl_dump_task *t)
{
	struct pl_code code;

	pl_code_init(&code);
	for (uint32_t i = 0; i < task->frames && !t->cut; i++)
		t->cut = !add_frame(u, &all->frames.data[task->frames_at + i], &code, t);
	pl_code_deinit(&code);
	t->cut |= task->cut;
}

static struct pl_dump_text text_at(const struct pl_task_dumper *u, const struct pl_tasks *all, uint32_t at,
				   uint32_t len)
{
	return pl_dump_text(u->d, (const char *)all->text.data + at, len);
}

static struct plumb_error *add_task(const struct pl_task_dumper *u, const struct pl_tasks *all,
				    const struct pl_task *task, uint64_t number)
{
	struct pl_dump_task t = {.id = task->addr,
				 .interpreter = number,
				 .tid = pl_dump_tid_of(u->p, task->thread_id),
				 .name = text_at(u, all, task->name_at, task->name_len),
				 .awaits = text_at(u, all, task->inner_at, task->inner_len),
				 .doing = doings[task->state],
				 .wait = waits[task->wait_kind],
				 .waits_for = task->waits_for};

	for (uint32_t i = 0; i < task->waiters; i++)
		(void)pl_vec_push(&t.awaited_by, all->waiters.data[task->waiters_at + i]);
	add_frames(u, all, task, &t);
	if (pl_vec_push(&u->p->tasks, t))
		return NULL;
	pl_dump_task_deinit(&t);
	return &pl_err_no_memory;
}

struct plumb_error *pl_dump_tasks(const struct pl_task_dumper *u, const struct pl_interp *interp, uint64_t number)
{
	struct pl_tasks all;

	pl_tasks_init(&all);
	struct plumb_error *err = pl_tasks_read(u->mem, u->py, interp, &all);
	bool fatal = err == &pl_err_no_memory || err == &pl_err_target_exited;
	if (err && !fatal) {
		plumb_error_destroy(err);
		err = NULL;
		u->p->tasks_lost++; /* the lists themselves */
	}
	for (size_t i = 0; i < all.list.len && !err; i++)
		err = add_task(u, &all, &all.list.data[i], number);
	u->p->tasks_lost += all.lost;
	pl_tasks_deinit(&all);
	return err;
}
