/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: from the tasks that src/cpython finds to those of a dump. A loop that runs changes its tasks while they
 * are read: a frame whose code has gone meanwhile ends the chain. */
#include "dump_tasks.h"

#include "dump_locals.h"
#include "dump_task_waits.h"
#include "mem_pages.h"

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

static struct plumb_error *add_task(const struct pl_task_dumper *u, const struct pl_tasks *all,
				    const struct pl_task *task, uint64_t number)
{
	struct pl_dump_task t;
	bool ok = pl_dump_task_of(u->d, all, task, &t);

	t.interpreter = number;
	t.tid = pl_dump_tid_of(u->p, task->thread_id);
	t.name = pl_dump_text(u->d, (const char *)all->text.data + task->name_at, task->name_len);
	add_frames(u, all, task, &t);
	if (ok && pl_vec_push(&u->p->tasks, t))
		return NULL;
	pl_dump_task_deinit(&t);
	return &pl_err_no_memory;
}

/* Tasks share their code, which is not read for each of them. */
static struct plumb_error *add_all(const struct pl_task_dumper *u, const struct pl_tasks *all, uint64_t number)
{
	struct pl_task_dumper from_pages = *u;
	struct pl_mem_pages *pages;
	struct plumb_error *err = pl_mem_pages_create(u->mem, &pages);

	if (err)
		return err;
	from_pages.mem = pl_mem_pages_mem(pages);
	for (size_t i = 0; i < all->list.len && !err; i++)
		err = add_task(&from_pages, all, &all->list.data[i], number);
	pl_mem_pages_destroy(pages);
	return err;
}

static struct plumb_error *add_tasks(const struct pl_task_dumper *u, const struct pl_tasks *all, uint64_t number)
{
	size_t first = u->p->tasks.len;
	struct pl_values values; /* of what may change at any moment: read as it is */
	struct plumb_error *err = add_all(u, all, number);

	u->p->tasks_lost += all->lost;
	pl_values_init(&values, u->mem, u->py, NULL);
	return err ? err : pl_dump_task_waits(u->d, u->p, &values, all, first);
}

/* Those of one interpreter. */
static struct plumb_error *dump_interpreter(const struct pl_task_dumper *u, const struct pl_interp *interp,
					    uint64_t number)
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
	if (!err)
		err = add_tasks(u, &all, number);
	pl_tasks_deinit(&all);
	return err;
}

struct plumb_error *pl_dump_tasks(const struct pl_task_dumper *u, const pl_interp_vec *interps)
{
	struct plumb_error *err = NULL;

	/* The list has the newest first; the main interpreter is the oldest. */
	for (size_t i = 0; i < interps->len && !err; i++)
		err = dump_interpreter(u, &interps->data[i], interps->len - 1 - i);
	return err ? err : pl_dump_find_task_deadlocks(u->p);
}
