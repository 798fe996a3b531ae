/* SPDX-License-Identifier: Apache-2.0 */
/* asyncio tasks as a tree (layer export): a task, what it is doing, its await chain, and under it the tasks it waits
 * for. Any thread. What the target says may hold anything: a task may wait for itself. */
#include <inttypes.h>
#include <stdlib.h>

#include "dump_page.h"
#include "dump_words.h"
#include "lower_bound.h"
#include "map.h"

#define STEP	  2
#define MAX_DEPTH 10
#define NARROW	  60

/* Positions of two tasks: the first waits for the second. */
struct edge {
	uint32_t outer, inner;
};

struct tree {
	struct pl_page *page;
	const struct pl_dump_process *p;
	struct pl_map by_id;	   /* id -> position */
	PL_VEC(struct edge) edges; /* by outer, then by inner; each once */
	bool *shown, *awaited;	   /* by position */
};

static void tree_deinit(struct tree *r)
{
	pl_map_deinit(&r->by_id);
	pl_vec_deinit(&r->edges);
	free(r->shown);
	free(r->awaited);
}

static bool add_edge(struct tree *r, uint64_t outer, uint64_t inner)
{
	struct edge e;

	if (!pl_map_get(&r->by_id, outer, 0, &e.outer) || !pl_map_get(&r->by_id, inner, 0, &e.inner))
		return true;
	return pl_vec_push(&r->edges, e);
}

/* Either side may know of the other. */
static bool add_edges(struct tree *r, const struct pl_dump_task *t)
{
	bool ok = t->wait != PL_TASK_WAITS_TASK || add_edge(r, t->id, t->waits_for);

	for (size_t i = 0; i < t->awaited_by.len && ok; i++)
		ok = add_edge(r, t->awaited_by.data[i], t->id);
	return ok;
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->outer != y->outer)
		return x->outer < y->outer ? -1 : 1;
	return (x->inner > y->inner) - (x->inner < y->inner);
}

static void sort_edges(struct tree *r)
{
	size_t n = 0;

	if (r->edges.len)
		qsort(r->edges.data, r->edges.len, sizeof *r->edges.data, compare_edges);
	for (size_t i = 0; i < r->edges.len; i++) {
		if (n && compare_edges(&r->edges.data[n - 1], &r->edges.data[i]) == 0)
			continue;
		r->edges.data[n++] = r->edges.data[i];
		r->awaited[r->edges.data[i].inner] = true;
	}
	r->edges.len = n;
}

/* False without memory. */
static bool tree_init(struct tree *r)
{
	const struct pl_dump_process *p = r->p;
	bool ok = true;

	r->shown = calloc(p->tasks.len + 1, sizeof(bool));
	r->awaited = calloc(p->tasks.len + 1, sizeof(bool));
	for (size_t i = 0; i < p->tasks.len && ok; i++)
		ok = pl_map_set(&r->by_id, p->tasks.data[i].id, 0, (uint32_t)i);
	for (size_t i = 0; i < p->tasks.len && ok; i++)
		ok = add_edges(r, &p->tasks.data[i]);
	if (!ok || !r->shown || !r->awaited)
		return false;
	sort_edges(r);
	return true;
}

static uint64_t outer_of(const void *row)
{
	return ((const struct edge *)row)->outer;
}

/* Where the edges of @p outer begin. */
static size_t first_edge(const struct tree *r, size_t outer)
{
	return pl_lower_bound(r->edges.data, r->edges.len, sizeof *r->edges.data, outer_of, outer);
}

static bool is_edge_of(const struct tree *r, size_t edge, size_t outer)
{
	return edge < r->edges.len && r->edges.data[edge].outer == outer;
}

static void put(struct pl_dump_text t, FILE *out)
{
	fwrite(t.s, 1, t.len, out);
}

struct place {
	const struct tree *tree;
	size_t at;
};

/* The tasks it waits for; false if there are none. */
static bool put_inner_names(void *ctx, FILE *out)
{
	const struct place *here = ctx;
	const struct tree *r = here->tree;
	size_t first = first_edge(r, here->at);

	for (size_t i = first; is_edge_of(r, i, here->at); i++) {
		fputs(i == first ? " for " : ", ", out);
		put(r->p->tasks.data[r->edges.data[i].inner].name, out);
	}
	return is_edge_of(r, first, here->at);
}

static void words_of_task(const struct tree *r, size_t at, FILE *out)
{
	const struct pl_dump_task *t = &r->p->tasks.data[at];
	struct place here = {r, at};

	switch (t->doing) {
	case PL_TASK_DOES_RUN:
		fputs("running", out);
		break;
	case PL_TASK_IS_READY:
		fputs("ready to run", out);
		break;
	case PL_TASK_DOES_WAIT:
	case PL_TASK_DOINGS:
		pl_dump_words_task_wait(r->p, t, put_inner_names, &here, out);
		break;
	}
	if (t->cut)
		fputs("; its chain goes on", out);
}

static void put_one(const struct tree *r, size_t at, int indent, bool before)
{
	const struct pl_dump_task *t = &r->p->tasks.data[at];
	struct pl_sentence s;
	struct pl_line l;

	pl_line_start(&l, r->page);
	pl_line_pad(&l, indent);
	pl_line_tone(&l, PL_TONE_STRONG);
	pl_line_name(&l, t->name.s, t->name.len, r->page->width / 2, PL_CUT_END);
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_add(&l, ": ");
	if (before) {
		pl_line_add(&l, "see above");
	} else if (pl_sentence_start(&s, r->page)) {
		words_of_task(r, at, s.out);
		pl_sentence_add(&s, &l, indent + 2 * STEP);
	}
	pl_line_end(&l);
	for (size_t i = 0; i < t->frames.len && !before; i++)
		pl_dump_put_frame(r->page, indent + STEP, &t->frames.data[i]);
}

/* A chain of tasks can be as long as there are tasks: beyond some depth the others stand at the end by themselves. */
static void put_tree(const struct tree *r, size_t at, int depth)
{
	bool before = r->shown[at];
	int step = r->page->width < NARROW ? 1 : STEP;

	r->shown[at] = true;
	put_one(r, at, depth * step, before);
	if (before || depth >= MAX_DEPTH)
		return;
	for (size_t i = first_edge(r, at); is_edge_of(r, i, at); i++)
		put_tree(r, r->edges.data[i].inner, depth + 1);
}

static void put_heading(const struct tree *r)
{
	size_t n = r->p->tasks.len;
	struct pl_line l;

	pl_page_blank(r->page);
	pl_line_start(&l, r->page);
	pl_line_tone(&l, PL_TONE_STRONG);
	if (!n)
		pl_line_addf(&l, "asyncio: tasks, if any, not read");
	else
		pl_line_addf(&l, "asyncio: %zu task%s", n, n == 1 ? "" : "s");
	if (n && r->p->tasks_lost)
		pl_line_addf(&l, ", at least %" PRIu64 " not read", r->p->tasks_lost);
	pl_line_tone(&l, PL_TONE_PLAIN);
	pl_line_end(&l);
}

static void put_trees(struct tree *r)
{
	put_heading(r);
	for (size_t i = 0; i < r->p->tasks.len; i++)
		if (!r->awaited[i])
			put_tree(r, i, 0);
	/* Tasks that wait for one another in a ring begin nowhere. */
	for (size_t i = 0; i < r->p->tasks.len; i++)
		if (!r->shown[i])
			put_tree(r, i, 0);
}

void pl_dump_put_tasks(struct pl_page *page, const struct pl_dump_process *p)
{
	struct tree r = {.page = page, .p = p, .by_id = PL_MAP_INIT};

	if (p->tasks.len == 0 && p->tasks_lost == 0)
		return;
	if (tree_init(&r))
		put_trees(&r);
	tree_deinit(&r);
}
