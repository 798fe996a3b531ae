/* SPDX-License-Identifier: Apache-2.0 */
/* Layer import; any thread. A profile without stacks says for each function what it costs and from where it was called.
 * A tree of calls is grown from the functions that nobody calls: the cost that arrives at a node is shared out among
 * the function itself and what it calls, in the proportion in which the function does it as a whole. Without recursion
 * the inclusive costs of all functions and pairs come out as they went in; whether A called C through B as often as all
 * callers of B did is a guess that the file gives no means to check.
 *
 * A function is never twice on a path: recursion is folded. The heaviest node is grown first, and growth ends when
 * there are enough nodes, so that a graph with more paths than atoms in the universe costs no more than its length.
 * Then the own costs are given out: each function's, exactly, over the nodes that it has got; one that was never
 * reached stands alone. */
#include "flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_NODES      16384u
#define NODES_PER_EDGE 4u
#define MAX_DEPTH      500u
#define NOBODY	       UINT32_MAX
#define LEAST	       0.5  /* of a unit: what is less is not worth a node */
#define PIECES_EACH    64u  /* for each line and node of a function, that its costs may be cut into */
#define STEPS_PER_NODE 128u /* edges and callers looked at, on the average: one with many edges can be met often */

struct node {
	uint32_t parent, function, depth;
	int32_t call_line; /* in the parent */
	double cost, self;
};

struct grower {
	struct pl_flow *flow;
	struct pl_sink *sink;
	uint32_t thread;
	double *self;	      /* own cost per function */
	uint32_t *first_edge; /* per function and one more: into the edges, which are in the order of callers */
	uint32_t *on_path;    /* per function: the node whose path it was last seen on, + 1 */
	uint32_t *prefix;     /* per node: the stack above it */
	double *of_function;  /* per function: own costs of its nodes */
	uint32_t *next_of;    /* per node: the next of its function */
	uint32_t *first_of;   /* per function */
	PL_VEC(struct node) nodes;
	PL_VEC(uint32_t) heap; /* nodes to grow, the heaviest on top */
	size_t max_nodes;
	uint64_t steps;
};

static int compare_edges(const void *va, const void *vb)
{
	const struct pl_flow_edge *a = va, *b = vb;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	if (a->callee != b->callee)
		return a->callee < b->callee ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static int compare_lines(const void *va, const void *vb)
{
	const struct pl_flow_line *a = va, *b = vb;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

/* Equal edges and lines become one. */
static void merge_equal(struct pl_flow *f)
{
	size_t kept = 0;

	if (f->edges.len)
		qsort(f->edges.data, f->edges.len, sizeof *f->edges.data, compare_edges);
	for (size_t i = 0; i < f->edges.len; i++) {
		if (kept && compare_edges(&f->edges.data[kept - 1], &f->edges.data[i]) == 0)
			f->edges.data[kept - 1].cost += f->edges.data[i].cost;
		else
			f->edges.data[kept++] = f->edges.data[i];
	}
	f->edges.len = kept;
	kept = 0;
	if (f->lines.len)
		qsort(f->lines.data, f->lines.len, sizeof *f->lines.data, compare_lines);
	for (size_t i = 0; i < f->lines.len; i++) {
		struct pl_flow_cost *to = kept ? &f->lines.data[kept - 1].cost : NULL, c = f->lines.data[i].cost;

		if (to && compare_lines(&f->lines.data[kept - 1], &f->lines.data[i]) == 0)
			*to = (struct pl_flow_cost){pl_sum_u64(to->samples, c.samples),
						    pl_sum_u64(to->weight_ns, c.weight_ns)};
		else
			f->lines.data[kept++] = f->lines.data[i];
	}
	f->lines.len = kept;
}

static bool allocate(struct grower *g)
{
	size_t count = g->flow->functions.len + 1;

	g->self = calloc(count, sizeof *g->self);
	g->first_edge = calloc(count + 1, sizeof *g->first_edge);
	g->on_path = calloc(count, sizeof *g->on_path);
	g->of_function = calloc(count, sizeof *g->of_function);
	g->first_of = calloc(count, sizeof *g->first_of);
	return g->self && g->first_edge && g->on_path && g->of_function && g->first_of;
}

/* Own costs of all functions, and where the edges of each begin. */
static void sum_up(struct grower *g)
{
	const struct pl_flow *f = g->flow;

	for (size_t i = 0; i < f->lines.len; i++) {
		const struct pl_flow_cost *c = &f->lines.data[i].cost;

		g->self[f->lines.data[i].function] += (double)(f->by_weight ? c->weight_ns : c->samples);
	}
	for (size_t i = 0; i < f->edges.len; i++)
		g->first_edge[f->edges.data[i].caller + 1]++;
	for (size_t i = 0; i < f->functions.len; i++)
		g->first_edge[i + 1] += g->first_edge[i];
}

/* What a function and all that it calls cost, if it is not recursive. */
static double inclusive(const struct grower *g, uint32_t function)
{
	const struct pl_flow_edge *edges = g->flow->edges.data;
	double sum = g->self[function];

	for (uint32_t i = g->first_edge[function]; i < g->first_edge[function + 1]; i++)
		sum += edges[i].callee == function ? 0 : edges[i].cost;
	return sum;
}

static double heap_cost(const struct grower *g, size_t at)
{
	return g->nodes.data[g->heap.data[at]].cost;
}

static void heap_swap(struct grower *g, size_t a, size_t b)
{
	uint32_t node = g->heap.data[a];

	g->heap.data[a] = g->heap.data[b];
	g->heap.data[b] = node;
}

static bool heap_push(struct grower *g, uint32_t node)
{
	size_t at = g->heap.len;

	if (!pl_vec_push(&g->heap, node))
		return false;
	for (; at && heap_cost(g, at) > heap_cost(g, (at - 1) / 2); at = (at - 1) / 2)
		heap_swap(g, at, (at - 1) / 2);
	return true;
}

static uint32_t heap_pop(struct grower *g)
{
	uint32_t top = g->heap.data[0];
	size_t at = 0, child;

	g->heap.data[0] = g->heap.data[--g->heap.len];
	while ((child = 2 * at + 1) < g->heap.len) {
		if (child + 1 < g->heap.len && heap_cost(g, child + 1) > heap_cost(g, child))
			child++;
		if (heap_cost(g, child) <= heap_cost(g, at))
			break;
		heap_swap(g, at, child);
		at = child;
	}
	return top;
}

static bool add_node(struct grower *g, uint32_t parent, uint32_t function, int32_t call_line, double cost)
{
	struct node n = {.parent = parent, .function = function, .call_line = call_line, .cost = cost};

	n.depth = parent == NOBODY ? 1 : g->nodes.data[parent].depth + 1;
	return pl_vec_push(&g->nodes, n) && heap_push(g, (uint32_t)g->nodes.len - 1);
}

/* How much of a function nobody called. */
static double root_cost(const struct grower *g, uint32_t function, double called)
{
	const struct pl_flow_function *f = &g->flow->functions.data[function];
	double rest;

	switch (g->flow->roots) {
	case PL_FLOW_GIVEN:
		return f->root;
	case PL_FLOW_TOTALS:
		rest = f->total - called;
		/* Seconds are written as fractions: what is left of rounding is no call. */
		return rest > f->total * 1e-9 ? rest : 0;
	default:
		return called > 0 ? 0 : inclusive(g, function);
	}
}

/* In a graph where everything is called stacks begin with the heaviest function. */
static bool add_roots(struct grower *g)
{
	const struct pl_flow *f = g->flow;
	double *called = g->of_function; /* not needed for anything else yet */
	uint32_t heaviest = 0;
	bool ok = true;

	for (size_t i = 0; i < f->edges.len; i++) {
		if (f->edges.data[i].caller != f->edges.data[i].callee)
			called[f->edges.data[i].callee] += f->edges.data[i].cost;
	}
	for (uint32_t i = 0; ok && i < f->functions.len; i++) {
		double cost = root_cost(g, i, called[i]);

		if (called[i] > called[heaviest])
			heaviest = i;
		if (cost >= LEAST)
			ok = add_node(g, NOBODY, i, 0, cost);
	}
	if (ok && g->nodes.len == 0 && f->functions.len)
		ok = add_node(g, NOBODY, heaviest, 0, inclusive(g, heaviest));
	memset(called, 0, f->functions.len * sizeof *called);
	return ok;
}

static bool grow(struct grower *g, uint32_t at)
{
	const struct pl_flow_edge *edges = g->flow->edges.data;
	struct node n = g->nodes.data[at];
	uint32_t begin = g->first_edge[n.function], end = g->first_edge[n.function + 1];
	double all = g->self[n.function];

	g->steps += n.depth + (end - begin);
	for (uint32_t up = at; up != NOBODY; up = g->nodes.data[up].parent)
		g->on_path[g->nodes.data[up].function] = at + 1;
	for (uint32_t i = begin; i < end; i++)
		all += g->on_path[edges[i].callee] == at + 1 ? 0 : edges[i].cost;
	if (!(all > 0) || n.depth >= MAX_DEPTH) {
		g->nodes.data[at].self = n.cost;
		return true;
	}
	g->nodes.data[at].self = n.cost * (g->self[n.function] / all);
	for (uint32_t i = begin; i < end && g->nodes.len < g->max_nodes; i++) {
		double cost = n.cost * (edges[i].cost / all);

		if (g->on_path[edges[i].callee] != at + 1 && cost >= LEAST &&
		    !add_node(g, at, edges[i].callee, edges[i].line, cost))
			return false;
	}
	return true;
}

static struct plumb_error *push_frame(struct grower *g, uint32_t parent, uint32_t function, int32_t line, uint32_t *ret)
{
	struct pl_location l = {.line = line, .end_line = line, .column = -1, .end_column = -1};
	struct plumb_error *err;
	uint32_t id;

	l.function = g->flow->functions.data[function].function;
	err = pl_profile_location(g->sink->profile, &l, &id);
	return err ? err : pl_profile_stack(g->sink->profile, parent, id, ret);
}

/* Nodes come after their parents. The ones of a function that cost nothing themselves are not listed. */
static struct plumb_error *list_nodes(struct grower *g)
{
	struct plumb_error *err = NULL;

	g->prefix = calloc(g->nodes.len + 1, sizeof *g->prefix);
	g->next_of = calloc(g->nodes.len + 1, sizeof *g->next_of);
	if (!g->prefix || !g->next_of)
		return &pl_err_no_memory;
	for (size_t i = 0; i < g->flow->functions.len; i++)
		g->first_of[i] = NOBODY;
	for (uint32_t i = 0; i < g->nodes.len && !err; i++) {
		const struct node *n = &g->nodes.data[i];

		if (n->parent != NOBODY)
			err = push_frame(g, g->prefix[n->parent], g->nodes.data[n->parent].function, n->call_line,
					 &g->prefix[i]);
		if (!(n->self > 0))
			continue;
		g->of_function[n->function] += n->self;
		g->next_of[i] = g->first_of[n->function];
		g->first_of[n->function] = i;
	}
	return err;
}

static struct plumb_error *give(struct grower *g, uint32_t prefix, const struct pl_flow_line *l,
				struct pl_flow_cost cost)
{
	struct pl_sample s = {.thread = g->thread, .state = PL_STATE_UNKNOWN, .quality = PL_EXACT};
	struct plumb_error *err = push_frame(g, prefix, l->function, l->line, &s.stack);

	s.extra = cost.samples - 1;
	s.weight_ns = cost.weight_ns;
	return err ? err : pl_sink_add(g->sink, &s);
}

/* The part of @p whole up to @p share of it; all of it at the end. */
static uint64_t part(uint64_t whole, double share)
{
	double v = floor((double)whole * share + 0.5);

	return share >= 1 || v >= (double)whole ? whole : (uint64_t)v;
}

/* The lines flow->lines[from..to) of one function meet each of its nodes, which can be more than there is memory for:
 * then they are shared out over those that were grown first, which are the heaviest, and stand last in the list. */
static void limit_nodes(struct grower *g, size_t from, size_t to)
{
	uint32_t function = g->flow->lines.data[from].function, *first = &g->first_of[function];
	uint64_t lines = to - from, nodes = 0;

	for (uint32_t n = *first; n != NOBODY; n = g->next_of[n])
		nodes++;
	uint64_t most = PIECES_EACH * (lines + nodes) / lines;
	if (nodes <= most)
		return;
	for (; nodes > most; nodes--)
		*first = g->next_of[*first];
	g->of_function[function] = 0;
	for (uint32_t n = *first; n != NOBODY; n = g->next_of[n])
		g->of_function[function] += g->nodes.data[n].self;
}

/* Sums of parts are rounded, not the parts: so they add up. What would be less than one sample waits for the next. */
static struct plumb_error *give_line(struct grower *g, const struct pl_flow_line *l)
{
	struct pl_flow_cost all = l->cost, given = {0};
	double so_far = 0;
	struct plumb_error *err = NULL;

	if (all.samples == 0 && all.weight_ns == 0)
		return NULL;
	all.samples = all.samples ? all.samples : 1;
	for (uint32_t n = g->first_of[l->function]; n != NOBODY && !err; n = g->next_of[n]) {
		double share = (so_far += g->nodes.data[n].self) / g->of_function[l->function];
		struct pl_flow_cost up_to;

		if (g->next_of[n] == NOBODY)
			share = 1;
		up_to = (struct pl_flow_cost){part(all.samples, share), part(all.weight_ns, share)};
		if (up_to.samples == all.samples) /* by rounding, perhaps: no sample is left to carry the rest */
			up_to.weight_ns = all.weight_ns;
		if (up_to.samples <= given.samples)
			continue;
		err = give(g, g->prefix[n], l,
			   (struct pl_flow_cost){up_to.samples - given.samples, up_to.weight_ns - given.weight_ns});
		given = up_to;
	}
	if (!err && given.samples < all.samples)
		err = give(g, 0, l,
			   (struct pl_flow_cost){all.samples - given.samples, all.weight_ns - given.weight_ns});
	return err;
}

static struct plumb_error *give_lines(struct grower *g)
{
	const struct pl_flow *f = g->flow;
	struct plumb_error *err = NULL;

	for (size_t from = 0, to = 0; from < f->lines.len && !err; from = to) {
		while (to < f->lines.len && f->lines.data[to].function == f->lines.data[from].function)
			to++;
		limit_nodes(g, from, to);
		for (size_t i = from; i < to && !err; i++)
			err = give_line(g, &f->lines.data[i]);
	}
	return err;
}

static void deinit(struct grower *g)
{
	free(g->self);
	free(g->first_edge);
	free(g->on_path);
	free(g->prefix);
	free(g->of_function);
	free(g->next_of);
	free(g->first_of);
	pl_vec_deinit(&g->nodes);
	pl_vec_deinit(&g->heap);
}

struct plumb_error *pl_flow_write(struct pl_flow *flow, uint32_t thread, struct pl_sink *sink)
{
	struct grower g = {.flow = flow, .sink = sink, .thread = thread};
	struct plumb_error *err = NULL;
	bool ok = allocate(&g);

	if (ok) {
		merge_equal(flow);
		sum_up(&g);
		g.max_nodes = MIN_NODES + NODES_PER_EDGE * (flow->edges.len + flow->functions.len);
		ok = add_roots(&g);
	}
	while (ok && g.heap.len && g.steps / STEPS_PER_NODE < g.max_nodes)
		ok = grow(&g, heap_pop(&g));
	err = ok ? list_nodes(&g) : &pl_err_no_memory;
	if (!err)
		err = give_lines(&g);
	deinit(&g);
	return err;
}

struct plumb_error *pl_flow_function(struct pl_flow *flow, struct pl_sink *sink, const struct pl_function *f,
				     uint32_t *ret)
{
	struct pl_flow_function mine = {0};
	struct plumb_error *err = pl_profile_function(sink->profile, f, &mine.function);

	if (err || pl_map_get(&flow->known, mine.function, 0, ret))
		return err;
	*ret = (uint32_t)flow->functions.len;
	return pl_vec_push(&flow->functions, mine) && pl_map_set(&flow->known, mine.function, 0, *ret)
		       ? NULL
		       : &pl_err_no_memory;
}

void pl_flow_deinit(struct pl_flow *flow)
{
	pl_map_deinit(&flow->known);
	pl_vec_deinit(&flow->functions);
	pl_vec_deinit(&flow->lines);
	pl_vec_deinit(&flow->edges);
}

struct plumb_error *pl_flow_thread(struct pl_sink *sink, uint32_t pid, const char *engine, uint32_t *ret)
{
	struct plumb_profile *p = sink->profile;
	struct pl_process process = {.pid = pid};
	struct pl_thread thread = {.tid = pid, .main = true};
	struct plumb_error *err = pl_profile_string(p, engine, strlen(engine), &p->meta.engine);

	p->meta.complete = true;
	if (!err)
		err = pl_profile_process(p, &process, &thread.process);
	return err ? err : pl_profile_thread(p, &thread, ret);
}
