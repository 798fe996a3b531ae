/* SPDX-License-Identifier: Apache-2.0 */
/* columns() and packed(): a tree as lists of texts and numbers, which are sent to another process and read there in a
 * small part of the time that dicts take. Module _trees; with the GIL.
 *
 * Most nodes of a tree are in the same few hundred lines of functions, each of which is a place: its identifier, its
 * file, name, line and text. The first list has the places, each once; three others have of each node the number of
 * its place, that of its parent, which comes before it, and its count. What comes from elsewhere may be anything. */
#include "sums.h"

enum { PLACES, PLACE_OF, PARENTS, COUNTS, COLUMNS };
enum { IDENTIFIER, FILENAME, NAME, LINE_NUMBER, LINE, PARTS };

/* ---- columns() ---- */

/* One of the tuple of COLUMNS lists. */
static PyObject *column(PyObject *columns, Py_ssize_t which)
{
	return PyTuple_GetItem(columns, which);
}

/* Takes over @p value; NULL was an exception. */
static int append(PyObject *columns, Py_ssize_t which, PyObject *value)
{
	int r = value ? PyList_Append(column(columns, which), value) : -1;

	Py_XDECREF(value);
	return r;
}

static PyObject *place_of(const struct ext_keys *key, const struct ext_sum *row)
{
	PyObject *file = ext_get(row->description, key->filename), *name = ext_get(row->description, key->name);
	PyObject *number = ext_get(row->description, key->line_number), *line = ext_get(row->description, key->line);
	PyObject *place =
		file && name && number && line ? PyTuple_Pack(PARTS, row->identifier, file, name, number, line) : NULL;

	Py_XDECREF(file);
	Py_XDECREF(name);
	Py_XDECREF(number);
	Py_XDECREF(line);
	return place;
}

/* Which of the places it is, perhaps a new one. @p known has their numbers. */
static PyObject *number_of(PyObject *known, PyObject *places, PyObject *place)
{
	PyObject *number = PyDict_GetItemWithError(known, place);

	if (number || PyErr_Occurred()) {
		Py_XINCREF(number);
		return number;
	}
	number = PyLong_FromSsize_t(PyList_Size(places));
	if (number && PyDict_SetItem(known, place, number) == 0 && PyList_Append(places, place) == 0)
		return number;
	Py_XDECREF(number);
	return NULL;
}

/* In trees as plumb and distributed make them a child's key is its identifier: only one of them is sent. */
static int check_key(const struct ext_sum *row)
{
	int same = row->key ? PyObject_RichCompareBool(row->key, row->identifier, Py_EQ) : 1;

	if (same == 0)
		PyErr_Format(PyExc_ValueError, "the child %R of a node has another identifier, %R", row->key,
			     row->identifier);
	return same > 0 ? 0 : -1;
}

static int append_row(const struct ext_trees *st, PyObject *known, PyObject *columns, struct ext_sum *row)
{
	PyObject *place = check_key(row) == 0 ? place_of(&st->key, row) : NULL;

	if (!place)
		return -1;
	int r = append(columns, PLACE_OF, number_of(known, column(columns, PLACES), place));
	Py_DECREF(place);
	if (r < 0 || append(columns, PARENTS, PyLong_FromLong(row->parent == EXT_NO_ROW ? 0 : row->parent)) < 0)
		return -1;
	return append(columns, COUNTS, ext_sum_count(row));
}

static int append_rows(struct ext_sums *s, PyObject *columns)
{
	PyObject *known = PyDict_New();
	int r = known ? 0 : -1;

	for (size_t i = 0; r == 0 && i < s->count; i++)
		r = append_row(s->st, known, columns, &s->rows[i]);
	Py_XDECREF(known);
	return r;
}

static PyObject *columns_of(struct ext_sums *s)
{
	PyObject *columns = Py_BuildValue("([][][][])");

	if (columns && append_rows(s, columns) < 0)
		Py_CLEAR(columns);
	return columns;
}

const char ext_columns_doc[] = "columns($module, tree, /)\n--\n\n"
			       "A tree, or what pack() gives, as lists of texts and numbers, of which packed() makes "
			       "what stands for it.";

PyObject *ext_columns(PyObject *module, PyObject *tree)
{
	struct ext_sums s = {.st = ext_trees_of(module)};
	PyObject *alone = PyTuple_Pack(1, tree);
	PyObject *columns = alone && ext_sums_add(&s, alone) == 0 ? columns_of(&s) : NULL;

	ext_sums_deinit(&s);
	Py_XDECREF(alone);
	return columns;
}

/* ---- packed() ---- */

struct taking {
	const struct ext_trees *st;
	PyObject *columns[COLUMNS];	      /* tuples */
	PyObject *identifiers, *descriptions; /* lists, of places */
	struct ext_sums sums;
};

static int refuse(const char *why)
{
	PyErr_Format(PyExc_ValueError, "these are no columns of a tree: %s", why);
	return -1;
}

/* A tuple of it; its items are nobody's to change then. */
static PyObject *tuple_of(PyObject *list)
{
	if (PyTuple_CheckExact(list) || PyList_CheckExact(list))
		return PySequence_Tuple(list);
	refuse("each of them is a list, and so is each place");
	return NULL;
}

static int take_columns(struct taking *t, PyObject *columns)
{
	PyObject *all = tuple_of(columns);
	int r = !all ? -1 : PyTuple_Size(all) == COLUMNS ? 0 : refuse("they are not four");

	for (Py_ssize_t i = 0; r == 0 && i < COLUMNS; i++)
		r = (t->columns[i] = tuple_of(PyTuple_GetItem(all, i))) ? 0 : -1;
	Py_XDECREF(all);
	return r;
}

static bool is_place(PyObject *place)
{
	if (PyTuple_Size(place) != PARTS)
		return false;
	for (Py_ssize_t i = 0; i < PARTS; i++) {
		PyObject *part = PyTuple_GetItem(place, i);
		if (i == LINE_NUMBER ? !PyLong_CheckExact(part) : !PyUnicode_CheckExact(part))
			return false;
	}
	return true;
}

static int take_place(struct taking *t, PyObject *place)
{
	if (!is_place(place))
		return refuse("a place is four texts and a number");
	PyObject *description =
		ext_description(&t->st->key, PyTuple_GetItem(place, FILENAME), PyTuple_GetItem(place, NAME),
				PyTuple_GetItem(place, LINE_NUMBER), PyTuple_GetItem(place, LINE));
	int r = description && PyList_Append(t->identifiers, PyTuple_GetItem(place, IDENTIFIER)) == 0
			? PyList_Append(t->descriptions, description)
			: -1;

	Py_XDECREF(description);
	return r;
}

static int take_list(struct taking *t, PyObject *list)
{
	PyObject *place = tuple_of(list);
	int r = place ? take_place(t, place) : -1;

	Py_XDECREF(place);
	return r;
}

static int take_places(struct taking *t)
{
	int r = (t->identifiers = PyList_New(0)) && (t->descriptions = PyList_New(0)) ? 0 : -1;

	for (Py_ssize_t i = 0; r == 0 && i < PyTuple_Size(t->columns[PLACES]); i++)
		r = take_list(t, PyTuple_GetItem(t->columns[PLACES], i));
	return r;
}

/* Of a column, a number below @p end. */
static int take_number(const struct taking *t, int which, Py_ssize_t row, Py_ssize_t end, Py_ssize_t *ret)
{
	PyObject *number = PyTuple_GetItem(t->columns[which], row);

	*ret = PyLong_CheckExact(number) ? PyLong_AsSsize_t(number) : -1;
	if (*ret == -1 && PyErr_Occurred())
		PyErr_Clear(); /* it is too large */
	if (*ret >= 0 && *ret < end)
		return 0;
	return refuse("a node has the number of a place, and of a parent that comes before it");
}

static int take_count(const struct taking *t, Py_ssize_t i, struct ext_sum *row)
{
	PyObject *number = PyTuple_GetItem(t->columns[COUNTS], i);
	int overflow;

	if (!PyLong_CheckExact(number))
		return refuse("a count is no number");
	row->small = PyLong_AsLongLongAndOverflow(number, &overflow);
	if (overflow) {
		row->small = 0;
		row->large = number;
		Py_INCREF(number);
	}
	return 0;
}

/* What the row has is given back with all rows, however it ends. */
static int take_row(struct taking *t, Py_ssize_t i)
{
	struct ext_sum *row = &t->sums.rows[t->sums.count++];
	Py_ssize_t place, parent;

	if (take_number(t, PLACE_OF, i, PyList_Size(t->descriptions), &place) < 0 ||
	    take_number(t, PARENTS, i, i ? i : 1, &parent) < 0 || take_count(t, i, row) < 0)
		return -1;
	row->identifier = PyList_GetItem(t->identifiers, place);
	row->description = PyList_GetItem(t->descriptions, place);
	Py_INCREF(row->identifier);
	Py_INCREF(row->description);
	row->parent = i ? (uint32_t)parent : EXT_NO_ROW;
	if (i == 0)
		return 0;
	row->key = row->identifier;
	Py_INCREF(row->key);
	row->hash = PyObject_Hash(row->key);
	return row->hash == -1 ? -1 : 0;
}

static int take_rows(struct taking *t)
{
	Py_ssize_t count = PyTuple_Size(t->columns[COUNTS]);
	int r = 0;

	if (PyTuple_Size(t->columns[PLACE_OF]) != count || PyTuple_Size(t->columns[PARENTS]) != count)
		return refuse("there is not as much of each node");
	if (count == 0 || (size_t)count >= EXT_NO_ROW)
		return refuse(count ? "there are too many nodes" : "there is no root");
	if (!(t->sums.rows = ext_calloc((size_t)count, sizeof *t->sums.rows))) {
		PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; r == 0 && i < count; i++)
		r = take_row(t, i);
	return r;
}

static void taking_deinit(struct taking *t)
{
	for (Py_ssize_t i = 0; i < COLUMNS; i++)
		Py_XDECREF(t->columns[i]);
	Py_XDECREF(t->identifiers);
	Py_XDECREF(t->descriptions);
	ext_sums_deinit(&t->sums);
}

const char ext_packed_doc[] = "packed($module, columns, /)\n--\n\n"
			      "What stands for a tree in merge() and pack(), of what columns() gave of it. Anything "
			      "else is a ValueError.";

PyObject *ext_packed(PyObject *module, PyObject *columns)
{
	struct taking t = {.st = ext_trees_of(module)};
	PyObject *capsule = take_columns(&t, columns) == 0 && take_places(&t) == 0 && take_rows(&t) == 0
				    ? ext_sums_pack(&t.sums)
				    : NULL;

	taking_deinit(&t);
	return capsule;
}
