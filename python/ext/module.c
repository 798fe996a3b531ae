/* SPDX-License-Identifier: Apache-2.0 */
/* How a module begins. Both extension modules; with the GIL. */
#include "ext.h"

#include <stdlib.h>

PyObject *ext_imported(const char *module, const char *name)
{
	PyObject *m = PyImport_ImportModule(module), *value = m ? PyObject_GetAttrString(m, name) : NULL;

	Py_XDECREF(m);
	return value;
}

int ext_keys_init(struct ext_keys *key)
{
	return (key->count = PyUnicode_InternFromString("count")) &&
			       (key->children = PyUnicode_InternFromString("children")) &&
			       (key->identifier = PyUnicode_InternFromString("identifier")) &&
			       (key->description = PyUnicode_InternFromString("description")) &&
			       (key->filename = PyUnicode_InternFromString("filename")) &&
			       (key->name = PyUnicode_InternFromString("name")) &&
			       (key->line = PyUnicode_InternFromString("line")) &&
			       (key->line_number = PyUnicode_InternFromString("line_number")) &&
			       (key->described =
					Py_BuildValue("{O:O, O:O, O:O, O:O}", key->filename, Py_None, key->name,
						      Py_None, key->line_number, Py_None, key->line, Py_None))
		       ? 0
		       : -1;
}

int ext_gc_init(struct ext_gc *gc)
{
	return (gc->isenabled = ext_imported("gc", "isenabled")) && (gc->disable = ext_imported("gc", "disable")) &&
			       (gc->enable = ext_imported("gc", "enable"))
		       ? 0
		       : -1;
}

/* Pythons before 3.12 do not know the slot that says that each interpreter may have a GIL, nor do the headers of the
 * limited API of 3.8. */
#define MULTIPLE_INTERPRETERS	    3
#define PER_INTERPRETER_GIL	    ((void *)2)
#define MULTIPLE_INTERPRETERS_SINCE 12

PyObject *ext_module_init(struct PyModuleDef *definition, int (*init)(PyObject *module))
{
	static PyModuleDef_Slot slots[] = {{Py_mod_exec, NULL},
					   {MULTIPLE_INTERPRETERS, PER_INTERPRETER_GIL},
#ifdef Py_GIL_DISABLED
					   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
					   {0}};
	static PyModuleDef_Slot older_slots[] = {{Py_mod_exec, NULL}, {0}};
	bool older = atoi(Py_GetVersion() + strlen("3.")) < MULTIPLE_INTERPRETERS_SINCE;

	slots[0].value = older_slots[0].value = (void *)init;
	definition->m_slots = older ? older_slots : slots;
	return PyModuleDef_Init(definition);
}
