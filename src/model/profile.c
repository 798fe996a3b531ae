/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a profile and their interning (layer model). One owner at a time.
 *
 * A row is looked up by an exact key (index.h), and appended if it is new. When memory runs out in between, the table
 * is as it was: at worst a map has room to spare. Counting samples is cells.c, texts of files are sources.c, builds
 * modules.c, adding profiles is merge.c, asking is view*.c. */
#include "profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "index.h"
#include "vec.h"

static uint64_t pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

struct plumb_error *pl_table_room(void **rows, size_t *cap, uint32_t count, size_t row_size)
{
	if (count == UINT32_MAX)
		return &pl_err_limit;
	if (count < *cap || pl_vec_grow(rows, cap, count, 1, row_size))
		return NULL;
	return &pl_err_no_memory;
}

struct plumb_error *pl_row_room(struct plumb_profile *p, void **rows, size_t *cap, uint32_t count, size_t row_size)
{
	return p->index->held ? &pl_err_stale : pl_table_room(rows, cap, count, row_size);
}

void pl_profile_hold(struct plumb_profile *p, bool held)
{
	p->index->held = held;
}

/* Node 0, the empty stack. It is in the table but not in the map: no location leads to it. */
static struct plumb_error *add_root(struct plumb_profile *p)
{
	struct plumb_error *err = pl_table_room((void **)&p->stacks, &p->index->stack_cap, 0, sizeof *p->stacks);
	if (err)
		return err;
	p->stacks[p->stack_count++] = (struct pl_stack){0};
	return NULL;
}

static struct plumb_error *profile_init(struct plumb_profile *p)
{
	p->index = calloc(1, sizeof *p->index);
	if (!p->index)
		return &pl_err_no_memory;
	p->batch_ns = PL_BATCH_MIN_NS;
	p->index->batch_shift = (unsigned)__builtin_ctzll(PL_BATCH_MIN_NS);
	p->index->last_cell = PL_NO_CELL;
	struct plumb_error *err = pl_strtab_create(&p->strings);
	return err ? err : add_root(p);
}

uint32_t *pl_meta_text(struct pl_meta *m, size_t i)
{
	uint32_t *const texts[] = {&m->command, &m->engine, &m->plumb_version, &m->host, &m->refused_why, &m->own};

	return i < sizeof texts / sizeof *texts ? texts[i] : NULL;
}

struct plumb_error *pl_profile_create(struct plumb_profile **ret)
{
	struct plumb_profile *p = calloc(1, sizeof *p);
	if (!p)
		return &pl_err_no_memory;
	struct plumb_error *err = profile_init(p);
	if (err) {
		pl_profile_destroy(p);
		return err;
	}
	*ret = p;
	return NULL;
}

static void index_destroy(struct pl_profile_index *x)
{
	if (!x)
		return;
	pl_map_deinit(&x->names);
	pl_map_deinit(&x->functions);
	pl_map_deinit(&x->spans);
	pl_map_deinit(&x->hosts);
	pl_map_deinit(&x->pids);
	pl_map_deinit(&x->uses);
	pl_map_deinit(&x->locations);
	pl_row_index_deinit(&x->stacks);
	pl_row_index_deinit(&x->locks);
	pl_map_deinit(&x->threads);
	pl_map_deinit(&x->processes);
	pl_map_deinit(&x->sources);
	pl_map_deinit(&x->waits);
	pl_map_deinit(&x->modules);
	pl_map_deinit(&x->events);
	pl_cells_forget(x->cells);
	free(x->thread_weight_ns);
	free(x);
}

void pl_profile_destroy(struct plumb_profile *p)
{
	if (!p)
		return;
	if (p->stream.destroy)
		p->stream.destroy(p->stream.ctx);
	index_destroy(p->index);
	pl_axis_deinit(&p->axis);
	pl_strtab_destroy(p->strings);
	free(p->functions);
	free(p->locations);
	free(p->stacks);
	free(p->threads);
	free(p->processes);
	for (uint32_t i = 0; i < p->source_count; i++)
		free(p->sources[i].text);
	free(p->sources);
	free(p->modules);
	free(p->cells);
	free(p->waits);
	free(p->locks);
	free(p->events);
	free(p);
}

struct plumb_error *pl_profile_string(struct plumb_profile *p, const void *s, size_t len, uint32_t *ret)
{
	return pl_strtab_add(p->strings, s, len, ret);
}

/* First step of a two-step key: the id of a triple, ids in order of first appearance. */
static struct plumb_error *intern_triple(struct pl_map *m, uint32_t a, uint32_t b, uint32_t c, uint32_t *ret)
{
	if (pl_map_get(m, pair(a, b), c, ret))
		return NULL;
	if (m->len >= UINT32_MAX)
		return &pl_err_limit;
	uint32_t id = (uint32_t)m->len;
	if (!pl_map_set(m, pair(a, b), c, id))
		return &pl_err_no_memory;
	*ret = id;
	return NULL;
}

struct plumb_error *pl_profile_function(struct plumb_profile *p, const struct pl_function *f, uint32_t *ret)
{
	struct pl_profile_index *x = p->index;
	uint32_t names = 0;
	struct plumb_error *err = intern_triple(&x->names, f->name, f->qualname, f->file, &names);
	if (err)
		return err;
	assert(!f->labels + !f->unnamed + !f->source >= 2);
	const uint64_t k0 = pair(names, f->firstline),
		       k1 = pair(f->labels | f->unnamed | f->source,
				 f->origin | (uint32_t)f->plumbing << 8 | (uint32_t)(f->source != 0) << 9);
	if (pl_map_get(&x->functions, k0, k1, ret))
		return NULL;
	err = pl_row_room(p, (void **)&p->functions, &x->function_cap, p->function_count, sizeof *p->functions);
	if (err)
		return err;
	if (!pl_map_set(&x->functions, k0, k1, p->function_count))
		return &pl_err_no_memory;
	p->functions[p->function_count] = *f;
	*ret = p->function_count++;
	return NULL;
}

struct plumb_error *pl_profile_location(struct plumb_profile *p, const struct pl_location *l, uint32_t *ret)
{
	assert(l->function < p->function_count);
	struct pl_profile_index *x = p->index;
	uint32_t span = 0;
	struct plumb_error *err =
		intern_triple(&x->spans, (uint32_t)l->end_line, (uint32_t)l->column, (uint32_t)l->end_column, &span);
	if (err)
		return err;
	assert(!l->address || (!l->line && !l->opcode && !l->inlined && l->address <= PL_ADDRESS_MAX));
	uint64_t k0 = pair(l->function, (uint32_t)l->line), k1 = pair(l->opcode | (uint32_t)l->inlined << 16, span);
	if (l->address) /* no other location has that bit */
		k1 = l->address | 1ull << 63;
	if (pl_map_get(&x->locations, k0, k1, ret))
		return NULL;
	err = pl_row_room(p, (void **)&p->locations, &x->location_cap, p->location_count, sizeof *p->locations);
	if (err)
		return err;
	if (!pl_map_set(&x->locations, k0, k1, p->location_count))
		return &pl_err_no_memory;
	p->locations[p->location_count] = *l;
	*ret = p->location_count++;
	return NULL;
}

struct plumb_error *pl_profile_stack(struct plumb_profile *p, uint32_t parent, uint32_t location, uint32_t *ret)
{
	assert(parent < p->stack_count && location < p->location_count);
	struct pl_profile_index *x = p->index;
	uint32_t hash = pl_stack_hash(parent, location), row;
	for (size_t at = pl_row_index_start(&x->stacks, hash); pl_row_index_next(&x->stacks, hash, &at, &row);) {
		if (p->stacks[row].parent == parent && p->stacks[row].location == location) {
			*ret = row;
			return NULL;
		}
	}
	if (p->stacks[parent].depth >= PL_STACK_MAX_DEPTH)
		return pl_error(PLUMB_ERR_LIMIT, "a stack is deeper than %u frames", PL_STACK_MAX_DEPTH);
	struct plumb_error *err = pl_row_room(p, (void **)&p->stacks, &x->stack_cap, p->stack_count, sizeof *p->stacks);
	if (err)
		return err;
	if (!pl_row_index_add(&x->stacks, hash, p->stack_count))
		return &pl_err_no_memory;
	uint32_t depth = p->stacks[parent].depth + 1;
	p->stacks[p->stack_count] = (struct pl_stack){.parent = parent, .location = location, .depth = depth};
	*ret = p->stack_count++;
	return NULL;
}

void pl_profile_expect_stack(const struct plumb_profile *p, uint32_t parent, uint32_t location)
{
	if (parent < p->stack_count)
		__builtin_prefetch(&p->stacks[parent]);
	pl_row_index_expect(&p->index->stacks, pl_stack_hash(parent, location));
}

struct plumb_error *pl_profile_labelled(struct plumb_profile *p, uint32_t parent, const char *name, uint32_t labels,
					uint32_t *ret)
{
	struct pl_function f = {.origin = PL_ORIGIN_MARKER, .labels = labels};
	struct pl_location l = {.line = 0, .end_line = 0, .column = -1, .end_column = -1};
	struct plumb_error *err = pl_profile_string(p, name, strlen(name), &f.name);
	if (err)
		return err;
	f.qualname = f.name;
	/* "~" is how Python's own tools write the file of something that has none. */
	err = pl_profile_string(p, "~", 1, &f.file);
	if (err)
		return err;
	err = pl_profile_function(p, &f, &l.function);
	if (err)
		return err;
	uint32_t location = 0;
	err = pl_profile_location(p, &l, &location);
	return err ? err : pl_profile_stack(p, parent, location, ret);
}

struct plumb_error *pl_profile_marker(struct plumb_profile *p, uint32_t parent, const char *name, uint32_t *ret)
{
	return pl_profile_labelled(p, parent, name, 0, ret);
}

static void thread_update(struct pl_thread *row, const struct pl_thread *t)
{
	if (t->name)
		row->name = t->name;
	if (t->main)
		row->main = true;
	if (t->cpu_known) {
		row->cpu_known = true;
		row->cpu_ns = t->cpu_ns;
	}
}

struct plumb_error *pl_profile_thread(struct plumb_profile *p, const struct pl_thread *t, uint32_t *ret)
{
	assert(t->process < p->process_count);
	struct pl_profile_index *x = p->index;
	uint32_t id = 0;
	if (pl_map_get(&x->threads, t->tid, t->process, &id)) {
		thread_update(&p->threads[id], t);
		*ret = id;
		return NULL;
	}
	struct plumb_error *err =
		pl_row_room(p, (void **)&p->threads, &x->thread_cap, p->thread_count, sizeof *p->threads);
	if (err)
		return err;
	err = pl_table_room((void **)&x->thread_weight_ns, &x->thread_weight_cap, p->thread_count,
			    sizeof *x->thread_weight_ns);
	if (err)
		return err;
	if (!pl_map_set(&x->threads, t->tid, t->process, p->thread_count))
		return &pl_err_no_memory;
	p->threads[p->thread_count] = *t;
	x->thread_weight_ns[p->thread_count] = 0;
	*ret = p->thread_count++;
	return NULL;
}

static void process_update(struct pl_process *row, const struct pl_process *proc)
{
	row->parent = proc->parent ? proc->parent : row->parent;
	row->program = proc->program ? proc->program : row->program;
	row->name = proc->name ? proc->name : row->name;
	row->python = proc->python ? proc->python : row->python;
	if (!proc->ended)
		return;
	row->ended = true;
	row->ended_ns = proc->ended_ns;
}

/* Recordings of older releases do not know when a process was started. No program has the id that hosts are told by. */
static struct plumb_error *process_key(struct plumb_profile *p, const struct pl_process *proc, uint64_t *k0,
				       uint64_t *k1)
{
	uint32_t program = proc->start_ns ? 0 : proc->program + 1, named = 0;
	*k0 = pair(proc->pid, program);
	*k1 = proc->start_ns ? proc->start_ns : proc->python;
	if (!proc->host)
		return NULL;
	struct plumb_error *err = intern_triple(&p->index->hosts, proc->pid, proc->host, program, &named);
	*k0 = pair(named, UINT32_MAX);
	return err;
}

struct plumb_error *pl_profile_name_hosts(struct plumb_profile *p)
{
	uint32_t host = p->meta.host;
	struct plumb_error *err = host ? NULL : pl_profile_string(p, "?", 1, &host);
	struct pl_map processes = PL_MAP_INIT, pids = PL_MAP_INIT;
	for (uint32_t i = 0; i < p->process_count && !err; i++) {
		struct pl_process proc = p->processes[i];
		uint64_t k0, k1;
		proc.host = proc.host ? proc.host : host;
		err = process_key(p, &proc, &k0, &k1);
		if (!err && (!pl_map_set(&processes, k0, k1, i) || !pl_map_set(&pids, proc.pid, proc.host, i)))
			err = &pl_err_no_memory;
	}
	if (err) {
		pl_map_deinit(&processes);
		pl_map_deinit(&pids);
		return err;
	}
	for (uint32_t i = 0; i < p->process_count; i++)
		p->processes[i].host = p->processes[i].host ? p->processes[i].host : host;
	pl_map_deinit(&p->index->processes);
	pl_map_deinit(&p->index->pids);
	p->index->processes = processes;
	p->index->pids = pids;
	return NULL;
}

struct plumb_error *pl_profile_process(struct plumb_profile *p, const struct pl_process *proc, uint32_t *ret)
{
	struct pl_profile_index *x = p->index;
	uint64_t k0, k1;
	struct plumb_error *err = process_key(p, proc, &k0, &k1);
	if (err)
		return err;
	if (pl_map_get(&x->processes, k0, k1, ret)) {
		process_update(&p->processes[*ret], proc);
		return NULL;
	}
	err = pl_row_room(p, (void **)&p->processes, &x->process_cap, p->process_count, sizeof *p->processes);
	if (err)
		return err;
	uint32_t before = 0;
	(void)pl_map_get(&x->uses, proc->pid, 0, &before);
	if (!pl_map_set(&x->pids, proc->pid, proc->host, p->process_count) ||
	    !pl_map_set(&x->uses, proc->pid, 0, before + 1) || !pl_map_set(&x->processes, k0, k1, p->process_count))
		return &pl_err_no_memory;
	p->processes[p->process_count] = *proc;
	p->processes[p->process_count].before = before;
	*ret = p->process_count++;
	return NULL;
}
