/* SPDX-License-Identifier: Apache-2.0 */
/* The type Profile: <plumb/profile.h> for Python. Extension module.
 *
 * A file that a profile reads its samples from has one place, so one thread at a time has the profile. */
#include "profiler.h"

struct profile {
	PyObject_HEAD PyObject *module;
	struct plumb_profile *profile;
	struct plumb_session *session; /* it belongs to; NULL: none */
	struct ext_lock lock;
	bool own; /* of this process */
};

static const struct ext_profiler *state_of(PyObject *self)
{
	return ext_profiler_of(((struct profile *)self)->module);
}

static void destroy(struct plumb_profile *p, struct plumb_session *session)
{
	if (session)
		plumb_session_destroy(session);
	else
		plumb_profile_destroy(p);
}

PyObject *ext_profile_new(PyObject *module, struct plumb_profile *p, struct plumb_session *session, bool own)
{
	PyTypeObject *type = (PyTypeObject *)ext_profiler_of(module)->profile_type;
	struct profile *self = (struct profile *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);

	if (!self) {
		destroy(p, session);
		return NULL;
	}
	Py_INCREF(module);
	self->module = module;
	self->profile = p;
	self->session = session;
	self->own = own;
	ext_lock_init(&self->lock);
	return (PyObject *)self;
}

const struct plumb_profile *ext_profile_of(const struct ext_profiler *st, PyObject *o, struct ext_lock **lock_ret)
{
	struct profile *p = (struct profile *)o;

	if ((PyObject *)Py_TYPE(o) != st->profile_type) {
		PyErr_SetString(PyExc_TypeError, "what is compared are Profiles");
		return NULL;
	}
	*lock_ret = &p->lock;
	return p->profile;
}

static void dealloc(PyObject *self)
{
	struct profile *p = (struct profile *)self;
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	Py_BEGIN_ALLOW_THREADS;
	destroy(p->profile, p->session);
	ext_lock_deinit(&p->lock);
	Py_END_ALLOW_THREADS;
	Py_XDECREF(p->module);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(((struct profile *)self)->module);
	return ext_visit_type(self, visit, arg);
}

/* ---- open -------------------------------------------------------------------------------------------------------- */

/* A new reference to @p note, or NULL with an exception, becomes the last one of @p list. */
static int add_note(PyObject *list, PyObject *note)
{
	int status = note ? PyList_Append(list, note) : -1;

	Py_XDECREF(note);
	return status;
}

int ext_tell_missing(const struct plumb_recording_info *info, PyObject *list)
{
	const unsigned long long damaged = info->damaged_chunks, skipped = info->skipped;
	const char *several = damaged == 1 ? "" : "s", *some = skipped == 1 ? "" : "s";

	if (damaged && add_note(list, PyUnicode_FromFormat("%llu damaged part%s left out", damaged, several)) < 0)
		return -1;
	if (info->another &&
	    add_note(list, PyUnicode_FromString("another recording follows in the file and is left out: "
						"merge() adds up recordings")) < 0)
		return -1;
	if (info->missing && add_note(list, PyUnicode_FromFormat("it is incomplete: %s", info->missing)) < 0)
		return -1;
	return !skipped ? 0
			: add_note(list, PyUnicode_FromFormat("%llu line%s or record%s held no sample: left out",
							      skipped, some, some));
}

static PyObject *profile_open(PyObject *type, PyObject *args, PyObject *kwargs)
{
	static char *known[] = {"path", "format", "notes", "own", NULL};
	struct plumb_recording_info info = {0};
	PyObject *notes = NULL;
	struct plumb_profile *p;
	struct plumb_error *err;
	const char *format = NULL, *name;
	PyObject *path;
	int own = 0;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|zO!p:open", known, PyUnicode_FSConverter, &path, &format,
					 &PyList_Type, &notes, &own))
		return NULL;
	PyObject *module = ext_module_of((PyTypeObject *)type), *self = NULL;
	if (module && (name = PyBytes_AsString(path))) {
		Py_BEGIN_ALLOW_THREADS;
		err = plumb_profile_open_as(name, format, &info, &p);
		Py_END_ALLOW_THREADS;
		self = err ? ext_raise(ext_profiler_of(module), err) : ext_profile_new(module, p, NULL, own);
	}
	if (self && notes && ext_tell_missing(&info, notes) < 0)
		Py_CLEAR(self);
	Py_DECREF(path);
	Py_XDECREF(module);
	return self;
}

static PyObject *format_of(PyObject *type, PyObject *path)
{
	PyObject *bytes;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	PyObject *format = Py_BuildValue("z", plumb_format_for_path(PyBytes_AsString(bytes)));
	Py_DECREF(bytes);
	return format;
}

/* ---- write ------------------------------------------------------------------------------------------------------- */

/* What is written of which profile. */
struct writing {
	struct profile *self;
	const struct ext_report *report;
};

/* Without the GIL. */
static struct plumb_error *write_profile(void *ctx, int fd)
{
	const struct writing *w = ctx;

	ext_lock(&w->self->lock);
	struct plumb_error *err = plumb_profile_write(w->self->profile, &w->report->options, fd);
	ext_unlock(&w->self->lock);
	return err;
}

static int tell_notes(const struct ext_report *r, PyObject *list)
{
	for (size_t i = 0; i < r->note_count; i++) {
		if (add_note(list, ext_text(r->notes[i])) < 0)
			return -1;
	}
	return 0;
}

/* @p to: NULL for bytes. */
static PyObject *written(struct profile *self, const struct ext_report *r, const struct ext_place *to, PyObject *notes)
{
	struct writing w = {.self = self, .report = r};
	PyObject *done = ext_write(state_of((PyObject *)self), to, write_profile, &w);

	if (done && notes && tell_notes(r, notes) < 0)
		Py_CLEAR(done);
	return done;
}

/* The list to tell notes, which is no option of reports: *ret, borrowed from @p kwargs before it leaves them. */
static PyObject *options_of(PyObject *kwargs, PyObject **ret)
{
	PyObject *options = kwargs ? PyDict_Copy(kwargs) : PyDict_New();

	*ret = kwargs ? PyDict_GetItemString(kwargs, "notes") : NULL;
	if (!options || !*ret)
		return options;
	if (!PyList_Check(*ret)) {
		PyErr_SetString(PyExc_TypeError, "notes is a list, which gets them");
		Py_CLEAR(options);
	} else if (PyDict_DelItemString(options, "notes") < 0) {
		Py_CLEAR(options);
	}
	return options;
}

static PyObject *write_as(PyObject *self, const char *format, PyObject *kwargs, const struct ext_place *to)
{
	PyObject *notes, *options = options_of(kwargs, &notes), *done = NULL;
	struct ext_report r;

	if (!options)
		return NULL;
	if (ext_report_init(&r, options) == 0) {
		r.options.format = format;
		r.options.replaces = to && to->name != PLUMB_OUTPUT_FORCED ? to->path : NULL;
		done = written((struct profile *)self, &r, to, notes);
	}
	ext_report_deinit(&r);
	Py_DECREF(options);
	return done;
}

static PyObject *profile_write(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct ext_place to = {0};
	const char *format;
	PyObject *fd;

	if (!PyArg_ParseTuple(args, "Os:write", &fd, &format) ||
	    (fd != Py_None && (to.fd = PyObject_AsFileDescriptor(fd)) < 0))
		return NULL;
	return write_as(self, format, kwargs, fd == Py_None ? NULL : &to);
}

static PyObject *profile_save(PyObject *self, PyObject *args, PyObject *kwargs)
{
	const char *format, *name;
	PyObject *path, *done = NULL;
	struct ext_place to = {0};

	if (!PyArg_ParseTuple(args, "O&ss:save", PyUnicode_FSConverter, &path, &format, &name))
		return NULL;
	to.path = PyBytes_AsString(path);
	if (to.path && ext_choose_name(name, &to.name) == 0)
		done = write_as(self, format, kwargs, &to);
	Py_DECREF(path);
	return done;
}

/* ---- what it is -------------------------------------------------------------------------------------------------- */

struct counted {
	const char *name;
	uint64_t count;
};

/* A new dictionary; NULL with an exception. */
static PyObject *counts_of(const struct counted *counted, size_t n)
{
	PyObject *dict = PyDict_New();

	for (size_t i = 0; i < n && dict; i++) {
		PyObject *count = PyLong_FromUnsignedLongLong(counted[i].count);

		if (!count || PyDict_SetItemString(dict, counted[i].name, count) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(count);
	}
	return dict;
}

static PyObject *losses_of(const struct plumb_profile_info *i)
{
	const struct counted losses[] = {
#define PLUMB_LOSS(name, member, ...) {#member, i->member},
#include <plumb/words.def>
	};

	return counts_of(losses, sizeof losses / sizeof *losses);
}

static PyObject *qualities_of(const struct plumb_profile_info *i)
{
	const struct counted qualities[] = {
#define PLUMB_QUALITY(name, member, ...) {#member, i->member},
#include <plumb/words.def>
	};

	return counts_of(qualities, sizeof qualities / sizeof *qualities);
}

static PyObject *profile_info(PyObject *self, PyObject *none)
{
	const struct profile *p = (struct profile *)self;
	struct plumb_profile_info i;

	plumb_profile_info(p->profile, &i);
	return Py_BuildValue("{s:d, s:d, s:d, s:K, s:d, s:I, s:I, s:K, s:N, s:N, s:d, s:N, s:N, s:N, s:N}", "start",
			     (double)i.start_real_ns / 1e9, "duration", (double)i.duration_ns / 1e9, "interval",
			     (double)i.period_ns / 1e9, "samples", (unsigned long long)i.samples, "seconds",
			     (double)i.weight_ns / 1e9, "threads", (unsigned)i.threads, "processes",
			     (unsigned)i.processes, "ticks", (unsigned long long)i.ticks, "losses", losses_of(&i),
			     "quality", qualities_of(&i), "profiler_cpu", (double)i.profiler_cpu_ns / 1e9, "mode",
			     ext_text(i.mode), "engine", ext_text(i.engine), "command", ext_text(i.command), "version",
			     ext_text(i.plumb_version));
}

static int depth_of(PyObject *given, Py_ssize_t *ret)
{
	*ret = -1;
	if (given == Py_None)
		return 0;
	*ret = PyNumber_AsSsize_t(given, PyExc_OverflowError);
	if (*ret >= 0)
		return 0;
	if (!PyErr_Occurred())
		PyErr_SetString(PyExc_ValueError, "depth is negative");
	return -1;
}

static PyObject *profile_tree(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *known[] = {"omit", "stop", "depth", "lines", NULL};
	PyObject *omit = Py_None, *stop = Py_None, *depth = Py_None;
	struct profile *p = (struct profile *)self;
	struct ext_tree_options o;
	int lines = 1;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOp:tree", known, &omit, &stop, &depth, &lines) ||
	    depth_of(depth, &o.depth) < 0)
		return NULL;
	o.omit = omit == Py_None ? NULL : omit;
	o.stop = stop == Py_None ? NULL : stop;
	o.lines = lines;
	o.own = p->own;
	return ext_tree(state_of(self), p->profile, &p->lock, &o);
}

static PyMethodDef methods[] = {
	{"open", (PyCFunction)(void (*)(void))profile_open, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	 "open($type, /, path, format=None)\n--\n\nRead a recording, or a file of another tool."},
	{"format_of", format_of, METH_O | METH_STATIC,
	 "format_of(path, /)\n--\n\nThe format that the end of a name tells; None if it tells none."},
	{"write", (PyCFunction)(void (*)(void))profile_write, METH_VARARGS | METH_KEYWORDS,
	 "write($self, fd, format, /, *, notes=None, **options)\n--\n\n"
	 "Write it to a file descriptor, or for None give it as bytes. Options are those of plumb report; the list "
	 "notes "
	 "is told what the format has no room for."},
	{"save", (PyCFunction)(void (*)(void))profile_save, METH_VARARGS | METH_KEYWORDS,
	 "save($self, path, format, name, /, *, notes=None, **options)\n--\n\n"
	 "Write it to a file, which is its owner's alone and takes the name when it is whole. The name is \"chosen\" "
	 "by "
	 "plumb, \"named\" by the user, or \"forced\": then what is there may go, whoever wrote it."},
	{"info", profile_info, METH_NOARGS, "info($self, /)\n--\n\nFigures: duration, samples, losses, ..."},
	{"tree", (PyCFunction)(void (*)(void))profile_tree, METH_VARARGS | METH_KEYWORDS,
	 "tree($self, /, *, omit=(), stop=None, depth=None, lines=True)\n--\n\n"
	 "The tree that process() would have made; lines=False leaves the text of lines out."},
	{0},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "What was recorded."}, {Py_tp_dealloc, (void *)dealloc}, {Py_tp_traverse, (void *)traverse},
	{Py_tp_methods, methods},	   {Py_tp_new, (void *)ext_no_new},  {0},
};

PyType_Spec ext_profile_spec = {
	.name = "plumb._plumb.Profile",
	.basicsize = sizeof(struct profile),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = slots,
};
