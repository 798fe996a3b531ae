/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, consumer thread only. */
#include "pool_task.h"

#include <stdio.h>
#include <string.h>

/* Of a function's name, in a tag. */
#define PL_TASK_NAME_BYTES 200

/* What a function is to the worker of a pool. */
enum role {
	ROLE_LOOP,   /* takes one task after the other */
	ROLE_PASSES, /* calls what it was handed */
	ROLE_OWN,    /* other work of the pool's: it waits for a task, or sends what came out */
	ROLE_OTHER,
};

/* What a thread with a stack works on. From FIRST_TASK on: the name of its task, a string of the profile. */
enum {
	NOT_KNOWN,
	NO_TASK,
	IN_LOOP, /* nothing so far */
	FIRST_TASK,
};

static const struct {
	const char *name; /* NULL: all others of the file */
	const char *file; /* its end; with a / at its own end a folder */
	enum role role;
} roles[] = {
	{"worker", "/multiprocessing/pool.py", ROLE_LOOP},
	{"mapstar", "/multiprocessing/pool.py", ROLE_PASSES},
	{"starmapstar", "/multiprocessing/pool.py", ROLE_PASSES},
	{NULL, "/multiprocessing/", ROLE_OWN},
	{"_process_worker", "/concurrent/futures/process.py", ROLE_LOOP},
	{"_process_chunk", "/concurrent/futures/process.py", ROLE_PASSES},
	{"<listcomp>", "/concurrent/futures/process.py", ROLE_PASSES},
	{NULL, "/concurrent/futures/", ROLE_OWN},
	{"_process_worker", "/loky/process_executor.py", ROLE_LOOP},
	{"_process_chunk", "/loky/process_executor.py", ROLE_PASSES},
	{"<listcomp>", "/loky/process_executor.py", ROLE_PASSES},
	{"__call__", "/loky/process_executor.py", ROLE_PASSES},
	{NULL, "/loky/cloudpickle_wrapper.py", ROLE_PASSES},
	{NULL, "/loky/", ROLE_OWN},
	{NULL, "/joblib/parallel.py", ROLE_PASSES},
	{NULL, "/joblib/_parallel_backends.py", ROLE_PASSES},
	{NULL, "/joblib/_utils.py", ROLE_PASSES},
	{NULL, "/joblib/memory.py", ROLE_PASSES},
	{NULL, "/joblib/", ROLE_OWN},
	{NULL, "/sklearn/utils/parallel.py", ROLE_PASSES},
	{NULL, "/sklearn/utils/fixes.py", ROLE_PASSES},
};

static bool is_in(const char *path, size_t len, const char *file)
{
	size_t file_len = strlen(file);

	if (file[file_len - 1] != '/')
		return len >= file_len && memcmp(path + len - file_len, file, file_len) == 0;
	size_t folder = len; /* what is before the name of the file itself, / included */
	while (folder && path[folder - 1] != '/')
		folder--;
	return folder >= file_len && memcmp(path + folder - file_len, file, file_len) == 0;
}

static enum role role_of(const struct plumb_profile *p, const struct pl_function *f)
{
	size_t len;
	const char *path = pl_strtab_get(p->strings, f->file, &len), *name = pl_strtab_get(p->strings, f->name, NULL);

	if (f->origin != PL_ORIGIN_PYTHON)
		return ROLE_PASSES; /* of which there is no label */
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if ((!roles[i].name || strcmp(roles[i].name, name) == 0) && is_in(path, len, roles[i].file))
			return roles[i].role;
	return ROLE_OTHER;
}

static bool text_of_task(void *ctx, uint32_t id, char *ret, size_t size)
{
	const struct pl_pool_tasks *t = ctx;
	size_t len;

	if (id == PLUMB_TAG_OTHER)
		return snprintf(ret, size, "[other tasks]") > 0;
	const char *name = pl_strtab_get(t->p->strings, id - FIRST_TASK, &len);
	if (len > PL_TASK_NAME_BYTES) {
		len = PL_TASK_NAME_BYTES;
		while (len && ((unsigned char)name[len] & 0xC0) == 0x80) /* within a character */
			len--;
	}
	return snprintf(ret, size, "[task=%.*s]", (int)len, name) > 0;
}

void pl_pool_tasks_init(struct pl_pool_tasks *t, size_t max)
{
	*t = (struct pl_pool_tasks){.tags = {.text = text_of_task, .ctx = t}, .tagged = {.max = max}};
	t->tagged.tags = &t->tags;
}

void pl_pool_tasks_deinit(struct pl_pool_tasks *t)
{
	pl_vec_deinit(&t->functions);
	pl_vec_deinit(&t->stacks);
	pl_vec_deinit(&t->path);
	pl_tagged_deinit(&t->tagged);
}

/* A role for each function, and a place for each stack that there is. */
static struct plumb_error *make_room(struct pl_pool_tasks *t, const struct plumb_profile *p)
{
	while (t->functions.len < p->function_count) {
		uint8_t role = (uint8_t)role_of(p, &p->functions[t->functions.len]);
		if (!pl_vec_push(&t->functions, role))
			return &pl_err_no_memory;
	}
	while (t->stacks.len < p->stack_count) {
		uint32_t found = t->stacks.len ? NOT_KNOWN : NO_TASK; /* the first stack is empty */
		if (!pl_vec_push(&t->stacks, found))
			return &pl_err_no_memory;
	}
	return NULL;
}

/* What one more frame makes of it. The innermost loop counts: one around it is of a process that was forked. */
static uint32_t within(const struct pl_pool_tasks *t, const struct plumb_profile *p, uint32_t outer, uint32_t stack)
{
	uint32_t function = p->locations[p->stacks[stack].location].function;
	const struct pl_function *f = &p->functions[function];
	enum role role = t->functions.data[function];

	if (role == ROLE_LOOP)
		return IN_LOOP;
	if (outer != IN_LOOP || role == ROLE_PASSES)
		return outer;
	return role == ROLE_OWN ? NO_TASK : FIRST_TASK + (f->qualname ? f->qualname : f->name);
}

static struct plumb_error *find_task(struct pl_pool_tasks *t, const struct plumb_profile *p, uint32_t stack)
{
	struct plumb_error *err = make_room(t, p);

	if (err)
		return err;
	pl_vec_clear(&t->path);
	for (; t->stacks.data[stack] == NOT_KNOWN; stack = p->stacks[stack].parent)
		if (!pl_vec_push(&t->path, stack))
			return &pl_err_no_memory;
	for (uint32_t found = t->stacks.data[stack]; t->path.len;) {
		stack = t->path.data[--t->path.len];
		t->stacks.data[stack] = found = within(t, p, found, stack);
	}
	return NULL;
}

struct plumb_error *pl_pool_task_stack(struct pl_pool_tasks *t, struct plumb_profile *p, uint32_t stack, uint32_t *ret)
{
	*ret = stack;
	if (stack >= t->stacks.len || t->stacks.data[stack] == NOT_KNOWN) {
		struct plumb_error *err = find_task(t, p, stack);
		if (err)
			return err;
	}
	if (t->stacks.data[stack] < FIRST_TASK)
		return NULL;
	t->p = p;
	return pl_tagged_stack(&t->tagged, p, t->stacks.data[stack], stack, ret);
}
