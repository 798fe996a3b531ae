/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. Tables of beginnings of names: compilers add ".cold", ".part.0", ".constprop.0", ".isra.0". */
#include "native_names.h"

#include <stddef.h>
#include <string.h>

/* Up to 3.5 it is PyEval_EvalFrameEx. */
static const char *const evals[] = {"_PyEval_EvalFrameDefault", "PyEval_EvalFrameEx", NULL};

static const char *const plumbing[] = {
	"_PyEval_", "PyEval_", "_PyFunction_", "function_code_fastcall", "fast_function", "call_function",
	"do_call_core", "_TAIL_CALL_",
	/* calling an object */
	"PyObject_Call", "_PyObject_Call", "_PyObject_FastCall", "_PyObject_MakeTpCall", "_PyObject_Vectorcall",
	"PyObject_Vectorcall", "_PyVectorcall_", "PyVectorcall_", "object_vacall", "vectorcall_", "_PyStack_",
	"PyCFunction_Call", "_PyCFunction_", "cfunction_call", "cfunction_vectorcall", "_PyMethodDef_",
	"_PyMethodDescr_", "method_vectorcall", "method_call", "methoddescr_call", "wrapper_call", "wrapperdescr_call",
	"_PyWrapper_", "wrap_", "slot_tp_", "slot_sq_", "slot_nb_", "slot_mp_", "slot_am_", "lookup_maybe_method",
	"call_method", "call_unbound", "_Py_VectorCall", "_Py_CallBuiltin", "_Py_BuiltinCall", "call_attribute",
	"vgetargs", "callmethod", "_PyCallMethod",
	/* the same by the interpreter's own tables (c_functions.h) */
	"builtin_function_or_method.__call__", "method.__call__", "method_descriptor.__call__",
	"classmethod_descriptor.__call__", "instancemethod.__call__", "staticmethod.__call__",
	"wrapper_descriptor.__call__", "method-wrapper.__call__",
	/* resuming a generator */
	"gen_send_ex", "_PyGen_",
	/* what starts code */
	"run_mod", "run_eval_code_obj", "_Py_HandlePending", "py_trampoline_evaluator", NULL};

static const char *const starts[] = {"__libc_start_", "_start", "start_thread", "clone", "__clone", NULL};

/* What Cython has in each module: calling, and resuming a generator. */
static const char *const cython[] = {"__Pyx_PyObject_Call", "__Pyx_PyObject_FastCall", "__Pyx_PyFunction_",
				     "__Pyx_PyVectorcall_", "__Pyx_CyFunction_",       "__Pyx__CyFunction_",
				     "__Pyx_Generator_",    "__Pyx_Coroutine_",	       NULL};

static bool begins_with_one(const char *name, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (strncmp(name, *beginnings, strlen(*beginnings)) == 0)
			return true;
	return false;
}

bool pl_native_is_eval(const char *name)
{
	return begins_with_one(name, evals);
}

bool pl_native_is_plumbing(const char *name)
{
	return begins_with_one(name, plumbing);
}

bool pl_native_is_plumbing_inlined(const char *name, bool interpreter)
{
	return (interpreter || strncmp(name, "Py", 2) == 0 || strncmp(name, "_Py", 3) == 0) &&
	       pl_native_is_plumbing(name);
}

bool pl_native_has_greenlets(const char *path)
{
	static const char *const libraries[] = {"_greenlet.", "greenlet.", NULL};
	const char *slash = strrchr(path, '/');

	return slash && begins_with_one(slash + 1, libraries);
}

bool pl_native_is_python_file(const char *path)
{
	static const char *const files[] = {"python", "libpython", NULL};
	const char *slash = strrchr(path, '/');

	return slash && begins_with_one(slash + 1, files);
}

bool pl_native_is_start(const char *name)
{
	return begins_with_one(name, starts);
}

static bool is_of_c_library(const char *path)
{
	static const char *const libraries[] = {"libc.so", "libc-", "ld-", "libpthread", NULL};
	const char *slash = strrchr(path, '/');

	return slash && begins_with_one(slash + 1, libraries);
}

/* What starts programs and threads has no name where the C library was stripped. */
static bool is_start_of(const char *path, const char *name)
{
	return name ? pl_native_is_start(name) : is_of_c_library(path);
}

/* What `python -X perf` puts around each Python function, which has a frame of its own: "py::NAME:FILE". */
static bool is_trampoline(const char *name)
{
	return strncmp(name, "py::", 4) == 0;
}

bool pl_native_is_shown(const struct pl_native_role *r, const char *path, const char *name)
{
	if (r->passes_on || (name && ((r->interpreter && pl_native_is_eval(name)) || is_trampoline(name))))
		return false;
	if (!r->outer && r->inner && (r->interpreter || is_start_of(path, name)))
		return false;
	if (r->root && is_of_c_library(path) && is_start_of(path, name)) /* all threads without Python would be one */
		return false;
	if (!r->interpreter)
		return !name || !begins_with_one(name, cython);
	return name ? !pl_native_is_plumbing(name) : !r->inner;
}
