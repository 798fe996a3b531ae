/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is held open: one that is in no directory, or in memory, an end of a socket, or what came through that.
 * Module _plumb; with the GIL.
 *
 * Its descriptor has an owner from the first moment on: in Python a signal handler can raise between any two steps, and
 * a number that nobody has stored yet would stay open for good. Who owns it closes nothing else: the program may have
 * closed all descriptors there are, and given the number to a file of its own. */
#include "profiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD_BYTES 1 /* a page, which nobody touches */

struct held_file {
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

static int keep(struct held_file *self, int fd)
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

static struct held_file *allocate(PyTypeObject *type)
{
	struct held_file *self = (struct held_file *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);

	if (self)
		atomic_store(&self->fd, -1);
	return self;
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyObject *folder, *bytes = NULL;
	int fd;

	if (!PyArg_ParseTuple(args, "O:HeldFile", &folder) ||
	    (folder != Py_None && !PyUnicode_FSConverter(folder, &bytes)))
		return NULL;
	struct held_file *self = allocate(type);
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

static bool is_still(const struct held_file *self, int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == self->dev && st.st_ino == self->ino;
}

static void close_file(struct held_file *self)
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
	close_file((struct held_file *)o);
	Py_RETURN_NONE;
}

static PyObject *file_fileno(PyObject *o, PyObject *none)
{
	struct held_file *self = (struct held_file *)o;
	int fd = atomic_load(&self->fd);

	return PyLong_FromLong(is_still(self, fd) ? fd : -1);
}

static void dealloc(PyObject *o)
{
	PyTypeObject *type = Py_TYPE(o);

	close_file((struct held_file *)o);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
	Py_DECREF(type);
}

/* Of two ends each has an owner before the other one is looked at. */
static PyObject *file_sockets(PyObject *type, PyObject *none)
{
	struct held_file *one = allocate((PyTypeObject *)type), *other = allocate((PyTypeObject *)type);
	PyObject *both = one && other ? PyTuple_Pack(2, one, other) : NULL;
	int ends[2] = {-1, -1};

	if (both && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		PyErr_SetFromErrno(PyExc_OSError);
		Py_CLEAR(both);
	}
	if (both) {
		int first = keep(one, ends[0]), second = keep(other, ends[1]);

		if (first < 0 || second < 0)
			Py_CLEAR(both);
	}
	Py_XDECREF(one);
	Py_XDECREF(other);
	return both;
}

/* -1: nothing has come, or no descriptor with it. */
static int receive(int end)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))];
	char byte;
	struct iovec bytes = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
	int fd = -1;

	if (recvmsg(end, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return -1;
	struct cmsghdr *first = CMSG_FIRSTHDR(&message);
	if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(first), sizeof fd);
	return fd;
}

static PyObject *file_received(PyObject *o, PyObject *none)
{
	struct held_file *self = (struct held_file *)o, *file = allocate(Py_TYPE(o));
	int end = atomic_load(&self->fd);

	if (!file)
		return NULL;
	int fd = is_still(self, end) ? receive(end) : -1;
	if (fd < 0) {
		Py_DECREF(file);
		Py_RETURN_NONE;
	}
	if (keep(file, fd) < 0)
		Py_CLEAR(file);
	return (PyObject *)file;
}

/* What else has the name by now is not opened, be it a pipe that nobody writes to. */
static int open_if_same(const struct held_file *self, const char *path)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char name[32];

	if (is_still(self, place)) {
		snprintf(name, sizeof name, "/proc/self/fd/%d", place);
		fd = open(name, O_RDONLY | O_CLOEXEC);
	}
	if (place >= 0)
		close(place);
	return fd;
}

/* Who closes it meanwhile wants it closed. */
static void find(struct held_file *self, const char *path)
{
	int lost = atomic_load(&self->fd);

	if (lost < 0 || is_still(self, lost))
		return;
	int fd = open_if_same(self, path);
	if (fd >= 0 && !atomic_compare_exchange_strong(&self->fd, &lost, fd))
		close(fd);
}

static PyObject *file_find(PyObject *o, PyObject *path)
{
	PyObject *bytes;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	const char *name = PyBytes_AsString(bytes);
	Py_BEGIN_ALLOW_THREADS;
	find((struct held_file *)o, name);
	Py_END_ALLOW_THREADS;
	Py_DECREF(bytes);
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{"sockets", file_sockets, METH_NOARGS | METH_CLASS, "sockets($type, /)\n--\n\nBoth ends of a new one."},
	{"received", file_received, METH_NOARGS,
	 "received($self, /)\n--\n\nWhat was sent to this end of a socket, to be held. None: nothing yet."},
	{"find", file_find, METH_O,
	 "find($self, path, /)\n--\n\nOpen it to be read again, if the program has closed it and the path leads to "
	 "it."},
	{"fileno", file_fileno, METH_NOARGS,
	 "fileno($self, /)\n--\n\n-1: it is closed, be it by the program, which closed all there are."},
	{"close", file_close, METH_NOARGS, "close($self, /)\n--\n\nThe second time nothing happens."},
	{0},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "HeldFile(folder, /)\n--\n\n"
		    "A file on the disk of that folder, but in none; None: in memory. It is closed with its owner."},
	{Py_tp_new, (void *)create},
	{Py_tp_dealloc, (void *)dealloc},
	{Py_tp_methods, methods},
	{0},
};

PyType_Spec ext_held_file_spec = {
	.name = "plumb._plumb.HeldFile",
	.basicsize = sizeof(struct held_file),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};
