/* SPDX-License-Identifier: Apache-2.0 */
/* The call tree of the report page, by function and by line at once (layer export; one thread at a time).
 *
 * A node by function is made of places: stacks of the profile that differ in their lines. What it calls is what its
 * places call, sorted by function: so nodes come out one after the other, callers first, and nothing is looked up.
 * What is still to come waits on a stack of its own: programs recurse deeper than this one could. */
#include "page_parts.h"

#include <stdlib.h>

#include "index.h"

/* A stack that is a place of a node to come. */
struct place {
	uint64_t node_weight;
	uint32_t stack, caller; /* caller: index among the places of the node above */
	uint32_t function, location;
};

/* A node to come: its places are those from `begin` up to the next node's. */
struct pending {
	size_t begin;
	uint32_t depth, caller, caller_places; /* caller: 1 + its function, 0: none */
};

struct walk {
	const struct plumb_profile *p;
	const struct pl_page_nodes *n;
	const struct pl_page_tables *t;
	uint32_t *first_child, *next; /* of stacks; 0: none */
	PL_VEC(struct place) places;  /* of all nodes to come; those of the next one are the last */
	PL_VEC(struct pending) pending;
	PL_VEC(uint32_t) now; /* stacks of the node that is written */
	uint32_t nodes, lines, last_depth;
	struct pl_page_callees callees;
	struct pl_page_columns pops, lists, functions, place_counts, locations, callers;
	uint32_t *line_of; /* stack -> 1 + number of its L node */
};

/* From the last stack to the first: so the children of each are in the order of their ids. */
static void link_children(struct walk *w)
{
	for (uint32_t i = w->p->stack_count; i-- > 1;) {
		uint32_t parent = w->p->stacks[i].parent;

		if (!w->n->kept[i])
			continue;
		w->next[i] = w->first_child[parent];
		w->first_child[parent] = i;
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The heaviest function last, as it is to come next; its places in the order of their locations. */
static int compare_places(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;
	int order = compare(a->node_weight, b->node_weight);

	if (!order)
		order = compare(b->function, a->function);
	if (!order)
		order = compare(a->location, b->location);
	return order ? order : compare(a->caller, b->caller);
}

static bool add_children(struct walk *w, uint32_t stack, uint32_t caller)
{
	for (uint32_t i = w->first_child[stack]; i; i = w->next[i]) {
		uint32_t location = w->p->stacks[i].location;
		struct place place = {.stack = i,
				      .caller = caller,
				      .function = w->t->function_of[w->p->locations[location].function],
				      .location = w->t->location_of[location]};

		if (!pl_vec_push(&w->places, place))
			return false;
	}
	return true;
}

/* Tell each place from @p begin on what all places of its function weigh. They are sorted by function. */
static void weigh_nodes(struct walk *w, size_t begin)
{
	for (size_t i = begin, end; i < w->places.len; i = end) {
		uint64_t weight = 0;

		for (end = i; end < w->places.len && w->places.data[end].function == w->places.data[i].function; end++)
			weight = pl_sum_u64(weight, w->n->weight[w->places.data[end].stack]);
		for (size_t k = i; k < end; k++)
			w->places.data[k].node_weight = weight;
	}
}

/* Make the places from @p begin on nodes to come. */
static bool add_pending(struct walk *w, size_t begin, uint32_t depth, uint32_t caller, uint32_t caller_places)
{
	size_t count = w->places.len - begin;

	if (count > 1)
		qsort(w->places.data + begin, count, sizeof *w->places.data, compare_places);
	weigh_nodes(w, begin);
	if (count > 1)
		qsort(w->places.data + begin, count, sizeof *w->places.data, compare_places);
	for (size_t i = begin; i < w->places.len; i++) {
		struct pending node = {.begin = i, .depth = depth, .caller = caller, .caller_places = caller_places};

		if (i > begin && w->places.data[i].function == w->places.data[i - 1].function)
			continue;
		if (!pl_vec_push(&w->pending, node))
			return false;
	}
	return true;
}

/* Write place @p i, @p first of which its node has, as the difference from the one before. */
static void write_place(struct walk *w, size_t i, size_t first, bool one_caller)
{
	const struct place *place = &w->places.data[i], *before = i > first ? place - 1 : NULL;
	bool same = before && before->location == place->location;

	pl_page_column_u64(&w->locations, place->location - (before ? before->location : 0));
	if (!one_caller)
		pl_page_column_u64(&w->callers, same ? place->caller - before->caller - 1 : place->caller);
	w->line_of[place->stack] = ++w->lines;
}

/* Write the node that is next and take it off. */
static bool write_node(struct walk *w, const struct pending *node)
{
	size_t count = w->places.len - node->begin;

	pl_page_column_u64(&w->pops, w->nodes ? w->last_depth + 1 - node->depth : 0);
	pl_page_column_u64(&w->place_counts, count - 1);
	w->nodes++;
	w->last_depth = node->depth;
	if (pl_page_callees_add(&w->callees, node->caller, w->places.data[node->begin].function))
		return false;
	pl_vec_clear(&w->now);
	for (size_t i = node->begin; i < w->places.len; i++) {
		write_place(w, i, node->begin, node->caller_places == 1);
		if (!pl_vec_push(&w->now, w->places.data[i].stack))
			return false;
	}
	w->places.len = node->begin;
	return true;
}

static bool write_nodes(struct walk *w)
{
	bool good = add_children(w, 0, 0) && add_pending(w, 0, 0, 0, 1);

	while (good && w->pending.len) {
		struct pending node = w->pending.data[--w->pending.len];
		size_t begin = node.begin;
		uint32_t function = w->places.data[begin].function;

		good = write_node(w, &node);
		for (size_t i = 0; good && i < w->now.len; i++)
			good = add_children(w, w->now.data[i], (uint32_t)i);
		good = good && add_pending(w, begin, node.depth + 1, function + 1, (uint32_t)w->now.len);
	}
	return good;
}

/* What is left out is counted where it is called from. Parents have smaller ids. */
static void count_at_callers(struct walk *w)
{
	for (uint32_t i = 1; i < w->p->stack_count; i++) {
		if (!w->line_of[i])
			w->line_of[i] = w->line_of[w->p->stacks[i].parent];
	}
}

static struct plumb_error *write_section(struct walk *w, FILE *out)
{
	struct pl_page_columns all;
	struct plumb_error *err =
		pl_page_callees_write(&w->callees, w->t->function_count + 1, &w->lists, &w->functions);

	if (err)
		return err;
	pl_page_columns_init(&all);
	pl_page_column_u64(&all, w->nodes);
	pl_page_column_u64(&all, w->lines);
	pl_page_columns_join(&all, &w->lists);
	pl_page_columns_join(&all, &w->pops);
	pl_page_columns_join(&all, &w->functions);
	pl_page_columns_join(&all, &w->place_counts);
	pl_page_columns_join(&all, &w->locations);
	pl_page_columns_join(&all, &w->callers);
	return pl_page_columns_end(&all, PL_PAGE_TREE, out);
}

static bool start(struct walk *w)
{
	size_t count = (size_t)w->p->stack_count + 1;

	w->first_child = calloc(count, sizeof *w->first_child);
	w->next = calloc(count, sizeof *w->next);
	w->line_of = calloc(count, sizeof *w->line_of);
	pl_page_columns_init(&w->pops);
	pl_page_columns_init(&w->lists);
	pl_page_columns_init(&w->functions);
	pl_page_columns_init(&w->place_counts);
	pl_page_columns_init(&w->locations);
	pl_page_columns_init(&w->callers);
	return w->first_child && w->next && w->line_of;
}

static void end(struct walk *w)
{
	free(w->first_child);
	free(w->next);
	free(w->line_of);
	pl_vec_deinit(&w->places);
	pl_vec_deinit(&w->pending);
	pl_vec_deinit(&w->now);
	pl_page_columns_deinit(&w->pops);
	pl_page_columns_deinit(&w->lists);
	pl_page_columns_deinit(&w->functions);
	pl_page_callees_deinit(&w->callees);
	pl_page_columns_deinit(&w->place_counts);
	pl_page_columns_deinit(&w->locations);
	pl_page_columns_deinit(&w->callers);
}

struct plumb_error *pl_page_tree_write(const struct plumb_profile *p, const struct pl_page_nodes *n,
				       const struct pl_page_tables *t, FILE *out, uint32_t **ret)
{
	struct walk w = {.p = p, .n = n, .t = t};
	struct plumb_error *err = start(&w) ? NULL : &pl_err_no_memory;

	if (!err) {
		link_children(&w);
		err = write_nodes(&w) ? write_section(&w, out) : &pl_err_no_memory;
	}
	if (!err) {
		count_at_callers(&w);
		*ret = w.line_of;
		w.line_of = NULL;
	}
	end(&w);
	return err;
}
