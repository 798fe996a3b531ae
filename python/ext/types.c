/* SPDX-License-Identifier: Apache-2.0 */
/* Types that know the module they are of. Module _plumb; with the GIL.
 *
 * A type of the limited API of 3.8 does not know its module, and a module that each interpreter has its own of cannot
 * be asked for by its definition: so it is an attribute of the type. */
#include "profiler.h"

#include <string.h>

#define ATTRIBUTE "__plumb__"

/* Objects visit their type since 3.9; 3.8 would count it twice. */
static bool visits_type;

PyObject *ext_new_type(PyObject *module, PyType_Spec *spec)
{
	PyObject *type = PyType_FromSpec(spec);

	visits_type = strncmp(Py_GetVersion(), "3.8.", 4) != 0;
	if (type && PyObject_SetAttrString(type, ATTRIBUTE, module) < 0)
		Py_CLEAR(type);
	return type;
}

PyObject *ext_module_of(PyTypeObject *type)
{
	return PyObject_GetAttrString((PyObject *)type, ATTRIBUTE);
}

int ext_visit_type(PyObject *self, visitproc visit, void *arg)
{
	if (visits_type)
		Py_VISIT(Py_TYPE(self));
	return 0;
}

PyObject *ext_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyObject *name = PyObject_GetAttrString((PyObject *)type, "__name__");

	if (name)
		PyErr_Format(PyExc_TypeError, "%U cannot be made directly", name);
	Py_XDECREF(name);
	return NULL;
}
