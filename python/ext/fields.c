/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the nodes of a tree. Both extension modules; with the GIL. */
#include "ext.h"

int ext_find(PyObject *node, PyObject *key, PyObject **ret)
{
	*ret = NULL;
	if (PyDict_CheckExact(node))
		return ext_dict_find(node, key, ret);
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
	PyObject *value;
	if (ext_dict_find(node, key, &value) == 0 && !value)
		PyErr_SetObject(PyExc_KeyError, key);
	return value;
}

int ext_set(PyObject *node, PyObject *key, PyObject *value)
{
	if (PyDict_CheckExact(node))
		return PyDict_SetItem(node, key, value);
	return PyObject_SetItem(node, key, value);
}

PyObject *ext_description(const struct ext_keys *key, PyObject *filename, PyObject *name, PyObject *line_number,
			  PyObject *line)
{
	PyObject *description = PyDict_Copy(key->described);

	if (description && (PyDict_SetItem(description, key->filename, filename) < 0 ||
			    PyDict_SetItem(description, key->name, name) < 0 ||
			    PyDict_SetItem(description, key->line_number, line_number) < 0 ||
			    PyDict_SetItem(description, key->line, line) < 0))
		Py_CLEAR(description);
	return description;
}

PyObject *ext_create(const struct ext_keys *key)
{
	return Py_BuildValue("{O:i, O:{}, O:s, O:{O:s, O:s, O:i, O:s}}", key->count, 0, key->children, key->identifier,
			     "root", key->description, key->filename, "", key->name, "", key->line_number, 0, key->line,
			     "");
}
