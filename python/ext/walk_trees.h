/* SPDX-License-Identifier: Apache-2.0 */
/* Going through trees of dicts, parents first, as fast as memory allows. */
#ifndef PLUMB_EXT_WALK_TREES_H
#define PLUMB_EXT_WALK_TREES_H

#include "dicts.h"

#define EXT_NO_ROW UINT32_MAX

/** A node on its way. */
struct ext_item {
	PyObject *node, *key;
	PyObject *children; /* a dict, when it was visited */
	uint32_t parent;    /* row of its parent; EXT_NO_ROW: it is a root */
	uint32_t row;	    /* what the visitor made of it; children get it as their parent */
	bool first;	    /* of its siblings */
	bool skip;	    /* set by the visitor: nothing below it is wanted */
};

struct ext_walk {
	const struct ext_trees *st;
	/** Of each node, once. What runs anybody's code must call ext_walk_own() before. -1 ends it. */
	int (*visit)(struct ext_walk *w, struct ext_item *item, const struct ext_fields *fields);
	void *ctx;
	/* the rest is for walk_trees.c */
	struct ext_item *ring;
	size_t room;	       /* a power of two */
	size_t expanded, tail; /* items that have left it, and all so far */
	struct ext_shape shape;
	bool owned;  /* references to all that is in the ring are ours */
	bool locked; /* ext_trees_begin() */
};

void ext_walk_deinit(struct ext_walk *w);
/** Go through the trees of a tuple from index @p from; until all are or, before it is begun, one is no tree: a capsule.
 * @p ret is where that is. */
int ext_walk(struct ext_walk *w, PyObject *trees, Py_ssize_t from, Py_ssize_t *ret);
/** From now on what is on its way is kept alive: anybody's code may run. */
void ext_walk_own(struct ext_walk *w);

#endif
