/* SPDX-License-Identifier: Apache-2.0 */
/* Which stacks of a profile are nodes of the report page (layer export; pure). All that have samples and their callers,
 * unless these are more than a browser can take: then the lightest go, and are counted where they are called from. */
#include "page_parts.h"

#include <stdlib.h>

#include "index.h"

#define FIRST_SHARE 1e-8

/* Parents have smaller ids than their children: from the last to the first, weights reach the roots. */
static void weigh(struct pl_page_nodes *n, const struct plumb_profile *p)
{
	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];

		n->weight[c->stack] = pl_sum_u64(n->weight[c->stack], c->weight_ns);
		n->kept[c->stack] |= c->samples > 0;
	}
	for (uint32_t i = 0; i < p->stack_count; i++)
		n->own += n->kept[i];
	for (uint32_t i = p->stack_count; i-- > 1;) {
		uint32_t parent = p->stacks[i].parent;

		n->weight[parent] = pl_sum_u64(n->weight[parent], n->weight[i]);
		n->kept[parent] |= n->kept[i];
	}
}

static uint32_t count_above(const struct pl_page_nodes *n, const struct plumb_profile *p, double weight)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < p->stack_count; i++)
		count += n->kept[i] && (double)n->weight[i] >= weight;
	return count;
}

static void prune(struct pl_page_nodes *n, const struct plumb_profile *p, uint32_t max_nodes)
{
	uint32_t all = count_above(n, p, 0);
	double whole = (double)n->weight[0];

	if (all <= max_nodes)
		return;
	n->pruned_share = FIRST_SHARE;
	while (n->pruned_share < 1 && count_above(n, p, n->pruned_share * whole) > max_nodes)
		n->pruned_share *= 2;
	for (uint32_t i = 1; i < p->stack_count; i++) {
		if (n->kept[i] && (double)n->weight[i] < n->pruned_share * whole) {
			/* The outermost that goes takes all below it along. */
			n->pruned_weight += n->kept[p->stacks[i].parent] ? (double)n->weight[i] / whole : 0;
			n->kept[i] = false;
			n->pruned++;
		}
	}
}

struct plumb_error *pl_page_nodes_init(struct pl_page_nodes *n, const struct plumb_profile *p, uint32_t max_nodes)
{
	*n = (struct pl_page_nodes){.weight = calloc((size_t)p->stack_count + 1, sizeof *n->weight),
				    .kept = calloc((size_t)p->stack_count + 1, sizeof *n->kept)};
	if (!n->weight || !n->kept)
		return &pl_err_no_memory;
	weigh(n, p);
	prune(n, p, max_nodes);
	return NULL;
}

void pl_page_nodes_deinit(struct pl_page_nodes *n)
{
	free(n->weight);
	free(n->kept);
	*n = (struct pl_page_nodes){0};
}
