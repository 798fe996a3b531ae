/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of libplumb as exceptions. Module _plumb; with the GIL.
 *
 * What was asked for and cannot be is a ValueError, as anywhere in Python; what the machine or a file is to blame for
 * is plumb.Error, with the name that docs/errors.md has for it. */
#include "profiler.h"

static const char doc[] = "What plumb could not do.\n\n"
			  "code  its name in docs/errors.md, such as \"not-permitted\"\n"
			  "hint  what to do next; \"\" if there is nothing";

PyObject *ext_new_error(void)
{
	PyObject *defaults = Py_BuildValue("{s:s, s:s}", "code", "", "hint", "");
	PyObject *type = defaults ? PyErr_NewExceptionWithDoc("plumb.Error", doc, PyExc_RuntimeError, defaults) : NULL;

	Py_XDECREF(defaults);
	return type;
}

PyObject *ext_text(const char *text)
{
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *text_of(const struct plumb_error *err)
{
	const char *hint = plumb_error_hint(err);

	return *hint ? PyUnicode_FromFormat("%s (%s)", plumb_error_message(err), hint)
		     : ext_text(plumb_error_message(err));
}

static int set_text(PyObject *o, const char *name, const char *value)
{
	PyObject *text = ext_text(value);
	int r = text ? PyObject_SetAttrString(o, name, text) : -1;

	Py_XDECREF(text);
	return r;
}

static void raise_error(const struct ext_profiler *st, const struct plumb_error *err, PyObject *text)
{
	PyObject *error = PyObject_CallFunctionObjArgs(st->error, text, NULL);

	if (error && set_text(error, "code", plumb_error_name(plumb_error_code(err))) == 0 &&
	    set_text(error, "hint", plumb_error_hint(err)) == 0)
		PyErr_SetObject(st->error, error);
	Py_XDECREF(error);
}

PyObject *ext_raise(const struct ext_profiler *st, struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);
	bool bad_value = code == PLUMB_ERR_INVALID || code == PLUMB_ERR_UNKNOWN_FORMAT;
	PyObject *text = code == PLUMB_ERR_NO_MEMORY ? PyErr_NoMemory()
			 : bad_value		     ? ext_text(plumb_error_message(err))
						     : text_of(err);

	if (text && bad_value)
		PyErr_SetObject(PyExc_ValueError, text);
	else if (text)
		raise_error(st, err, text);
	Py_XDECREF(text);
	plumb_error_destroy(err);
	return NULL;
}
