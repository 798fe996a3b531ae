/* SPDX-License-Identifier: Apache-2.0 */
/* What both extension modules share: plumb._plumb (profiler.h) and plumb._trees (trees.h). Limited API of CPython 3.8:
 * one file for all releases with a GIL; for free-threaded ones they are built with their own headers.
 *
 * All of it runs with the GIL, or where there is none as an attached thread, unless it says otherwise. A function that
 * returns int gives -1 with an exception set; one that returns an object gives NULL then. */
#ifndef PLUMB_EXT_H
#define PLUMB_EXT_H

#include "gil.h"

#include <stddef.h>
#include <string.h>

/** As PyMem_Calloc, which headers of 3.8 and 3.9 do not declare for the limited API. */
static inline void *ext_calloc(size_t count, size_t size)
{
	void *p = count <= PY_SSIZE_T_MAX / size ? PyMem_Malloc(count * size) : NULL;

	return p ? memset(p, 0, count * size) : NULL;
}

/** Keys of a tree's nodes, and of their descriptions. */
struct ext_keys {
	PyObject *count, *children, *identifier, *description;
	PyObject *filename, *name, *line, *line_number;
	PyObject *described; /* such a description, to be copied */
};

/** Of the module gc. */
struct ext_gc {
	PyObject *isenabled, *disable, *enable;
};

/* module.c */

/** @p module.@p name, a new reference. */
PyObject *ext_imported(const char *module, const char *name);
int ext_keys_init(struct ext_keys *keys);
int ext_gc_init(struct ext_gc *gc);
/** What PyInit_...() gives for @p definition, whose slots begin a module by @p init. All state is the module's or is
 * guarded: an interpreter with a GIL of its own may have the module, too. */
PyObject *ext_module_init(struct PyModuleDef *definition, int (*init)(PyObject *module));

/* fields.c: nodes are dicts; any other mapping works, too, slowly. */

/** node[key], a new reference. */
PyObject *ext_get(PyObject *node, PyObject *key);
/** node.get(key), a new reference; *ret is NULL if there is none. */
int ext_find(PyObject *node, PyObject *key, PyObject **ret);
int ext_set(PyObject *node, PyObject *key, PyObject *value);
/** What a node says of its function. */
PyObject *ext_description(const struct ext_keys *key, PyObject *filename, PyObject *name, PyObject *line_number,
			  PyObject *line);
/** A fresh empty tree, as create() gives it. */
PyObject *ext_create(const struct ext_keys *keys);

/* gc.c */

/** Let no collection begin, however many objects are made, where it could. Whether there is something to resume; -1 is
 * an exception. */
int ext_pause_gc(const struct ext_gc *gc);
/** After ext_pause_gc() gave @p paused. An exception that is set stays. */
void ext_resume_gc(const struct ext_gc *gc, int paused);

#endif
