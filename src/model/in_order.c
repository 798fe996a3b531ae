/* SPDX-License-Identifier: Apache-2.0 */
/* A profile whose ids follow from its content (layer model). Read-only for the source.
 *
 * Ids are given in order of first appearance, so that two profiles that say the same can have different ids: after a
 * merge they depend on which came first. Here every table is sorted by what its rows say and interned anew; stacks
 * level by level, so that parents stay before their children. */
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "events.h"
#include "index.h"
#include "profile.h"

#define AHEAD 12

struct copy {
	const struct plumb_profile *from;
	struct plumb_profile *into;
	uint32_t *order;						/* scratch: ids of the table that is sorted */
	uint32_t *functions, *locations, *stacks, *processes, *threads; /* id there -> id here */
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_texts(const struct plumb_profile *p, uint32_t a, uint32_t b)
{
	size_t a_len = 0, b_len = 0;
	if (a == b)
		return 0;
	const char *s = pl_strtab_get(p->strings, a, &a_len), *t = pl_strtab_get(p->strings, b, &b_len);
	int order = memcmp(s, t, a_len < b_len ? a_len : b_len);
	return order ? order : compare_u64(a_len, b_len);
}

static int compare_functions(const void *a, const void *b, void *ctx)
{
	const struct plumb_profile *p = ((const struct copy *)ctx)->from;
	const struct pl_function *f = &p->functions[*(const uint32_t *)a], *g = &p->functions[*(const uint32_t *)b];
	int order = compare_texts(p, f->file, g->file);
	if (!order)
		order = compare_u64(f->firstline, g->firstline);
	if (!order)
		order = compare_texts(p, f->qualname, g->qualname);
	if (!order)
		order = compare_texts(p, f->name, g->name);
	if (!order)
		order = compare_texts(p, f->labels, g->labels);
	if (!order)
		order = compare_texts(p, f->unnamed, g->unnamed);
	if (!order)
		order = compare_texts(p, f->source, g->source);
	if (!order)
		order = compare_u64(f->plumbing, g->plumbing);
	return order ? order : compare_u64(f->origin, g->origin);
}

static int compare_i32(int32_t a, int32_t b)
{
	return (a > b) - (a < b);
}

static int compare_locations(const void *a, const void *b, void *ctx)
{
	const struct copy *c = ctx;
	const struct pl_location *l = &c->from->locations[*(const uint32_t *)a];
	const struct pl_location *m = &c->from->locations[*(const uint32_t *)b];
	int order = compare_u64(c->functions[l->function], c->functions[m->function]);
	if (!order)
		order = compare_i32(l->line, m->line);
	if (!order)
		order = compare_i32(l->column, m->column);
	if (!order)
		order = compare_i32(l->end_line, m->end_line);
	if (!order)
		order = compare_i32(l->end_column, m->end_column);
	if (!order)
		order = compare_u64(l->opcode, m->opcode);
	if (!order)
		order = compare_u64(l->inlined, m->inlined);
	return order ? order : compare_u64(l->address, m->address);
}

static int compare_stacks(const void *a, const void *b, void *ctx)
{
	const struct copy *c = ctx;
	const struct pl_stack *s = &c->from->stacks[*(const uint32_t *)a];
	const struct pl_stack *t = &c->from->stacks[*(const uint32_t *)b];
	int order = compare_u64(c->stacks[s->parent], c->stacks[t->parent]);
	return order ? order : compare_u64(c->locations[s->location], c->locations[t->location]);
}

static int compare_processes(const void *a, const void *b, void *ctx)
{
	const struct plumb_profile *p = ((const struct copy *)ctx)->from;
	const struct pl_process *x = &p->processes[*(const uint32_t *)a], *y = &p->processes[*(const uint32_t *)b];
	int order = compare_texts(p, x->host, y->host);
	if (!order)
		order = compare_u64(x->start_ns, y->start_ns);
	if (!order)
		order = compare_u64(x->pid, y->pid);
	if (!order)
		order = compare_texts(p, x->program, y->program);
	return order ? order : compare_texts(p, x->python, y->python);
}

static int compare_threads(const void *a, const void *b, void *ctx)
{
	const struct copy *c = ctx;
	const struct pl_thread *t = &c->from->threads[*(const uint32_t *)a];
	const struct pl_thread *u = &c->from->threads[*(const uint32_t *)b];
	int order = compare_u64(c->processes[t->process], c->processes[u->process]);
	return order ? order : compare_u64(t->tid, u->tid);
}

static int compare_sources(const void *a, const void *b, void *ctx)
{
	const struct plumb_profile *p = ((const struct copy *)ctx)->from;
	return compare_texts(p, p->sources[*(const uint32_t *)a].file, p->sources[*(const uint32_t *)b].file);
}

/* Of one batch and one stack. */
static int compare_cells(const void *a, const void *b, void *ctx)
{
	const struct copy *c = ctx;
	const struct pl_cell *x = &c->from->cells[*(const uint32_t *)a], *y = &c->from->cells[*(const uint32_t *)b];
	int order = compare_u64(c->threads[x->thread], c->threads[y->thread]);
	if (!order)
		order = compare_u64(x->state, y->state);
	return order ? order : compare_u64(x->quality, y->quality);
}

static void sort(struct copy *c, uint32_t count, int (*compare)(const void *, const void *, void *))
{
	for (uint32_t i = 0; i < count; i++)
		c->order[i] = i;
	qsort_r(c->order, count, sizeof *c->order, compare, c);
}

/* The string @p *id of the source here. */
static struct plumb_error *copy_text(struct copy *c, uint32_t *id)
{
	size_t len = 0;
	const char *text = pl_strtab_get(c->from->strings, *id, &len);
	return pl_profile_string(c->into, text, len, id);
}

static struct plumb_error *copy_texts(struct copy *c, uint32_t *const *ids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct plumb_error *err = copy_text(c, ids[i]);
		if (err)
			return err;
	}
	return NULL;
}

static struct plumb_error *copy_functions(struct copy *c)
{
	sort(c, c->from->function_count, compare_functions);
	for (uint32_t i = 0; i < c->from->function_count; i++) {
		struct pl_function f = c->from->functions[c->order[i]];
		uint32_t *const texts[] = {&f.file, &f.qualname, &f.name, &f.labels, &f.unnamed, &f.source};
		struct plumb_error *err = copy_texts(c, texts, sizeof texts / sizeof *texts);
		if (!err)
			err = pl_profile_function(c->into, &f, &c->functions[c->order[i]]);
		if (err)
			return err;
	}
	return NULL;
}

static struct plumb_error *copy_locations(struct copy *c)
{
	sort(c, c->from->location_count, compare_locations);
	for (uint32_t i = 0; i < c->from->location_count; i++) {
		struct pl_location l = c->from->locations[c->order[i]];
		l.function = c->functions[l.function];
		struct plumb_error *err = pl_profile_location(c->into, &l, &c->locations[c->order[i]]);
		if (err)
			return err;
	}
	return NULL;
}

/* The stacks of one depth: c->order[from] to c->order[to - 1]; their parents are copied already. */
static struct plumb_error *copy_level(struct copy *c, uint32_t from, uint32_t to)
{
	qsort_r(c->order + from, to - from, sizeof *c->order, compare_stacks, c);
	for (uint32_t i = from; i < to; i++) {
		const struct pl_stack *s = &c->from->stacks[c->order[i]];
		struct plumb_error *err = pl_profile_stack(c->into, c->stacks[s->parent], c->locations[s->location],
							   &c->stacks[c->order[i]]);
		if (err)
			return err;
	}
	return NULL;
}

/* Counting sort by depth, then level by level. */
static struct plumb_error *copy_stacks(struct copy *c)
{
	const struct plumb_profile *p = c->from;
	uint32_t deepest = 0;
	for (uint32_t i = 1; i < p->stack_count; i++)
		deepest = p->stacks[i].depth > deepest ? p->stacks[i].depth : deepest;
	uint32_t *start = calloc((size_t)deepest + 2, sizeof *start);
	if (!start)
		return &pl_err_no_memory;
	for (uint32_t i = 1; i < p->stack_count; i++)
		start[p->stacks[i].depth + 1]++;
	for (uint32_t d = 1; d <= deepest; d++)
		start[d + 1] += start[d];
	for (uint32_t i = 1; i < p->stack_count; i++)
		c->order[start[p->stacks[i].depth]++] = i;
	struct plumb_error *err = NULL; /* start[d] is now where depth d ends */
	for (uint32_t d = 1; d <= deepest && !err; d++)
		err = copy_level(c, start[d - 1], start[d]);
	free(start);
	return err;
}

static struct plumb_error *copy_processes(struct copy *c)
{
	sort(c, c->from->process_count, compare_processes);
	for (uint32_t i = 0; i < c->from->process_count; i++) {
		struct pl_process proc = c->from->processes[c->order[i]];
		uint32_t *const texts[] = {&proc.host, &proc.program, &proc.name, &proc.python};
		struct plumb_error *err = copy_texts(c, texts, 4);
		if (!err)
			err = pl_profile_process(c->into, &proc, &c->processes[c->order[i]]);
		if (err)
			return err;
	}
	return NULL;
}

static struct plumb_error *copy_threads(struct copy *c)
{
	sort(c, c->from->thread_count, compare_threads);
	for (uint32_t i = 0; i < c->from->thread_count; i++) {
		struct pl_thread t = c->from->threads[c->order[i]];
		t.process = c->processes[t.process];
		struct plumb_error *err = copy_text(c, &t.name);
		if (!err)
			err = pl_profile_thread(c->into, &t, &c->threads[c->order[i]]);
		if (err)
			return err;
	}
	return NULL;
}

static struct plumb_error *copy_sources(struct copy *c)
{
	sort(c, c->from->source_count, compare_sources);
	for (uint32_t i = 0; i < c->from->source_count; i++) {
		const struct pl_source *s = &c->from->sources[c->order[i]];
		uint32_t file = s->file;
		struct plumb_error *err = copy_text(c, &file);
		if (!err)
			err = pl_profile_source(c->into, file, s->text, s->len, s->changed);
		if (err)
			return err;
	}
	return NULL;
}

static int compare_modules(const void *a, const void *b, void *ctx)
{
	const struct plumb_profile *p = ((const struct copy *)ctx)->from;
	const struct pl_module *m = &p->modules[*(const uint32_t *)a], *n = &p->modules[*(const uint32_t *)b];
	int order = compare_texts(p, m->file, n->file);
	return order ? order : compare_texts(p, m->build_id, n->build_id);
}

static struct plumb_error *copy_modules(struct copy *c)
{
	struct plumb_error *err = NULL;
	sort(c, c->from->module_count, compare_modules);
	for (uint32_t i = 0; i < c->from->module_count && !err; i++) {
		struct pl_module m = c->from->modules[c->order[i]];
		err = copy_text(c, &m.file);
		if (!err)
			err = copy_text(c, &m.build_id);
		if (!err)
			err = pl_profile_module(c->into, &m);
	}
	return err;
}

static void starts(uint32_t *counts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		counts[i + 1] += counts[i];
}

/* Cells are far more than the caches hold: one is fetched some rows before it is needed. */
static void expect_cell(const struct plumb_profile *p, const uint32_t *order, uint32_t now)
{
	if (p->cell_count - now > AHEAD)
		__builtin_prefetch(&p->cells[order[now + AHEAD]]);
}

/* By batch, then by stack: there are millions, so each place is counted and not compared. */
static bool place_cells(struct copy *c)
{
	const struct plumb_profile *p = c->from;
	uint32_t batches[PL_BATCHES + 1] = {0};
	uint32_t *stacks = calloc((size_t)p->stack_count + 1, sizeof *stacks);
	uint32_t *by_stack = calloc((size_t)p->cell_count + 1, sizeof *by_stack);
	bool ok = stacks && by_stack;
	for (uint32_t i = 0; ok && i < p->cell_count; i++) {
		stacks[c->stacks[p->cells[i].stack] + 1]++;
		batches[p->cells[i].batch + 1]++;
	}
	if (ok)
		starts(stacks, p->stack_count);
	starts(batches, PL_BATCHES);
	for (uint32_t i = 0; ok && i < p->cell_count; i++)
		by_stack[stacks[c->stacks[p->cells[i].stack]]++] = i;
	for (uint32_t i = 0; ok && i < p->cell_count; i++) {
		expect_cell(p, by_stack, i);
		c->order[batches[p->cells[by_stack[i]].batch]++] = by_stack[i];
	}
	free(stacks);
	free(by_stack);
	return ok;
}

static bool same_place(const struct pl_cell *a, const struct pl_cell *b)
{
	return a->batch == b->batch && a->stack == b->stack;
}

static bool sort_cells(struct copy *c)
{
	const struct pl_cell *cells = c->from->cells;
	if (!place_cells(c))
		return false;
	for (uint32_t from = 0, to; from < c->from->cell_count; from = to) {
		for (to = from + 1; to < c->from->cell_count; to++) {
			expect_cell(c->from, c->order, to);
			if (!same_place(&cells[c->order[from]], &cells[c->order[to]]))
				break;
		}
		if (to - from > 1)
			qsort_r(c->order + from, to - from, sizeof *c->order, compare_cells, c);
	}
	return true;
}

static struct plumb_error *copy_cells(struct copy *c)
{
	struct plumb_error *err = pl_cells_widen(c->into, c->from->index->batch_shift);
	if (err)
		return err;
	if (!sort_cells(c))
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < c->from->cell_count; i++) {
		expect_cell(c->from, c->order, i);
		struct pl_cell cell = c->from->cells[c->order[i]];
		cell.stack = c->stacks[cell.stack];
		cell.thread = c->threads[cell.thread];
		err = pl_cells_append(c->into, &cell);
		if (err)
			return err;
	}
	return pl_axis_copy(&c->into->axis, &c->from->axis) ? NULL : &pl_err_no_memory;
}

static int compare_waits(const void *a, const void *b, void *ctx)
{
	const struct copy *c = ctx;
	const struct pl_wait *v = &c->from->waits[*(const uint32_t *)a], *w = &c->from->waits[*(const uint32_t *)b];
	int order = compare_u64(c->threads[v->thread], c->threads[w->thread]);
	if (!order)
		order = compare_u64(c->stacks[v->stack], c->stacks[w->stack]);
	return order ? order : compare_u64(v->what, w->what);
}

static struct plumb_error *copy_waits(struct copy *c)
{
	struct plumb_error *err = NULL;
	sort(c, c->from->wait_count, compare_waits);
	for (uint32_t i = 0; i < c->from->wait_count && !err; i++) {
		struct pl_wait w = c->from->waits[c->order[i]];
		w.stack = c->stacks[w.stack];
		w.thread = c->threads[w.thread];
		err = pl_profile_wait(c->into, &w);
	}
	c->into->waited = c->from->waited;
	return err;
}

static int compare_events(const void *a, const void *b, void *ctx)
{
	const struct copy *c = ctx;
	const struct pl_event *e = &c->from->events[*(const uint32_t *)a], *f = &c->from->events[*(const uint32_t *)b];
	const uint64_t x[] = {e->time_ns, e->duration_ns, e->kind, e->process ? 1 + c->processes[e->process - 1] : 0,
			      e->thread ? 1 + c->threads[e->thread - 1] : 0},
		       y[] = {f->time_ns, f->duration_ns, f->kind, f->process ? 1 + c->processes[f->process - 1] : 0,
			      f->thread ? 1 + c->threads[f->thread - 1] : 0};
	int order = 0;
	for (size_t i = 0; i < sizeof x / sizeof *x && !order; i++)
		order = compare_u64(x[i], y[i]);
	if (!order)
		order = compare_texts(c->from, e->name, f->name);
	return order ? order : compare_texts(c->from, e->labels, f->labels);
}

static struct plumb_error *copy_events(struct copy *c)
{
	struct plumb_error *err = NULL;
	sort(c, c->from->event_count, compare_events);
	for (uint32_t i = 0; i < c->from->event_count && !err; i++) {
		struct pl_event e = c->from->events[c->order[i]];
		e.process = e.process ? 1 + c->processes[e.process - 1] : 0;
		e.thread = e.thread ? 1 + c->threads[e.thread - 1] : 0;
		if (!(err = copy_text(c, &e.name)) && !(err = copy_text(c, &e.labels)))
			err = pl_profile_event(c->into, &e);
	}
	return err;
}

static struct plumb_error *copy_meta(struct copy *c)
{
	struct pl_meta m = c->from->meta;
	for (size_t i = 0; pl_meta_text(&m, i); i++) {
		struct plumb_error *err = copy_text(c, pl_meta_text(&m, i));
		if (err)
			return err;
	}
	c->into->meta = m;
	return NULL;
}

static bool copy_init(struct copy *c)
{
	const struct plumb_profile *p = c->from;
	const uint32_t counts[] = {p->function_count, p->location_count, p->stack_count,  p->process_count,
				   p->thread_count,   p->source_count,	 p->module_count, p->cell_count,
				   p->wait_count,     p->event_count};
	uint32_t most = 0;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		most = counts[i] > most ? counts[i] : most;
	c->order = calloc((size_t)most + 1, sizeof *c->order);
	c->functions = calloc((size_t)p->function_count + 1, sizeof *c->functions);
	c->locations = calloc((size_t)p->location_count + 1, sizeof *c->locations);
	c->stacks = calloc((size_t)p->stack_count + 1, sizeof *c->stacks);
	c->processes = calloc((size_t)p->process_count + 1, sizeof *c->processes);
	c->threads = calloc((size_t)p->thread_count + 1, sizeof *c->threads);
	return c->order && c->functions && c->locations && c->stacks && c->processes && c->threads;
}

static struct plumb_error *copy_all(struct copy *c)
{
	struct plumb_error *(*const steps[])(struct copy *) = {
		copy_meta,    copy_functions, copy_locations, copy_stacks, copy_processes, copy_threads,
		copy_sources, copy_modules,   copy_cells,     copy_waits,  copy_events};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct plumb_error *err = steps[i](c);
		if (err)
			return err;
	}
	return NULL;
}

struct plumb_error *pl_profile_in_order(const struct plumb_profile *p, struct plumb_profile **ret)
{
	struct copy c = {.from = p};
	struct plumb_error *err = pl_profile_create(&c.into);
	if (!err)
		err = copy_init(&c) ? copy_all(&c) : &pl_err_no_memory;
	free(c.order);
	free(c.functions);
	free(c.locations);
	free(c.stacks);
	free(c.processes);
	free(c.threads);
	if (err) {
		pl_profile_destroy(c.into);
		return err;
	}
	*ret = c.into;
	return NULL;
}
