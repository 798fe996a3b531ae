/* SPDX-License-Identifier: Apache-2.0 */
/* Who awaits the task that a thread runs. Layer: cpython. Pure over pl_mem; one thread; allocates what it hands out.
 *
 * From a task outwards: what is called when it is done. That is the wake-up of the task that awaits it, or a function
 * of asyncio that ends another future, whose callbacks lead on. A task found so must say itself that it waits for that
 * very future. No other task is looked at, however many there are. */
#include "task_stack.h"

#include <stdlib.h>
#include <string.h>

#include "asyncio_parts.h"
#include "await.h"
#include "pick.h"
#include "text.h"

#define FUTURES_MAX   4	 /* between two tasks */
#define CALLBACKS_MAX 16 /* of one future */
#define CELLS_MAX     16 /* of one function */
#define RUNNING_MAX   64 /* tasks, one for each loop */
#define NAME_MAX_TEXT 64

struct pl_task_stacks {
	struct pl_asyncio a;
	struct pl_interp interp;
	pl_addr current; /* asyncio.tasks._current_tasks, {loop: running task}; 0: this release has none */
};

/* *here: asyncio is there as a whole. Its module has a dict of its own at first, which that of _asyncio then replaces.
 */
static struct plumb_error *open_stacks(struct pl_task_stacks *t, bool *here)
{
	struct pl_asyncio *a = &t->a;
	pl_addr current = 0;
	struct plumb_error *err = pl_asyncio_open(a, here);

	if (!err && *here)
		err = pl_dict_get(a->mem, a->py, &a->c_module, "_current_tasks", &t->current);
	if (!err && *here)
		err = pl_dict_get(a->mem, a->py, &a->tasks_module, "_current_tasks", &current);
	if (!t->current)
		t->current = current;
	*here &= current != 0;
	return err;
}

struct plumb_error *pl_task_stacks_create(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *interp,
					  struct pl_task_stacks **ret)
{
	struct pl_task_stacks *t = calloc(1, sizeof *t);
	bool here = false;

	if (!t)
		return &pl_err_no_memory;
	t->interp = *interp;
	t->a = (struct pl_asyncio){.mem = mem, .py = py, .interp = &t->interp};
	pl_values_init(&t->a.values, mem, py, NULL);
	struct plumb_error *err = pl_may_have_tasks(py, interp) ? open_stacks(t, &here) : NULL;
	if (err || !here) {
		pl_task_stacks_destroy(t);
		t = NULL;
	}
	if (!err)
		*ret = t;
	return err;
}

void pl_task_stacks_destroy(struct pl_task_stacks *t)
{
	free(t);
}

static struct plumb_error *read_pointer(const struct pl_asyncio *a, pl_addr at, pl_addr *ret)
{
	return pl_pointer_ok(at) ? pl_mem_read_u64(a->mem, at, ret) : &pl_err_corrupt;
}

/* ---- where a callback leads -------------------------------------------------------------------------------------- */

/* A future, which is no task, among the variables of a function that was made inside another. */
static struct plumb_error *future_in_closure(struct pl_asyncio *a, pl_addr function, pl_addr *ret)
{
	const struct pl_layout *lay = &a->py->layout;
	pl_addr cells, cell, obj;
	uint64_t count = 0;
	struct plumb_error *err = read_pointer(a, function + lay->function.closure, &cells);

	if (err || !cells)
		return err;
	err = read_pointer(a, cells + lay->bytes.ob_size, &count);
	for (uint64_t i = 0; !err && !*ret && i < count && i < CELLS_MAX; i++) {
		err = read_pointer(a, cells + lay->tuple.items + i * 8, &cell);
		if (!err)
			err = read_pointer(a, cell + lay->cell.ref, &obj);
		if (!err && pl_task_derives(a, obj, a->future_type) && !pl_task_derives(a, obj, a->task_type))
			*ret = obj;
	}
	return err;
}

static bool is_one_of(struct pl_asyncio *a, pl_addr function, const char *const *names, size_t count)
{
	struct pl_buf name = PL_BUF_INIT(NAME_MAX_TEXT * 4);
	pl_addr str = 0;
	bool found = false;
	struct plumb_error *err = read_pointer(a, function + a->py->layout.function.name, &str);

	if (!err)
		err = pl_text_read_str(a->mem, a->py, str, NAME_MAX_TEXT, &name);
	for (size_t i = 0; !err && i < count; i++)
		found |= name.len == strlen(names[i]) && !memcmp(name.data, names[i], name.len);
	plumb_error_destroy(err);
	pl_buf_deinit(&name);
	return found;
}

/* The functions of asyncio that end a future of their own when another one is done. */
static bool ends_a_future(struct pl_asyncio *a, pl_addr function)
{
	static const char *const names[] = {
		"gather.<locals>._done_callback",
		"_gather.<locals>._done_callback", /* 3.9 */
		"shield.<locals>._inner_done_callback",
		"_wait.<locals>._on_completion",
	};

	return is_one_of(a, function, names, sizeof names / sizeof *names);
}

/* Up to 3.11 wait_for has functools.partial(_release_waiter, waiter). */
static struct plumb_error *first_argument(struct pl_asyncio *a, pl_addr partial, pl_addr *ret)
{
	const struct pl_layout *lay = &a->py->layout;
	pl_addr args;
	uint64_t count;
	struct plumb_error *err = read_pointer(a, partial + lay->object.size + 8, &args);

	if (!err)
		err = read_pointer(a, args + lay->bytes.ob_size, &count);
	return err || !count ? err : read_pointer(a, args + lay->tuple.items, ret);
}

/* A TaskGroup is told when a task of it is done; who waits for the group waits for a future of it. */
static struct plumb_error *future_of_group(struct pl_asyncio *a, pl_addr method, pl_addr *ret)
{
	pl_addr group;
	struct plumb_error *err = read_pointer(a, method + a->py->layout.method.function + 8, &group);

	if (err || !pl_value_is_a(&a->values, group, "asyncio.taskgroups.TaskGroup"))
		return err;
	return pl_instance_attr(a->mem, a->py, group, "_on_completed_fut", ret);
}

/* A task or a future that goes on when the callback is called; 0: none that is known. */
static struct plumb_error *leads_to(struct pl_asyncio *a, pl_addr callback, pl_addr *ret)
{
	pl_addr first = callback + a->py->layout.object.size;
	char type[PL_TYPE_NAME];

	*ret = 0;
	if (!pl_value_type_name(&a->values, callback, type))
		return &pl_err_corrupt;
	if (strcmp(type, "TaskWakeupMethWrapper") == 0)
		return read_pointer(a, first, ret);
	if (strcmp(type, "builtin_function_or_method") == 0)
		return read_pointer(a, first + 8, ret);
	if (strcmp(type, "method") == 0)
		return future_of_group(a, callback, ret);
	if (strcmp(type, "functools.partial") == 0)
		return first_argument(a, callback, ret);
	if (strcmp(type, "function") == 0 && ends_a_future(a, callback))
		return future_in_closure(a, callback, ret);
	return NULL;
}

/* ---- who waits for a future -------------------------------------------------------------------------------------- */

struct search {
	struct pl_asyncio *a;
	pl_addr future;
	/* What its callbacks lead to first: */
	struct pl_task_words task; /* that waits for it; coro 0: none */
	pl_addr address;	   /* of that task */
	pl_addr next;		   /* another future; 0: none */
};

static struct plumb_error *try_callback(struct search *s, pl_addr callback)
{
	struct pl_task_words words;
	pl_addr obj;
	struct plumb_error *err = leads_to(s->a, callback, &obj);

	if (err || !obj || obj == s->future)
		return err;
	if (!pl_task_derives(s->a, obj, s->a->task_type)) {
		if (!s->next && pl_task_derives(s->a, obj, s->a->future_type))
			s->next = obj;
		return NULL;
	}
	err = pl_task_words_read(s->a, obj, &words);
	if (!err && !s->address && !words.done && words.waits_for == s->future) {
		s->task = words;
		s->address = obj;
	}
	return err;
}

/* A list of pairs: the callback, and its context. */
static struct plumb_error *try_list(struct search *s, pl_addr list)
{
	const struct pl_layout *lay = &s->a->py->layout;
	pl_addr items = 0, pair, callback;
	uint64_t count = 0;
	struct plumb_error *err = read_pointer(s->a, list + lay->bytes.ob_size, &count);

	if (!err && count)
		err = read_pointer(s->a, list + lay->list.items, &items);
	for (uint64_t i = 0; !err && !s->address && i < count && i < CALLBACKS_MAX; i++) {
		err = read_pointer(s->a, items + i * 8, &pair);
		if (!err)
			err = read_pointer(s->a, pair + lay->tuple.items, &callback);
		if (!err)
			err = try_callback(s, callback);
	}
	return err;
}

static bool is_in_c(const struct pl_asyncio *a, pl_addr future)
{
	return pl_task_derives(a, future, a->future_type) || pl_task_derives(a, future, a->task_type);
}

/* The words of a future of _asyncio begin with the loop, the first callback, its context, and the list of the other
 * ones. */
static struct plumb_error *try_callbacks(struct search *s)
{
	pl_addr words[4];
	struct plumb_error *err = &pl_err_corrupt;

	if (is_in_c(s->a, s->future))
		err = pl_mem_read(s->a->mem, s->future + s->a->py->layout.object.size, words, sizeof words);
	if (!err && words[1])
		err = try_callback(s, words[1]);
	if (!err && words[3] && words[3] != s->a->py->none && !s->address)
		err = try_list(s, words[3]);
	return err;
}

/* Replace the task @p s->future by the first one that waits for it; `address` 0: none does. */
static struct plumb_error *find_awaiter(struct search *s)
{
	struct plumb_error *err = NULL;

	s->address = 0;
	for (int i = 0; !err && !s->address && s->future && i < FUTURES_MAX; i++) {
		s->next = 0;
		err = try_callbacks(s);
		if (!s->address)
			s->future = s->next;
	}
	return err;
}

static void read_by(struct pl_task_stacks *t, struct pl_mem *mem)
{
	t->a.mem = t->a.values.mem = mem;
}

/* The first callback of the future that shield gives is of shield itself. */
struct plumb_error *pl_task_shields(struct pl_task_stacks *t, struct pl_mem *mem, pl_addr future, bool *ret)
{
	static const char *const name = "shield.<locals>._outer_done_callback";
	struct pl_asyncio *a = &t->a;
	char type[PL_TYPE_NAME];
	pl_addr callback = 0;

	*ret = false;
	read_by(t, mem);
	if (!is_in_c(a, future))
		return NULL;
	struct plumb_error *err = read_pointer(a, future + a->py->layout.object.size + 8, &callback);
	if (err || !callback)
		return err;
	*ret = pl_value_type_name(&a->values, callback, type) && strcmp(type, "function") == 0 &&
	       is_one_of(a, callback, &name, 1);
	return NULL;
}

/* ---- the stack --------------------------------------------------------------------------------------------------- */

static void reverse(struct pl_frame *f, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct pl_frame t = f[i];
		f[i] = f[count - 1 - i];
		f[count - 1 - i] = t;
	}
}

static struct plumb_error *add_chain(struct pl_asyncio *a, pl_addr coro, pl_frame_vec *ret)
{
	size_t at = ret->len;
	struct pl_await chain;
	struct plumb_error *err = pl_await_chain(&a->values, coro, PL_MAX_TASK_FRAMES, ret, &chain);

	if (!err && (chain.cut || ret->len == at))
		err = &pl_err_limit;
	if (!err)
		reverse(ret->data + at, ret->len - at);
	return err;
}

struct plumb_error *pl_task_awaiters_read(struct pl_task_stacks *t, struct pl_mem *mem, pl_addr task, pl_frame_vec *ret)
{
	struct search s = {.a = &t->a, .future = task};
	size_t first = ret->len;

	read_by(t, mem);
	struct plumb_error *err = find_awaiter(&s);
	for (int i = 0; !err && s.address; i++) {
		if (i == PL_TASK_STACK_TASKS || ret->len - first > PL_TASK_STACK_FRAMES)
			return &pl_err_limit;
		err = add_chain(&t->a, s.task.coro, ret);
		s.future = s.address;
		if (!err)
			err = find_awaiter(&s);
	}
	return err;
}

/* Where on the thread's stack the outermost coroutine of a task is, counted from 1; 0: it is not. */
static struct plumb_error *find_on_stack(struct pl_asyncio *a, pl_addr task, const pl_frame_vec *stack, size_t *ret)
{
	struct pl_task_words words;
	pl_frame_vec frames = {0};
	struct pl_await chain;
	struct plumb_error *err = pl_task_words_read(a, task, &words);

	*ret = 0;
	if (!err)
		err = pl_await_chain(&a->values, words.coro, 1, &frames, &chain);
	for (size_t i = 0; !err && frames.len && i < stack->len && !*ret; i++)
		if (stack->data[i].addr == frames.data[0].addr)
			*ret = i + 1;
	pl_vec_deinit(&frames);
	return err;
}

/* 3.14+: the thread state names the task that it runs, if asyncio's C module made it. */
static struct plumb_error *find_by_thread(struct pl_task_stacks *t, pl_addr tstate, const pl_frame_vec *stack,
					  pl_addr *task, size_t *own)
{
	struct plumb_error *err = read_pointer(&t->a, tstate + t->a.layout.tstate_task, task);

	return err || !*task ? err : find_on_stack(&t->a, *task, stack, own);
}

static struct plumb_error *find_by_loop(struct pl_task_stacks *t, const pl_frame_vec *stack, pl_addr *task, size_t *own)
{
	struct pl_asyncio *a = &t->a;
	struct pl_dict d = {0};
	struct pl_dict_item item;
	struct plumb_error *err = t->current ? pl_dict_open(a->mem, a->py, t->current, 0, &d) : NULL;

	for (uint32_t i = 0; !err && !*own && i < d.count && i < RUNNING_MAX; i++) {
		err = pl_dict_item(a->mem, &d, i, &item);
		if (err || !item.key || !item.value)
			continue;
		*task = item.value;
		err = find_on_stack(a, *task, stack, own);
	}
	return err;
}

struct plumb_error *pl_task_stack_read(struct pl_task_stacks *t, struct pl_mem *mem, pl_addr tstate,
				       const pl_frame_vec *stack, pl_frame_vec *ret, size_t *own_ret)
{
	pl_addr task = 0;
	struct plumb_error *err;

	*own_ret = 0;
	read_by(t, mem);
	err = t->a.layout.tstate_task != PL_NONE ? find_by_thread(t, tstate, stack, &task, own_ret)
						 : find_by_loop(t, stack, &task, own_ret);
	if (err || !*own_ret)
		return err;
	for (size_t i = 0; i < *own_ret; i++)
		if (!pl_vec_push(ret, stack->data[i]))
			return &pl_err_no_memory;
	return pl_task_awaiters_read(t, mem, task, ret);
}
