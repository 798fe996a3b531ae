/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, consumer thread only. Turns the sampling thread's records (code ids, byte offsets, node ids) into rows
 * of the profile: functions (named_codes.c), lines, stacks, threads, processes. Line tables are decoded here, off the
 * sampling thread. */
#include "resolve.h"

#include <stdlib.h>
#include <string.h>

#include "named_codes.h"
#include "native_lines.h"
#include "pool_task.h"
#include "source_texts.h"
#include "tagged.h"
#include "thread_sampler.h"

typedef PL_VEC(uint32_t) pl_id_vec;

#define PL_NO_ID UINT32_MAX

struct node {
	uint32_t stack;
	uint32_t python; /* 1 + the location of its innermost frame of Python; 0: it has none */
};

struct pl_resolver {
	/* number in the records -> id in the profile */
	PL_VEC(struct node) nodes;
	pl_id_vec threads, processes;
	size_t max_threads; /* 0: no limit */
	struct pl_texts texts;
	struct pl_tagged tagged;
	struct pl_pool_tasks pool_tasks;
	struct pl_named_codes codes;
	struct pl_native_lines native_lines;
	pl_engine_event_fn *event;
	void *event_ctx;
	struct pl_record lock; /* that the next sample waited for; kind 0: none, as of a sample */
};

struct plumb_error *pl_resolver_create(const struct pl_engine_options *o, struct pl_resolver **ret)
{
	struct pl_resolver *r = calloc(1, sizeof *r);

	if (!r || !pl_vec_push(&r->nodes, ((struct node){0}))) {
		free(r);
		return &pl_err_no_memory;
	}
	r->texts.off = !o->sources;
	r->max_threads = o->max_nodes;
	r->event = o->event;
	r->event_ctx = o->event_ctx;
	r->tagged.tags = o->tags;
	r->tagged.max = o->max_nodes;
	pl_pool_tasks_init(&r->pool_tasks, o->max_nodes);
	*ret = r;
	return NULL;
}

void pl_resolver_destroy(struct pl_resolver *r)
{
	if (!r)
		return;
	pl_named_codes_deinit(&r->codes);
	pl_vec_deinit(&r->nodes);
	pl_vec_deinit(&r->threads);
	pl_vec_deinit(&r->processes);
	pl_texts_deinit(&r->texts);
	pl_tagged_deinit(&r->tagged);
	pl_pool_tasks_deinit(&r->pool_tasks);
	pl_native_lines_deinit(&r->native_lines);
	free(r);
}

static const struct pl_code_module *module_of(const struct pl_record *rec)
{
	return rec->kind == PL_RECORD_CODE ? rec->code.code->native.module : NULL;
}

bool pl_resolver_ready(struct pl_resolver *r, const struct pl_record *rec, bool patient)
{
	const struct pl_code_module *m = module_of(rec);

	return !m || pl_native_symbols_ready(&r->codes.symbols, m, patient);
}

void pl_resolver_give_up(struct pl_resolver *r, const struct pl_record *rec)
{
	pl_native_symbols_give_up(&r->codes.symbols, module_of(rec));
}

/* ---- stacks, processes, threads ---------------------------------------------------------------------------------- */

/* The text of a source file of C is wanted, as those of Python are. */
static struct plumb_error *want_source(struct pl_resolver *r, const struct pl_known_code *code, uint32_t location,
				       const struct plumb_profile *p)
{
	const uint32_t source = p->functions[p->locations[location].function].source;

	if (!source || *pl_strtab_get(p->strings, source, NULL) != '/')
		return NULL;
	return pl_texts_want(&r->texts, source, code->process, code->view);
}

static struct plumb_error *take_native_node(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p)
{
	const struct pl_code_row *row = &r->codes.rows.data[rec->node.code];
	const struct pl_native_at at = {row->code, row->function, rec->node.offset};
	struct node node = r->nodes.data[rec->node.parent];
	const uint32_t *locations;
	uint32_t count;
	struct plumb_error *err = pl_native_lines_find(&r->native_lines, &r->codes.symbols, &at, p, &locations, &count);

	for (uint32_t i = 0; i < count && !err; i++) {
		err = pl_profile_stack(p, node.stack, locations[i], &node.stack);
		err = err ? err : want_source(r, row->code, locations[i], p);
	}
	return err || pl_vec_push(&r->nodes, node) ? err : &pl_err_no_memory;
}

static struct plumb_error *take_python_node(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p)
{
	const struct pl_code_row *row = &r->codes.rows.data[rec->node.code];
	struct pl_position pos = pl_lines_at(&row->lines, rec->node.offset);
	struct pl_location loc = {.function = row->function,
				  .line = pos.line,
				  .end_line = pos.end_line,
				  .column = pos.column,
				  .end_column = pos.end_column,
				  .opcode = rec->node.opcode};
	struct node node = r->nodes.data[rec->node.parent];
	uint32_t location;
	struct plumb_error *err;

	/* Frames that the interpreter hides from its own users are no frames here either. */
	if (!row->hidden) {
		if ((err = pl_profile_location(p, &loc, &location)) ||
		    (err = pl_profile_stack(p, node.stack, location, &node.stack)))
			return err;
		node.python = 1 + location;
	}
	return pl_vec_push(&r->nodes, node) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *take_node(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p)
{
	return r->codes.rows.data[rec->node.code].code->is_native ? take_native_node(r, rec, p)
								  : take_python_node(r, rec, p);
}

/* ids[index] = id */
static struct plumb_error *note_id(pl_id_vec *ids, uint32_t index, uint32_t id)
{
	while (ids->len <= index)
		if (!pl_vec_push(ids, PL_NO_ID))
			return &pl_err_no_memory;
	ids->data[index] = id;
	return NULL;
}

static struct plumb_error *add_process(struct pl_resolver *r, const struct pl_process_info *info,
				       struct plumb_profile *p)
{
	struct pl_process proc = {.pid = info->pid,
				  .parent = info->parent,
				  .start_ns = info->start_ns,
				  .came_ns = info->came_ns,
				  .ended = info->ended,
				  .ended_ns = info->ended_ns};
	struct plumb_error *err;
	uint32_t id;

	if ((err = pl_profile_string(p, info->python, strlen(info->python), &proc.python)) ||
	    (err = pl_profile_string(p, info->command, strlen(info->command), &proc.program)) ||
	    (err = pl_profile_string(p, info->name, strlen(info->name), &proc.name)) ||
	    (err = pl_profile_process(p, &proc, &id)) || (err = pl_texts_process(&r->texts, info)))
		return err;
	return note_id(&r->processes, info->index, id);
}

static struct plumb_error *take_process(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p)
{
	struct plumb_error *err = add_process(r, rec->process.info, p);

	free(rec->process.info);
	return err;
}

/* There is no room for one more: it counts with others of its kind. */
static struct plumb_error *add_surplus_thread(struct pl_resolver *r, const struct pl_thread_info *info,
					      uint32_t process, struct plumb_profile *p)
{
	static const char name[] = "<more threads>";
	struct pl_thread t = {.process = process};
	uint32_t id;
	struct plumb_error *err;

	if ((err = pl_profile_string(p, name, sizeof name - 1, &t.name)) || (err = pl_profile_thread(p, &t, &id)))
		return err;
	return note_id(&r->threads, info->index, id);
}

static bool is_surplus_thread(const struct pl_resolver *r, const struct pl_thread_info *info,
			      const struct plumb_profile *p)
{
	if (!r->max_threads || p->thread_count < r->max_threads)
		return false;
	uint32_t id = info->index < r->threads.len ? r->threads.data[info->index] : PL_NO_ID;
	return id == PL_NO_ID || p->threads[id].tid == 0;
}

static struct plumb_error *add_thread(struct pl_resolver *r, const struct pl_thread_info *info, struct plumb_profile *p)
{
	struct pl_thread t = {
		.tid = info->tid, .main = info->main, .cpu_ns = info->cpu_ns, .cpu_known = info->cpu_known};
	struct plumb_error *err;
	uint32_t id;

	if (info->process >= r->processes.len || r->processes.data[info->process] == PL_NO_ID)
		return &pl_err_corrupt;
	t.process = r->processes.data[info->process];
	if (is_surplus_thread(r, info, p))
		return add_surplus_thread(r, info, t.process, p);
	if ((err = pl_profile_string(p, info->name, strlen(info->name), &t.name)) ||
	    (err = pl_profile_thread(p, &t, &id)))
		return err;
	return note_id(&r->threads, info->index, id);
}

static struct plumb_error *take_thread(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p)
{
	struct plumb_error *err = add_thread(r, rec->thread.info, p);

	free(rec->thread.info);
	return err;
}

static const char *const marker_names[] = {
	[PL_MARKER_MOVING] = "<moving>",
	[PL_MARKER_GC] = "<GC>",
	[PL_MARKER_NO_FRAME] = "<no Python frame>",
	[PL_MARKER_FOLDED] = "<folded>",
};

static struct plumb_error *add_lock(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p,
				    uint32_t *ret)
{
	static const uint8_t holders[] = {[PL_HOLDER_UNKNOWN] = PL_LOCK_UNKNOWN,
					  [PL_HOLDER_NOBODY] = PL_LOCK_FREE,
					  [PL_HOLDER_THREAD] = PL_LOCK_HELD};
	struct pl_lock_state l = {.object = rec->lock.object, .holder = holders[rec->state], .recursive = rec->marker};

	if (l.holder == PL_LOCK_HELD) {
		const struct pl_thread *t = &p->threads[r->threads.data[rec->lock.holder]];
		l.tid = t->tid;
		l.name = t->name;
		l.location = r->nodes.data[rec->lock.node].python;
		l.inside = r->nodes.data[rec->lock.inside].python;
	}
	return pl_profile_lock(p, &l, ret);
}

/* The lock that was told of before this sample, if it is of the thread that waited for it. */
static struct plumb_error *take_awaited(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p,
					uint32_t *ret)
{
	struct pl_record lock = r->lock;
	uint32_t row;

	r->lock = (struct pl_record){0};
	if (lock.kind != PL_RECORD_LOCK || lock.lock.waiter != rec->sample.thread)
		return NULL;
	struct plumb_error *err = add_lock(r, &lock, p, &row);
	*ret = err ? 0 : 1 + row;
	return err;
}

static struct plumb_error *take_lock(struct pl_resolver *r, const struct pl_record *rec)
{
	bool held = rec->state == PL_HOLDER_THREAD;

	if (rec->lock.node >= r->nodes.len || rec->lock.inside >= r->nodes.len ||
	    (held && (rec->lock.holder >= r->threads.len || r->threads.data[rec->lock.holder] == PL_NO_ID)))
		return &pl_err_corrupt;
	r->lock = *rec;
	return NULL;
}

static struct plumb_error *take_sample(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p,
				       pl_engine_sample_fn *fn, void *ctx)
{
	struct pl_sample s = {.time_ns = rec->sample.time_ns,
			      .state = rec->state,
			      .quality = rec->quality,
			      .weight_ns = rec->sample.weight_ns};

	if (rec->sample.thread >= r->threads.len || r->threads.data[rec->sample.thread] == PL_NO_ID ||
	    rec->sample.node >= r->nodes.len)
		return &pl_err_corrupt;
	s.thread = r->threads.data[rec->sample.thread];
	uint32_t stack = r->nodes.data[rec->sample.node].stack;
	struct plumb_error *err = take_awaited(r, rec, p, &s.lock);
	if (!err)
		err = pl_tagged_stack(&r->tagged, p, rec->tag, stack, &s.stack);
	if (!err && s.stack == stack)
		err = pl_pool_task_stack(&r->pool_tasks, p, stack, &s.stack);
	if (!err && rec->marker != PL_MARKER_NONE)
		err = pl_profile_marker(p, s.stack, marker_names[rec->marker], &s.stack);
	return err ? err : fn(ctx, &s);
}

static struct plumb_error *take_wait(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p)
{
	if (rec->wait.thread >= r->threads.len || r->threads.data[rec->wait.thread] == PL_NO_ID ||
	    rec->wait.node >= r->nodes.len)
		return &pl_err_corrupt;
	const struct pl_wait w = {.stack = r->nodes.data[rec->wait.node].stack,
				  .thread = r->threads.data[rec->wait.thread],
				  .what = rec->state,
				  .tasks = rec->wait.tasks,
				  .task_ns = rec->wait.task_ns};
	return pl_profile_wait(p, &w);
}

static void take_look(const struct pl_record *rec, struct plumb_profile *p)
{
	const struct pl_waited more = {.looks = 1, .covered_ns = rec->look.stands_ns, .lost_ns = rec->look.lost_ns};

	pl_profile_waited(p, &more);
}

static void take_event(const struct pl_resolver *r, const struct pl_record *rec)
{
	struct pl_engine_event none = {.lost = rec->event.lost};

	r->event(r->event_ctx, rec->event.info ? rec->event.info : &none);
	free(rec->event.info);
}

struct plumb_error *pl_resolver_take(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p,
				     pl_engine_sample_fn *fn, void *ctx)
{
	switch ((enum pl_record_kind)rec->kind) {
	case PL_RECORD_CODE:
		return pl_named_codes_add(&r->codes, rec->code.code, &r->texts, p);
	case PL_RECORD_NODE:
		return take_node(r, rec, p);
	case PL_RECORD_THREAD:
		return take_thread(r, rec, p);
	case PL_RECORD_PROCESS:
		return take_process(r, rec, p);
	case PL_RECORD_SAMPLE:
		return take_sample(r, rec, p, fn, ctx);
	case PL_RECORD_WAIT:
		return take_wait(r, rec, p);
	case PL_RECORD_LOCK:
		return take_lock(r, rec);
	case PL_RECORD_EVENT:
		take_event(r, rec);
		break;
	case PL_RECORD_LOOK:
		take_look(rec, p);
		break;
	}
	return NULL;
}

struct plumb_error *pl_resolver_read_texts(struct pl_resolver *r, struct plumb_profile *p, bool all)
{
	return all ? pl_texts_finish(&r->texts, p) : pl_texts_read(&r->texts, p);
}
