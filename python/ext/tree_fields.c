/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of nodes that are counted and gone through. Module _trees; with the GIL. */
#include "trees.h"

PyObject *ext_add(PyObject *node, PyObject *key, PyObject *value)
{
	PyObject *there;

	if (PyDict_CheckExact(node))
		return ext_dict_add(node, key, value);
	if (ext_find(node, key, &there) < 0 || there)
		return there;
	if (PyObject_SetItem(node, key, value) < 0)
		return NULL;
	Py_INCREF(value);
	return value;
}

static PyObject *plus_one(const struct ext_trees *st, PyObject *number)
{
	if (PyLong_CheckExact(number)) {
		int overflow;
		long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
		if (!overflow && value < PY_LLONG_MAX)
			return PyLong_FromLongLong(value + 1);
	}
	return PyNumber_Add(number, st->one);
}

static int increment(const struct ext_trees *st, PyObject *node, PyObject *key)
{
	PyObject *old = ext_get(node, key);
	if (!old)
		return -1;
	PyObject *sum = plus_one(st, old);
	Py_DECREF(old);
	if (!sum)
		return -1;
	int r = ext_set(node, key, sum);
	Py_DECREF(sum);
	return r;
}

/* Whether counting there runs nobody's code. */
static bool is_plain(PyObject *node, PyObject *key)
{
	PyObject *number;

	if (!PyDict_CheckExact(node))
		return false;
	if (ext_dict_find(node, key, &number) < 0)
		PyErr_Clear();
	bool plain = !number || PyLong_CheckExact(number) || PyFloat_CheckExact(number);
	Py_XDECREF(number);
	return plain;
}

int ext_increment(const struct ext_trees *st, PyObject *node, PyObject *key)
{
	if (EXT_HAS_GIL || is_plain(node, key))
		return increment(st, node, key);
	ext_trees_end();
	int r = increment(st, node, key);
	ext_trees_begin(true);
	return r;
}

PyObject *ext_as_dict(PyObject *mapping)
{
	if (PyDict_Check(mapping)) {
		Py_INCREF(mapping);
		return mapping;
	}
	PyObject *copy = PyDict_New();
	if (copy && PyDict_Update(copy, mapping) < 0)
		Py_CLEAR(copy);
	return copy;
}

/* Whether that is why an exception is set; what is asked for here may set another one. */
static bool lacks(PyObject *tree, PyObject *field)
{
	PyObject *kind, *value, *traceback, *found;

	PyErr_Fetch(&kind, &value, &traceback);
	bool missing = ext_find(tree, field, &found) < 0 || !found;
	Py_XDECREF(found);
	PyErr_Restore(kind, value, traceback);
	return missing;
}

void ext_explain_tree(const struct ext_trees *st, PyObject *tree)
{
	PyObject *const fields[] = {st->key.count, st->key.children, st->key.identifier, st->key.description};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		if (!lacks(tree, fields[i]))
			continue;
		if (PyErr_ExceptionMatches(PyExc_TypeError))
			PyErr_Format(PyExc_TypeError, "a tree is a dict, as create() makes one, not %R", tree);
		else if (PyErr_ExceptionMatches(PyExc_KeyError))
			PyErr_Format(PyExc_KeyError, "a tree is a dict, as create() makes one: this one has no %R",
				     fields[i]);
		return;
	}
}
