/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles compared: <plumb/diff.h> for Python. Module _plumb; with the GIL, but for the work. */
#include <plumb/diff.h>

#include <stdlib.h>

#include "profiler.h"

const char ext_compare_doc[] = "compare($module, before, after, format, path, name, options, /, **report)\n--\n\n"
			       "Write what changed between two lists of Profiles: into a file, or for the path None as "
			       "bytes. The name is that of "
			       "Profile.save(). The options are (paths, normalize, names of before, names of after, "
			       "share that may be lost, unit of work, how many were done of it: none of no "
			       "unit). Gives "
			       "(None or bytes, whether more than that share was lost).";

/* What is compared, those before first. The lists own the profiles. */
struct sides {
	size_t count, before;
	const struct plumb_profile **profiles;
	struct plumb_profile **refined; /* what passes the filters; NULL: all */
	const struct plumb_profile **chosen;
	struct ext_lock **locks; /* in the order of their addresses: whoever locks several does so in that order */
};

static void sides_deinit(struct sides *s)
{
	PyMem_Free(s->profiles);
	PyMem_Free(s->refined);
	PyMem_Free(s->chosen);
	PyMem_Free(s->locks);
}

static int by_address(const void *a, const void *b)
{
	const struct ext_lock *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

static int add_side(const struct ext_profiler *st, struct sides *s, size_t at, PyObject *list)
{
	for (Py_ssize_t i = 0; i < PyList_Size(list); i++, at++) {
		s->profiles[at] = ext_profile_of(st, PyList_GetItem(list, i), &s->locks[at]);
		if (!s->profiles[at])
			return -1;
	}
	return 0;
}

/* To be freed by sides_deinit() in any case. */
static int sides_init(const struct ext_profiler *st, struct sides *s, PyObject *before, PyObject *after)
{
	*s = (struct sides){.before = (size_t)PyList_Size(before)};
	s->count = s->before + (size_t)PyList_Size(after);
	s->profiles = ext_calloc(s->count + 1, sizeof *s->profiles);
	s->refined = ext_calloc(s->count + 1, sizeof *s->refined);
	s->chosen = ext_calloc(s->count + 1, sizeof *s->chosen);
	s->locks = ext_calloc(s->count + 1, sizeof *s->locks);
	if (!s->profiles || !s->refined || !s->chosen || !s->locks) {
		PyErr_NoMemory();
		return -1;
	}
	if (add_side(st, s, 0, before) < 0 || add_side(st, s, s->before, after) < 0)
		return -1;
	qsort(s->locks, s->count, sizeof *s->locks, by_address);
	return 0;
}

/* A profile may be given twice. Without the GIL, like all that follows to write_sides(). */
static void lock_all(const struct sides *s, void (*change)(struct ext_lock *l))
{
	for (size_t i = 0; i < s->count; i++) {
		if (i == 0 || s->locks[i] != s->locks[i - 1])
			change(s->locks[i]);
	}
}

static struct plumb_error *refine_all(struct sides *s, const struct plumb_report_options *o)
{
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < s->count && !err; i++) {
		err = plumb_profile_refine(s->profiles[i], o, &s->refined[i]);
		s->chosen[i] = s->refined[i] ? s->refined[i] : s->profiles[i];
	}
	return err;
}

struct comparing {
	struct sides sides;
	struct plumb_diff_options options;
	const struct plumb_report_options *report;
	bool lost;
};

static struct plumb_error *write_refined(struct comparing *c, int fd)
{
	const struct sides *s = &c->sides;
	struct plumb_diff *d;
	struct plumb_error *err =
		plumb_diff_create(s->chosen, s->before, s->chosen + s->before, s->count - s->before, &c->options, &d);

	if (err)
		return err;
	c->lost = plumb_diff_failed(d);
	err = plumb_diff_write(d, fd);
	plumb_diff_destroy(d);
	return err;
}

static struct plumb_error *write_sides(void *ctx, int fd)
{
	struct comparing *c = ctx;
	struct sides *s = &c->sides;

	lock_all(s, ext_lock);
	struct plumb_error *err = refine_all(s, c->report);
	if (!err)
		err = write_refined(c, fd);
	for (size_t i = 0; i < s->count; i++)
		plumb_profile_destroy(s->refined[i]);
	lock_all(s, ext_unlock);
	return err;
}

/* The borrowed arguments, and what they point to. */
struct arguments {
	PyObject *before, *after, *counts, *path /* bytes; NULL: none */;
	double *units;
	const char *format, *name;
	int paths;
	struct plumb_diff_options options;
};

static enum plumb_diff_rows rows_of(const struct arguments *a, const struct plumb_report_options *r)
{
	return a->paths ? PLUMB_DIFF_PATHS : r->lines ? PLUMB_DIFF_LINES : PLUMB_DIFF_FUNCTIONS;
}

/* How many units of work were done, from a tuple of floats; an empty one tells nothing. */
static int take_units(struct arguments *a)
{
	size_t count = (size_t)PyTuple_Size(a->counts);

	if (!count)
		return 0;
	a->units = ext_calloc(count, sizeof *a->units);
	if (!a->units) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		a->units[i] = PyFloat_AsDouble(PyTuple_GetItem(a->counts, (Py_ssize_t)i));
		if (PyErr_Occurred())
			return -1;
	}
	a->options.units = a->units;
	a->options.unit_count = count;
	return 0;
}

static int parse(struct arguments *a, PyObject *args)
{
	struct plumb_diff_options *o = &a->options;
	PyObject *list = (PyObject *)&PyList_Type, *path;

	*a = (struct arguments){.options = PLUMB_DIFF_OPTIONS_INIT};
	if (!PyArg_ParseTuple(args, "O!O!sOs(pzssdsO!):compare", list, &a->before, list, &a->after, &a->format, &path,
			      &a->name, &a->paths, &o->normalize, &o->before_name, &o->after_name, &o->fail_above,
			      &o->per, &PyTuple_Type, &a->counts))
		return -1;
	o->format = a->format;
	if (take_units(a) < 0)
		return -1;
	return path == Py_None || PyUnicode_FSConverter(path, &a->path) ? 0 : -1;
}

static PyObject *compare(const struct ext_profiler *st, struct arguments *a, struct comparing *c)
{
	struct ext_place to = {0};

	if (a->path && !(to.path = PyBytes_AsString(a->path)))
		return NULL;
	if (ext_choose_name(a->name, &to.name) < 0 || sides_init(st, &c->sides, a->before, a->after) < 0)
		return NULL;
	PyObject *done = ext_write(st, a->path ? &to : NULL, write_sides, c);
	return done ? Py_BuildValue("NO", done, c->lost ? Py_True : Py_False) : NULL;
}

PyObject *ext_compare(PyObject *module, PyObject *args, PyObject *kwargs)
{
	struct arguments a;
	struct ext_report r;
	PyObject *found = NULL;
	bool parsed = parse(&a, args) == 0;

	if (parsed && ext_report_init(&r, kwargs) == 0) {
		struct comparing c = {.options = a.options, .report = &r.options};

		c.options.rows = rows_of(&a, &r.options);
		plumb_diff_take_report(&c.options, &r.options);
		found = compare(ext_profiler_of(module), &a, &c);
		sides_deinit(&c.sides);
	}
	if (parsed)
		ext_report_deinit(&r);
	PyMem_Free(a.units);
	Py_XDECREF(a.path);
	return found;
}
