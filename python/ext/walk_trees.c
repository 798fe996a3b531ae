/* SPDX-License-Identifier: Apache-2.0 */
/* Going through trees of dicts. Module _trees; with the GIL.
 *
 * A tree of a thousand nodes lies in five thousand places of memory, and each is waited for if it is read when it is
 * first known. So nodes wait in a queue and leave it some at a time, and each step is a short loop over all of these,
 * which the processor waits for at once. When few nodes are left the next tree begins.
 *
 * Nodes of all trees leave the queue level by level, and for each level in the order of trees: of those that are the
 * same node in the sum the first tree's comes first.
 *
 * As long as nobody's code runs (of keys that are no texts, of numbers that are no ints) nothing can go away meanwhile,
 * so references are borrowed; ext_walk_own() ends that. Without a GIL they are our own from the beginning, and what
 * ends is that nobody counts in a tree meanwhile. */
#include "walk_trees.h"

#define BATCH EXT_TOUCHED

static struct ext_item *at(const struct ext_walk *w, size_t i)
{
	return &w->ring[i & (w->room - 1)];
}

static void own(struct ext_item *item)
{
	Py_INCREF(item->node);
	Py_XINCREF(item->key);
	Py_XINCREF(item->children);
}

static void disown(struct ext_item *item)
{
	Py_DECREF(item->node);
	Py_XDECREF(item->key);
	Py_XDECREF(item->children);
}

static void unlock(struct ext_walk *w)
{
	if (w->locked)
		ext_trees_end();
	w->locked = false;
}

void ext_walk_own(struct ext_walk *w)
{
	for (size_t i = w->expanded; !w->owned && i < w->tail; i++)
		own(at(w, i));
	w->owned = true;
	unlock(w);
}

void ext_walk_deinit(struct ext_walk *w)
{
	for (size_t i = w->expanded; w->owned && i < w->tail; i++)
		disown(at(w, i));
	PyMem_Free(w->ring);
}

static int grow(struct ext_walk *w)
{
	size_t room = w->room ? 2 * w->room : 256;
	struct ext_item *ring = PyMem_Malloc(room * sizeof *ring);

	if (!ring) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = w->expanded; i < w->tail; i++)
		ring[i & (room - 1)] = *at(w, i);
	PyMem_Free(w->ring);
	w->ring = ring;
	w->room = room;
	return 0;
}

static int enqueue(struct ext_walk *w, PyObject *node, PyObject *key, uint32_t parent, bool first)
{
	if (w->tail - w->expanded == w->room && grow(w) < 0)
		return -1;
	struct ext_item *item = at(w, w->tail++);
	*item = (struct ext_item){.node = node, .key = key, .parent = parent, .first = first};
	if (w->owned)
		own(item);
	return 0;
}

/* The fields of a node that is no dict as we know them; description is left to the visitor. */
static int visit_slowly(struct ext_walk *w, struct ext_item *item)
{
	struct ext_fields f = {0};
	int r = -1;

	if (EXT_HAS_GIL || !PyDict_CheckExact(item->node))
		ext_walk_own(w);
	if ((f.count = ext_get(item->node, w->st->key.count)) &&
	    (f.identifier = ext_get(item->node, w->st->key.identifier)) &&
	    (item->children = ext_get(item->node, w->st->key.children)))
		r = w->visit(w, item, &f);
	Py_XDECREF(f.count);
	Py_XDECREF(f.identifier);
	return r;
}

static int visit(struct ext_walk *w, struct ext_item *item)
{
	struct ext_fields f;

	if (!ext_fields(w->st, &w->shape, item->node, &f))
		return visit_slowly(w, item);
	item->children = f.children;
	if (w->owned)
		Py_INCREF(item->children);
	return w->visit(w, item, &f);
}

/* Children are a dict from now on. */
static int list_children(struct ext_walk *w, struct ext_item *item)
{
	if (PyDict_CheckExact(item->children))
		return 0;
	ext_walk_own(w);
	PyObject *dict = ext_as_dict(item->children);
	if (!dict)
		return -1;
	Py_DECREF(item->children);
	item->children = dict;
	return 0;
}

static int enqueue_entries(struct ext_walk *w, const struct ext_entries *e, uint32_t parent)
{
	bool first = true;

	for (Py_ssize_t i = 0; i < e->count; i++) {
		PyObject *key = e->at[i * e->step], *node = e->at[i * e->step + 1];
		if (!node)
			continue;
		if (enqueue(w, node, key, parent, first) < 0)
			return -1;
		first = false;
	}
	return 0;
}

static int enqueue_items(struct ext_walk *w, PyObject *children, uint32_t parent)
{
	PyObject *key, *node;
	Py_ssize_t next = 0;
	bool first = true;

	while (PyDict_Next(children, &next, &key, &node)) {
		if (enqueue(w, node, key, parent, first) < 0)
			return -1;
		first = false;
	}
	return 0;
}

static int enqueue_children(struct ext_walk *w, PyObject *children, uint32_t parent)
{
	struct ext_entries e;
	int r;

	if (ext_entries(children, &e))
		return enqueue_entries(w, &e, parent);
	EXT_ALONE_WITH(children, r = enqueue_items(w, children, parent));
	return r;
}

/* Take the head off, its children come to the end. */
static int expand(struct ext_walk *w)
{
	struct ext_item item = *at(w, w->expanded);
	int r = item.skip ? 0 : enqueue_children(w, item.children, item.row);

	w->expanded++;
	if (w->owned)
		disown(&item);
	return r;
}

/* Reading a word of each key has the effect that they are all in the cache. */
static void touch_keys(const struct ext_walk *w, size_t end)
{
	uintptr_t unused = 0;

	for (size_t i = w->expanded; i < end; i++) {
		PyObject *key = at(w, i)->key;
		unused ^= key ? (uintptr_t)Py_TYPE(key) : 0;
	}
	__asm__ volatile("" : : "r"(unused));
}

/* The head of the queue goes through all steps. */
static int step(struct ext_walk *w)
{
	PyObject *dicts[BATCH] = {0};
	size_t begin = w->expanded, count = w->tail - begin < BATCH ? w->tail - begin : BATCH;

	touch_keys(w, begin + count);
	for (size_t i = 0; i < count; i++)
		dicts[i] = at(w, begin + i)->node;
	ext_touch(dicts, count);
	for (size_t i = 0; i < count; i++)
		if (visit(w, at(w, begin + i)) < 0)
			return -1;
	for (size_t i = 0; i < count; i++)
		if (list_children(w, at(w, begin + i)) < 0)
			return -1;
	for (size_t i = 0; i < count; i++)
		dicts[i] = at(w, begin + i)->children;
	ext_touch(dicts, count);
	for (size_t i = 0; i < count; i++)
		if (expand(w) < 0)
			return -1;
	return 0;
}

static int walk(struct ext_walk *w, PyObject *trees, Py_ssize_t from, Py_ssize_t *ret)
{
	Py_ssize_t count = PyTuple_Size(trees), i = from;

	for (;;) {
		PyObject *tree = i < count ? PyTuple_GetItem(trees, i) : NULL;
		if (tree && !PyCapsule_CheckExact(tree) && w->tail - w->expanded < BATCH) {
			if (enqueue(w, tree, NULL, EXT_NO_ROW, false) < 0)
				return -1;
			i++;
		} else if (w->expanded == w->tail) {
			*ret = i;
			return 0;
		} else if (step(w) < 0) {
			return -1;
		}
	}
}

int ext_walk(struct ext_walk *w, PyObject *trees, Py_ssize_t from, Py_ssize_t *ret)
{
	w->owned |= !EXT_HAS_GIL;
	w->locked = true;
	ext_trees_begin(false);
	int r = walk(w, trees, from, ret);
	unlock(w);
	return r;
}
