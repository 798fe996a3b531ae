/* SPDX-License-Identifier: Apache-2.0 */
/* merge(): the sum of trees. Module _trees; with the GIL.
 *
 * The trees are added one after the other to sums, one for each node of the result, and the dicts are made of these at
 * the end. The sum of a child is found by its key in one table for all; trees of one program mostly have the same
 * children in the same order with the very same keys, so the sum after the last one is tried first.
 *
 * Sums can be kept without making dicts, in a capsule that stands for their tree when it is merged later. */
#include "sums.h"

#define NONE	EXT_NO_ROW
#define CAPSULE "plumb._trees.sums"

static int no_memory(void)
{
	PyErr_NoMemory();
	return -1;
}

void ext_sums_deinit(struct ext_sums *s)
{
	for (size_t i = 0; i < s->count; i++) {
		Py_XDECREF(s->rows[i].key);
		Py_XDECREF(s->rows[i].identifier);
		Py_XDECREF(s->rows[i].description);
		Py_XDECREF(s->rows[i].large);
	}
	PyMem_Free(s->rows);
	PyMem_Free(s->slots);
}

static size_t slot_of(const struct ext_sums *s, uint32_t parent, Py_hash_t hash)
{
	uint64_t mixed = ((uint64_t)hash ^ parent) * 0x9e3779b97f4a7c15u;

	return (size_t)(mixed >> 32) & (s->slot_count - 1);
}

static void enter_slot(struct ext_sums *s, uint32_t row)
{
	size_t at = slot_of(s, s->rows[row].parent, s->rows[row].hash);

	while (s->slots[at] != NONE)
		at = (at + 1) & (s->slot_count - 1);
	s->slots[at] = row;
}

/* At most half of the slots are used. */
static int grow_slots(struct ext_sums *s)
{
	size_t count = s->slot_count ? 2 * s->slot_count : 256;
	uint32_t *slots = PyMem_Malloc(count * sizeof *slots);

	if (!slots)
		return no_memory();
	PyMem_Free(s->slots);
	s->slots = slots;
	s->slot_count = count;
	memset(slots, 0xff, count * sizeof *slots);
	for (size_t i = 0; i < s->count; i++)
		enter_slot(s, (uint32_t)i);
	return 0;
}

static int grow_rows(struct ext_sums *s)
{
	size_t room = s->room ? 2 * s->room : 128;
	struct ext_sum *rows = room < NONE ? PyMem_Realloc(s->rows, room * sizeof *rows) : NULL;

	if (!rows)
		return no_memory();
	s->rows = rows;
	s->room = room;
	return 0;
}

static void link_child(struct ext_sums *s, uint32_t parent, uint32_t child)
{
	struct ext_sum *p = &s->rows[parent];

	if (p->last == NONE)
		p->first = child;
	else
		s->rows[p->last].next = child;
	p->last = child;
}

/* A sum of nothing; the root's parent is NONE. */
static int add_row(struct ext_sums *s, uint32_t parent, PyObject *key, Py_hash_t hash)
{
	if (s->count == s->room && grow_rows(s) < 0)
		return -1;
	if (2 * s->count >= s->slot_count && grow_slots(s) < 0)
		return -1;
	uint32_t row = (uint32_t)s->count++;
	s->rows[row] =
		(struct ext_sum){.key = key, .hash = hash, .parent = parent, .first = NONE, .last = NONE, .next = NONE};
	Py_XINCREF(key);
	enter_slot(s, row);
	if (parent != NONE)
		link_child(s, parent, row);
	return 0;
}

static bool is_text(PyObject *o)
{
	return PyUnicode_CheckExact(o);
}

/* Comparing anything but texts may run any code, but none that could reach these tables. */
static int equal(struct ext_walk *w, PyObject *a, PyObject *b)
{
	if (a == b)
		return 1;
	if (is_text(a) && is_text(b)) {
		int order = PyUnicode_Compare(a, b);
		return order == -1 && PyErr_Occurred() ? -1 : order == 0;
	}
	if (w)
		ext_walk_own(w);
	Py_INCREF(a);
	Py_INCREF(b);
	int same = PyObject_RichCompareBool(a, b, Py_EQ);
	Py_DECREF(a);
	Py_DECREF(b);
	return same;
}

static int find_row(struct ext_walk *w, const struct ext_sums *s, uint32_t parent, PyObject *key, Py_hash_t hash,
		    uint32_t *ret)
{
	size_t at = slot_of(s, parent, hash);
	int same;

	for (; s->slots[at] != NONE; at = (at + 1) & (s->slot_count - 1)) {
		const struct ext_sum *row = &s->rows[s->slots[at]];
		if (row->parent != parent || row->hash != hash)
			continue;
		same = equal(w, row->key, key);
		if (same < 0)
			return -1;
		if (same)
			break;
	}
	*ret = s->slots[at];
	return 0;
}

/* The sum of a child, perhaps a new one of nothing. */
static int row_of(struct ext_walk *w, struct ext_sums *s, uint32_t parent, PyObject *key, Py_hash_t hash, uint32_t *ret)
{
	if (find_row(w, s, parent, key, hash, ret) < 0)
		return -1;
	if (*ret != NONE)
		return 0;
	*ret = (uint32_t)s->count;
	return add_row(s, parent, key, hash);
}

static int row_of_item(struct ext_walk *w, struct ext_sums *s, const struct ext_item *item, uint32_t *ret)
{
	uint32_t likely;

	if (item->parent == NONE) {
		*ret = 0;
		return 0;
	}
	likely = item->first ? s->rows[item->parent].first : s->rows[s->last].next;
	if (likely != NONE && s->rows[likely].key == item->key && s->rows[likely].parent == item->parent) {
		*ret = likely;
		return 0;
	}
	if (!is_text(item->key))
		ext_walk_own(w);
	Py_hash_t hash = PyObject_Hash(item->key);
	return hash == -1 && PyErr_Occurred() ? -1 : row_of(w, s, item->parent, item->key, hash, ret);
}

/* a += b; *sum may be NULL for nothing yet. */
static int add_large(PyObject **sum, PyObject *number)
{
	PyObject *more;

	if (*sum)
		more = PyNumber_Add(*sum, number);
	else
		more = number, Py_INCREF(number);
	if (!more)
		return -1;
	Py_XDECREF(*sum);
	*sum = more;
	return 0;
}

static bool add_small(struct ext_sum *row, PyObject *number)
{
	int overflow;
	long long sum;

	if (!PyLong_CheckExact(number))
		return false;
	long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
	if (overflow || __builtin_add_overflow(row->small, value, &sum))
		return false;
	row->small = sum;
	return true;
}

static int add_count(struct ext_walk *w, struct ext_sum *row, PyObject *number)
{
	if (add_small(row, number))
		return 0;
	if (w)
		ext_walk_own(w);
	Py_INCREF(number);
	int r = add_large(&row->large, number);
	Py_DECREF(number);
	return r;
}

/* A node is its identifier; that of a first node is taken, the others' must be the same. Mostly it is the key. */
static int add_identifier(struct ext_walk *w, struct ext_sum *row, PyObject *key, PyObject *identifier)
{
	if (!row->identifier) {
		row->identifier = identifier;
		Py_INCREF(identifier);
		return 0;
	}
	if (key && identifier == key && row->identifier == row->key && is_text(key) && is_text(row->key))
		return 0;
	int same = equal(w, row->identifier, identifier);
	if (same == 0)
		PyErr_Format(PyExc_ValueError, "nodes with the identifiers %R and %R cannot be one", row->identifier,
			     identifier);
	return same > 0 ? 0 : -1;
}

static int add_description(struct ext_sums *s, struct ext_sum *row, PyObject *node, PyObject *description)
{
	if (row->description)
		return 0;
	row->description = description;
	Py_XINCREF(description);
	if (!description)
		row->description = ext_get(node, s->st->key.description);
	return row->description ? 0 : -1;
}

/* Add a node to its sum. */
static int add_node(struct ext_walk *w, struct ext_item *item, const struct ext_fields *fields)
{
	struct ext_sums *s = w->ctx;

	if (row_of_item(w, s, item, &item->row) < 0)
		return -1;
	s->last = item->row;
	struct ext_sum *row = &s->rows[item->row];
	if (add_count(w, row, fields->count) < 0 || add_identifier(w, row, item->key, fields->identifier) < 0)
		return -1;
	return add_description(s, row, item->node, fields->description);
}

static int add_sum(struct ext_sums *s, uint32_t at, const struct ext_sum *more)
{
	struct ext_sum *row = &s->rows[at];
	long long sum;

	if (!__builtin_add_overflow(row->small, more->small, &sum)) {
		row->small = sum;
	} else {
		PyObject *small = PyLong_FromLongLong(more->small);
		int r = small ? add_large(&row->large, small) : -1;
		Py_XDECREF(small);
		if (r < 0)
			return -1;
	}
	if ((more->large && add_large(&row->large, more->large) < 0) ||
	    add_identifier(NULL, row, more->key, more->identifier) < 0)
		return -1;
	return add_description(s, row, NULL, more->description);
}

/* Add kept sums; parents come before their children in them, too. @p rows is where each of them went. */
static int add_rows(struct ext_sums *s, const struct ext_sums *more, uint32_t *rows)
{
	for (size_t i = 0; i < more->count; i++) {
		const struct ext_sum *row = &more->rows[i];
		uint32_t parent = i ? rows[row->parent] : NONE, likely = i ? s->rows[rows[i - 1]].next : 0;
		if (likely != NONE && s->rows[likely].key == row->key && s->rows[likely].parent == parent)
			rows[i] = likely;
		else if (row_of(NULL, s, parent, row->key, row->hash, &rows[i]) < 0)
			return -1;
		if (add_sum(s, rows[i], row) < 0)
			return -1;
	}
	return 0;
}

static int add_sums(struct ext_sums *s, PyObject *capsule)
{
	const struct ext_sums *more = PyCapsule_GetPointer(capsule, CAPSULE);
	uint32_t *rows = more ? PyMem_Malloc(more->count * sizeof *rows) : NULL;

	if (!rows)
		return more ? no_memory() : -1;
	int r = add_rows(s, more, rows);
	PyMem_Free(rows);
	return r;
}

int ext_sums_add(struct ext_sums *s, PyObject *trees)
{
	struct ext_walk w = {.st = s->st, .visit = add_node, .ctx = s};
	Py_ssize_t at = 0;
	int r = add_row(s, NONE, NULL, 0);

	while (r == 0 && (r = ext_walk(&w, trees, at, &at)) == 0 && at < PyTuple_Size(trees))
		r = add_sums(s, PyTuple_GetItem(trees, at++));
	ext_walk_deinit(&w);
	return r;
}

PyObject *ext_sum_count(struct ext_sum *row)
{
	PyObject *small = PyLong_FromLongLong(row->small);

	if (!small || !row->large)
		return small;
	int r = add_large(&row->large, small);
	Py_DECREF(small);
	if (r < 0)
		return NULL;
	Py_INCREF(row->large);
	return row->large;
}

static PyObject *description_of(const struct ext_sum *row, bool shared)
{
	if (!shared && PyDict_CheckExact(row->description))
		return PyDict_Copy(row->description);
	Py_INCREF(row->description);
	return row->description;
}

/* Put a value into a dict and drop our reference; NULL was an exception. */
static int put(PyObject *dict, PyObject *key, PyObject *value)
{
	int r = value ? PyDict_SetItem(dict, key, value) : -1;

	Py_XDECREF(value);
	return r;
}

/* The node of a sum, with children to be filled, which are the return value, borrowed. */
static PyObject *fill(const struct ext_trees *st, PyObject *node, struct ext_sum *row, bool strict)
{
	PyObject *children = PyDict_New();

	if (put(node, st->key.children, children) < 0 ||
	    put(node, st->key.description, description_of(row, strict)) < 0 ||
	    put(node, st->key.count, ext_sum_count(row)) < 0 ||
	    PyDict_SetItem(node, st->key.identifier, row->identifier) < 0)
		return NULL;
	return children;
}

static void touch_descriptions(const struct ext_sums *s, size_t from)
{
	PyObject *dicts[EXT_TOUCHED] = {0};
	size_t count = s->count - from < EXT_TOUCHED ? s->count - from : EXT_TOUCHED;

	for (size_t i = 0; i < count; i++)
		dicts[i] = s->rows[from + i].description;
	ext_touch(dicts, count);
}

/* Rows are in an order in which parents come first: @p below has the dicts into which the children of each go. */
static int make_nodes(struct ext_sums *s, PyObject *root, bool strict, PyObject **below)
{
	for (size_t i = 0; i < s->count; i++) {
		struct ext_sum *row = &s->rows[i];
		if (i % EXT_TOUCHED == 0)
			touch_descriptions(s, i);
		PyObject *node = i ? PyDict_Copy(s->st->merged) : root;
		if (!node || !(below[i] = fill(s->st, node, row, strict)))
			return -1;
		if (i && put(below[row->parent], row->key, node) < 0)
			return -1;
	}
	return 0;
}

static PyObject *tree_of(struct ext_sums *s, bool strict)
{
	PyObject **below = ext_calloc(s->count, sizeof(PyObject *));

	if (!below)
		return PyErr_NoMemory();
	PyObject *root = PyDict_Copy(s->st->merged);
	if (root && make_nodes(s, root, strict, below) < 0)
		Py_CLEAR(root);
	PyMem_Free(below);
	return root;
}

static PyObject *sum_of_trees(const struct ext_trees *st, PyObject *trees, bool strict)
{
	struct ext_sums s = {.st = st};
	PyObject *tree = NULL;

	if (ext_sums_add(&s, trees) == 0) {
		ext_trees_begin(false);
		tree = tree_of(&s, strict);
		ext_trees_end();
	}
	ext_sums_deinit(&s);
	return tree;
}

const char ext_merge_doc[] =
	"merge($module, /, *trees, strict=False)\n--\n\n"
	"The sum of trees, as a new one that shares nothing with them. All must have the same identifier.\n\n"
	"strict  True: a description is the first tree's own dict, as in distributed";

PyObject *ext_merge(PyObject *module, PyObject *trees, PyObject *kwargs)
{
	static char *names[] = {"strict", NULL};
	const struct ext_trees *st = ext_trees_of(module);
	int strict = 0;

	PyObject *none = PyTuple_New(0);
	int r = none ? PyArg_ParseTupleAndKeywords(none, kwargs, "|$p:merge", names, &strict) : 0;
	Py_XDECREF(none);
	if (!r)
		return NULL;
	if (PyTuple_Size(trees) == 0)
		return ext_create(&st->key);
	for (Py_ssize_t i = 0; i < PyTuple_Size(trees); i++) {
		if (PyList_Check(PyTuple_GetItem(trees, i)) || PyTuple_Check(PyTuple_GetItem(trees, i))) {
			PyErr_SetString(PyExc_TypeError, "each tree is an argument of its own: merge(*trees)");
			return NULL;
		}
	}
	int paused = ext_pause_gc(&st->gc);
	PyObject *tree = paused < 0 ? NULL : sum_of_trees(st, trees, strict);
	ext_resume_gc(&st->gc, paused);
	for (Py_ssize_t i = 0; !tree && i < PyTuple_Size(trees); i++)
		ext_explain_tree(st, PyTuple_GetItem(trees, i));
	return tree;
}

static void release(PyObject *capsule)
{
	struct ext_sums *s = PyCapsule_GetPointer(capsule, CAPSULE);

	ext_sums_deinit(s);
	PyMem_Free(s);
}

PyObject *ext_sums_pack(struct ext_sums *s)
{
	struct ext_sums *kept = PyMem_Malloc(sizeof *kept);
	struct ext_sum *rows = kept ? PyMem_Realloc(s->rows, s->count * sizeof *rows) : NULL;

	if (!rows) {
		PyMem_Free(kept);
		return PyErr_NoMemory();
	}
	s->rows = rows;
	*kept = (struct ext_sums){.rows = rows, .count = s->count};
	PyObject *capsule = PyCapsule_New(kept, CAPSULE, release);
	if (capsule)
		s->rows = NULL, s->count = 0;
	else
		PyMem_Free(kept);
	return capsule;
}

const char ext_pack_doc[] =
	"pack($module, /, *trees)\n--\n\n"
	"What stands for the sum of trees in merge() and pack(), and takes less time and memory than a\n"
	"tree. The trees must not be changed any more.";

static PyObject *pack(const struct ext_trees *st, PyObject *trees)
{
	struct ext_sums s = {.st = st};
	PyObject *capsule = ext_sums_add(&s, trees) == 0 ? ext_sums_pack(&s) : NULL;

	ext_sums_deinit(&s);
	return capsule;
}

/* Of no trees: as of an empty one, so that each sum has a root. */
PyObject *ext_pack(PyObject *module, PyObject *trees)
{
	const struct ext_trees *st = ext_trees_of(module);

	if (PyTuple_Size(trees) > 0)
		return pack(st, trees);
	PyObject *tree = ext_create(&st->key), *alone = tree ? PyTuple_Pack(1, tree) : NULL;
	PyObject *capsule = alone ? pack(st, alone) : NULL;
	Py_XDECREF(tree);
	Py_XDECREF(alone);
	return capsule;
}
