/* SPDX-License-Identifier: Apache-2.0 */
/* plumb._plumb: the module, its state and the list of its functions. */
#include "profiler.h"

#include "event.h"
#include "tag.h"

/* PyModule_AddObject() takes over a reference only where it succeeds. */
static int add(PyObject *module, const char *name, PyObject *value)
{
	if (!value)
		return -1;
	Py_INCREF(value);
	if (PyModule_AddObject(module, name, value) == 0)
		return 0;
	Py_DECREF(value);
	return -1;
}

static int init_types(PyObject *module, struct ext_profiler *st)
{
	st->error = ext_new_error();
	st->profile_type = ext_new_type(module, &ext_profile_spec);
	st->session_type = ext_new_type(module, &ext_session_spec);
	PyObject *file_type = ext_new_type(module, &ext_held_file_spec);
	int failed = add(module, "Error", st->error) < 0 || add(module, "Profile", st->profile_type) < 0 ||
		     add(module, "Session", st->session_type) < 0 || add(module, "HeldFile", file_type) < 0;

	Py_XDECREF(file_type);
	return failed ? -1 : 0;
}

static int init(PyObject *module)
{
	struct ext_profiler *st = ext_profiler_of(module);

	if (PyModule_AddStringConstant(module, "__version__", PLUMB_VERSION) < 0 || ext_keys_init(&st->key) < 0 ||
	    ext_gc_init(&st->gc) < 0 || init_types(module, st) < 0 || ext_add_tags(module) < 0 ||
	    ext_add_events(module) < 0)
		return -1;
	st->zero = PyLong_FromLong(0);
	st->recorded_line = ext_imported("plumb._frames", "recorded_line");
	return st->zero && st->recorded_line ? 0 : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
	struct ext_profiler *st = ext_profiler_of(module);

	if (!st)
		return 0;
	Py_VISIT(st->recorded_line);
	Py_VISIT(st->cut);
	Py_VISIT(st->heard);
	Py_VISIT(st->error);
	Py_VISIT(st->profile_type);
	Py_VISIT(st->session_type);
	return 0;
}

static int clear(PyObject *module)
{
	PyObject **objects = (PyObject **)ext_profiler_of(module);

	for (size_t i = 0; objects && i < sizeof(struct ext_profiler) / sizeof *objects; i++)
		Py_CLEAR(objects[i]);
	return 0;
}

static void release(void *module)
{
	clear(module);
}

static PyMethodDef methods[] = {
	{"formats", ext_formats, METH_NOARGS,
	 "formats($module, /)\n--\n\n{name: end of a file's name} of output formats, of input formats, of "
	 "comparisons."},
	{"check_format", ext_check_format, METH_O,
	 "check_format(format, /)\n--\n\nError if this plumb was built without that output format."},
	{"try_output", ext_try_output, METH_VARARGS,
	 "try_output(path, name, /)\n--\n\nThe error that Profile.save() would raise of the file now, if any; nothing "
	 "is "
	 "written."},
	{"add_up", ext_add_up, METH_VARARGS, ext_add_up_doc},
	{"compare", (PyCFunction)(void (*)(void))ext_compare, METH_VARARGS | METH_KEYWORDS, ext_compare_doc},
	{"allow_tracer", ext_allow_tracer, METH_O, ext_allow_tracer_doc},
	{"started", ext_started, METH_O, ext_started_doc},
	{"signal_child", ext_signal_child, METH_VARARGS, ext_signal_child_doc},
	{0},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, .m_name = "plumb._plumb", .m_size = sizeof(struct ext_profiler),
	.m_methods = methods,  .m_traverse = traverse,	 .m_clear = clear,
	.m_free = release,
};

/* Before 3.9 PyMODINIT_FUNC does not make a symbol visible that the compiler was told to hide. */
__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit__plumb(void);
PyMODINIT_FUNC PyInit__plumb(void)
{
	return ext_module_init(&definition, init);
}
