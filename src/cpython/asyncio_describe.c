/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to tell of one task: its state, its chain, its thread, and who waits for whom. Layer: cpython. Pure
 * over pl_mem; one thread; allocates what struct pl_tasks and the walk hold. */
#include <string.h>

#include "asyncio_parts.h"
#include "await.h"
#include "dict.h"

bool pl_task_is_fatal(const struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);

	return code == PLUMB_ERR_NO_MEMORY || code == PLUMB_ERR_TARGET_EXITED;
}

/* The pthread_t of the thread that runs a loop: 3.14+ its thread state names the loop; before, asyncio's own loops know
 * their thread. */
static uint64_t thread_of_loop(struct pl_task_walk *w, pl_addr loop)
{
	const struct pl_task_layout *t = &w->a.layout;
	pl_addr value;
	uint64_t ident = 0;
	struct plumb_error *err;

	for (size_t i = 0; t->tstate_loop != PL_NONE && i < w->threads.len; i++) {
		err = pl_mem_read_u64(w->a.mem, w->threads.data[i].addr + t->tstate_loop, &value);
		if (!err && value == loop)
			return w->threads.data[i].thread_id;
		plumb_error_destroy(err);
	}
	err = pl_instance_attr(w->a.mem, w->a.py, loop, "_thread_id", &value);
	if (!err && value != w->a.py->none)
		err = pl_long_value(w->a.mem, w->a.py, value, &ident);
	if (err)
		ident = 0;
	plumb_error_destroy(err);
	return ident;
}

static bool is_running(const struct pl_task_walk *w, pl_addr task)
{
	for (size_t i = 0; i < w->running.len; i++) {
		if (w->running.data[i] == task)
			return true;
	}
	return false;
}

/* The type of the last thing awaited, and frames in the order of the header. */
static struct plumb_error *add_chain(struct pl_task_walk *w, struct pl_task *task)
{
	struct pl_tasks *out = w->out;
	struct pl_await chain;
	size_t at = out->frames.len, text_at = out->text.len;
	struct plumb_error *err = pl_await_chain(&w->a.values, task->coro, PL_MAX_TASK_FRAMES, &out->frames, &chain);

	if (!err && chain.inner)
		err = pl_value_add_type(&w->a.values, chain.inner, &out->text);
	if (err)
		return err;
	task->frames_at = (uint32_t)at;
	task->frames = (uint32_t)(out->frames.len - at);
	task->inner_at = (uint32_t)text_at;
	task->inner_len = (uint32_t)(out->text.len - text_at);
	task->cut = chain.cut;
	for (size_t i = 0; i < task->frames / 2; i++) {
		struct pl_frame *a = &out->frames.data[at + i], *b = &out->frames.data[out->frames.len - 1 - i], t = *a;
		*a = *b;
		*b = t;
	}
	return NULL;
}

static void set_state(struct pl_task_walk *w, const struct pl_task_words *words, struct pl_task *task)
{
	pl_addr future = words->waits_for == w->a.py->none ? 0 : words->waits_for;

	if (is_running(w, task->addr))
		task->state = PL_TASK_RUNNING;
	else if (!future || pl_future_is_done(&w->a, future))
		task->state = PL_TASK_READY;
	else
		task->state = PL_TASK_WAITING;
	task->waits_for = task->state == PL_TASK_WAITING ? future : 0;
}

uint64_t pl_task_thread_of(struct pl_task_walk *w, pl_addr loop)
{
	if (loop != w->last_loop) {
		w->last_loop = loop;
		w->last_thread = thread_of_loop(w, loop);
	}
	return w->last_thread;
}

struct plumb_error *pl_task_describe(struct pl_task_walk *w, const struct pl_task_words *words, struct pl_task *task)
{
	struct plumb_error *err;

	task->loop = words->loop;
	task->coro = words->coro;
	set_state(w, words, task);
	task->thread_id = pl_task_thread_of(w, task->loop);
	task->tstate = w->tstate;
	task->name_at = (uint32_t)w->out->text.len;
	err = pl_task_name_add(&w->a, words, &w->out->text);
	task->name_len = (uint32_t)w->out->text.len - task->name_at;
	if (!err)
		err = add_chain(w, task);
	if (!err)
		err = pl_task_add_wait(w, task);
	return err || !words->in_c ? err : pl_task_add_waiters(w, task->addr);
}
