/* SPDX-License-Identifier: Apache-2.0 */
/* plumb._trees: the module, its state and the list of its functions. */
#include "dicts.h"

static int init_texts(struct ext_trees *st)
{
#define EXT_ATTRIBUTE(s)                                                                                               \
	if (!(st->s = PyUnicode_InternFromString(#s)))                                                                 \
	return -1
	EXT_ATTRIBUTES(EXT_ATTRIBUTE);
#undef EXT_ATTRIBUTE
	return (st->semicolon = PyUnicode_FromString(";")) && (st->zero = PyLong_FromLong(0)) &&
			       (st->one = PyLong_FromLong(1))
		       ? 0
		       : -1;
}

static int init_imported(struct ext_trees *st)
{
	return (st->frame_type = ext_imported("types", "FrameType")) &&
			       (st->code_type = ext_imported("types", "CodeType")) &&
			       (st->info_frame = ext_imported("plumb._frames", "info_frame")) &&
			       (st->builtin_identifier = ext_imported("plumb._frames", "builtin_identifier")) &&
			       (st->color_of = ext_imported("plumb._plot", "color_of"))
		       ? 0
		       : -1;
}

static int init(PyObject *module)
{
	struct ext_trees *st = ext_trees_of(module);

	if (ext_trees_init() < 0 || ext_keys_init(&st->key) < 0 || ext_gc_init(&st->gc) < 0 || init_texts(st) < 0 ||
	    init_imported(st) < 0 || ext_dicts_init() < 0)
		return -1;
	st->merged = Py_BuildValue("{O:O, O:O, O:O, O:O}", st->key.description, Py_None, st->key.children, Py_None,
				   st->key.count, Py_None, st->key.identifier, Py_None);
	st->codes = ext_calloc(EXT_CODES, sizeof *st->codes);
	if (st->merged && !st->codes)
		PyErr_NoMemory();
	return st->merged && st->codes ? 0 : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
	struct ext_trees *st = ext_trees_of(module);

	if (!st)
		return 0;
	Py_VISIT(st->info_frame);
	Py_VISIT(st->builtin_identifier);
	Py_VISIT(st->color_of);
	return 0;
}

static int clear(PyObject *module)
{
	struct ext_trees *st = ext_trees_of(module);

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
	return ext_create(&ext_trees_of(module)->key);
}

#define WITH_KEYWORDS(name)                                                                                            \
	{                                                                                                              \
#name, (PyCFunction)(void (*)(void))ext_##name, METH_VARARGS | METH_KEYWORDS, ext_##name##_doc         \
	}

static PyMethodDef methods[] = {
	{"create", create, METH_NOARGS, "create($module, /)\n--\n\nAn empty tree."},
	{"identifier", ext_identifier, METH_O, ext_identifier_doc},
	WITH_KEYWORDS(process),
	WITH_KEYWORDS(merge),
	{"pack", ext_pack, METH_VARARGS, ext_pack_doc},
	{"as_bytes", ext_as_bytes, METH_O, ext_as_bytes_doc},
	{"packed", ext_packed, METH_VARARGS, ext_packed_doc},
	WITH_KEYWORDS(plot_data),
	{0},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, .m_name = "plumb._trees", .m_size = sizeof(struct ext_trees),
	.m_methods = methods,  .m_traverse = traverse,	 .m_clear = clear,
	.m_free = release,
};

/* Before 3.9 PyMODINIT_FUNC does not make a symbol visible that the compiler was told to hide. */
__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit__trees(void);
PyMODINIT_FUNC PyInit__trees(void)
{
	return ext_module_init(&definition, init);
}
