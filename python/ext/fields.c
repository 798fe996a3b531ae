/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the nodes of a tree. Extension module; with the GIL. */
#include "ext.h"

int ext_find(PyObject *node, PyObject *key, PyObject **ret)
{
	*ret = NULL;
	if (PyDict_CheckExact(node)) {
		*ret = PyDict_GetItemWithError(node, key);
		Py_XINCREF(*ret);
		return *ret || !PyErr_Occurred() ? 0 : -1;
	}
	*ret = PyObject_GetItem(node, key);
	if (*ret)
		return 0;
	if (!PyErr_ExceptionMatches(PyExc_KeyError))
		return -1;
	PyErr_Clear();
	return 0;
}

PyObject *ext_get(PyObject *node, PyObject *key)
{
	if (!PyDict_CheckExact(node))
		return PyObject_GetItem(node, key);
	PyObject *value = PyDict_GetItemWithError(node, key);
	if (!value && !PyErr_Occurred())
		PyErr_SetObject(PyExc_KeyError, key);
	Py_XINCREF(value);
	return value;
}

int ext_set(PyObject *node, PyObject *key, PyObject *value)
{
	if (PyDict_CheckExact(node))
		return PyDict_SetItem(node, key, value);
	return PyObject_SetItem(node, key, value);
}

static PyObject *plus_one(const struct ext_state *st, PyObject *number)
{
	if (PyLong_CheckExact(number)) {
		int overflow;
		long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
		if (!overflow && value < PY_LLONG_MAX)
			return PyLong_FromLongLong(value + 1);
	}
	return PyNumber_Add(number, st->one);
}

int ext_increment(const struct ext_state *st, PyObject *node, PyObject *key)
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

PyObject *ext_create(const struct ext_state *st)
{
	return Py_BuildValue("{O:O, O:{}, O:s, O:{O:s, O:s, O:O, O:s}}", st->count, st->zero, st->children,
			     st->identifier, "root", st->description, st->filename, "", st->name, "", st->line_number,
			     st->zero, st->line, "");
}
