/* SPDX-License-Identifier: Apache-2.0 */
/* Letting a process read this one where Yama lets only parents do so. Module _plumb; with the GIL. */
#include <errno.h>
#include <sys/prctl.h>

#include "profiler.h"

const char ext_allow_tracer_doc[] =
	"allow_tracer($module, pid, /)\n--\n\n"
	"Let that process, and no other, read this one's memory; 0: none. Says whether there "
	"is something to allow.";

PyObject *ext_allow_tracer(PyObject *module, PyObject *pid)
{
	long number = PyLong_AsLong(pid);

	if (number == -1 && PyErr_Occurred())
		return NULL;
	if (prctl(PR_SET_PTRACER, (unsigned long)number, 0, 0, 0) == 0)
		Py_RETURN_TRUE;
	if (errno == EINVAL) /* there is no Yama */
		Py_RETURN_FALSE;
	return PyErr_SetFromErrno(PyExc_OSError);
}
