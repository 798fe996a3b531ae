/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of an interpreter. Layer: cpython. Pure over pl_mem; one thread; allocates what struct pl_tasks holds.
 *
 * Tasks are found in asyncio.tasks: a weak set of all of them (<= 3.11), of those that a loop has begun and a set of
 * the eager ones that it has not (3.12+). From 3.14 on these hold only what other libraries made; asyncio's own tasks
 * are in linked lists, one per thread and one for threads that ended. One task that cannot be read costs no other; it
 * is counted. */
#include "asyncio.h"

#include <stdlib.h>
#include <string.h>

#include "asyncio_parts.h"
#include "dict.h"
#include "lock_wait.h"
#include "lower_bound.h"
#include "pick.h"

#define TEXT_MAX_BYTES (16u << 20)
#define TASKS_AT_ONCE  32		  /* are read from the same pages: within some tenths of a millisecond */
#define MEETINGS_MAX   (PL_MAX_TASKS * 8) /* with what is in lists and sets of tasks, or looks so */

void pl_tasks_init(struct pl_tasks *t)
{
	*t = (struct pl_tasks){.text = PL_BUF_INIT(TEXT_MAX_BYTES)};
}

void pl_tasks_deinit(struct pl_tasks *t)
{
	pl_vec_deinit(&t->list);
	pl_vec_deinit(&t->frames);
	pl_vec_deinit(&t->waiters);
	pl_vec_deinit(&t->needs);
	pl_vec_deinit(&t->locks);
	pl_buf_deinit(&t->text);
}

/* What is told of a task is of nearly one moment, but what it shares with others (code, names, types) is not read for
 * each of them. */
static void read_anew_now_and_then(struct pl_task_walk *w)
{
	if (w->pages && w->read++ % TASKS_AT_ONCE == 0)
		pl_mem_pages_forget(w->pages);
}

static bool is_full(const struct pl_task_walk *w)
{
	return (w->list ? w->list->len : w->out->list.len) >= PL_MAX_TASKS;
}

static struct plumb_error *keep(struct pl_task_walk *w, pl_addr addr, const struct pl_task_words *words)
{
	struct pl_task task = {.addr = addr};

	if (w->list) {
		const struct pl_task_at at = {addr, pl_task_thread_of(w, words->loop)};
		return pl_vec_push(w->list, at) ? NULL : &pl_err_no_memory;
	}
	struct plumb_error *err = pl_task_describe(w, words, &task);
	return err || pl_vec_push(&w->out->list, task) ? err : &pl_err_no_memory;
}

/* pl_set_fn. A task that has ended is no longer of interest, one that is met again is known. */
static struct plumb_error *add_task(void *ctx, pl_addr addr)
{
	struct pl_task_walk *w = ctx;
	struct pl_task_words words;
	uint32_t before;
	struct plumb_error *err;

	if (++w->meetings > MEETINGS_MAX)
		return &pl_err_limit;
	if (pl_map_get(&w->seen, addr, 0, &before))
		return NULL;
	if (!pl_map_set(&w->seen, addr, 0, 1))
		return &pl_err_no_memory;
	read_anew_now_and_then(w);
	err = is_full(w) ? &pl_err_limit : pl_task_words_read(&w->a, addr, &words);
	if (!err && words.done)
		return NULL;
	if (!err)
		err = keep(w, addr, &words);
	if (!err || pl_task_is_fatal(err))
		return err;
	plumb_error_destroy(err);
	w->out->lost++;
	return NULL;
}

/* A circular list of {next, prev} with a head that is no task. Each node must point back: a list that changes meanwhile
 * ends early. */
static struct plumb_error *walk_list(struct pl_task_walk *w, pl_addr head)
{
	uint64_t node[2];
	pl_addr last = head;
	struct plumb_error *err = pl_mem_read(w->a.mem, head, node, sizeof node);

	for (size_t i = 0; !err && node[0] && node[0] != head && i < PL_MAX_TASKS; i++) {
		pl_addr at = node[0];
		err = pl_pointer_ok(at) ? pl_mem_read(w->a.mem, at, node, sizeof node) : &pl_err_corrupt;
		if (!err && node[1] != last)
			err = &pl_err_corrupt;
		if (!err)
			err = add_task(w, at - w->a.layout.node);
		last = at;
	}
	if (!err || pl_task_is_fatal(err))
		return err;
	plumb_error_destroy(err);
	w->out->lost++;
	return NULL;
}

static struct plumb_error *walk_lists(struct pl_task_walk *w)
{
	const struct pl_task_layout *t = &w->a.layout;
	struct plumb_error *err = NULL;

	if (t->node == PL_NONE)
		return NULL;
	for (size_t i = 0; !err && i < w->threads.len; i++) {
		w->tstate = w->threads.data[i].addr;
		err = walk_list(w, w->tstate + t->tstate_tasks);
	}
	w->tstate = 0;
	return err ? err : walk_list(w, w->a.interp->addr + t->interp_tasks);
}

/* asyncio.tasks.NAME, a WeakSet (the set is its attribute `data`) or a set of tasks. A name that this release does not
 * have has no tasks. */
static struct plumb_error *walk_named_set(struct pl_task_walk *w, const char *name, bool weak)
{
	pl_addr set;
	struct plumb_error *err = pl_dict_get(w->a.mem, w->a.py, &w->a.tasks_module, name, &set);

	if (!err && !set)
		return NULL;
	if (!err && weak)
		err = pl_instance_attr(w->a.mem, w->a.py, set, "data", &set);
	if (!err)
		err = pl_set_each(&w->a, set, weak, add_task, w);
	if (err != &pl_err_limit)
		return err;
	w->out->lost++; /* those that were not looked at */
	return NULL;
}

static struct plumb_error *walk_sets(struct pl_task_walk *w)
{
	struct plumb_error *err = walk_named_set(w, "_all_tasks", true);

	if (!err)
		err = walk_named_set(w, "_scheduled_tasks", true);
	return err ? err : walk_named_set(w, "_eager_tasks", false);
}

static int by_task(const void *a, const void *b)
{
	const struct pl_task_edge *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->waiter < y->waiter ? -1 : x->waiter > y->waiter;
}

static uint64_t task_of(const void *row)
{
	return ((const struct pl_task_edge *)row)->task;
}

/* The first edge of a task, in sorted edges. */
static size_t first_edge(const struct pl_task_walk *w, pl_addr task)
{
	return pl_lower_bound(w->edges.data, w->edges.len, sizeof *w->edges.data, task_of, task);
}

static struct plumb_error *add_waiters(struct pl_task_walk *w)
{
	struct pl_tasks *out = w->out;

	if (w->edges.len)
		qsort(w->edges.data, w->edges.len, sizeof w->edges.data[0], by_task);
	for (size_t i = 0; i < out->list.len; i++) {
		struct pl_task *task = &out->list.data[i];
		pl_addr last = 0;
		uint32_t known;
		if (task->wait_kind == PL_WAIT_FUTURE && pl_map_get(&w->seen, task->waits_for, 0, &known))
			task->wait_kind = PL_WAIT_TASK;
		if (task->what == PL_FOR_RESULT && pl_map_get(&w->seen, task->object, 0, &known))
			task->what = PL_FOR_UNKNOWN;
		task->waiters_at = (uint32_t)out->waiters.len;
		for (size_t k = first_edge(w, task->addr); k < w->edges.len && w->edges.data[k].task == task->addr;
		     k++) {
			pl_addr waiter = w->edges.data[k].waiter;
			if (waiter == last || task->waiters == PL_MAX_TASK_WAITERS)
				continue;
			if (!pl_vec_push(&out->waiters, waiter))
				return &pl_err_no_memory;
			task->waiters++;
			last = waiter;
		}
	}
	return NULL;
}

/* Those of one loop together; Task-2 before Task-10. */
static int by_loop_and_name(const void *a, const void *b, void *text)
{
	const struct pl_task *x = a, *y = b;
	const uint8_t *bytes = text;

	if (x->loop != y->loop)
		return x->loop < y->loop ? -1 : 1;
	if (x->name_len != y->name_len)
		return x->name_len < y->name_len ? -1 : 1;
	int order = x->name_len ? memcmp(bytes + x->name_at, bytes + y->name_at, x->name_len) : 0;
	return order ? order : x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void clear(struct pl_tasks *t)
{
	pl_vec_clear(&t->list);
	pl_vec_clear(&t->frames);
	pl_vec_clear(&t->waiters);
	pl_vec_clear(&t->needs);
	pl_vec_clear(&t->locks);
	pl_buf_clear(&t->text);
	t->lost = 0;
}

/* A module without entries if it is not imported. */
static struct plumb_error *open_module(struct pl_asyncio *a, const char *name, struct pl_dict *ret)
{
	struct plumb_error *err = pl_module_open(a->mem, a->py, a->interp->modules, name, ret, NULL);

	if (plumb_error_code(err) != PLUMB_ERR_STALE)
		return err;
	plumb_error_destroy(err);
	*ret = (struct pl_dict){0};
	return NULL;
}

struct plumb_error *pl_asyncio_open(struct pl_asyncio *a, bool *here_ret)
{
	struct plumb_error *err = open_module(a, "asyncio.tasks", &a->tasks_module);

	*here_ret = !err && a->tasks_module.count;
	if (err || !*here_ret)
		return err;
	err = open_module(a, "_asyncio", &a->c_module);
	if (!err)
		err = pl_dict_get(a->mem, a->py, &a->c_module, "Task", &a->task_type);
	if (!err)
		err = pl_dict_get(a->mem, a->py, &a->c_module, "Future", &a->future_type);
	return err ? err : pl_task_layout_find(a);
}

/* 2.7 has no asyncio. */
bool pl_may_have_tasks(const struct pl_py *py, const struct pl_interp *interp)
{
	return interp->modules && !pl_layout_str_is_bytes(&py->layout);
}

/* <= 3.13: asyncio.tasks._current_tasks is a dict {loop: running task}; later it holds those of other libraries. */
static struct plumb_error *add_running_by_loop(struct pl_task_walk *w)
{
	pl_addr current;
	struct pl_dict d = {0};
	struct pl_dict_item item;
	struct plumb_error *err = pl_dict_get(w->a.mem, w->a.py, &w->a.tasks_module, "_current_tasks", &current);

	if (!err && current)
		err = pl_dict_open(w->a.mem, w->a.py, current, 0, &d);
	for (uint32_t i = 0; !err && i < d.count && i < PL_MAX_TASKS; i++) {
		err = pl_dict_item(w->a.mem, &d, i, &item);
		if (!err && item.key && item.value && !pl_vec_push(&w->running, item.value))
			err = &pl_err_no_memory;
	}
	if (!err || pl_task_is_fatal(err))
		return err;
	plumb_error_destroy(err); /* a running loop changes it all the time */
	return NULL;
}

/* 3.14+: each thread state names its running task. */
static struct plumb_error *add_running_by_thread(struct pl_task_walk *w)
{
	pl_addr running;
	struct plumb_error *err = NULL;

	for (size_t i = 0; !err && w->a.layout.tstate_task != PL_NONE && i < w->threads.len; i++) {
		err = pl_mem_read_u64(w->a.mem, w->threads.data[i].addr + w->a.layout.tstate_task, &running);
		if (!err && running && !pl_vec_push(&w->running, running))
			err = &pl_err_no_memory;
	}
	return err;
}

static struct plumb_error *prepare(struct pl_task_walk *w, bool *here_ret)
{
	struct plumb_error *err = pl_asyncio_open(&w->a, here_ret);

	if (err || !*here_ret)
		return err;
	err = pl_tstate_list(w->a.mem, w->a.py, w->a.interp, &w->threads, NULL);
	if (!err)
		err = add_running_by_loop(w);
	return err ? err : add_running_by_thread(w);
}

static struct plumb_error *read_all(struct pl_task_walk *w)
{
	bool here;
	struct plumb_error *err = prepare(w, &here);

	if (err || !here)
		return err;
	err = walk_lists(w);
	if (!err)
		err = walk_sets(w);
	if (err)
		return err;
	if (w->out->list.len)
		qsort_r(w->out->list.data, w->out->list.len, sizeof w->out->list.data[0], by_loop_and_name,
			w->out->text.data);
	return add_waiters(w);
}

static void walk_init(struct pl_task_walk *w, struct pl_mem *mem, const struct pl_py *py,
		      const struct pl_interp *interp)
{
	*w = (struct pl_task_walk){.a = {.mem = mem, .py = py, .interp = interp}, .seen = PL_MAP_INIT};
	pl_values_init(&w->a.values, mem, py, NULL);
}

static void walk_deinit(struct pl_task_walk *w)
{
	pl_map_deinit(&w->seen);
	pl_vec_deinit(&w->edges);
	pl_vec_deinit(&w->threads);
	pl_vec_deinit(&w->running);
}

struct plumb_error *pl_tasks_read(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *interp,
				  struct pl_tasks *ret)
{
	struct pl_task_walk w;
	struct pl_mem_pages *pages;
	struct plumb_error *err;

	clear(ret);
	if (!pl_may_have_tasks(py, interp))
		return NULL;
	err = pl_mem_pages_create(mem, &pages);
	if (err)
		return err;
	walk_init(&w, pl_mem_pages_mem(pages), py, interp);
	w.pages = pages;
	w.out = ret;
	err = read_all(&w);
	walk_deinit(&w);
	pl_mem_pages_destroy(pages);
	return err;
}

/* ---- again ------------------------------------------------------------------------------------------------------- */

struct pl_tasks_again {
	struct pl_task_walk w;
	bool here; /* the program uses asyncio */
};

struct plumb_error *pl_tasks_again_create(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *interp,
					  struct pl_tasks_again **ret)
{
	struct pl_tasks_again *a = calloc(1, sizeof *a);
	struct plumb_error *err = NULL;

	if (!a)
		return &pl_err_no_memory;
	walk_init(&a->w, mem, py, interp);
	a->w.again = true;
	if (pl_may_have_tasks(py, interp))
		err = prepare(&a->w, &a->here);
	if (err)
		pl_tasks_again_destroy(a);
	else
		*ret = a;
	return err;
}

void pl_tasks_again_destroy(struct pl_tasks_again *a)
{
	if (!a)
		return;
	walk_deinit(&a->w);
	free(a);
}

/* For one more look: nothing of the one before holds. */
static void begin_again(struct pl_task_walk *w, struct pl_tasks *out, pl_task_at_vec *list)
{
	w->out = out;
	w->list = list;
	pl_map_clear(&w->seen);
	pl_vec_clear(&w->edges);
	w->futures = w->a.slots = w->meetings = 0;
	pl_vec_clear(&w->running); /* of the first look; who runs waits for nothing, and is seen by that */
}

struct plumb_error *pl_tasks_again_read(struct pl_tasks_again *a, const pl_addr *tasks, size_t count,
					struct pl_tasks *ret)
{
	struct pl_task_walk *w = &a->w;
	struct plumb_error *err = NULL;

	clear(ret);
	begin_again(w, ret, NULL);
	for (size_t i = 0; i < count && a->here && !err; i++)
		err = add_task(w, tasks[i]);
	return err ? err : add_waiters(w);
}

struct plumb_error *pl_tasks_again_list(struct pl_tasks_again *a, pl_task_at_vec *ret, size_t *lost_ret)
{
	struct pl_task_walk *w = &a->w;
	struct pl_tasks lost = {0};

	*lost_ret = 0;
	if (!a->here)
		return NULL;
	begin_again(w, &lost, ret);
	w->last_loop = 0;
	pl_vec_clear(&w->threads);
	struct plumb_error *err = pl_tstate_list(w->a.mem, w->a.py, w->a.interp, &w->threads, NULL);
	if (!err)
		err = walk_lists(w);
	if (!err)
		err = walk_sets(w);
	w->list = NULL;
	*lost_ret = lost.lost;
	return err;
}
