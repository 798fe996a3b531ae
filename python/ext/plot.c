/* SPDX-License-Identifier: Apache-2.0 */
/* plot_data(): a tree as columns, one row for each rectangle. Extension module; with the GIL.
 *
 * Nodes in preorder, by a stack of our own. The left edge of a node's first child is the node's own left edge, the same
 * object: so the root's 0 stays an int down the first branch, as in the original. */
#include "ext.h"

#include <math.h>

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

/* A node whose row is written and whose children are being drawn. */
struct level {
	PyObject *children; /* dict */
	Py_ssize_t at;
	PyObject *left; /* of the next child */
	double x, per_count;
};

struct plot {
	const struct ext_state *st;
	PyObject *columns[COLUMNS];
	size_t column_count; /* with the extra ones or without */
	double min_width;
	PyObject *interval;
	PyObject *times, *colors;    /* count -> text, file -> text */
	PyObject *percentages[1002]; /* of 0.0 % to 100.1 %, by tenths; made when needed */
	struct level *levels;
	size_t depth, room;
};

struct box {
	PyObject *node, *left;
	double x, width;
	size_t height;
};

static int append(struct plot *p, enum column c, PyObject *value)
{
	int r = value ? PyList_Append(p->columns[c], value) : -1;

	Py_XDECREF(value);
	return r;
}

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
		return two_parts(days, "d", trunc((n - days * 3600 * 24) / 3600), "hr");
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

static PyObject *new_color(const struct plot *p, PyObject *filename)
{
	return PyObject_CallFunctionObjArgs(p->st->color_of, filename, NULL);
}

/* What @p make makes of a key, made once. */
static PyObject *remembered(const struct plot *p, PyObject *known, PyObject *key,
			    PyObject *(*make)(const struct plot *p, PyObject *key))
{
	PyObject *value;

	if (ext_find(known, key, &value) < 0 || value)
		return value;
	value = make(p, key);
	if (value && PyDict_SetItem(known, key, value) < 0)
		Py_CLEAR(value);
	return value;
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

static int append_description(struct plot *p, PyObject *node)
{
	const struct ext_state *st = p->st;
	PyObject *description = ext_get(node, st->description), *filename;
	int r = -1;

	if (description && (filename = ext_get(description, st->filename))) {
		if (append(p, COLOR, remembered(p, p->colors, filename, new_color)) == 0 &&
		    append(p, LINE, ext_get(description, st->line)) == 0 &&
		    append(p, LINE_NUMBER, ext_get(description, st->line_number)) == 0 &&
		    append(p, NAME, ext_get(description, st->name)) == 0)
			r = PyList_Append(p->columns[FILENAME], filename);
		Py_DECREF(filename);
	}
	Py_XDECREF(description);
	return r;
}

/* Edges of the root are the ints 0 and 1, as in the original. */
static int append_edges(struct plot *p, const struct box *b)
{
	bool root = b->height == 0;

	Py_INCREF(b->left);
	if (append(p, LEFT, b->left) < 0)
		return -1;
	if (append(p, RIGHT, root ? PyLong_FromLong(1) : PyFloat_FromDouble(b->x + b->width)) < 0)
		return -1;
	double drawn = b->x + b->width - b->x;
	if (append(p, WIDTH, root ? PyLong_FromLong(1) : PyFloat_FromDouble(drawn)) < 0 ||
	    append(p, PERCENTAGE, percentage_of(p, drawn)) < 0)
		return -1;
	return append(p, BOTTOM, PyLong_FromSize_t(b->height)) < 0 ? -1
								   : append(p, TOP, PyLong_FromSize_t(b->height + 1));
}

static PyObject *self_count(const struct plot *p, PyObject *count, PyObject *children)
{
	PyObject *rest = count, *key, *child;
	Py_ssize_t at = 0;

	Py_INCREF(rest);
	while (rest && PyDict_Next(children, &at, &key, &child)) {
		PyObject *part = ext_get(child, p->st->count), *less = part ? PyNumber_Subtract(rest, part) : NULL;
		Py_XDECREF(part);
		Py_DECREF(rest);
		rest = less;
	}
	return rest;
}

static int append_row(struct plot *p, const struct box *b, PyObject *count, PyObject *children)
{
	if (append_edges(p, b) < 0 || PyList_Append(p->columns[STATES], b->node) < 0 ||
	    append(p, TIME, remembered(p, p->times, count, new_time)) < 0 || append_description(p, b->node) < 0)
		return -1;
	if (p->column_count <= COUNT)
		return 0;
	return PyList_Append(p->columns[COUNT], count) < 0 ? -1 : append(p, SELF, self_count(p, count, children));
}

/* Takes over the reference to @p children. */
static int descend(struct plot *p, const struct box *b, PyObject *children, double per_count)
{
	if (p->depth == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		struct level *levels = PyMem_Realloc(p->levels, room * sizeof *levels);
		if (!levels) {
			Py_DECREF(children);
			PyErr_NoMemory();
			return -1;
		}
		p->levels = levels;
		p->room = room;
	}
	Py_INCREF(b->left);
	p->levels[p->depth++] = (struct level){children, 0, b->left, b->x, per_count};
	return 0;
}

static void ascend(struct plot *p)
{
	struct level *l = &p->levels[--p->depth];

	Py_DECREF(l->children);
	Py_DECREF(l->left);
}

/* What one sample is wide, in a box of that many. */
static double per_count(const struct box *b, PyObject *count)
{
	PyObject *width = PyFloat_FromDouble(b->height ? b->x + b->width - b->x : 1);
	PyObject *ratio = width ? PyNumber_TrueDivide(width, count) : NULL;
	double result = ratio ? PyFloat_AsDouble(ratio) : -1.0;

	Py_XDECREF(width);
	Py_XDECREF(ratio);
	return result;
}

/* A node and, later, what is below it; one without samples, or too narrow to be seen, is left out with all below it. */
static int draw(struct plot *p, const struct box *b, PyObject *count)
{
	int seen = PyObject_IsTrue(count);

	if (seen <= 0 || b->width < p->min_width)
		return seen < 0 ? -1 : 0;
	PyObject *mapping = ext_get(b->node, p->st->children), *children = mapping ? ext_as_dict(mapping) : NULL;
	Py_XDECREF(mapping);
	if (!children)
		return -1;
	double each = per_count(b, count);
	if (PyErr_Occurred() || append_row(p, b, count, children) < 0) {
		Py_DECREF(children);
		return -1;
	}
	return descend(p, b, children, each);
}

/* The next child of the innermost level, to the right of those before. */
static int draw_child(struct plot *p, PyObject *node)
{
	struct level *l = &p->levels[p->depth - 1];
	PyObject *count = ext_get(node, p->st->count);
	double n = count ? PyFloat_AsDouble(count) : -1.0;
	PyObject *right = PyErr_Occurred() ? NULL : PyFloat_FromDouble(l->x + n * l->per_count);
	int r = -1;

	if (right) {
		struct box b = {node, l->left, l->x, n * l->per_count, p->depth};
		l->x += b.width;
		l->left = right;
		r = draw(p, &b, count); /* the levels may move */
		Py_DECREF(b.left);
	}
	Py_XDECREF(count);
	return r;
}

static int draw_all(struct plot *p, PyObject *root)
{
	PyObject *count = ext_get(root, p->st->count);
	int r = count ? draw(p, &(struct box){root, p->st->zero, 0, 1, 0}, count) : -1;

	Py_XDECREF(count);
	while (r == 0 && p->depth) {
		struct level *l = &p->levels[p->depth - 1];
		PyObject *key, *node;
		if (!PyDict_Next(l->children, &l->at, &key, &node)) {
			ascend(p);
			continue;
		}
		Py_INCREF(node);
		r = draw_child(p, node);
		Py_DECREF(node);
	}
	return r;
}

static int plot_init(struct plot *p)
{
	if (!(p->times = PyDict_New()) || !(p->colors = PyDict_New()))
		return -1;
	for (size_t i = 0; i < p->column_count; i++)
		if (!(p->columns[i] = PyList_New(0)))
			return -1;
	return 0;
}

static void plot_deinit(struct plot *p)
{
	while (p->depth)
		ascend(p);
	PyMem_Free(p->levels);
	for (size_t i = 0; i < COLUMNS; i++)
		Py_XDECREF(p->columns[i]);
	for (size_t i = 0; i < sizeof p->percentages / sizeof *p->percentages; i++)
		Py_XDECREF(p->percentages[i]);
	Py_XDECREF(p->times);
	Py_XDECREF(p->colors);
}

static PyObject *columns_dict(const struct plot *p)
{
	PyObject *all = PyDict_New();

	for (size_t i = 0; all && i < p->column_count; i++)
		if (PyDict_SetItemString(all, column_names[i], p->columns[i]) < 0)
			Py_CLEAR(all);
	return all;
}

const char ext_plot_data_doc[] =
	"plot_data($module, /, state, profile_interval=0.01, *, min_width=0.0, extra=False)\n--\n\n"
	"A tree as columns, one row for each rectangle of the picture: left, right, bottom, width, top, color, "
	"states,\n"
	"filename, line, line_number, name, time, percentage.\n\n"
	"profile_interval  seconds that a sample stands for\n"
	"min_width         what is narrower is left out, with all above it; the root is 1 wide\n"
	"extra             two columns more: count and self";

PyObject *ext_plot_data(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"state", "profile_interval", "min_width", "extra", NULL};
	struct plot p = {.st = ext_state_of(module), .column_count = COUNT};
	PyObject *state, *interval = NULL, *result = NULL;
	int extra = 0;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$dp:plot_data", names, &state, &interval, &p.min_width,
					 &extra))
		return NULL;
	int paused = ext_pause_gc(p.st);
	if (paused < 0)
		return NULL;
	p.column_count = extra ? COLUMNS : COUNT;
	p.interval = interval ? interval : PyFloat_FromDouble(0.01);
	if (p.interval && plot_init(&p) == 0 && draw_all(&p, state) == 0)
		result = columns_dict(&p);
	ext_resume_gc(p.st, paused);
	plot_deinit(&p);
	if (!interval)
		Py_XDECREF(p.interval);
	return result;
}
