/* SPDX-License-Identifier: Apache-2.0 */
/* plumb._plumb: the module, its state and the list of its functions. */
#include "dicts.h"

#include <stdlib.h>
#include <string.h>

#include "tag.h"

static PyObject *imported(const char *module, const char *name)
{
	PyObject *m = PyImport_ImportModule(module), *value = m ? PyObject_GetAttrString(m, name) : NULL;

	Py_XDECREF(m);
	return value;
}

static int init_names(struct ext_state *st)
{
#define EXT_NAME(s)                                                                                                    \
	if (!(st->s = PyUnicode_InternFromString(#s)))                                                                 \
	return -1
	EXT_NAMES(EXT_NAME);
#undef EXT_NAME
	return (st->semicolon = PyUnicode_FromString(";")) && (st->zero = PyLong_FromLong(0)) &&
			       (st->one = PyLong_FromLong(1))
		       ? 0
		       : -1;
}

static int init_imported(struct ext_state *st)
{
	return (st->frame_type = imported("types", "FrameType")) && (st->code_type = imported("types", "CodeType")) &&
			       (st->info_frame = imported("plumb._frames", "info_frame")) &&
			       (st->builtin_identifier = imported("plumb._frames", "builtin_identifier")) &&
			       (st->recorded_line = imported("plumb._frames", "recorded_line")) &&
			       (st->color_of = imported("plumb._plot", "color_of")) &&
			       (st->gc_isenabled = imported("gc", "isenabled")) &&
			       (st->gc_disable = imported("gc", "disable")) &&
			       (st->gc_enable = imported("gc", "enable"))
		       ? 0
		       : -1;
}

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

static int init_types(PyObject *module, struct ext_state *st)
{
	st->error = ext_new_error();
	st->profile_type = ext_new_type(module, &ext_profile_spec);
	st->session_type = ext_new_type(module, &ext_session_spec);
	return add(module, "Error", st->error) < 0 || add(module, "Profile", st->profile_type) < 0 ||
			       add(module, "Session", st->session_type) < 0
		       ? -1
		       : 0;
}

static int init(PyObject *module)
{
	struct ext_state *st = ext_state_of(module);

	if (PyModule_AddStringConstant(module, "__version__", PLUMB_VERSION) < 0 || ext_trees_init() < 0 ||
	    init_names(st) < 0 || init_imported(st) < 0 || init_types(module, st) < 0 || ext_add_tags(module) < 0 ||
	    ext_dicts_init() < 0)
		return -1;
	st->merged = Py_BuildValue("{O:O, O:O, O:O, O:O}", st->description, Py_None, st->children, Py_None, st->count,
				   Py_None, st->identifier, Py_None);
	st->codes = ext_calloc(EXT_CODES, sizeof *st->codes);
	if (st->merged && !st->codes)
		PyErr_NoMemory();
	return st->merged && st->codes ? 0 : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
	struct ext_state *st = ext_state_of(module);

	if (!st)
		return 0;
	Py_VISIT(st->info_frame);
	Py_VISIT(st->builtin_identifier);
	Py_VISIT(st->color_of);
	Py_VISIT(st->recorded_line);
	Py_VISIT(st->error);
	Py_VISIT(st->profile_type);
	Py_VISIT(st->session_type);
	return 0;
}

static int clear(PyObject *module)
{
	struct ext_state *st = ext_state_of(module);

	if (!st)
		return 0;
	for (size_t i = 0; st->codes && i < EXT_CODES; i++)
		ext_code_clear(&st->codes[i].known);
	PyMem_Free(st->codes);
	st->codes = NULL;
	/* Everything before it is an object. */
	for (PyObject **o = (PyObject **)st; o < (PyObject **)&st->codes; o++)
		Py_CLEAR(*o);
	return 0;
}

static void release(void *module)
{
	clear(module);
}

static PyObject *create(PyObject *module, PyObject *none)
{
	return ext_create(ext_state_of(module));
}

#define WITH_KEYWORDS(name)                                                                                            \
	{                                                                                                              \
#name, (PyCFunction)(void (*)(void))ext_##name, METH_VARARGS | METH_KEYWORDS, ext_##name##_doc         \
	}

static PyMethodDef methods[] = {
	{"create", create, METH_NOARGS, "create($module, /)\n--\n\nAn empty tree."},
	{"formats", ext_formats, METH_NOARGS,
	 "formats($module, /)\n--\n\n{name: end of a file's name} of output formats, of input formats, of "
	 "comparisons."},
	{"add_up", ext_add_up, METH_VARARGS, ext_add_up_doc},
	WITH_KEYWORDS(compare),
	{"allow_tracer", ext_allow_tracer, METH_O, ext_allow_tracer_doc},
	{"identifier", ext_identifier, METH_O, ext_identifier_doc},
	WITH_KEYWORDS(process),
	WITH_KEYWORDS(merge),
	{"pack", ext_pack, METH_VARARGS, ext_pack_doc},
	WITH_KEYWORDS(plot_data),
	{0},
};

/* All state is the module's or is guarded, so an interpreter with a GIL of its own may have the module, too. Pythons
 * before 3.12 do not know the slot that says so, nor do the headers of the limited API of 3.8. */
#define MULTIPLE_INTERPRETERS	    3
#define PER_INTERPRETER_GIL	    ((void *)2)
#define MULTIPLE_INTERPRETERS_SINCE 12

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)init},
				   {MULTIPLE_INTERPRETERS, PER_INTERPRETER_GIL},
#ifdef Py_GIL_DISABLED
				   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
				   {0}};
static PyModuleDef_Slot older_slots[] = {{Py_mod_exec, (void *)init}, {0}};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, .m_name = "plumb._plumb", .m_size = sizeof(struct ext_state),
	.m_methods = methods,  .m_slots = slots,	 .m_traverse = traverse,
	.m_clear = clear,      .m_free = release,
};

/* Before 3.9 PyMODINIT_FUNC does not make a symbol visible that the compiler was told to hide. */
__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit__plumb(void);
PyMODINIT_FUNC PyInit__plumb(void)
{
	if (atoi(Py_GetVersion() + strlen("3.")) < MULTIPLE_INTERPRETERS_SINCE)
		definition.m_slots = older_slots;
	return PyModuleDef_Init(&definition);
}
