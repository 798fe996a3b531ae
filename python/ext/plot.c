/* SPDX-License-Identifier: Apache-2.0 */
/* plot_data(): a tree as columns, one row for each rectangle. Module _trees; with the GIL.
 *
 * Nodes are taken level by level, some at a time, so that their parts are waited for together (walk_trees.c tells why).
 * When all are there each gets its place in preorder, and the columns are made at once: nobody's code runs by then.
 *
 * Rows own what they refer to; only nodes that wait for their turn are borrowed, as long as nobody's code (of counts
 * that are no ints, of mappings that are no dicts) has run: own() ends that. Without a GIL they are owned from the
 * beginning, and what ends is that nobody counts in the tree meanwhile.
 *
 * The left edge of a node's first child is the node's own left edge, the same object: so the root's 0 stays an int down
 * the first branch, as in the original. */
#include "dicts.h"

#include <math.h>

#define NO_ROW UINT32_MAX
#define TIMES  1024 /* a power of two */

enum column {
	LEFT,
	RIGHT,
	BOTTOM,
	WIDTH,
	TOP,
	COLOR,
	STATES,
	FILENAME,
	LINE,
	LINE_NUMBER,
	NAME,
	TIME,
	PERCENTAGE,
	COUNT,
	SELF,
	COLUMNS
};
static const char *const column_names[COLUMNS] = {
	"left", "right",       "bottom", "width", "top",	"color", "states", "filename",
	"line", "line_number", "name",	 "time",  "percentage", "count", "self",
};

#define FIRST_TAKEN STATES /* columns from here on have what rows refer to, the others numbers */
#define TEXTS	    (NAME - FILENAME + 1)

/* A node; siblings stand together, after their parent. */
struct row {
	PyObject *taken[COLUMNS - FIRST_TAKEN];
	double left, right, per_count; /* per_count: what one sample is wide */
	uint32_t parent, height, file;
	uint32_t size;	/* rows that are drawn of it and all below it; 0: it is left out */
	uint32_t place; /* in preorder */
};

/* A row whose node's parts are being taken. */
struct part {
	uint32_t row;
	PyObject *count, *children, *description;
};

struct time_text {
	double count;
	PyObject *text; /* NULL: an empty slot */
};

struct plot {
	const struct ext_trees *st;
	size_t column_count; /* with the extra ones or without */
	double min_width;
	PyObject *interval;
	struct row *rows;
	size_t count, room;
	size_t visited; /* rows whose turn it was */
	bool owned;	/* the nodes of the others, too */
	bool locked;	/* ext_trees_begin() */
	struct part parts[EXT_TOUCHED];
	size_t part_count;
	struct ext_shape shape;
	Py_ssize_t text_at[TEXTS];   /* where descriptions have had them lately */
	uint32_t parent;	     /* of the row that was laid out last */
	double x;		     /* where that row ended */
	PyObject *files;	     /* file -> number of its colour */
	PyObject *colors;	     /* list */
	PyObject *percentages[1002]; /* of 0.0 % to 100.1 %, by tenths; made when needed */
	struct time_text times[TIMES];
};

static PyObject **taken(const struct plot *p, size_t row, enum column c)
{
	return &p->rows[row].taken[c - FIRST_TAKEN];
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static PyObject *number_text(double value, int digits, const char *format)
{
	char *digits_text = PyOS_double_to_string(value, 'f', digits, 0, NULL);

	if (!digits_text)
		return NULL;
	PyObject *text = PyUnicode_FromFormat(format, digits_text);
	PyMem_Free(digits_text);
	return text;
}

static PyObject *two_parts(double large, const char *large_unit, double small, const char *small_unit)
{
	return PyUnicode_FromFormat("%lld%s %lld%s", (long long)large, large_unit, (long long)small, small_unit);
}

/* As dask.utils.format_time() writes it. */
static PyObject *time_text(double n)
{
	if (n > 24 * 60 * 60 * 2) {
		double days = trunc(n / 3600 / 24);
		return two_parts(days, "d", trunc((n - days * (3600 * 24)) / 3600), "hr");
	}
	if (n > 60 * 60 * 2) {
		double hours = trunc(n / 3600);
		return two_parts(hours, "hr", trunc((n - hours * 3600) / 60), "m");
	}
	if (n > 60 * 10) {
		double minutes = trunc(n / 60);
		return two_parts(minutes, "m", trunc(n - minutes * 60), "s");
	}
	if (n >= 1)
		return number_text(n, 2, "%s s");
	return n >= 1e-3 ? number_text(n * 1e3, 2, "%s ms") : number_text(n * 1e6, 2, "%s us");
}

static PyObject *new_time(const struct plot *p, PyObject *count)
{
	PyObject *seconds = PyNumber_Multiply(count, p->interval);
	double n = seconds ? PyFloat_AsDouble(seconds) : -1.0;

	Py_XDECREF(seconds);
	return PyErr_Occurred() ? NULL : time_text(n);
}

/* @p n is the count, too. */
static PyObject *time_of(struct plot *p, PyObject *count, double n)
{
	if (!(fabs(n) < 0x1p53)) /* others might be equal to it */
		return new_time(p, count);
	struct time_text *known = &p->times[(uint64_t)(int64_t)n & (TIMES - 1)];
	if (!known->text || known->count != n) {
		PyObject *text = new_time(p, count);
		Py_XDECREF(known->text);
		*known = (struct time_text){n, text};
	}
	Py_XINCREF(known->text);
	return known->text;
}

/* "%.1f%%". Which tenth a number is rounded to is plain unless it lies close to the middle of two. */
static PyObject *percentage_of(struct plot *p, double width)
{
	double percent = 100 * width, tenths = percent * 10, nearest = floor(tenths + 0.5);

	if (!(percent > 0 && nearest <= 1001) || fabs(tenths - nearest) > 0.499999)
		return number_text(percent, 1, "%s%%");
	PyObject **known = &p->percentages[(size_t)nearest];
	if (!*known)
		*known = number_text(percent, 1, "%s%%");
	Py_XINCREF(*known);
	return *known;
}

/* The number of a file's colour, which is asked for later. */
static int number_file(struct plot *p, PyObject *filename, uint32_t *ret)
{
	PyObject *known = PyDict_GetItemWithError(p->files, filename);

	if (!known) {
		PyObject *next = PyErr_Occurred() ? NULL : PyLong_FromSsize_t(PyDict_Size(p->files));
		int r = next ? PyDict_SetItem(p->files, filename, next) : -1;
		Py_XDECREF(next);
		if (r < 0)
			return -1;
		known = next; /* the dict has it */
	}
	*ret = (uint32_t)PyLong_AsUnsignedLong(known);
	return 0;
}

static int ask_for_colors(struct plot *p)
{
	PyObject *filename, *number;
	Py_ssize_t at = 0;

	while (PyDict_Next(p->files, &at, &filename, &number)) {
		PyObject *color = PyObject_CallFunctionObjArgs(p->st->color_of, filename, NULL);
		int r = color ? PyList_Append(p->colors, color) : -1;
		Py_XDECREF(color);
		if (r < 0)
			return -1;
	}
	return 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int grow(struct plot *p)
{
	size_t room = p->room ? 2 * p->room : 256;
	struct row *rows = room < NO_ROW ? PyMem_Realloc(p->rows, room * sizeof *rows) : NULL;

	if (!rows) {
		PyErr_NoMemory();
		return -1;
	}
	p->rows = rows;
	p->room = room;
	return 0;
}

static int add_row(struct plot *p, PyObject *node, uint32_t parent)
{
	if (p->count == p->room && grow(p) < 0)
		return -1;
	uint32_t height = parent == NO_ROW ? 0 : p->rows[parent].height + 1;
	p->rows[p->count++] = (struct row){.parent = parent, .height = height};
	*taken(p, p->count - 1, STATES) = node;
	if (p->owned)
		Py_INCREF(node);
	return 0;
}

static void unlock(struct plot *p)
{
	if (p->locked)
		ext_trees_end();
	p->locked = false;
}

static void own(struct plot *p)
{
	for (size_t i = p->visited; !p->owned && i < p->count; i++)
		Py_INCREF(*taken(p, i, STATES));
	p->owned = true;
	unlock(p);
}

/* Before something is asked of a mapping that was not to be had at once. */
static void own_unless_plain(struct plot *p, PyObject *mapping)
{
	if (EXT_HAS_GIL || !PyDict_CheckExact(mapping))
		own(p);
}

static int add_entries(struct plot *p, const struct ext_entries *e, uint32_t parent)
{
	for (Py_ssize_t i = 0; i < e->count; i++) {
		PyObject *node = e->at[i * e->step + 1];
		if (node && add_row(p, node, parent) < 0)
			return -1;
	}
	return 0;
}

static int add_values(struct plot *p, PyObject *children, uint32_t parent)
{
	PyObject *key, *node;
	Py_ssize_t at = 0;

	while (PyDict_Next(children, &at, &key, &node))
		if (add_row(p, node, parent) < 0)
			return -1;
	return 0;
}

static int add_rows(struct plot *p, PyObject *children, uint32_t parent)
{
	struct ext_entries e;
	int r;

	if (ext_entries(children, &e))
		return add_entries(p, &e, parent);
	EXT_ALONE_WITH(children, r = add_values(p, children, parent));
	return r;
}

/* 1: it is not 0. -1 is an exception. */
static int number_of(PyObject *count, double *ret)
{
	if (PyLong_CheckExact(count)) {
		int overflow;
		long long value = PyLong_AsLongLongAndOverflow(count, &overflow);
		*ret = (double)value;
		if (!overflow)
			return value != 0;
	}
	*ret = PyFloat_AsDouble(count);
	return PyErr_Occurred() ? -1 : PyObject_IsTrue(count);
}

/* Put a box to the right of its sibling before. @p n is its count; returns its width. */
static double lay_out(struct plot *p, struct row *row, double n)
{
	if (row->parent == NO_ROW)
		return row->right = 1;
	const struct row *parent = &p->rows[row->parent];
	if (row->parent != p->parent) {
		p->parent = row->parent;
		p->x = parent->left;
	}
	double width = n * parent->per_count;
	row->left = p->x;
	row->right = p->x += width;
	return width;
}

/* Of a row that is laid out. */
static int measure(struct plot *p, uint32_t at, PyObject *count, double n)
{
	struct row *row = &p->rows[at];
	double width = row->right - row->left;

	if (row->parent == NO_ROW) {
		PyObject *each = PyNumber_TrueDivide(p->st->one, count);
		row->per_count = each ? PyFloat_AsDouble(each) : -1.0;
		Py_XDECREF(each);
		if (PyErr_Occurred())
			return -1;
	} else {
		row->per_count = width / n;
	}
	row->size = 1;
	*taken(p, at, TIME) = time_of(p, count, n);
	return *taken(p, at, TIME) ? 0 : -1;
}

/* The extra columns: what of a node's count is not its children's. */
static int subtract(struct plot *p, uint32_t at, PyObject *count)
{
	uint32_t parent = p->rows[at].parent;
	PyObject **rest, *less;

	Py_INCREF(count);
	Py_INCREF(count);
	*taken(p, at, COUNT) = *taken(p, at, SELF) = count;
	if (parent == NO_ROW)
		return 0;
	rest = taken(p, parent, SELF);
	less = PyNumber_Subtract(*rest, count);
	if (!less)
		return -1;
	Py_DECREF(*rest);
	*rest = less;
	return 0;
}

static void leave_out(struct plot *p, uint32_t at)
{
	for (size_t i = 0; i < COLUMNS - FIRST_TAKEN; i++)
		Py_CLEAR(p->rows[at].taken[i]);
}

/* Of a node whose count is known; without samples, or too narrow to be seen, it is left out with all below it. */
static int draw(struct plot *p, uint32_t at, PyObject *count)
{
	double n;

	if (!PyLong_CheckExact(count))
		own(p);
	int seen = number_of(count, &n);
	if (seen < 0 || (p->column_count > COUNT && subtract(p, at, count) < 0))
		return -1;
	double width = lay_out(p, &p->rows[at], n);
	bool narrow = p->min_width > 0 && width < p->min_width;
	if (seen && !narrow)
		return measure(p, at, count, n);
	leave_out(p, at);
	return 0;
}

/* What is there to be had at once, of one after the other, so that nothing is waited for in between. */
static void find_parts(struct plot *p, size_t count)
{
	struct ext_fields f;

	for (size_t i = 0; i < count; i++) {
		struct part *part = &p->parts[i];
		part->row = (uint32_t)(p->visited + i);
		bool found = ext_fields(p->st, &p->shape, *taken(p, part->row, STATES), &f);
		part->count = found ? f.count : NULL;
		part->children = found ? f.children : NULL;
		part->description = found ? f.description : NULL;
	}
	p->part_count = count;
}

static void own_parts(struct plot *p)
{
	for (size_t i = 0; i < p->part_count; i++) {
		Py_XINCREF(p->parts[i].count);
		Py_XINCREF(p->parts[i].children);
		Py_XINCREF(p->parts[i].description);
		if (!p->owned)
			Py_INCREF(*taken(p, p->parts[i].row, STATES));
	}
	p->visited += p->part_count;
}

static void drop_part(struct part *part)
{
	Py_CLEAR(part->count);
	Py_CLEAR(part->children);
	Py_CLEAR(part->description);
}

static void drop_parts(struct plot *p)
{
	while (p->part_count)
		drop_part(&p->parts[--p->part_count]);
}

/* The count of a node and, where it is drawn, its other parts, if they were not to be had at once. */
static int ask_for_count(struct plot *p, struct part *part)
{
	if (part->count)
		return 0;
	own_unless_plain(p, *taken(p, part->row, STATES));
	part->count = ext_get(*taken(p, part->row, STATES), p->st->key.count);
	return part->count ? 0 : -1;
}

static int ask_for_rest(struct plot *p, struct part *part)
{
	PyObject *node = *taken(p, part->row, STATES);

	if (part->children)
		return 0;
	own_unless_plain(p, node);
	part->children = ext_get(node, p->st->key.children);
	part->description = part->children ? ext_get(node, p->st->key.description) : NULL;
	return part->description ? 0 : -1;
}

static int list_children(struct plot *p, struct part *part)
{
	if (PyDict_Check(part->children))
		return 0;
	own(p);
	PyObject *dict = ext_as_dict(part->children);
	if (!dict)
		return -1;
	Py_DECREF(part->children);
	part->children = dict;
	return 0;
}

/* The parts of what is left out are dropped. */
static int draw_part(struct plot *p, struct part *part)
{
	if (ask_for_count(p, part) < 0 || draw(p, part->row, part->count) < 0)
		return -1;
	if (p->rows[part->row].size)
		return ask_for_rest(p, part) < 0 || list_children(p, part) < 0 ? -1 : 0;
	drop_part(part);
	return 0;
}

static int draw_parts(struct plot *p)
{
	size_t drawn = 0;

	for (size_t i = 0; i < p->part_count; i++) {
		struct part *part = &p->parts[i];
		if (draw_part(p, part) < 0)
			return -1;
		if (part->children) {
			struct part kept = *part;
			*part = (struct part){0};
			p->parts[drawn++] = kept;
		}
	}
	p->part_count = drawn;
	return 0;
}

/* Where they were in the last description, mostly. */
static bool find_texts(struct plot *p, PyObject *const *keys, PyObject *description, PyObject **ret)
{
	struct ext_entries e;

	if (!ext_entries(description, &e))
		return false;
	for (size_t k = 0; k < TEXTS; k++) {
		Py_ssize_t i = p->text_at[k];
		if (i >= e.count || e.at[i * e.step] != keys[k])
			for (i = 0; i < e.count && e.at[i * e.step] != keys[k]; i++)
				continue;
		if (i == e.count)
			return false;
		p->text_at[k] = i;
		ret[k] = e.at[i * e.step + 1];
	}
	return true;
}

static int ask_for_texts(struct plot *p, PyObject *const *keys, const struct part *part)
{
	own_unless_plain(p, part->description);
	for (size_t k = 0; k < TEXTS; k++) {
		PyObject *text = ext_get(part->description, keys[k]);
		if (!text)
			return -1;
		taken(p, part->row, FILENAME)[k] = text;
	}
	return 0;
}

/* Those that are found come first, for asking may run anybody's code. */
static int describe_parts(struct plot *p)
{
	PyObject *const keys[TEXTS] = {p->st->key.filename, p->st->key.line, p->st->key.line_number, p->st->key.name};
	PyObject *texts[EXT_TOUCHED][TEXTS];
	bool found[EXT_TOUCHED];

	for (size_t i = 0; i < p->part_count; i++)
		found[i] = find_texts(p, keys, p->parts[i].description, texts[i]);
	for (size_t i = 0; i < p->part_count; i++)
		for (size_t k = 0; found[i] && k < TEXTS; k++) {
			Py_INCREF(texts[i][k]);
			taken(p, p->parts[i].row, FILENAME)[k] = texts[i][k];
		}
	for (size_t i = 0; i < p->part_count; i++)
		if (!found[i] && ask_for_texts(p, keys, &p->parts[i]) < 0)
			return -1;
	return 0;
}

static int number_files(struct plot *p)
{
	for (size_t i = 0; i < p->part_count; i++) {
		struct row *row = &p->rows[p->parts[i].row];
		PyObject *filename = row->taken[FILENAME - FIRST_TAKEN];
		if (!PyUnicode_CheckExact(filename))
			own(p);
		if (number_file(p, filename, &row->file) < 0)
			return -1;
	}
	return 0;
}

/* The next ones in the queue: from their counts to their children, which come to its end. */
static int take_some(struct plot *p)
{
	PyObject *dicts[EXT_TOUCHED] = {0};
	size_t waiting = p->count - p->visited, count = waiting < EXT_TOUCHED ? waiting : EXT_TOUCHED;

	for (size_t i = 0; i < count; i++)
		dicts[i] = *taken(p, p->visited + i, STATES);
	ext_touch(dicts, count);
	find_parts(p, count);
	own_parts(p);
	if (draw_parts(p) < 0)
		return -1;
	for (size_t i = 0; i < p->part_count; i++)
		dicts[i] = p->parts[i].description;
	ext_touch(dicts, p->part_count);
	if (describe_parts(p) < 0 || number_files(p) < 0)
		return -1;
	for (size_t i = 0; i < p->part_count; i++)
		dicts[i] = p->parts[i].children;
	ext_touch(dicts, p->part_count);
	for (size_t i = 0; i < p->part_count; i++)
		if (add_rows(p, p->parts[i].children, p->parts[i].row) < 0)
			return -1;
	drop_parts(p);
	return 0;
}

static int take_all(struct plot *p, PyObject *root)
{
	p->owned = !EXT_HAS_GIL;
	p->locked = true;
	ext_trees_begin(false);
	if (!PyFloat_CheckExact(p->interval) && !PyLong_CheckExact(p->interval))
		own(p);
	int r = add_row(p, root, NO_ROW);

	while (r == 0 && p->visited < p->count)
		r = take_some(p);
	unlock(p);
	return r < 0 ? -1 : ask_for_colors(p);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Parents stand before their children: sizes are summed from the end, places given from the beginning. The rows by
 * their places; NULL is an exception. */
static uint32_t *in_preorder(struct plot *p)
{
	for (size_t i = p->count; i-- > 1;)
		p->rows[p->rows[i].parent].size += p->rows[i].size;
	uint32_t *order = PyMem_Malloc(p->rows[0].size * sizeof *order), parent = NO_ROW, place = 0;
	if (!order) {
		PyErr_NoMemory();
		return NULL;
	}
	for (size_t i = 0; i < p->count; i++) {
		struct row *row = &p->rows[i];
		if (row->parent != parent) {
			parent = row->parent;
			place = p->rows[parent].place + 1;
		}
		row->place = place;
		if (row->size)
			order[place] = (uint32_t)i;
		place += row->size;
	}
	return order;
}

/* Edges of the row that was made last at a height. */
struct edges {
	PyObject *left, *right;
	uint32_t row;
};

/* A new reference, shared with what has the same edge. */
static PyObject *left_of(const struct plot *p, const struct edges *edges, uint32_t at)
{
	const struct row *row = &p->rows[at];
	PyObject *known = NULL;

	if (row->parent == NO_ROW)
		known = p->st->zero;
	else if (p->rows[at - 1].parent != row->parent)
		known = edges[row->height - 1].left;
	else if (edges[row->height].row == at - 1)
		known = edges[row->height].right;
	else
		return PyFloat_FromDouble(row->left);
	Py_INCREF(known);
	return known;
}

/* Put a value into a column, whose it is then. */
static int put(PyObject *const *columns, enum column c, uint32_t place, PyObject *value)
{
	return value ? PyList_SetItem(columns[c], place, value) : -1;
}

/* Edges of the root are ints, as in the original. */
static int put_numbers(const struct plot *p, PyObject *const *columns, struct edges *edges, uint32_t at)
{
	const struct row *row = &p->rows[at];
	bool root = row->parent == NO_ROW;
	PyObject *left = left_of(p, edges, at), *right = root ? PyLong_FromLong(1) : PyFloat_FromDouble(row->right);

	edges[row->height] = (struct edges){left, right, at};
	if (put(columns, LEFT, row->place, left) < 0 || put(columns, RIGHT, row->place, right) < 0)
		return -1;
	PyObject *width = root ? PyLong_FromLong(1) : PyFloat_FromDouble(row->right - row->left);
	if (put(columns, WIDTH, row->place, width) < 0 ||
	    put(columns, BOTTOM, row->place, PyLong_FromUnsignedLong(row->height)) < 0)
		return -1;
	return put(columns, TOP, row->place, PyLong_FromUnsignedLong(row->height + 1));
}

static int put_row(struct plot *p, PyObject *const *columns, struct edges *edges, uint32_t at)
{
	PyObject **objects = p->rows[at].taken, *color = PyList_GetItem(p->colors, p->rows[at].file);
	uint32_t place = p->rows[at].place;

	objects[PERCENTAGE - FIRST_TAKEN] = percentage_of(p, p->rows[at].right - p->rows[at].left);
	if (!objects[PERCENTAGE - FIRST_TAKEN] || put_numbers(p, columns, edges, at) < 0)
		return -1;
	Py_INCREF(color);
	PyList_SetItem(columns[COLOR], place, color);
	for (size_t c = FIRST_TAKEN; c < p->column_count; c++) {
		PyList_SetItem(columns[c], place, objects[c - FIRST_TAKEN]);
		objects[c - FIRST_TAKEN] = NULL;
	}
	return 0;
}

#define AHEAD 8

static int fill(struct plot *p, PyObject *const *columns, const uint32_t *order)
{
	uint32_t count = p->rows[0].size, levels = p->rows[p->count - 1].height + 1;
	struct edges *edges = PyMem_Malloc(levels * sizeof *edges);
	int r = 0;

	if (!edges) {
		PyErr_NoMemory();
		return -1;
	}
	for (uint32_t i = 0; i < levels; i++)
		edges[i] = (struct edges){.row = NO_ROW};
	for (uint32_t place = 0; r == 0 && place < count; place++) {
		const struct row *soon = &p->rows[order[place + AHEAD < count ? place + AHEAD : place]];
		__builtin_prefetch(soon->taken);
		__builtin_prefetch(&soon->place);
		r = put_row(p, columns, edges, order[place]);
	}
	PyMem_Free(edges);
	return r;
}

static PyObject *columns_dict(const struct plot *p, PyObject **columns)
{
	PyObject *all = PyDict_New();

	for (size_t i = 0; all && i < p->column_count; i++) {
		columns[i] = PyList_New(p->rows[0].size);
		if (!columns[i] || PyDict_SetItemString(all, column_names[i], columns[i]) < 0)
			Py_CLEAR(all);
		Py_XDECREF(columns[i]); /* the dict has it */
	}
	return all;
}

static PyObject *columns_of(struct plot *p)
{
	PyObject *columns[COLUMNS];
	uint32_t *order = in_preorder(p);
	PyObject *all = order ? columns_dict(p, columns) : NULL;

	if (all && fill(p, columns, order) < 0)
		Py_CLEAR(all);
	PyMem_Free(order);
	return all;
}

static void plot_deinit(struct plot *p)
{
	drop_parts(p);
	for (size_t i = 0; i < (p->owned ? p->count : p->visited); i++)
		leave_out(p, (uint32_t)i);
	PyMem_Free(p->rows);
	for (size_t i = 0; i < sizeof p->percentages / sizeof *p->percentages; i++)
		Py_XDECREF(p->percentages[i]);
	for (size_t i = 0; i < TIMES; i++)
		Py_XDECREF(p->times[i].text);
	Py_XDECREF(p->files);
	Py_XDECREF(p->colors);
	Py_XDECREF(p->interval);
}

const char ext_plot_data_doc[] =
	"plot_data($module, /, state, profile_interval=0.01, *, min_width=0.0, extra=False)\n--\n\n"
	"A tree as columns, one row for each rectangle of the picture: left, right, bottom, width, top, color, "
	"states,\n"
	"filename, line, line_number, name, time, percentage.\n\n"
	"profile_interval  seconds that a sample stands for\n"
	"min_width         what is narrower is left out, with all above it; the root is 1 wide\n"
	"extra             two columns more: count and self";

/* Arguments that were not given are NULL. */
static bool are_numbers(PyObject *interval, PyObject *min_width, double *width_ret)
{
	if (interval && !PyNumber_Check(interval)) {
		PyErr_Format(PyExc_TypeError, "profile_interval is a number of seconds, not %R", interval);
		return false;
	}
	if (!min_width)
		return true;
	*width_ret = PyFloat_AsDouble(min_width);
	if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError))
		PyErr_Format(PyExc_TypeError, "min_width is a number from 0 to 1, not %R", min_width);
	return !PyErr_Occurred();
}

PyObject *ext_plot_data(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"state", "profile_interval", "min_width", "extra", NULL};
	struct plot p = {.st = ext_trees_of(module), .parent = NO_ROW};
	PyObject *state, *min_width = NULL, *result = NULL;
	int extra = 0;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$Op:plot_data", names, &state, &p.interval, &min_width,
					 &extra) ||
	    !are_numbers(p.interval, min_width, &p.min_width))
		return NULL;
	p.column_count = extra ? COLUMNS : COUNT;
	if (p.interval)
		Py_INCREF(p.interval);
	else
		p.interval = PyFloat_FromDouble(0.01);
	p.files = PyDict_New();
	p.colors = PyList_New(0);
	if (p.interval && p.files && p.colors && take_all(&p, state) == 0)
		result = columns_of(&p);
	else
		ext_explain_tree(p.st, state);
	plot_deinit(&p);
	return result;
}
