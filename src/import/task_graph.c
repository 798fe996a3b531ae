/* SPDX-License-Identifier: Apache-2.0 */
/* asyncio tasks of one sample as stacks (layer import), by the rules of CPython's collectors. They take the leaves out
 * of a set, in the order of its hashes; here it is that of their ids. */
#include <inttypes.h>
#include <stdlib.h>

#include "sample_stack.h"

#define NAME_MAX_BYTES ((size_t)1 << 30)

struct reading {
	struct plumb_profile *p;
	struct pl_task_graph *g;
	uint64_t thread;
	bool has_thread, has_id;
	struct pl_task task;
	size_t first; /* the first task of this thread */
};

void pl_task_graph_clear(struct pl_task_graph *g)
{
	pl_vec_clear(&g->tasks);
	pl_vec_clear(&g->frames);
	pl_map_clear(&g->task_of);
	pl_map_clear(&g->awaiting);
}

void pl_task_graph_deinit(struct pl_task_graph *g)
{
	pl_vec_deinit(&g->tasks);
	pl_vec_deinit(&g->frames);
	pl_vec_deinit(&g->path);
	pl_map_deinit(&g->task_of);
	pl_map_deinit(&g->awaiting);
}

static struct plumb_error *read_id(struct pl_json_reader *r, uint64_t *ret)
{
	return pl_json_reader_u64(r, ret) ? NULL : pl_json_reader_fail(r, "the id of a task or thread is not a number");
}

static struct plumb_error *read_task_id(struct pl_json_reader *r, void *ctx)
{
	struct reading *t = ctx;

	t->has_id = true;
	return read_id(r, &t->task.id);
}

static struct plumb_error *read_task_name(struct pl_json_reader *r, void *ctx)
{
	struct reading *t = ctx;

	return r->token == PL_JSON_STRING ? pl_profile_string(t->p, r->str, r->str_len, &t->task.name) : NULL;
}

static struct plumb_error *read_coro_frames(struct pl_json_reader *r, void *ctx)
{
	struct reading *t = ctx;
	bool gc = false;

	return pl_sample_frames(r, t->p, &t->g->frames, &gc);
}

static struct plumb_error *read_coro(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {{"frames", read_coro_frames}, {NULL, NULL}};

	return pl_json_reader_object(r, fields, ctx);
}

static struct plumb_error *read_coros(struct pl_json_reader *r, void *ctx)
{
	return pl_json_reader_array(r, read_coro, ctx);
}

static struct plumb_error *read_parent(struct pl_json_reader *r, void *ctx)
{
	struct reading *t = ctx;
	uint64_t id;
	struct plumb_error *err = read_id(r, &id);

	if (err)
		return err;
	if (t->task.parent_count++ == 0 || id < t->task.parent)
		t->task.parent = id;
	return pl_map_set(&t->g->awaiting, id, 0, 0) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *read_parents(struct pl_json_reader *r, void *ctx)
{
	return r->token == PL_JSON_NULL ? NULL : pl_json_reader_array(r, read_parent, ctx);
}

static struct plumb_error *add_task(struct reading *t)
{
	struct pl_task_graph *g = t->g;
	uint32_t at = (uint32_t)g->tasks.len;

	if (!pl_map_get(&g->task_of, t->task.id, 0, &at))
		return pl_vec_push(&g->tasks, t->task) && pl_map_set(&g->task_of, t->task.id, 0, at)
			       ? NULL
			       : &pl_err_no_memory;
	/* Told again without them, it is still awaited by those of the first time. */
	if (!t->task.parent_count) {
		t->task.parent = g->tasks.data[at].parent;
		t->task.parent_count = g->tasks.data[at].parent_count;
	}
	g->tasks.data[at] = t->task;
	return NULL;
}

static struct plumb_error *read_task(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {{"id", read_task_id},
						      {"name", read_task_name},
						      {"coros", read_coros},
						      {"awaited_by", read_parents},
						      {NULL, NULL}};
	struct reading *t = ctx;
	struct plumb_error *err;

	t->task = (struct pl_task){.thread = t->thread, .frames = t->g->frames.len};
	t->has_id = false;
	err = pl_json_reader_object(r, fields, t);
	if (err)
		return err;
	if (!t->has_id)
		return pl_json_reader_fail(r, "a task has no id");
	t->task.frame_count = t->g->frames.len - t->task.frames;
	return add_task(t);
}

static struct plumb_error *read_tasks(struct pl_json_reader *r, void *ctx)
{
	return pl_json_reader_array(r, read_task, ctx);
}

static struct plumb_error *read_thread_id(struct pl_json_reader *r, void *ctx)
{
	struct reading *t = ctx;

	t->has_thread = true;
	return read_id(r, &t->thread);
}

static struct plumb_error *read_thread(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {
		{"thread_id", read_thread_id}, {"tasks", read_tasks}, {NULL, NULL}};
	struct reading *t = ctx;
	size_t first = t->g->tasks.len;
	struct plumb_error *err;

	t->has_thread = false;
	t->thread = 0;
	err = pl_json_reader_object(r, fields, t);
	if (!err && !t->has_thread)
		err = pl_json_reader_fail(r, "awaited tasks have no thread_id");
	/* The id may come after the tasks. */
	for (size_t i = first; i < t->g->tasks.len; i++)
		t->g->tasks.data[i].thread = t->thread;
	return err;
}

struct plumb_error *pl_task_graph_read(struct pl_json_reader *r, struct plumb_profile *p, struct pl_task_graph *g)
{
	struct reading t = {.p = p, .g = g};

	return pl_json_reader_array(r, read_thread, &t);
}

/* The frame that stands for a task: its name, and how many await it. */
static struct plumb_error *task_frame(struct plumb_profile *p, const struct pl_task *t, uint32_t *ret)
{
	struct pl_buf text = PL_BUF_INIT(NAME_MAX_BYTES);
	struct pl_function f = {.origin = PL_ORIGIN_TASK};
	struct pl_location loc = {.column = -1, .end_column = -1};
	size_t len;
	const char *name = pl_strtab_get(p->strings, t->name, &len);
	struct plumb_error *err = t->name ? pl_buf_add(&text, name, len) : pl_buf_printf(&text, "Task-%" PRIu64, t->id);

	if (!err && t->parent_count > 1)
		err = pl_buf_printf(&text, " (%" PRIu64 " parents)", t->parent_count);
	if (!err)
		err = pl_profile_string(p, text.data, text.len, &f.name);
	pl_buf_deinit(&text);
	if (!err)
		err = pl_profile_string(p, "<task>", 6, &f.file);
	if (!err)
		err = pl_profile_function(p, &f, &loc.function);
	return err ? err : pl_profile_location(p, &loc, ret);
}

/* From the leaf outwards, innermost frame first; a ring of tasks ends where it began. */
static struct plumb_error *follow(struct pl_task_graph *g, struct plumb_profile *p, uint32_t leaf, uint32_t visit)
{
	uint32_t at = leaf, frame;
	struct plumb_error *err = NULL;

	pl_vec_clear(&g->path);
	while (!err && g->tasks.data[at].visit != visit) {
		struct pl_task *t = &g->tasks.data[at];

		t->visit = visit;
		for (size_t i = 0; i < t->frame_count; i++) {
			if (!pl_vec_push(&g->path, g->frames.data[t->frames + i]))
				return &pl_err_no_memory;
		}
		err = task_frame(p, t, &frame);
		if (!err && !pl_vec_push(&g->path, frame))
			err = &pl_err_no_memory;
		if (!t->parent_count || !pl_map_get(&g->task_of, t->parent, 0, &at))
			break;
	}
	return err;
}

static int compare_tasks(const void *va, const void *vb)
{
	const struct pl_task *a = va, *b = vb;

	return (a->id > b->id) - (a->id < b->id);
}

struct plumb_error *pl_task_graph_stacks(struct pl_task_graph *g, struct plumb_profile *p,
					 struct plumb_error *(*fn)(void *ctx, uint64_t thread, uint32_t stack),
					 void *ctx)
{
	struct plumb_error *err = NULL;
	uint32_t stack, none;

	if (g->tasks.len)
		qsort(g->tasks.data, g->tasks.len, sizeof *g->tasks.data, compare_tasks);
	for (uint32_t i = 0; i < g->tasks.len; i++) {
		g->tasks.data[i].visit = 0;
		if (!pl_map_set(&g->task_of, g->tasks.data[i].id, 0, i))
			return &pl_err_no_memory;
	}
	for (uint32_t i = 0; i < g->tasks.len && !err; i++) {
		if (pl_map_get(&g->awaiting, g->tasks.data[i].id, 0, &none))
			continue;
		err = follow(g, p, i, i + 1);
		if (!err)
			err = pl_sample_stack(p, g->path.data, g->path.len, &stack);
		if (!err)
			err = fn(ctx, g->tasks.data[i].thread, stack);
	}
	return err;
}
