/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about functions and call paths (layer model): the two tables a reader of a profile wants. Read-only.
 * Sums and intervals come from calltree.c; here rows are chosen, put in order and given names. */
#include "view.h"

#include <stdlib.h>
#include <string.h>

#include "calltree.h"
#include "index.h"
#include "map.h"
#include "select.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_strings(const struct plumb_profile *p, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(pl_strtab_get(p->strings, a, NULL), pl_strtab_get(p->strings, b, NULL));
}

/* Last resort of every order of rows: what the reader sees of them, so that equal profiles print equal tables. */
static int compare_names(const struct plumb_profile *p, uint32_t a, int32_t a_line, uint32_t b, int32_t b_line)
{
	const struct pl_function *f = &p->functions[a], *g = &p->functions[b];
	int order = compare_strings(p, f->qualname, g->qualname);
	if (!order)
		order = compare_strings(p, f->name, g->name);
	if (!order)
		order = compare_strings(p, f->file, g->file);
	if (!order)
		order = compare_strings(p, f->source, g->source);
	if (!order)
		order = compare_u64(f->firstline, g->firstline);
	if (!order)
		order = (a_line > b_line) - (a_line < b_line);
	return order ? order : compare_u64(a, b);
}

static int compare_function_rows(const void *a, const void *b, void *profile)
{
	const struct pl_function_row *x = a, *y = b;
	int order = compare_u64(y->self.weight_ns, x->self.weight_ns);
	if (!order)
		order = compare_u64(y->total.weight_ns, x->total.weight_ns);
	return order ? order : compare_names(profile, x->function, x->line, y->function, y->line);
}

/* A row per key: everything that ends there is its self, everything below its topmost nodes its total. */
static struct plumb_error *share_keys(const struct pl_calltree *t, struct pl_call_shares *rows)
{
	uint32_t *self_row = calloc(t->node_count, sizeof *self_row);
	uint32_t *total_row = calloc(t->node_count, sizeof *total_row);
	bool *topmost = calloc(t->node_count, sizeof *topmost);
	struct plumb_error *err = &pl_err_no_memory;
	if (self_row && total_row && topmost)
		err = pl_calltree_topmost(t, topmost);
	if (!err) {
		for (uint32_t n = 1; n < t->node_count; n++) {
			self_row[n] = t->nodes[n].key;
			total_row[n] = topmost[n] ? t->nodes[n].key : PL_NO_ROW;
		}
		err = pl_calltree_shares(t, self_row, total_row, rows, t->key_count);
	}
	free(self_row);
	free(total_row);
	free(topmost);
	return err;
}

static struct plumb_error *function_rows(const struct pl_calltree *t, pl_function_rows *ret)
{
	struct pl_call_shares *shares = calloc((size_t)t->key_count + 1, sizeof *shares);
	pl_function_rows rows = {0};
	struct plumb_error *err = shares && pl_vec_reserve(&rows, t->key_count) ? NULL : &pl_err_no_memory;
	if (!err)
		err = share_keys(t, shares);
	if (err) {
		free(shares);
		pl_vec_deinit(&rows);
		return err;
	}
	for (uint32_t k = 0; k < t->key_count; k++)
		rows.data[rows.len++] = (struct pl_function_row){.function = t->keys[k].function,
								 .line = t->keys[k].line,
								 .self = shares[k].self,
								 .total = shares[k].total};
	free(shares);
	if (rows.len)
		qsort_r(rows.data, rows.len, sizeof *rows.data, compare_function_rows, (void *)t->selection->profile);
	*ret = rows;
	return NULL;
}

/* The call tree of what is asked for. */
struct calls {
	struct pl_selection selection;
	struct pl_calltree tree; /* points into the selection */
};

static struct plumb_error *calls_open(struct calls *c, const struct plumb_profile *p, const struct pl_filter *f,
				      const bool *library)
{
	struct plumb_error *err = pl_select(p, f, &c->selection);
	if (err)
		return err;
	err = pl_calltree_build(&c->selection, f->lines, library, &c->tree);
	if (err)
		pl_selection_deinit(&c->selection);
	return err;
}

static void calls_close(struct calls *c)
{
	pl_calltree_deinit(&c->tree);
	pl_selection_deinit(&c->selection);
}

struct plumb_error *pl_view_functions(const struct plumb_profile *p, const struct pl_filter *f, pl_function_rows *ret)
{
	struct calls c;
	struct plumb_error *err = calls_open(&c, p, f, NULL);
	if (err)
		return err;
	err = function_rows(&c.tree, ret);
	calls_close(&c);
	return err;
}

/* The nodes that are shown, by parent and then heaviest first: the children of a node lie side by side. */
struct pruned {
	const struct pl_calltree *tree;
	double least;	 /* weight of a node that is shown */
	uint32_t *nodes; /* in that order */
	uint32_t count;
	uint32_t *row_of;     /* node -> place in `nodes`, PL_NO_ROW: not shown */
	uint32_t *child_from; /* node -> place of its first child */
	uint32_t *child_to;
	struct own_facts *own; /* of a tree of own functions, for each place; else NULL */
};

struct own_facts {
	uint32_t last, recursion;
	uint64_t last_ns; /* of `last` itself */
};

static void pruned_deinit(struct pruned *p)
{
	free(p->nodes);
	free(p->row_of);
	free(p->child_from);
	free(p->child_to);
	free(p->own);
}

static int compare_siblings(const void *a, const void *b, void *tree)
{
	const struct pl_calltree *t = tree;
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
	const struct pl_call_node *x = &t->nodes[m], *y = &t->nodes[n];
	int order = compare_u64(x->parent, y->parent);
	if (!order)
		order = compare_u64(y->total.weight_ns, x->total.weight_ns);
	if (order)
		return order;
	const struct pl_call_key *k = &t->keys[x->key], *l = &t->keys[y->key];
	return compare_names(t->selection->profile, k->function, k->line, l->function, l->line);
}

/* A node is never heavier than its parent, so the parent of a kept node is kept. */
static void prune(struct pruned *p, double min_share)
{
	const struct pl_calltree *t = p->tree;
	p->least = min_share * (double)t->selection->weight_ns;
	for (uint32_t n = 1; n < t->node_count; n++) {
		p->row_of[n] = PL_NO_ROW;
		if ((double)t->nodes[n].total.weight_ns >= p->least)
			p->nodes[p->count++] = n;
	}
	p->row_of[0] = PL_NO_ROW;
	qsort_r(p->nodes, p->count, sizeof *p->nodes, compare_siblings, (void *)t);
	for (uint32_t i = 0; i < p->count; i++) {
		uint32_t parent = t->nodes[p->nodes[i]].parent;
		p->row_of[p->nodes[i]] = i;
		if (p->child_from[parent] == p->child_to[parent])
			p->child_from[parent] = i;
		p->child_to[parent] = i + 1;
	}
}

static struct plumb_error *pruned_init(struct pruned *p, const struct pl_calltree *t, double min_share)
{
	*p = (struct pruned){.tree = t};
	p->nodes = calloc(t->node_count, sizeof *p->nodes);
	p->row_of = calloc(t->node_count, sizeof *p->row_of);
	p->child_from = calloc(t->node_count, sizeof *p->child_from);
	p->child_to = calloc(t->node_count, sizeof *p->child_to);
	if (!p->nodes || !p->row_of || !p->child_from || !p->child_to)
		return &pl_err_no_memory;
	prune(p, min_share);
	return NULL;
}

static struct pl_share share_of(const struct pl_calltree *t, struct pl_counts c)
{
	double weight_ns = t->selection->weight_ns ? (double)t->selection->weight_ns : 1;
	return (struct pl_share){.samples = c.samples,
				 .weight_ns = c.weight_ns,
				 .on_cpu_ns = c.on_cpu_ns,
				 .share = (double)c.weight_ns / weight_ns};
}

static struct pl_tree_row tree_row(const struct pruned *p, const struct pl_call_shares *shares, uint32_t at,
				   uint32_t depth)
{
	const struct pl_calltree *t = p->tree;
	const struct pl_call_node *n = &t->nodes[p->nodes[at]];
	return (struct pl_tree_row){.function = t->keys[n->key].function,
				    .line = t->keys[n->key].line,
				    .depth = depth,
				    .self = shares ? shares[at].self : share_of(t, n->self),
				    .total = shares ? shares[at].total : share_of(t, n->total),
				    .kind = t->keys[n->key].library ? PL_TREE_LIBRARY : PL_TREE_FUNCTION,
				    .last = p->own ? p->own[at].last : 0,
				    .recursion = p->own ? p->own[at].recursion : 0};
}

static struct pl_tree_row self_row(const struct pruned *p, const struct pl_call_shares *shares, uint32_t at,
				   uint32_t depth)
{
	struct pl_tree_row row = tree_row(p, shares, at, depth);
	row.kind = PL_TREE_SELF;
	row.total = row.self;
	return row;
}

/* A level of the current path: what is still to be shown of a row's children, and of the row itself. */
struct level {
	uint32_t next, end;
	uint32_t self_of; /* place of the row whose self is one of them and has not been shown; PL_NO_ROW: none is */
};

static struct level level_below(const struct pruned *p, uint32_t at)
{
	uint32_t node = p->nodes[at];
	struct level l = {.next = p->child_from[node], .end = p->child_to[node], .self_of = PL_NO_ROW};
	uint64_t self_ns = p->tree->nodes[node].self.weight_ns;
	if (p->own && l.next < l.end && self_ns && (double)self_ns >= p->least)
		l.self_of = at;
	return l;
}

/* Whether the self of the row above comes before the next child: it is no lighter. */
static bool self_is_next(const struct pruned *p, const struct level *l)
{
	if (l->self_of == PL_NO_ROW || l->next == l->end)
		return l->self_of != PL_NO_ROW;
	return p->tree->nodes[p->nodes[l->self_of]].self.weight_ns >= p->tree->nodes[p->nodes[l->next]].total.weight_ns;
}

/* Depth first. Without @p shares there are no half widths. */
static struct plumb_error *emit_tree(const struct pruned *p, const struct pl_call_shares *shares, pl_tree_row_fn *fn,
				     void *ctx)
{
	PL_VEC(struct level) path = {0};
	struct level roots = {.next = p->child_from[0], .end = p->child_to[0], .self_of = PL_NO_ROW};
	struct plumb_error *err = pl_vec_push(&path, roots) ? NULL : &pl_err_no_memory;
	while (!err && path.len) {
		struct level *level = &path.data[path.len - 1];
		uint32_t depth = (uint32_t)path.len - 1;
		if (self_is_next(p, level)) {
			struct pl_tree_row row = self_row(p, shares, level->self_of, depth);
			level->self_of = PL_NO_ROW;
			err = fn(ctx, &row);
		} else if (level->next == level->end) {
			path.len--;
		} else {
			uint32_t at = level->next++;
			struct pl_tree_row row = tree_row(p, shares, at, depth);
			err = fn(ctx, &row);
			if (!err && !pl_vec_push(&path, level_below(p, at)))
				err = &pl_err_no_memory;
		}
	}
	pl_vec_deinit(&path);
	return err;
}

static struct plumb_error *keep_row(void *ctx, const struct pl_tree_row *row)
{
	pl_tree_rows *rows = ctx;
	return pl_vec_push(rows, *row) ? NULL : &pl_err_no_memory;
}

static void set_recursion(struct pruned *p)
{
	const struct pl_calltree *t = p->tree;
	for (uint32_t id = 1; id < t->selection->profile->stack_count; id++) {
		uint32_t node = t->node_of_stack[id], at = p->row_of[node];
		if (at == PL_NO_ROW || t->keys[t->nodes[node].key].library || t->repeats[id] < p->own[at].recursion)
			continue;
		p->own[at].recursion = t->repeats[id];
	}
}

/* What a function itself takes in a row of library frames. */
struct last {
	uint32_t at, function;
	uint64_t weight_ns;
};
typedef PL_VEC(struct last) lasts;

static struct plumb_error *add_last(lasts *all, struct pl_map *index, uint32_t at, uint32_t function,
				    uint64_t weight_ns)
{
	uint32_t i;
	if (pl_map_get(index, (uint64_t)at << 32 | function, 0, &i)) {
		all->data[i].weight_ns = pl_sum_u64(all->data[i].weight_ns, weight_ns);
		return NULL;
	}
	struct last new = {.at = at, .function = function, .weight_ns = weight_ns};
	if (!pl_map_set(index, (uint64_t)at << 32 | function, 0, (uint32_t)all->len) || !pl_vec_push(all, new))
		return &pl_err_no_memory;
	return NULL;
}

static struct plumb_error *sum_lasts(const struct pruned *p, lasts *all)
{
	const struct pl_selection *s = p->tree->selection;
	struct pl_map index = PL_MAP_INIT;
	struct plumb_error *err = NULL;
	for (uint32_t i = 0; i < s->start[PL_BATCHES] && !err; i++) {
		const struct pl_cell *c = s->cells[i];
		uint32_t node = p->tree->node_of_stack[c->stack], at = p->row_of[node];
		uint32_t location = s->profile->stacks[c->stack].location;
		if (at != PL_NO_ROW && p->tree->keys[p->tree->nodes[node].key].library)
			err = add_last(all, &index, at, s->profile->locations[location].function, c->weight_ns);
	}
	pl_map_deinit(&index);
	return err;
}

static struct plumb_error *set_lasts(struct pruned *p)
{
	const struct plumb_profile *profile = p->tree->selection->profile;
	lasts all = {0};
	struct plumb_error *err = sum_lasts(p, &all);
	for (size_t i = 0; i < all.len && !err; i++) {
		struct own_facts *own = &p->own[all.data[i].at];
		int order = compare_u64(all.data[i].weight_ns, own->last_ns);
		if (order > 0 ||
		    (order == 0 && own->last_ns && compare_names(profile, all.data[i].function, 0, own->last, 0) < 0)) {
			own->last = all.data[i].function;
			own->last_ns = all.data[i].weight_ns;
		}
	}
	pl_vec_deinit(&all);
	return err;
}

static struct plumb_error *set_own_facts(struct pruned *p)
{
	p->own = calloc((size_t)p->count + 1, sizeof *p->own);
	if (!p->own)
		return &pl_err_no_memory;
	for (uint32_t at = 0; at < p->count; at++)
		p->own[at].last = p->tree->keys[p->tree->nodes[p->nodes[at]].key].function;
	set_recursion(p);
	return set_lasts(p);
}

static struct plumb_error *tree_rows(const struct pl_calltree *t, double min_share, pl_tree_rows *ret)
{
	struct pruned p;
	pl_tree_rows rows = {0};
	struct pl_call_shares *shares = NULL;
	struct plumb_error *err = pruned_init(&p, t, min_share);
	if (!err && t->repeats)
		err = set_own_facts(&p);
	if (!err && !(shares = calloc((size_t)p.count + 1, sizeof *shares)))
		err = &pl_err_no_memory;
	if (!err)
		err = pl_calltree_shares(t, p.row_of, p.row_of, shares, p.count);
	if (!err)
		err = emit_tree(&p, shares, keep_row, &rows);
	pruned_deinit(&p);
	free(shares);
	if (err) {
		pl_vec_deinit(&rows);
		return err;
	}
	*ret = rows;
	return NULL;
}

static struct plumb_error *view_tree(const struct plumb_profile *p, const struct pl_filter *f, const bool *library,
				     double min_share, pl_tree_rows *ret)
{
	struct calls c;
	struct plumb_error *err = calls_open(&c, p, f, library);
	if (err)
		return err;
	err = tree_rows(&c.tree, min_share, ret);
	calls_close(&c);
	return err;
}

struct plumb_error *pl_view_tree(const struct plumb_profile *p, const struct pl_filter *f, double min_share,
				 pl_tree_rows *ret)
{
	return view_tree(p, f, NULL, min_share, ret);
}

struct plumb_error *pl_view_own_tree(const struct plumb_profile *p, const struct pl_filter *f, const bool *library,
				     double min_share, pl_tree_rows *ret)
{
	return view_tree(p, f, library, min_share, ret);
}

static struct plumb_error *each_tree_row(const struct pl_calltree *t, pl_tree_row_fn *fn, void *ctx)
{
	struct pruned p;
	struct plumb_error *err = pruned_init(&p, t, 0);
	if (!err)
		err = emit_tree(&p, NULL, fn, ctx);
	pruned_deinit(&p);
	return err;
}

struct plumb_error *pl_view_tree_each(const struct plumb_profile *p, const struct pl_filter *f, pl_tree_row_fn *fn,
				      void *ctx)
{
	struct calls c;
	struct plumb_error *err = calls_open(&c, p, f, NULL);
	if (err)
		return err;
	err = each_tree_row(&c.tree, fn, ctx);
	calls_close(&c);
	return err;
}
