/* SPDX-License-Identifier: Apache-2.0 */
/* The order of lines that are paths of a trie, "a;b;c", by their text. Inside the layer only. */
#ifndef PL_LINE_ORDER_H
#define PL_LINE_ORDER_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>

/** What stands between two ';', somewhere in a text. */
struct pl_line_part {
	size_t at, len;
};

/** Numbered parents first; node 0 is the root, which has no part. */
struct pl_line_node {
	uint32_t parent, part, depth;
};

struct pl_line_trie {
	const unsigned char *text;
	const struct pl_line_part *parts;
	const struct pl_line_node *nodes;
	uint32_t part_count, node_count;
};

/** @p ranks, one for each node: where the line that ends there stands. Lines of one text have one rank; text of parts
 * with ';' in them is compared part by part. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_line_order(const struct pl_line_trie *t, uint32_t *ranks) PLUMB_MUST_CHECK;

#endif
