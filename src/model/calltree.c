/* SPDX-License-Identifier: Apache-2.0 */
/* The call tree behind the views, and the intervals of its rows (layer model). Works on a selection that nobody
 * changes.
 *
 * Parents have smaller numbers than their children, in the profile's trie and here, so that one loop downwards over the
 * numbers adds up subtrees: no recursion on the C stack however deep the profiled program recursed, and the cost of a
 * question is a few passes over the tree, not samples times depth. */
#include "calltree.h"

#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "map.h"
#include "stats.h"

struct builder {
	struct pl_calltree *tree;
	const struct plumb_profile *profile;
	bool lines;
	const bool *library; /* NULL: functions are all alike */
	size_t key_cap;
	struct pl_call_nodes nodes;
	struct pl_map keys; /* (function, line), library -> key */
};

static struct plumb_error *find_key(struct builder *b, const struct pl_location *l, uint32_t *ret)
{
	struct pl_calltree *t = b->tree;
	struct pl_call_key key = {.function = l->function,
				  .line = b->lines ? l->line : 0,
				  .library = b->library && b->library[l->function]};
	uint64_t k0 = (uint64_t)key.function << 32 | (uint32_t)key.line;
	if (pl_map_get(&b->keys, k0, key.library, ret))
		return NULL;
	struct plumb_error *err = pl_table_room((void **)&t->keys, &b->key_cap, t->key_count, sizeof *t->keys);
	if (err)
		return err;
	if (!pl_map_set(&b->keys, k0, key.library, t->key_count))
		return &pl_err_no_memory;
	t->keys[t->key_count] = key;
	*ret = t->key_count++;
	return NULL;
}

struct plumb_error *pl_call_node_find(struct pl_call_nodes *known, struct pl_call_node **nodes, uint32_t *count,
				      uint32_t parent, uint32_t key, uint32_t *ret)
{
	uint32_t hash = pl_row_hash((uint64_t)parent << 32 | key, 0);
	size_t at = pl_row_index_start(&known->index, hash);

	while (pl_row_index_next(&known->index, hash, &at, ret)) {
		if ((*nodes)[*ret].parent == parent && (*nodes)[*ret].key == key)
			return NULL;
	}
	struct plumb_error *err = pl_table_room((void **)nodes, &known->cap, *count, sizeof **nodes);
	if (err)
		return err;
	if (!pl_row_index_add(&known->index, hash, *count))
		return &pl_err_no_memory;
	(*nodes)[*count] = (struct pl_call_node){.parent = parent, .key = key};
	*ret = (*count)++;
	return NULL;
}

/* Below @p parent, which is a node of library frames or an own function. Libraries go on in the node that the first of
 * them made; an own function hangs on the own one before it, and stays there if that is itself. */
static struct plumb_error *find_own_node(struct builder *b, uint32_t parent, uint32_t key, uint32_t stack,
					 uint32_t *ret)
{
	struct pl_calltree *t = b->tree;
	bool in_library = parent && t->keys[t->nodes[parent].key].library;
	t->repeats[stack] = t->repeats[b->profile->stacks[stack].parent];
	if (t->keys[key].library && in_library) {
		*ret = parent;
		return NULL;
	}
	if (!t->keys[key].library) {
		uint32_t home = in_library ? t->nodes[parent].parent : parent;
		t->repeats[stack] = home && t->nodes[home].key == key ? t->repeats[stack] + 1 : 0;
		if (t->repeats[stack]) {
			*ret = home;
			return NULL;
		}
		parent = home;
	}
	return pl_call_node_find(&b->nodes, &t->nodes, &t->node_count, parent, key, ret);
}

static struct plumb_error *find_node(struct builder *b, uint32_t key, uint32_t stack)
{
	struct pl_calltree *t = b->tree;
	uint32_t parent = t->node_of_stack[b->profile->stacks[stack].parent], *node = &t->node_of_stack[stack];
	return b->library ? find_own_node(b, parent, key, stack, node)
			  : pl_call_node_find(&b->nodes, &t->nodes, &t->node_count, parent, key, node);
}

static struct plumb_error *add_nodes(struct builder *b, const bool *needed)
{
	struct pl_calltree *t = b->tree;
	const struct plumb_profile *p = b->profile;
	struct plumb_error *err = pl_table_room((void **)&t->nodes, &b->nodes.cap, 0, sizeof *t->nodes);
	if (err)
		return err;
	t->nodes[t->node_count++] = (struct pl_call_node){0};
	for (uint32_t id = 1; id < p->stack_count; id++) {
		if (!needed[id])
			continue;
		const struct pl_stack *s = &p->stacks[id];
		uint32_t key = 0;
		err = find_key(b, &p->locations[s->location], &key);
		if (!err)
			err = find_node(b, key, id);
		if (err)
			return err;
	}
	return NULL;
}

static void add_counts(struct pl_counts *into, struct pl_counts c)
{
	into->samples = pl_sum_u64(into->samples, c.samples);
	into->weight_ns = pl_sum_u64(into->weight_ns, c.weight_ns);
	into->on_cpu_ns = pl_sum_u64(into->on_cpu_ns, c.on_cpu_ns);
}

static void sum_up(struct pl_calltree *t)
{
	const struct pl_selection *s = t->selection;
	for (uint32_t i = 0; i < s->start[PL_BATCHES]; i++) {
		const struct pl_cell *c = s->cells[i];
		struct pl_call_node *n = &t->nodes[t->node_of_stack[c->stack]];
		struct pl_counts counts = {.samples = c->samples,
					   .weight_ns = c->weight_ns,
					   .on_cpu_ns = c->state & PL_STATE_ON_CPU ? c->weight_ns : 0};
		add_counts(&n->self, counts);
		add_counts(&n->total, counts);
	}
	for (uint32_t n = t->node_count - 1; n > 0; n--)
		add_counts(&t->nodes[t->nodes[n].parent].total, t->nodes[n].total);
}

struct plumb_error *pl_calltree_build(const struct pl_selection *s, bool lines, const bool *library,
				      struct pl_calltree *ret)
{
	struct pl_calltree t = {.selection = s};
	bool *needed = pl_select_stacks(s);
	t.node_of_stack = calloc(s->profile->stack_count, sizeof *t.node_of_stack);
	t.repeats = library ? calloc(s->profile->stack_count, sizeof *t.repeats) : NULL;
	struct builder b = {.tree = &t, .profile = s->profile, .lines = lines, .library = library};
	bool room = needed && t.node_of_stack && (t.repeats || !library);
	struct plumb_error *err = room ? add_nodes(&b, needed) : &pl_err_no_memory;
	free(needed);
	pl_row_index_deinit(&b.nodes.index);
	pl_map_deinit(&b.keys);
	if (err) {
		pl_calltree_deinit(&t);
		return err;
	}
	sum_up(&t);
	*ret = t;
	return NULL;
}

void pl_calltree_deinit(struct pl_calltree *t)
{
	free(t->nodes);
	free(t->keys);
	free(t->node_of_stack);
	free(t->repeats);
	*t = (struct pl_calltree){0};
}

/* A walk through the tree, depth first, with how often each key is on the path to the current node. */
struct walk {
	uint32_t *first_child, *next_sibling, *on_path;
};

static void walk_deinit(struct walk *w)
{
	free(w->first_child);
	free(w->next_sibling);
	free(w->on_path);
}

static bool walk_init(struct walk *w, const struct pl_calltree *t)
{
	w->first_child = calloc(t->node_count, sizeof *w->first_child);
	w->next_sibling = calloc(t->node_count, sizeof *w->next_sibling);
	w->on_path = calloc((size_t)t->key_count + 1, sizeof *w->on_path);
	if (!w->first_child || !w->next_sibling || !w->on_path)
		return false;
	for (uint32_t n = t->node_count - 1; n > 0; n--) { /* 0, the root, is nobody's child: it ends the lists */
		w->next_sibling[n] = w->first_child[t->nodes[n].parent];
		w->first_child[t->nodes[n].parent] = n;
	}
	return true;
}

struct plumb_error *pl_calltree_topmost(const struct pl_calltree *t, bool *topmost)
{
	struct walk w = {0};
	if (!walk_init(&w, t)) {
		walk_deinit(&w);
		return &pl_err_no_memory;
	}
	topmost[0] = false;
	uint32_t n = w.first_child[0];
	while (n) {
		topmost[n] = w.on_path[t->nodes[n].key]++ == 0;
		if (w.first_child[n]) {
			n = w.first_child[n];
			continue;
		}
		/* Up, leaving nodes, until there is a next sibling. The root has none and ends the walk. */
		while (n && !w.next_sibling[n]) {
			w.on_path[t->nodes[n].key]--;
			n = t->nodes[n].parent;
		}
		if (n) {
			w.on_path[t->nodes[n].key]--;
			n = w.next_sibling[n];
		}
	}
	walk_deinit(&w);
	return NULL;
}

/* What one row got in the current batch, and how far it was from its share in those before. Not what it got in each: a
 * small file can have millions of rows in all batches. */
struct tally {
	uint64_t self_ns, total_ns;
	double self_squares, total_squares;
};

struct tallies {
	const struct pl_calltree *tree;
	const uint32_t *self_row, *total_row;
	uint32_t row_count;
	double scale;		      /* of weights: see set_half_widths */
	uint32_t *parent;	      /* of each node, side by side: the loops over all nodes live on the cache */
	uint64_t *self_ns, *total_ns; /* of the current batch, per node */
	struct tally *rows;
};

static void tallies_deinit(struct tallies *t)
{
	free(t->parent);
	free(t->self_ns);
	free(t->total_ns);
	free(t->rows);
}

static bool tallies_init(struct tallies *t)
{
	t->parent = calloc(t->tree->node_count, sizeof *t->parent);
	t->self_ns = calloc(t->tree->node_count, sizeof *t->self_ns);
	t->total_ns = calloc(t->tree->node_count, sizeof *t->total_ns);
	t->rows = calloc((size_t)t->row_count + 1, sizeof *t->rows);
	if (!t->parent || !t->self_ns || !t->total_ns || !t->rows)
		return false;
	for (uint32_t n = 0; n < t->tree->node_count; n++)
		t->parent[n] = t->tree->nodes[n].parent;
	return true;
}

static void sum_batch(struct tallies *t, int batch)
{
	const struct pl_calltree *tree = t->tree;
	const struct pl_selection *s = tree->selection;
	memset(t->self_ns, 0, tree->node_count * sizeof *t->self_ns);
	memset(t->total_ns, 0, tree->node_count * sizeof *t->total_ns);
	for (uint32_t i = s->start[batch]; i < s->start[batch + 1]; i++) {
		uint32_t n = tree->node_of_stack[s->cells[i]->stack];
		t->self_ns[n] = pl_sum_u64(t->self_ns[n], s->cells[i]->weight_ns);
		t->total_ns[n] = t->self_ns[n];
	}
	for (uint32_t n = tree->node_count - 1; n > 0; n--) {
		if (t->total_ns[n]) /* most nodes have nothing in most batches */
			t->total_ns[t->parent[n]] = pl_sum_u64(t->total_ns[t->parent[n]], t->total_ns[n]);
	}
}

static void sum_rows(struct tallies *t)
{
	for (uint32_t n = 1; n < t->tree->node_count; n++) {
		if (!t->total_ns[n])
			continue;
		uint32_t self = t->self_row[n], total = t->total_row[n];
		if (self != PL_NO_ROW)
			t->rows[self].self_ns = pl_sum_u64(t->rows[self].self_ns, t->self_ns[n]);
		if (total != PL_NO_ROW)
			t->rows[total].total_ns = pl_sum_u64(t->rows[total].total_ns, t->total_ns[n]);
	}
}

static double square(double x)
{
	return x * x;
}

static void end_batch(struct tallies *t, int batch, const struct pl_call_shares *shares)
{
	double all = (double)t->tree->selection->batch_weight_ns[batch] * t->scale;
	for (uint32_t r = 0; r < t->row_count; r++) {
		struct tally *row = &t->rows[r];
		row->self_squares += square((double)row->self_ns * t->scale - shares[r].self.share * all);
		row->total_squares += square((double)row->total_ns * t->scale - shares[r].total.share * all);
		row->self_ns = row->total_ns = 0;
	}
}

/* The interval counts trials, and what was tried is samples: so weights are scaled to add up to their number. */
static void set_half_widths(struct tallies *t, struct pl_call_shares *rows)
{
	const struct pl_selection *s = t->tree->selection;
	struct pl_share_sums none = {0};
	t->scale = s->weight_ns ? (double)s->samples / (double)s->weight_ns : 0;
	for (int b = 0; b < PL_BATCHES; b++) {
		none.total += (double)s->batch_weight_ns[b] * t->scale;
		if (!s->batch_weight_ns[b])
			continue;
		none.batches++;
		sum_batch(t, b);
		sum_rows(t);
		end_batch(t, b, rows);
	}
	/* Most rows of a tree have nothing of their own: one answer for all of them. */
	double none_half_width = pl_stats_sums_half_width(&none);
	for (uint32_t r = 0; r < t->row_count; r++) {
		struct pl_share_sums self = none, total = none;
		self.hits = (double)rows[r].self.weight_ns * t->scale;
		self.squares = t->rows[r].self_squares;
		total.hits = (double)rows[r].total.weight_ns * t->scale;
		total.squares = t->rows[r].total_squares;
		rows[r].self.half_width = rows[r].self.weight_ns ? pl_stats_sums_half_width(&self) : none_half_width;
		rows[r].total.half_width = pl_stats_sums_half_width(&total);
	}
}

static void add_share(struct pl_share *into, struct pl_counts c)
{
	into->samples = pl_sum_u64(into->samples, c.samples);
	into->weight_ns = pl_sum_u64(into->weight_ns, c.weight_ns);
	into->on_cpu_ns = pl_sum_u64(into->on_cpu_ns, c.on_cpu_ns);
}

static void set_shares(const struct tallies *h, struct pl_call_shares *rows)
{
	const struct pl_calltree *t = h->tree;
	for (uint32_t n = 1; n < t->node_count; n++) {
		if (h->self_row[n] != PL_NO_ROW)
			add_share(&rows[h->self_row[n]].self, t->nodes[n].self);
		if (h->total_row[n] != PL_NO_ROW)
			add_share(&rows[h->total_row[n]].total, t->nodes[n].total);
	}
	double weight_ns = t->selection->weight_ns ? (double)t->selection->weight_ns : 1;
	for (uint32_t r = 0; r < h->row_count; r++) {
		rows[r].self.share = (double)rows[r].self.weight_ns / weight_ns;
		rows[r].total.share = (double)rows[r].total.weight_ns / weight_ns;
	}
}

struct plumb_error *pl_calltree_shares(const struct pl_calltree *t, const uint32_t *self_row, const uint32_t *total_row,
				       struct pl_call_shares *rows, uint32_t row_count)
{
	struct tallies all = {.tree = t, .self_row = self_row, .total_row = total_row, .row_count = row_count};
	bool ok = tallies_init(&all);
	if (ok) {
		set_shares(&all, rows);
		set_half_widths(&all, rows);
	}
	tallies_deinit(&all);
	return ok ? NULL : &pl_err_no_memory;
}
