/* SPDX-License-Identifier: Apache-2.0 */
/* Which tasks of a dump wait for one another for ever (layer model). Pure; one owner at a time.
 *
 * A task can wait for several others, for all of them. Whoever waits for somebody that waits for nobody is taken away,
 * again and again: of those that are left each waits for another one that is left, and any way on from one to the next
 * comes to a ring. */
#include "dump_model.h"
#include "lower_bound.h"
#include "map.h"

#include <stdlib.h>

/* The first waits for the second. */
struct edge {
	uint32_t from, to;
};

struct graph {
	const struct pl_dump_process *p;
	PL_VEC(struct edge) edges; /* by `to` */
	uint32_t *left;		   /* of each task: for how many it waits that are left */
	uint32_t *next, *seen;	   /* for pl_dump_find_rings; at first `seen` is the list of those to take away */
};

const struct pl_dump_task_awaited *pl_dump_task_awaited_of(const struct pl_dump_process *p,
							   const struct pl_dump_task *t)
{
	return t->awaited && t->awaited <= p->task_awaited.len ? &p->task_awaited.data[t->awaited - 1] : NULL;
}

void pl_dump_add_task_waiter(struct pl_dump_process *p, uint32_t task, uint32_t thing)
{
	struct pl_dump_task_awaited *a = &p->task_awaited.data[thing];

	p->tasks.data[task].awaited = thing + 1;
	if (a->last_waiter)
		p->tasks.data[a->last_waiter - 1].next_waiter = task + 1;
	else
		a->first_waiter = task + 1;
	a->last_waiter = task + 1;
	a->thing.waiters++;
}

/* As far as it is up to itself. */
static bool waits_for_ever(const struct pl_dump_task *t)
{
	return t->doing == PL_TASK_DOES_WAIT && !t->limited;
}

static bool add_edge(struct graph *g, uint32_t from, uint32_t to)
{
	const struct edge e = {from, to};

	if (!waits_for_ever(&g->p->tasks.data[to]))
		return true;
	g->left[from]++;
	return pl_vec_push(&g->edges, e);
}

static bool add_edges(struct graph *g, const struct pl_map *by_id, uint32_t from)
{
	const struct pl_dump_task *t = &g->p->tasks.data[from];
	const struct pl_dump_task_awaited *a = pl_dump_task_awaited_of(g->p, t);
	bool ok = true;
	uint32_t to;

	for (size_t i = 0; i < t->needs.len && ok; i++)
		if (pl_map_get(by_id, t->needs.data[i], 0, &to))
			ok = add_edge(g, from, to);
	return a && a->holder && ok ? add_edge(g, from, a->holder - 1) : ok;
}

static int by_to(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static bool fill(struct graph *g)
{
	struct pl_map by_id = PL_MAP_INIT;
	bool ok = true;

	for (uint32_t i = 0; i < g->p->tasks.len && ok; i++)
		ok = pl_map_set(&by_id, g->p->tasks.data[i].id, 0, i);
	for (uint32_t i = 0; i < g->p->tasks.len && ok; i++)
		if (waits_for_ever(&g->p->tasks.data[i]))
			ok = add_edges(g, &by_id, i);
	pl_map_deinit(&by_id);
	if (g->edges.len)
		qsort(g->edges.data, g->edges.len, sizeof *g->edges.data, by_to);
	return ok;
}

static uint64_t to_of(const void *row)
{
	return ((const struct edge *)row)->to;
}

static size_t first_edge_to(const struct graph *g, uint32_t to)
{
	return pl_lower_bound(g->edges.data, g->edges.len, sizeof *g->edges.data, to_of, to);
}

/* What is left afterwards has left[] > 0. */
static void take_away(struct graph *g)
{
	uint32_t *list = g->seen, len = 0;

	for (uint32_t i = 0; i < g->p->tasks.len; i++)
		if (!g->left[i])
			list[len++] = i;
	while (len) {
		uint32_t gone = list[--len];

		for (size_t i = first_edge_to(g, gone); i < g->edges.len && g->edges.data[i].to == gone; i++)
			if (--g->left[g->edges.data[i].from] == 0)
				list[len++] = g->edges.data[i].from;
	}
}

static struct plumb_error *find(struct graph *g, pl_dump_deadlock_vec *ret)
{
	uint32_t n = (uint32_t)g->p->tasks.len;

	take_away(g);
	for (uint32_t i = 0; i < n; i++) {
		g->next[i] = PL_DUMP_NOBODY;
		g->seen[i] = 0;
	}
	for (size_t i = g->edges.len; i-- > 0;) {
		const struct edge *e = &g->edges.data[i];
		if (g->left[e->from] && g->left[e->to])
			g->next[e->from] = e->to;
	}
	return pl_dump_find_rings(g->next, g->seen, n, ret);
}

struct plumb_error *pl_dump_find_task_deadlocks(struct pl_dump_process *p)
{
	struct graph g = {.p = p};
	size_t n = p->tasks.len;
	struct plumb_error *err = &pl_err_no_memory;

	pl_dump_deadlocks_deinit(&p->task_deadlocks);
	if (!n)
		return NULL;
	g.left = calloc(3 * n, sizeof *g.left);
	if (g.left) {
		g.next = g.left + n;
		g.seen = g.next + n;
	}
	if (g.left && fill(&g))
		err = find(&g, &p->task_deadlocks);
	free(g.left);
	pl_vec_deinit(&g.edges);
	return err;
}
