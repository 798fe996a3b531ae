/* SPDX-License-Identifier: Apache-2.0 */
/* The hot path: choosing the rows of a call tree that are worth a line each. Layer export; pure, any thread.
 *
 * Each row has an information: a function with one heavy child is worth the share that does not go to that child, the
 * end of a branch is worth its whole share, and a fork is kept, as is a tag that has something on it. What is not a
 * function of its own (library frames together, the self of a function) is worth less: the line above says most of it.
 * The row with the least information goes until the rest fits. Its input is cut at a few percent, so there are at most
 * some dozens of branch ends and forks; only chains can be long. Where sums are at their greatest number, though, each
 * row can have half of all time: what is more than some hundreds goes many at a time. */
#include "hot_path.h"

#include <stdlib.h>

#include "frame_name.h"
#include "own_code.h"

/* Above this many rows chains are thinned out in one pass, before the loop that is quadratic. */
#define LOOP_ROWS 256
/* Above this many rows the ends of branches, too. */
#define MOST_ROWS 512
/* More than any share. */
#define FORK_INFORMATION 2
/* In a tree of all functions: a library frame called by a library frame that keeps less than this for itself is never
 * worth a line. */
#define PASS_THROUGH_SHARE 0.002
/* A function that gives this much of its time to one other has a line with it. */
#define SAME_TIME 0.98
/* What a frame of the program itself counts for more than one of a library. */
#define OWN_CODE_BONUS 0.05
/* What the share of a row counts that is no function of its own. */
#define PART_WEIGHT 0.5

struct node {
	size_t parent; /* nearest kept one, or PL_HOT_NO_ROW */
	size_t into;   /* library frames that are told in its line, or PL_HOT_NO_ROW */
	uint32_t children;
	bool gone, library, tag;
	bool told;	    /* gone, but it is in the line of its only child */
	double share, down; /* down: the share of the kept children */
};

struct path {
	const pl_tree_rows *tree;
	struct node *nodes;
	size_t kept;
	double cut;
};

static void link_nodes(struct path *h, const struct plumb_profile *p, const bool *library)
{
	size_t at = PL_HOT_NO_ROW; /* the last row, then its ancestors */

	for (size_t i = 0; i < h->tree->len; i++) {
		const struct pl_tree_row *r = &h->tree->data[i];
		struct node *n = &h->nodes[i];

		while (at != PL_HOT_NO_ROW && h->tree->data[at].depth >= r->depth)
			at = h->nodes[at].parent;
		n->parent = at;
		n->into = PL_HOT_NO_ROW;
		n->share = r->total.share;
		n->library = library[r->function];
		n->tag = pl_frame_is_tag(p, &p->functions[r->function]);
		if (at != PL_HOT_NO_ROW) {
			h->nodes[at].children++;
			h->nodes[at].down += n->share;
		}
		at = i;
	}
}

static bool is_chain(const struct node *n)
{
	return n->children == 1;
}

static double information(const struct path *h, size_t i)
{
	const struct node *n = &h->nodes[i];

	if (n->children > 1 || (n->children && n->tag))
		return FORK_INFORMATION;
	if (h->tree->data[i].kind != PL_TREE_FUNCTION)
		return n->share * PART_WEIGHT;
	return n->share - n->down + (is_chain(n) && !n->library ? OWN_CODE_BONUS : 0);
}

static void remove_node(struct path *h, size_t i)
{
	struct node *n = &h->nodes[i];

	n->gone = true;
	h->kept--;
	if (is_chain(n))
		return; /* its child takes its place: see adopt() */
	if (n->share > h->cut)
		h->cut = n->share;
	/* An end of a branch, with what was folded above it: its share becomes the own share of the frame it hung on.
	 */
	while (n->parent != PL_HOT_NO_ROW && h->nodes[n->parent].gone)
		n = &h->nodes[n->parent];
	if (n->parent != PL_HOT_NO_ROW) {
		h->nodes[n->parent].children--;
		h->nodes[n->parent].down -= n->share;
	}
}

/* The line of a function tells of the library frames below it, if there is nothing else below. */
static void tell_in_one_line(struct path *h)
{
	for (size_t i = 0; i < h->tree->len; i++) {
		struct node *n = &h->nodes[i];
		struct node *parent = n->parent == PL_HOT_NO_ROW ? NULL : &h->nodes[n->parent];

		if (n->gone || h->tree->data[i].kind != PL_TREE_LIBRARY || !parent || parent->gone ||
		    parent->children != 1 || h->tree->data[n->parent].kind != PL_TREE_FUNCTION)
			continue;
		n->gone = true;
		h->kept--;
		parent->into = i;
		parent->children = 0;
		parent->down = 0;
	}
}

static bool only_leads_to(const struct node *n, const struct node *child)
{
	return is_chain(n) && !n->library && !n->tag && !child->library && n->down >= SAME_TIME * n->share;
}

/* Functions of the program that only lead to one another. The only child of a row is the next one that is kept. */
static void join_chains(struct path *h)
{
	const struct node *next = NULL;

	for (size_t i = h->tree->len; i-- > 0;) {
		struct node *n = &h->nodes[i];

		if (n->gone)
			continue;
		if (next && only_leads_to(n, next)) {
			remove_node(h, i);
			n->told = true;
		} else {
			next = n;
		}
	}
}

/* A row below another one is no surer than that. */
static void drop_unsure(struct path *h)
{
	for (size_t i = h->tree->len; i-- > 1;) {
		const struct pl_share *s = &h->tree->data[i].total;

		if (h->nodes[i].children == 0 && s->share <= s->half_width) {
			remove_node(h, i);
			h->cut = 0; /* nobody asked for fewer rows */
		}
	}
}

/* The nearest kept ancestor of a row that is kept, and what is between: told in its line, or left out. */
static size_t adopt(const struct path *h, size_t i, struct pl_hot_row *row)
{
	size_t above[PL_HOT_ABOVE], at = h->nodes[i].parent;
	int count = 0;

	for (; at != PL_HOT_NO_ROW && h->nodes[at].gone; at = h->nodes[at].parent) {
		if (!h->nodes[at].told)
			row->folded++;
		else if (count < PL_HOT_ABOVE)
			above[count++] = at;
		else
			row->above_more = true;
	}
	row->above_count = count;
	for (int k = 0; k < count; k++)
		row->above[k] = above[count - 1 - k];
	return at;
}

static void fold_pass_through(struct path *h)
{
	for (size_t i = 0; i < h->tree->len; i++) {
		const struct node *n = &h->nodes[i];
		bool under_library = n->parent == PL_HOT_NO_ROW || h->nodes[n->parent].library;

		if (!n->gone && is_chain(n) && n->library && !n->tag && under_library &&
		    n->share - n->down < PASS_THROUGH_SHARE)
			remove_node(h, i);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Deep recursion: thousands of chain frames. Keep about LOOP_ROWS of them, those with the most information. */
static struct plumb_error *thin_chains(struct path *h)
{
	size_t count = 0;
	double *values, limit;

	if (h->kept <= LOOP_ROWS)
		return NULL;
	values = malloc(h->tree->len * sizeof *values);
	if (!values)
		return &pl_err_no_memory;
	for (size_t i = 0; i < h->tree->len; i++) {
		if (!h->nodes[i].gone && is_chain(&h->nodes[i]))
			values[count++] = information(h, i);
	}
	qsort(values, count, sizeof *values, compare_doubles);
	limit = count > LOOP_ROWS ? values[count - LOOP_ROWS] : -1;
	free(values);
	for (size_t i = 0; i < h->tree->len && h->kept > LOOP_ROWS; i++) {
		if (!h->nodes[i].gone && is_chain(&h->nodes[i]) && information(h, i) <= limit)
			remove_node(h, i);
	}
	return NULL;
}

/* What half of the rows that are no forks have at most. */
static double median_information(const struct path *h, double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < h->tree->len; i++) {
		values[count] = information(h, i);
		count += !h->nodes[i].gone && values[count] < FORK_INFORMATION;
	}
	qsort(values, count, sizeof *values, compare_doubles);
	return values[count / 2];
}

/* A tree has more ends than forks, and who goes makes a row above more telling, but no more than one: each pass takes
 * an eighth of the rows at least. */
static struct plumb_error *thin_rest(struct path *h)
{
	size_t before = SIZE_MAX;
	double *values = h->kept > MOST_ROWS ? malloc((h->tree->len + 1) * sizeof *values) : NULL;

	if (h->kept > MOST_ROWS && !values)
		return &pl_err_no_memory;
	while (h->kept > MOST_ROWS && h->kept < before) {
		double limit = median_information(h, values);

		before = h->kept;
		for (size_t i = h->tree->len; i-- > 0 && h->kept > MOST_ROWS;)
			if (!h->nodes[i].gone && information(h, i) <= limit)
				remove_node(h, i);
	}
	free(values);
	return NULL;
}

static void remove_least(struct path *h)
{
	size_t best = PL_HOT_NO_ROW;
	double least = 0, value;

	for (size_t i = 0; i < h->tree->len; i++) {
		if (h->nodes[i].gone)
			continue;
		value = information(h, i);
		if (best == PL_HOT_NO_ROW || value <= least) { /* of equals the deeper one goes: roots orient */
			best = i;
			least = value;
		}
	}
	if (best != PL_HOT_NO_ROW)
		remove_node(h, best);
}

/* The chosen rows with their depth among themselves. */
static struct plumb_error *collect(const struct path *h, pl_hot_rows *ret)
{
	uint32_t *depths = calloc(h->tree->len + 1, sizeof *depths);
	bool ok = depths != NULL;

	for (size_t i = 0; ok && i < h->tree->len; i++) {
		const struct node *n = &h->nodes[i];
		struct pl_hot_row row = {.row = i, .into = n->into};
		size_t parent;

		if (n->gone)
			continue;
		parent = adopt(h, i, &row);
		row.depth = depths[i] = parent == PL_HOT_NO_ROW ? 0 : depths[parent] + 1;
		ok = pl_vec_push(ret, row);
	}
	free(depths);
	return ok ? NULL : &pl_err_no_memory;
}

static struct plumb_error *choose(struct path *h, size_t max_rows, bool unsure)
{
	struct plumb_error *err;

	if (!unsure)
		drop_unsure(h);
	tell_in_one_line(h);
	fold_pass_through(h);
	join_chains(h);
	err = thin_chains(h);
	if (!err)
		err = thin_rest(h);
	while (!err && h->kept > max_rows) {
		remove_least(h);
		tell_in_one_line(h);
	}
	return err;
}

struct plumb_error *pl_hot_path(const struct plumb_profile *p, const pl_tree_rows *tree, size_t max_rows, bool unsure,
				pl_hot_rows *ret, double *cut_ret)
{
	struct path h = {.tree = tree, .kept = tree->len};
	struct plumb_error *err;

	pl_vec_clear(ret);
	*cut_ret = 0;
	if (tree->len == 0)
		return NULL;
	bool *library = pl_own_code_libraries(p);
	h.nodes = calloc(tree->len, sizeof *h.nodes);
	err = library && h.nodes ? NULL : &pl_err_no_memory;
	if (!err) {
		link_nodes(&h, p, library);
		err = choose(&h, max_rows, unsure);
	}
	if (!err)
		err = collect(&h, ret);
	free(library);
	free(h.nodes);
	*cut_ret = h.cut;
	return err;
}
