/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of nodes of trees: what merge() adds up, pack() keeps and as_bytes() sends. */
#ifndef PLUMB_EXT_SUMS_H
#define PLUMB_EXT_SUMS_H

#include "walk_trees.h"

struct ext_sum {
	PyObject *key, *identifier, *description; /* the root has no key */
	PyObject *large;			  /* of counts that are no small integers; NULL: none */
	long long small;
	Py_hash_t hash;			    /* of the key */
	uint32_t parent, first, last, next; /* children in order of first appearance; EXT_NO_ROW: none */
};

/** Rows are in an order in which parents come first. */
struct ext_sums {
	const struct ext_trees *st;
	struct ext_sum *rows;
	size_t count, room;
	uint32_t *slots; /* of rows, by parent and key; EXT_NO_ROW: empty */
	size_t slot_count;
	uint32_t last; /* row that was found last */
};

void ext_sums_deinit(struct ext_sums *s);
/** Add a tuple of trees, or of what stands for some, to no sums yet. */
int ext_sums_add(struct ext_sums *s, PyObject *trees);
/** The total of a row, which is changed by it. */
PyObject *ext_sum_count(struct ext_sum *row);
/** What stands for them, without what only adding needs: rows have a key with its hash, a parent and the rest but their
 * children. It has taken over the rows if it is not NULL. */
PyObject *ext_sums_pack(struct ext_sums *s);

#endif
