/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is in no directory, or in memory. Module _plumb; with the GIL.
 *
 * Its descriptor has an owner from the first moment on: in Python a signal handler can raise between any two steps, and
 * a number that nobody has stored yet would stay open for good. Who owns it closes nothing else: the program may have
 * closed all descriptors there are, and given the number to a file of its own. */
#include "profiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD_BYTES 1 /* a page, which nobody touches */

struct unnamed_file {
	PyObject_HEAD _Atomic(int) fd; /* -1: closed */
	dev_t dev;
	ino_t ino;
	_Atomic(void *) held; /* a mapping: as long as it is there no other file has that inode number; NULL: none. A
				 child of a fork has it, too, or something else would lie there */
};

/* Not all file systems make files without a name, nor do all say so by the same error. */
static int make_and_unlink(const char *folder)
{
	char path[4096];
	int len = snprintf(path, sizeof path, "%s/plumb-XXXXXX", folder);

	if (len < 0 || (size_t)len >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int open_unnamed(const char *folder)
{
	if (!folder)
		return memfd_create("plumb", MFD_CLOEXEC);
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? make_and_unlink(folder) : fd;
}

static int keep(struct unnamed_file *self, int fd)
{
	struct stat st;

	atomic_store(&self->fd, fd);
	if (fd < 0 || fstat(fd, &st) != 0) {
		PyErr_SetFromErrno(PyExc_OSError);
		return -1;
	}
	self->dev = st.st_dev;
	self->ino = st.st_ino;
	void *held = mmap(NULL, HELD_BYTES, PROT_NONE, MAP_SHARED, fd, 0);
	atomic_store(&self->held, held == MAP_FAILED ? NULL : held);
	return 0;
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyObject *folder, *bytes = NULL;
	int fd;

	if (!PyArg_ParseTuple(args, "O:UnnamedFile", &folder) ||
	    (folder != Py_None && !PyUnicode_FSConverter(folder, &bytes)))
		return NULL;
	struct unnamed_file *self = (struct unnamed_file *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
	if (self) {
		const char *name = bytes ? PyBytes_AsString(bytes) : NULL;

		Py_BEGIN_ALLOW_THREADS;
		fd = open_unnamed(name);
		Py_END_ALLOW_THREADS;
		if (keep(self, fd) < 0)
			Py_CLEAR(self);
	}
	Py_XDECREF(bytes);
	return (PyObject *)self;
}

static bool is_still(const struct unnamed_file *self, int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == self->dev && st.st_ino == self->ino;
}

static void close_file(struct unnamed_file *self)
{
	int fd = atomic_exchange(&self->fd, -1);

	if (is_still(self, fd))
		close(fd);
	void *held = atomic_exchange(&self->held, NULL);
	if (held)
		munmap(held, HELD_BYTES);
}

static PyObject *file_close(PyObject *o, PyObject *none)
{
	close_file((struct unnamed_file *)o);
	Py_RETURN_NONE;
}

static PyObject *file_fileno(PyObject *o, PyObject *none)
{
	struct unnamed_file *self = (struct unnamed_file *)o;
	int fd = atomic_load(&self->fd);

	return PyLong_FromLong(is_still(self, fd) ? fd : -1);
}

static void dealloc(PyObject *o)
{
	PyTypeObject *type = Py_TYPE(o);

	close_file((struct unnamed_file *)o);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
	Py_DECREF(type);
}

static PyMethodDef methods[] = {
	{"fileno", file_fileno, METH_NOARGS,
	 "fileno($self, /)\n--\n\n-1: it is closed, be it by the program, which closed all there are."},
	{"close", file_close, METH_NOARGS, "close($self, /)\n--\n\nThe second time nothing happens."},
	{0},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "UnnamedFile(folder, /)\n--\n\n"
		    "A file on the disk of that folder, but in none; None: in memory. It is closed with its owner."},
	{Py_tp_new, (void *)create},
	{Py_tp_dealloc, (void *)dealloc},
	{Py_tp_methods, methods},
	{0},
};

PyType_Spec ext_unnamed_file_spec = {
	.name = "plumb._plumb.UnnamedFile",
	.basicsize = sizeof(struct unnamed_file),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};
