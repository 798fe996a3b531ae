/* SPDX-License-Identifier: Apache-2.0 */
/* asyncio tasks of one sample as stacks (layer import), by the rules of CPython's collectors. They take the leaves out
 * of a set, in the order of its hashes; here it is that of their ids. */
#include <inttypes.h>
#include <stdlib.h>

#include "sample_stack.h"

#define NAME_MAX_BYTES	((size_t)1 << 30)
#define RING_STEPS_EACH 16 /* for each task and each frame of one, that ways round a ring may take */

struct reading {
	struct plumb_profile *p;
	struct pl_task_graph *g;
	uint64_t thread;
	bool has_thread, has_id;
	struct pl_sample_task task;
	size_t first; /* the first task of this thread */
};

void pl_task_graph_clear(struct pl_task_graph *g)
{
	pl_vec_clear(&g->tasks);
	pl_vec_clear(&g->frames);
	pl_map_clear(&g->task_of);
	pl_map_clear(&g->awaiting);
	g->ring_steps = 0;
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

	return pl_sample_frames_read(r, t->g->reading, &t->g->frames, &gc);
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

	t->task = (struct pl_sample_task){.thread = t->thread, .frames = t->g->frames.len};
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
static struct plumb_error *make_frame(struct plumb_profile *p, const struct pl_sample_task *t, uint32_t *ret)
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

/* Made once: names can be long, and ways round a ring many. */
static struct plumb_error *task_frame(struct plumb_profile *p, struct pl_sample_task *t, uint32_t *ret)
{
	struct plumb_error *err = t->has_frame ? NULL : make_frame(p, t, &t->frame);

	t->has_frame = !err;
	*ret = t->frame;
	return err;
}

/* On @p stack the frames of a task: its name, and inside of it those of its coroutines. */
static struct plumb_error *push_task(struct pl_task_graph *g, struct plumb_profile *p, uint32_t at, uint32_t *stack)
{
	struct pl_sample_task *t = &g->tasks.data[at];
	uint32_t frame;
	struct plumb_error *err = task_frame(p, t, &frame);

	if (!err)
		err = pl_profile_stack(p, *stack, frame, stack);
	for (size_t i = t->frame_count; i-- > 0 && !err;)
		err = pl_profile_stack(p, *stack, g->frames.data[t->frames + i], stack);
	return err;
}

static bool parent_of(const struct pl_task_graph *g, uint32_t at, uint32_t *ret)
{
	const struct pl_sample_task *t = &g->tasks.data[at];

	return t->parent_count && pl_map_get(&g->task_of, t->parent, 0, ret);
}

/* path[from..] on @p stack, the last task of it outermost. */
static struct plumb_error *push_path(struct pl_task_graph *g, struct plumb_profile *p, size_t from, uint32_t *stack,
				     bool keep)
{
	struct plumb_error *err = NULL;

	for (size_t i = g->path.len; i-- > from && !err;) {
		struct pl_sample_task *t = &g->tasks.data[g->path.data[i]];

		err = push_task(g, p, g->path.data[i], stack);
		if (!keep)
			continue;
		t->stack = *stack;
		t->has_stack = true;
	}
	g->path.len = from;
	return err;
}

/* The tasks of a ring, of which @p first is one. */
static void mark_ring(struct pl_task_graph *g, uint32_t first)
{
	uint32_t at = first;

	do {
		g->tasks.data[at].on_ring = true;
		g->tasks.data[at].ring = first;
	} while (parent_of(g, at, &at) && at != first);
}

/* Of a ring that is entered at @p entry: once round, to where it began. With many entries each way round is another
 * stack; when that is too much for what the sample holds, all that follow come by way of the first one. */
static struct plumb_error *ring_stack(struct pl_task_graph *g, struct plumb_profile *p, uint32_t entry, uint32_t *ret)
{
	struct pl_sample_task *t = &g->tasks.data[entry], *first = &g->tasks.data[t->ring];
	uint32_t at = entry;
	size_t from = g->path.len;

	if (!t->has_stack && first->has_stack && g->ring_steps > RING_STEPS_EACH * (g->tasks.len + g->frames.len))
		t = first;
	if (t->has_stack) {
		*ret = t->stack;
		return NULL;
	}
	do {
		if (!pl_vec_push(&g->path, at))
			return &pl_err_no_memory;
		g->ring_steps += 1 + g->tasks.data[at].frame_count;
	} while (parent_of(g, at, &at) && at != entry);
	*ret = 0;
	struct plumb_error *err = push_path(g, p, from, ret, false);
	t->stack = *ret;
	t->has_stack = !err;
	return err;
}

/* From the leaf outwards, up to a task whose stack is known, to a ring or to the end. Each task has one stack, whatever
 * it is that hangs on it; but of a ring that is so for where it is entered. */
static struct plumb_error *leaf_stack(struct pl_task_graph *g, struct plumb_profile *p, uint32_t leaf, uint32_t *ret)
{
	uint32_t at = leaf;
	bool more = true;
	struct plumb_error *err = NULL;

	*ret = 0;
	g->path.len = 0;
	while (more && !g->tasks.data[at].has_stack && !g->tasks.data[at].on_ring) {
		struct pl_sample_task *t = &g->tasks.data[at];

		if (t->leaf == leaf + 1) { /* was here before */
			mark_ring(g, at);
			while (g->path.data[g->path.len - 1] != at)
				g->path.len--;
			g->path.len--;
			break;
		}
		t->leaf = leaf + 1;
		if (!pl_vec_push(&g->path, at))
			return &pl_err_no_memory;
		more = parent_of(g, at, &at);
	}
	if (more && g->tasks.data[at].on_ring)
		err = ring_stack(g, p, at, ret);
	else if (more)
		*ret = g->tasks.data[at].stack;
	return err ? err : push_path(g, p, 0, ret, true);
}

static int compare_tasks(const void *va, const void *vb)
{
	const struct pl_sample_task *a = va, *b = vb;

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
		if (!pl_map_set(&g->task_of, g->tasks.data[i].id, 0, i))
			return &pl_err_no_memory;
	}
	for (uint32_t i = 0; i < g->tasks.len && !err; i++) {
		if (pl_map_get(&g->awaiting, g->tasks.data[i].id, 0, &none))
			continue;
		err = leaf_stack(g, p, i, &stack);
		if (!err)
			err = fn(ctx, g->tasks.data[i].thread, stack);
	}
	return err;
}
