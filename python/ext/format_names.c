/* SPDX-License-Identifier: Apache-2.0 */
/* Which formats there are. Module _plumb; with the GIL. */
#include <plumb/diff.h>

#include "profiler.h"

typedef bool next_format(size_t i, struct plumb_format *ret);

/* {name: the end of a file's name that tells it, or ""} */
static PyObject *listed(next_format *at)
{
	PyObject *dict = PyDict_New();
	struct plumb_format f;

	for (size_t i = 0; dict && at(i, &f); i++) {
		PyObject *suffix = PyUnicode_FromString(f.suffix);

		if (!suffix || PyDict_SetItemString(dict, f.name, suffix) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(suffix);
	}
	return dict;
}

PyObject *ext_formats(PyObject *module, PyObject *none)
{
	PyObject *outputs = listed(plumb_format_at), *inputs = listed(plumb_input_format_at);
	PyObject *comparisons = listed(plumb_diff_format_at);
	PyObject *all = outputs && inputs && comparisons ? PyTuple_Pack(3, outputs, inputs, comparisons) : NULL;

	Py_XDECREF(outputs);
	Py_XDECREF(inputs);
	Py_XDECREF(comparisons);
	return all;
}

PyObject *ext_check_format(PyObject *module, PyObject *format)
{
	PyObject *text = PyUnicode_AsUTF8String(format);

	if (!text)
		return NULL;
	struct plumb_error *err = plumb_format_check(PyBytes_AsString(text));
	Py_DECREF(text);
	if (err)
		return ext_raise(ext_profiler_of(module), err);
	Py_RETURN_NONE;
}
