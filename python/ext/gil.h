/* SPDX-License-Identifier: Apache-2.0 */
/* What the GIL does for the rest of the extension, where there is none: other threads change dicts at any moment, so
 * what is in them is taken with a reference of one's own, and what belongs together is done under a lock. Where there
 * is a GIL these are the calls of the limited API, and nothing. */
#ifndef PLUMB_EXT_GIL_H
#define PLUMB_EXT_GIL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#ifdef Py_GIL_DISABLED

#define EXT_HAS_GIL false

struct ext_mutex {
	PyMutex mutex;
};

/** For some instructions, in which nobody's code runs. */
static inline void ext_mutex_lock(struct ext_mutex *m)
{
	PyMutex_Lock(&m->mutex);
}

static inline void ext_mutex_unlock(struct ext_mutex *m)
{
	PyMutex_Unlock(&m->mutex);
}

/** dict.get(key), a new reference; *ret is NULL if there is none. */
static inline int ext_dict_find(PyObject *dict, PyObject *key, PyObject **ret)
{
	return PyDict_GetItemRef(dict, key, ret) < 0 ? -1 : 0;
}

/** dict.setdefault(key, value), a new reference. */
static inline PyObject *ext_dict_add(PyObject *dict, PyObject *key, PyObject *value)
{
	PyObject *there;

	return PyDict_SetDefaultRef(dict, key, value, &there) < 0 ? NULL : there;
}

/** A statement that has the object for itself, as long as it runs nobody's code. */
#define EXT_ALONE_WITH(object, statement)                                                                              \
	do {                                                                                                           \
		Py_BEGIN_CRITICAL_SECTION(object);                                                                     \
		statement;                                                                                             \
		Py_END_CRITICAL_SECTION();                                                                             \
	} while (0)

/* trees.c: one for all trees, so that a whole stack is counted while nobody is reading. */

/** When the module is imported. */
int ext_trees_init(void);
/** Begin to read trees, or to @p count in them. Nobody's code may run before ext_trees_end(), but if it does nothing
 * worse comes of it than a wait. */
void ext_trees_begin(bool count);
void ext_trees_end(void);

#else

#define EXT_HAS_GIL true

struct ext_mutex {
};

static inline void ext_mutex_lock(struct ext_mutex *m)
{
}

static inline void ext_mutex_unlock(struct ext_mutex *m)
{
}

static inline int ext_dict_find(PyObject *dict, PyObject *key, PyObject **ret)
{
	*ret = PyDict_GetItemWithError(dict, key);
	Py_XINCREF(*ret);
	return *ret || !PyErr_Occurred() ? 0 : -1;
}

static inline PyObject *ext_dict_add(PyObject *dict, PyObject *key, PyObject *value)
{
	PyObject *there;

	if (ext_dict_find(dict, key, &there) < 0 || there)
		return there;
	if (PyDict_SetItem(dict, key, value) < 0)
		return NULL;
	Py_INCREF(value);
	return value;
}

#define EXT_ALONE_WITH(object, statement) statement

static inline int ext_trees_init(void)
{
	return 0;
}

static inline void ext_trees_begin(bool count)
{
}

static inline void ext_trees_end(void)
{
}

#endif
#endif
