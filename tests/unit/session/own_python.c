/* SPDX-License-Identifier: Apache-2.0 */
#include "own_python.h"

#include "unit.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>

static void *library;

/* What Python keeps until the process ends is no leak of ours. Asked for by the leak sanitizer. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpython\n";
}

static void *symbol(const char *name)
{
	void *at = dlsym(library, name);

	assert_non_null(at);
	return at;
}

bool own_python_begin(void)
{
	glob_t found;

	if (glob("/usr/lib/*/libpython3.*.so.1.0", 0, NULL, &found) || found.gl_pathc == 0) {
		print_message("no shared library of Python: not run\n");
		return false;
	}
	library = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL);
	globfree(&found);
	assert_non_null(library);
	((void (*)(int))symbol("Py_InitializeEx"))(0);
	((void *(*)(void))symbol("PyEval_SaveThread"))();
	return true;
}

void own_python_run(const char *script)
{
	int gil = ((int (*)(void))symbol("PyGILState_Ensure"))();

	assert_int_equal(((int (*)(const char *))symbol("PyRun_SimpleString"))(script), 0);
	((void (*)(int))symbol("PyGILState_Release"))(gil);
}

long own_python_int(const char *name)
{
	int gil = ((int (*)(void))symbol("PyGILState_Ensure"))();
	void *module = ((void *(*)(const char *))symbol("PyImport_AddModule"))("__main__");
	void *object = ((void *(*)(void *, const char *))symbol("PyObject_GetAttrString"))(module, name);

	assert_non_null(object);
	long value = ((long (*)(void *))symbol("PyLong_AsLong"))(object);
	((void (*)(void *))symbol("Py_DecRef"))(object);
	((void (*)(int))symbol("PyGILState_Release"))(gil);
	return value;
}
