/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings added up: <plumb/merge.h> for Python. Module _plumb; with the GIL, but for the work. */
#include <plumb/merge.h>

#include "profiler.h"

const char ext_add_up_doc[] =
	"add_up($module, output, recordings, /)\n--\n\n"
	"Write the sum of recordings, a list of paths as bytes, as one. Gives the indices of those that "
	"hold the same samples as one before them, and of each a list of what is missing of it.";

/* What is added, and for each whether it was there already, and what is missing of it. */
struct adding {
	const char **paths;
	bool *again;
	struct plumb_recording_info *info;
	size_t count;
};

static int adding_init(struct adding *a, PyObject *list)
{
	*a = (struct adding){.count = (size_t)PyList_Size(list)};
	a->paths = ext_calloc(a->count + 1, sizeof *a->paths);
	a->again = ext_calloc(a->count + 1, sizeof *a->again);
	a->info = ext_calloc(a->count + 1, sizeof *a->info);
	if (!a->paths || !a->again || !a->info) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < a->count; i++) {
		if (!(a->paths[i] = PyBytes_AsString(PyList_GetItem(list, (Py_ssize_t)i))))
			return -1;
	}
	return 0;
}

static void adding_deinit(struct adding *a)
{
	PyMem_Free(a->paths);
	PyMem_Free(a->again);
	PyMem_Free(a->info);
}

/* Without the GIL. */
static struct plumb_error *add_all(const struct adding *a, const char *output)
{
	struct plumb_merge *m;
	struct plumb_error *err = plumb_merge_create(&m);

	if (err)
		return err;
	for (size_t i = 0; i < a->count && !err; i++)
		err = plumb_merge_add(m, a->paths[i], &a->info[i], &a->again[i]);
	if (!err)
		err = plumb_merge_write(m, output, false);
	plumb_merge_destroy(m);
	return err;
}

static PyObject *told_again(const struct adding *a)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < a->count; i++) {
		PyObject *index = a->again[i] ? PyLong_FromSize_t(i) : NULL;

		if (a->again[i] && (!index || PyList_Append(list, index) < 0))
			Py_CLEAR(list);
		Py_XDECREF(index);
	}
	return list;
}

static PyObject *told_missing(const struct adding *a)
{
	PyObject *all = PyList_New(0);

	for (size_t i = 0; all && i < a->count; i++) {
		PyObject *one = PyList_New(0);

		if (!one || ext_tell_missing(&a->info[i], one) < 0 || PyList_Append(all, one) < 0)
			Py_CLEAR(all);
		Py_XDECREF(one);
	}
	return all;
}

static PyObject *told(const struct adding *a)
{
	PyObject *again = told_again(a), *missing = told_missing(a), *both = NULL;

	if (again && missing)
		both = PyTuple_Pack(2, again, missing);
	Py_XDECREF(again);
	Py_XDECREF(missing);
	return both;
}

PyObject *ext_add_up(PyObject *module, PyObject *args)
{
	PyObject *output, *given, *found = NULL;
	struct plumb_error *err;
	struct adding a;

	if (!PyArg_ParseTuple(args, "O&O:add_up", PyUnicode_FSConverter, &output, &given))
		return NULL;
	PyObject *list = PySequence_List(given); /* nobody else changes it meanwhile */
	const char *path = PyBytes_AsString(output);
	if (list && path && adding_init(&a, list) == 0) {
		Py_BEGIN_ALLOW_THREADS;
		err = add_all(&a, path);
		Py_END_ALLOW_THREADS;
		found = err ? ext_raise(ext_profiler_of(module), err) : told(&a);
	}
	if (list && path)
		adding_deinit(&a);
	Py_XDECREF(list);
	Py_DECREF(output);
	return found;
}
