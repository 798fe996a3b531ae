/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a tree of dicts, as process() would have made it of the same stacks. Extension module.
 *
 * The nodes of the library are first copied without the GIL, then what becomes of each is found out on the copies, and
 * only the rest needs Python. A stack is the way from the root to a node that has samples of its own: each option
 * (`omit`, `stop`, `depth`) leaves out some stacks or shortens them at the root. */
#include "profiler.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_AT_HAND 1024 /* a power of two */
#define TEXTS_AT_HAND	  1024 /* likewise */
#define NONE		  UINT32_MAX

/* A node of the library. Node 0 is the root. */
struct row {
	struct plumb_tree_node n;
	uint32_t parent;
	uint64_t own;	/* stacks that end here */
	uint64_t kept;	/* stacks that end here or below and go this way in the tree that is made */
	uint32_t len;	/* frames of the stack that ends here, after `stop` */
	uint32_t place; /* in the tree that is made; NONE: not there */
	bool omitted;	/* stacks that end here */
	bool stops;	/* a frame that `stop` ends stacks before */
};

/* A node that is made. Its index stands in for its count until all is counted. */
struct place {
	PyObject *node;
	uint32_t parent;
	uint64_t count;
};

/* What frames of a function have in common. */
struct function {
	const char *name, *file;
	uint32_t firstline;
	PyObject *identifier, *name_text, *file_text;
};

/* A line of the recording. Many nodes may have the same, which may be long. */
struct text {
	const char *at;
	PyObject *line;
};

struct making {
	const struct ext_profiler *st;
	const struct ext_tree_options *o;
	struct row *rows;
	size_t count, room;
	uint32_t *path; /* the row at each depth of the walk */
	size_t path_room;
	struct place *places;
	size_t place_count, place_room;
	uint32_t most; /* frames that are kept of a stack */
	bool failed;   /* to find room for a copy */
	struct function functions[FUNCTIONS_AT_HAND];
	struct plumb_lines *recorded; /* NULL: texts are this process's, or none are wanted */
	struct text texts[TEXTS_AT_HAND];
};

/* Makes room for one more. Without the GIL as well. */
static bool grow(void *items, size_t count, size_t *room, size_t size)
{
	void **at = items;

	if (count < *room)
		return true;
	size_t more = *room ? 2 * *room : 256;
	void *new = realloc(*at, more * size);
	if (!new)
		return false;
	*at = new;
	*room = more;
	return true;
}

/* ---- the copy ---------------------------------------------------------------------------------------------------- */

/* Without the GIL. */
static struct plumb_error *take(void *ctx, const struct plumb_tree_node *n)
{
	struct making *m = ctx;

	m->failed = m->failed || !grow(&m->rows, m->count, &m->room, sizeof *m->rows) ||
		    !grow(&m->path, n->depth, &m->path_room, sizeof *m->path);
	if (m->failed)
		return NULL;
	uint32_t parent = n->depth ? m->path[n->depth - 1] : 0;
	m->path[n->depth] = (uint32_t)m->count;
	m->rows[m->count++] = (struct row){.n = *n, .parent = parent, .own = n->samples, .place = NONE};
	if (n->depth)
		m->rows[parent].own -= n->samples;
	return NULL;
}

static int copy(struct making *m, const struct plumb_profile *p, struct ext_lock *lock)
{
	struct plumb_error *err;

	Py_BEGIN_ALLOW_THREADS;
	ext_lock(lock);
	err = plumb_profile_walk_lines(p, m->recorded, take, m);
	ext_unlock(lock);
	Py_END_ALLOW_THREADS;
	if (err)
		ext_raise(m->st, err);
	else if (m->failed)
		PyErr_NoMemory();
	return err || m->failed ? -1 : 0;
}

/* ---- what becomes of each stack ---------------------------------------------------------------------------------- */

static bool ends_in(const struct row *r, const struct ext_words *suffixes)
{
	for (size_t i = 0; i < suffixes->count; i++) {
		size_t len = strlen(suffixes->words[i]);

		if (len <= r->n.file_len && memcmp(r->n.file + r->n.file_len - len, suffixes->words[i], len) == 0)
			return true;
	}
	return false;
}

/* Whether the frame at @p r is the outermost of the stacks through it. */
static bool is_outermost(const struct making *m, const struct row *r)
{
	return r->parent == 0 || m->rows[r->parent].stops;
}

static void choose(struct making *m, const struct ext_words *omit, const struct ext_words *stop)
{
	for (size_t i = 1; i < m->count; i++) {
		struct row *r = &m->rows[i];

		r->stops = ends_in(r, stop);
		r->len = is_outermost(m, r) ? 1 : m->rows[r->parent].len + 1;
		/* A marker says something of the function that it stands below. */
		r->omitted =
			r->n.kind == PLUMB_KIND_MARKER && r->parent ? m->rows[r->parent].omitted : ends_in(r, omit);
		if (r->omitted)
			r->own = 0;
		r->kept = r->len <= m->most ? r->own : 0;
	}
	for (size_t i = m->count; i-- > 1;) {
		if (!is_outermost(m, &m->rows[i]))
			m->rows[m->rows[i].parent].kept += m->rows[i].kept;
	}
}

static int apply(struct making *m)
{
	struct ext_words omit = {0}, stop = {0};
	int status = ext_words_init(&omit, m->o->omit) < 0 || ext_words_init(&stop, m->o->stop) < 0 ? -1 : 0;

	if (status == 0)
		choose(m, &omit, &stop);
	ext_words_deinit(&omit);
	ext_words_deinit(&stop);
	return status;
}

/* ---- dicts ------------------------------------------------------------------------------------------------------- */

/* As plumb keeps it: surrogates have three bytes each. What another tool wrote may be anything. */
static PyObject *decoded(const char *s, size_t len)
{
	PyObject *text = PyUnicode_DecodeUTF8(s, (Py_ssize_t)len, "surrogatepass");

	if (text || !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
		return text;
	PyErr_Clear();
	return PyUnicode_DecodeUTF8(s, (Py_ssize_t)len, "replace");
}

static void function_clear(struct function *f)
{
	Py_CLEAR(f->identifier);
	Py_CLEAR(f->name_text);
	Py_CLEAR(f->file_text);
	f->name = NULL;
}

static int describe(struct function *f, const struct plumb_tree_node *n)
{
	f->name_text = decoded(n->name, n->name_len);
	f->file_text = f->name_text ? decoded(n->file, n->file_len) : NULL;
	if (f->file_text)
		f->identifier = PyUnicode_FromFormat("%U;%U;%u", f->name_text, f->file_text, (unsigned)n->firstline);
	if (!f->identifier) {
		function_clear(f);
		return -1;
	}
	f->name = n->name;
	f->file = n->file;
	f->firstline = n->firstline;
	return 0;
}

/* The library keeps equal texts once, so their addresses are enough. */
static struct function *function_of(struct making *m, const struct plumb_tree_node *n)
{
	uintptr_t hash = (uintptr_t)n->name * 31 + (uintptr_t)n->file * 17 + n->firstline;
	struct function *f = &m->functions[(hash ^ hash >> 12) & (FUNCTIONS_AT_HAND - 1)];

	if (f->name == n->name && f->file == n->file && f->firstline == n->firstline)
		return f;
	function_clear(f);
	return describe(f, n) < 0 ? NULL : f;
}

/* As linecache has lines, with their ends. */
static PyObject *line_from(const struct plumb_tree_node *n)
{
	PyObject *text = decoded(n->text, n->text_len), *line = text ? PyUnicode_FromFormat("%U\n", text) : NULL;

	Py_XDECREF(text);
	return line;
}

static PyObject *text_of(struct making *m, const struct plumb_tree_node *n)
{
	uintptr_t hash = (uintptr_t)n->text;
	struct text *t = &m->texts[(hash ^ hash >> 10) & (TEXTS_AT_HAND - 1)];

	if (t->at != n->text) {
		PyObject *line = line_from(n);

		if (!line)
			return NULL;
		Py_XDECREF(t->line);
		*t = (struct text){n->text, line};
	}
	Py_INCREF(t->line);
	return t->line;
}

static PyObject *line_of(struct making *m, const struct function *f, const struct plumb_tree_node *n, PyObject *number)
{
	if (n->text)
		return text_of(m, n);
	if (!m->o->lines || m->recorded)
		return PyUnicode_FromString("");
	return PyObject_CallFunctionObjArgs(m->st->recorded_line, f->file_text, number, NULL);
}

static PyObject *description_of(struct making *m, const struct function *f, const struct plumb_tree_node *n)
{
	PyObject *number = PyLong_FromLong(n->line), *text = number ? line_of(m, f, n, number) : NULL;
	PyObject *description = NULL;

	if (text)
		description = ext_description(&m->st->key, f->file_text, f->name_text, number, text);
	Py_XDECREF(number);
	Py_XDECREF(text);
	return description;
}

/* Takes over @p node. */
static uint32_t new_place(struct making *m, PyObject *node, uint32_t parent)
{
	if (!node)
		return NONE;
	if (!grow(&m->places, m->place_count, &m->place_room, sizeof *m->places)) {
		Py_DECREF(node);
		PyErr_NoMemory();
		return NONE;
	}
	m->places[m->place_count] = (struct place){.node = node, .parent = parent};
	return (uint32_t)m->place_count++;
}

/* Takes over @p description. */
static uint32_t add_child(struct making *m, uint32_t parent, PyObject *children, PyObject *identifier,
			  PyObject *description)
{
	PyObject *node = NULL;

	if (description)
		node = Py_BuildValue("{O:n, O:O, O:{}, O:O}", m->st->key.count, (Py_ssize_t)m->place_count,
				     m->st->key.description, description, m->st->key.children, m->st->key.identifier,
				     identifier);
	Py_XDECREF(description);
	if (node && ext_set(children, identifier, node) < 0)
		Py_CLEAR(node);
	return new_place(m, node, parent);
}

/* The place of the child with that identifier; without one NONE, and perhaps an exception. */
static uint32_t find_child(const struct making *m, PyObject *children, PyObject *identifier)
{
	PyObject *node, *place;

	if (ext_find(children, identifier, &node) < 0 || !node)
		return NONE;
	place = ext_get(node, m->st->key.count);
	Py_DECREF(node);
	uint32_t index = place ? (uint32_t)PyLong_AsUnsignedLong(place) : NONE;
	Py_XDECREF(place);
	return index;
}

static uint32_t child(struct making *m, uint32_t parent, const struct row *r)
{
	struct function *f = function_of(m, &r->n);
	PyObject *children = f ? ext_get(m->places[parent].node, m->st->key.children) : NULL;

	if (!children)
		return NONE;
	/* Looking up a line runs Python, which may want a tree of its own, but not this one: f stays. */
	uint32_t place = find_child(m, children, f->identifier);
	if (place == NONE && !PyErr_Occurred())
		place = add_child(m, parent, children, f->identifier, description_of(m, f, &r->n));
	Py_DECREF(children);
	return place;
}

static uint32_t truncated(struct making *m)
{
	PyObject *identifier = PyUnicode_FromString("<truncated>");
	PyObject *children = identifier ? ext_get(m->places[0].node, m->st->key.children) : NULL;
	uint32_t place = NONE;

	if (children) {
		place = find_child(m, children, identifier);
		if (place == NONE && !PyErr_Occurred())
			place = add_child(m, 0, children, identifier,
					  Py_BuildValue("{O:s, O:O, O:O, O:s}", m->st->key.filename, "",
							m->st->key.name, identifier, m->st->key.line_number,
							m->st->zero, m->st->key.line, ""));
	}
	Py_XDECREF(children);
	Py_XDECREF(identifier);
	return place;
}

/* The innermost frames of a stack that is too long. */
static int make_end(struct making *m, uint32_t row)
{
	uint32_t place = truncated(m), *way = malloc(m->most * sizeof *way);

	if (!way)
		PyErr_NoMemory();
	for (uint32_t i = m->most; way && i-- > 0; row = m->rows[row].parent)
		way[i] = row;
	for (uint32_t i = 0; way && place != NONE && i < m->most; i++)
		place = child(m, place, &m->rows[way[i]]);
	if (way && place != NONE)
		m->places[place].count += m->rows[way[m->most - 1]].own;
	int status = way && place != NONE ? 0 : -1;
	free(way);
	return status;
}

static int make(struct making *m, uint32_t row)
{
	struct row *r = &m->rows[row];

	if (r->own && r->len > m->most)
		return make_end(m, row);
	if (!r->kept)
		return 0;
	r->place = child(m, is_outermost(m, r) ? 0 : m->rows[r->parent].place, r);
	if (r->place == NONE)
		return -1;
	m->places[r->place].count += r->own;
	return 0;
}

static int make_all(struct making *m)
{
	if (new_place(m, ext_create(&m->st->key), 0) == NONE)
		return -1;
	m->places[0].count = m->count ? m->rows[0].own : 0;
	for (uint32_t i = 1; i < m->count; i++) {
		if (make(m, i) < 0)
			return -1;
	}
	return 0;
}

/* Parents stand before their children. */
static int count_all(struct making *m)
{
	for (size_t i = m->place_count; i-- > 0;) {
		struct place *p = &m->places[i];
		PyObject *count = PyLong_FromUnsignedLongLong(p->count);
		int status = count ? ext_set(p->node, m->st->key.count, count) : -1;

		Py_XDECREF(count);
		if (status < 0)
			return -1;
		if (i > 0)
			m->places[p->parent].count += p->count;
	}
	return 0;
}

/* Looking up lines runs Python, which gives the GIL away: other threads, and the children that they fork, would see the
 * pause, and what they do about collections would be undone. It takes most of the time there, too. */
static int pause_gc(const struct making *m)
{
	return m->o->lines && m->o->own ? 0 : ext_pause_gc(&m->st->gc);
}

static PyObject *made(struct making *m)
{
	int paused = pause_gc(m);
	PyObject *tree = NULL;

	if (paused >= 0 && make_all(m) == 0 && count_all(m) == 0) {
		tree = m->places[0].node;
		Py_INCREF(tree);
	}
	ext_resume_gc(&m->st->gc, paused);
	return tree;
}

static void release(struct making *m)
{
	for (size_t i = 0; i < m->place_count; i++)
		Py_DECREF(m->places[i].node);
	for (size_t i = 0; i < FUNCTIONS_AT_HAND; i++)
		function_clear(&m->functions[i]);
	for (size_t i = 0; i < TEXTS_AT_HAND; i++)
		Py_XDECREF(m->texts[i].line);
	plumb_lines_destroy(m->recorded);
	free(m->rows);
	free(m->path);
	free(m->places);
	free(m);
}

PyObject *ext_tree(const struct ext_profiler *st, const struct plumb_profile *p, struct ext_lock *lock,
		   const struct ext_tree_options *o)
{
	struct making *m = calloc(1, sizeof *m);

	if (!m)
		return PyErr_NoMemory();
	m->st = st;
	m->o = o;
	m->most = o->depth < 0 || o->depth >= INT32_MAX ? UINT32_MAX : (uint32_t)o->depth + 1;
	bool recorded = o->lines && !o->own;
	if (recorded)
		m->recorded = plumb_lines_create(p);
	PyObject *tree = NULL;
	if (recorded && !m->recorded)
		PyErr_NoMemory();
	else if (copy(m, p, lock) == 0 && apply(m) == 0)
		tree = made(m);
	release(m);
	return tree;
}
