/* SPDX-License-Identifier: Apache-2.0 */
/* Where what is written goes to: a file that is named, a descriptor, or bytes. Module _plumb; with the GIL, but for
 * what writes. */
#include "profiler.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int ext_choose_name(const char *word, enum plumb_output_name *ret)
{
	static const char *const words[] = {"chosen", "named", "forced"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strcmp(word, words[i]) == 0) {
			*ret = (enum plumb_output_name)i;
			return 0;
		}
	}
	PyErr_Format(PyExc_ValueError, "a name is chosen, named or forced, not '%s'", word);
	return -1;
}

/* All that was written to a file, as bytes. */
static PyObject *contents(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return PyErr_SetFromErrno(PyExc_OSError);
	PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)st.st_size);
	for (off_t at = 0; bytes && at < st.st_size;) {
		ssize_t n = pread(fd, PyBytes_AsString(bytes) + at, (size_t)(st.st_size - at), at);

		if (n > 0) {
			at += n;
		} else if (n == 0 || errno != EINTR) {
			PyErr_SetFromErrno(PyExc_OSError);
			Py_CLEAR(bytes);
		}
	}
	return bytes;
}

/* Without the GIL. */
static struct plumb_error *write_file(const struct ext_place *to, ext_writer *fn, void *ctx)
{
	struct plumb_output *file;
	struct plumb_error *err = plumb_output_open(to->path, to->name, &file);

	if (err)
		return err;
	err = fn(ctx, plumb_output_fd(file));
	if (!err)
		return plumb_output_publish(file);
	plumb_output_discard(file);
	return err;
}

static PyObject *write_to(const struct ext_profiler *st, const struct ext_place *to, ext_writer *fn, void *ctx)
{
	struct plumb_error *err;

	Py_BEGIN_ALLOW_THREADS;
	err = to->path ? write_file(to, fn, ctx) : fn(ctx, to->fd);
	Py_END_ALLOW_THREADS;
	if (err)
		return ext_raise(st, err);
	Py_RETURN_NONE;
}

static PyObject *write_bytes(const struct ext_profiler *st, ext_writer *fn, void *ctx)
{
	struct ext_place to = {.fd = memfd_create("plumb", MFD_CLOEXEC)};

	if (to.fd < 0)
		return PyErr_SetFromErrno(PyExc_OSError);
	PyObject *none = write_to(st, &to, fn, ctx), *bytes = none ? contents(to.fd) : NULL;
	Py_XDECREF(none);
	close(to.fd);
	return bytes;
}

PyObject *ext_write(const struct ext_profiler *st, const struct ext_place *to, ext_writer *fn, void *ctx)
{
	return to ? write_to(st, to, fn, ctx) : write_bytes(st, fn, ctx);
}

PyObject *ext_try_output(PyObject *module, PyObject *args)
{
	enum plumb_output_name chosen;
	struct plumb_error *err;
	const char *name;
	PyObject *path;

	if (!PyArg_ParseTuple(args, "O&s:try_output", PyUnicode_FSConverter, &path, &name))
		return NULL;
	if (ext_choose_name(name, &chosen) < 0) {
		Py_DECREF(path);
		return NULL;
	}
	const char *bytes = PyBytes_AsString(path);
	Py_BEGIN_ALLOW_THREADS;
	err = plumb_output_try(bytes, chosen);
	Py_END_ALLOW_THREADS;
	Py_DECREF(path);
	if (err)
		return ext_raise(ext_profiler_of(module), err);
	Py_RETURN_NONE;
}
