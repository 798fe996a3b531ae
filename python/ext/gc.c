/* SPDX-License-Identifier: Apache-2.0 */
/* A pause of the cyclic garbage collector. Both extension modules; with the GIL.
 *
 * While hundreds of thousands of dicts are made, none of which can be garbage, the collector would go through all of
 * them again and again: that took more than four fifths of the time of large merges. Where the GIL is held from
 * beginning to end, and no Python runs, nobody sees the pause. The functions of the limited API for this are of 3.10,
 * so those of the module gc. Without a GIL others would see it, and there collections begin between instructions of
 * Python only. */
#include "ext.h"

int ext_pause_gc(const struct ext_gc *gc)
{
	if (!EXT_HAS_GIL)
		return 0;
	PyObject *enabled = PyObject_CallObject(gc->isenabled, NULL);
	int paused = enabled ? PyObject_IsTrue(enabled) : -1;

	Py_XDECREF(enabled);
	if (paused <= 0)
		return paused;
	PyObject *none = PyObject_CallObject(gc->disable, NULL);
	Py_XDECREF(none);
	return none ? 1 : -1;
}

void ext_resume_gc(const struct ext_gc *gc, int paused)
{
	PyObject *type, *value, *traceback;

	if (paused <= 0)
		return;
	PyErr_Fetch(&type, &value, &traceback);
	PyObject *none = PyObject_CallObject(gc->enable, NULL);
	if (!none)
		PyErr_Clear();
	Py_XDECREF(none);
	PyErr_Restore(type, value, traceback);
}
