/* SPDX-License-Identifier: Apache-2.0 */
/* The type Session: <plumb/session.h> for Python. Extension module.
 *
 * One thread at a time is in the library, without the GIL, and nobody waits there for long: the end of a session takes
 * some milliseconds. The C session goes over to the Profile that is its outcome, which the Session keeps. */
#include "profiler.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <plumb/event_ring.h>

#include "tag.h"

#define MOST_ENDED 64 /* cycles that are handed over at a time: they are copies */

struct session {
	PyObject_HEAD PyObject *module;
	struct plumb_session *s;
	bool finished;	   /* guarded by the lock */
	bool recorded;	   /* into a file that was named */
	bool left_older;   /* nothing was sampled, and what had that name stays */
	PyObject *outcome; /* the Profile, which owns s; NULL: it has not been stopped */
	struct ext_lock lock;
	pid_t pid;
	bool own; /* it samples this process */
};

static const struct ext_profiler *state_of(const struct session *self)
{
	return ext_profiler_of(self->module);
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

/* Kernel tids; empty for NULL. */
struct tids {
	int *ids;
	size_t count;
};

static int tids_init(struct tids *t, PyObject *given)
{
	PyObject *all = PySequence_List(given);

	if (!all)
		return -1;
	t->ids = ext_calloc((size_t)PyList_Size(all) + 1, sizeof *t->ids);
	if (!t->ids)
		PyErr_NoMemory();
	for (; t->ids && t->count < (size_t)PyList_Size(all); t->count++) {
		long id = PyLong_AsLong(PyList_GetItem(all, (Py_ssize_t)t->count));

		if (id == -1 && PyErr_Occurred())
			break;
		t->ids[t->count] = (int)id;
	}
	Py_DECREF(all);
	return PyErr_Occurred() ? -1 : 0;
}

static int choose_mode(const char *word, enum plumb_mode *ret)
{
	static const char *const words[] = {"wall", "cpu", "gil"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strcmp(word, words[i]) == 0) {
			*ret = (enum plumb_mode)i;
			return 0;
		}
	}
	PyErr_Format(PyExc_ValueError, "mode is wall, cpu or gil, not '%s'", word);
	return -1;
}

static int choose_cycle(double seconds, uint64_t *ret)
{
	if (!(seconds >= 0 && seconds < 1e9)) {
		PyErr_SetString(PyExc_ValueError, "cycle is a number of seconds, 0 for none");
		return -1;
	}
	*ret = (uint64_t)llround(seconds * 1e9);
	return 0;
}

static int choose_overhead(PyObject *given, double *ret)
{
	if (given == Py_None)
		return 0;
	*ret = PyFloat_AsDouble(given);
	if (*ret == 0)
		PyErr_SetString(PyExc_ValueError,
				"max_overhead is a share from 0.0001 to 1, math.inf for no limit, or None");
	return PyErr_Occurred() ? -1 : 0;
}

static int choose_seed(PyObject *given, struct plumb_session_options *o)
{
	if (given == Py_None)
		return 0;
	o->has_seed = true;
	o->seed = PyLong_AsUnsignedLongLongMask(given);
	return PyErr_Occurred() ? -1 : 0;
}

/* What the options point to. */
struct arguments {
	struct plumb_session_options o;
	struct tids tids, hidden;
	PyObject *recording; /* bytes */
	int pid;	     /* 0: this process */
};

static int parse(struct arguments *a, PyObject *args, PyObject *kwargs)
{
	static char *known[] = {"rate",	     "mode",	     "jitter",	   "seed",	"tids",	   "hidden",
				"max_nodes", "cycle",	     "max_cycles", "recording", "sources", "opcodes",
				"tasks",     "max_overhead", "tags",	   "pid",	"force",   NULL};
	PyObject *seed = Py_None, *tids = Py_None, *hidden = NULL, *recording = Py_None, *pid = Py_None,
		 *overhead = Py_None;
	int jitter = 1, sources = 1, opcodes = 0, tasks = 0, tags = 0, force = 0;
	Py_ssize_t max_nodes = 0, max_cycles = 0;
	struct plumb_session_options *o = &a->o;
	const char *mode = "wall";
	double cycle = 0;

	*a = (struct arguments){.o = PLUMB_SESSION_OPTIONS_INIT};
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|d$spOOOndnOpppOpOp:Session", known, &o->rate_hz, &mode,
					 &jitter, &seed, &tids, &hidden, &max_nodes, &cycle, &max_cycles, &recording,
					 &sources, &opcodes, &tasks, &overhead, &tags, &pid, &force) ||
	    choose_mode(mode, &o->mode) < 0 || choose_cycle(cycle, &o->cycle_ns) < 0 || choose_seed(seed, o) < 0 ||
	    choose_overhead(overhead, &o->max_overhead) < 0 || (tids != Py_None && tids_init(&a->tids, tids) < 0) ||
	    (hidden && tids_init(&a->hidden, hidden) < 0) ||
	    (recording != Py_None && !PyUnicode_FSConverter(recording, &a->recording)))
		return -1;
	if (max_nodes < 0 || max_cycles < 0) {
		PyErr_SetString(PyExc_ValueError, "max_nodes and max_cycles are not negative");
		return -1;
	}
	o->stop = PLUMB_STOP_NEVER;
	o->no_jitter = !jitter;
	o->no_sources = !sources;
	o->opcodes = opcodes;
	o->tasks = tasks;
	o->max_nodes = (size_t)max_nodes;
	o->max_cycles = max_cycles || !o->cycle_ns ? (size_t)max_cycles : 1;
	o->tids = a->tids.ids;
	o->tid_count = a->tids.count;
	o->hidden = a->hidden.ids;
	o->hidden_count = a->hidden.count;
	o->tags = tags ? ext_tags() : NULL;
	o->no_recording = !a->recording;
	o->force = force;
	o->output = a->recording ? PyBytes_AsString(a->recording) : NULL;
	if (pid != Py_None)
		a->pid = (int)PyLong_AsLong(pid);
	return PyErr_Occurred() ? -1 : 0;
}

static void arguments_deinit(struct arguments *a)
{
	PyMem_Free(a->tids.ids);
	PyMem_Free(a->hidden.ids);
	Py_XDECREF(a->recording);
}

static struct session *session_new(PyTypeObject *type)
{
	struct session *self = (struct session *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);

	if (!self)
		return NULL;
	ext_lock_init(&self->lock);
	self->pid = getpid();
	self->module = ext_module_of(type);
	if (!self->module)
		Py_CLEAR(self);
	return self;
}

static PyObject *begin(PyTypeObject *type, const struct arguments *a)
{
	struct session *self = session_new(type);
	struct plumb_error *err;

	if (!self)
		return NULL;
	self->recorded = a->recording;
	self->own = !a->pid;
	Py_BEGIN_ALLOW_THREADS;
	err = a->pid ? plumb_session_attach(&a->o, a->pid, &self->s) : plumb_session_own(&a->o, &self->s);
	Py_END_ALLOW_THREADS;
	if (!err)
		return (PyObject *)self;
	ext_raise(state_of(self), err);
	Py_DECREF(self);
	return NULL;
}

static PyObject *session_create(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	struct arguments a;
	PyObject *self = parse(&a, args, kwargs) == 0 ? begin(type, &a) : NULL;

	arguments_deinit(&a);
	return self;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* The profile and the session become the outcome's. */
static int keep_outcome(struct session *self)
{
	if (self->outcome)
		return 0;
	PyObject *outcome = ext_profile_new(self->module, (struct plumb_profile *)plumb_session_profile(self->s),
					    self->s, self->own);
	if (!outcome)
		self->s = NULL;
	__atomic_store_n(&self->outcome, outcome, __ATOMIC_RELEASE);
	return outcome ? 0 : -1;
}

/* Whatever other threads do: it stays. */
static bool has_outcome(const struct session *self)
{
	return __atomic_load_n(&self->outcome, __ATOMIC_ACQUIRE);
}

static PyObject *outcome_of(const struct session *self)
{
	Py_INCREF(self->outcome);
	return self->outcome;
}

static int check_alive(const struct session *self)
{
	if (self->s)
		return 0;
	PyErr_SetString(PyExc_MemoryError, "the session was lost at its end");
	return -1;
}

static PyObject *session_snapshot(PyObject *o, PyObject *none);

static PyObject *session_stop(PyObject *o, PyObject *none)
{
	struct session *self = (struct session *)o;
	struct plumb_error *err = NULL;
	struct plumb_result result;

	if (has_outcome(self) || check_alive(self) < 0)
		return self->outcome ? outcome_of(self) : NULL;
	if (self->pid != getpid())
		return session_snapshot(o, none); /* which says why there is none */
	Py_BEGIN_ALLOW_THREADS;
	ext_lock(&self->lock);
	if (!self->finished) {
		err = plumb_session_finish(self->s, &result);
		self->left_older = self->recorded && !err && !result.recording;
	}
	self->finished = true;
	ext_unlock(&self->lock);
	Py_END_ALLOW_THREADS;
	int kept;
	EXT_ALONE_WITH(o, kept = keep_outcome(self));
	if (kept < 0) {
		plumb_error_destroy(err);
		return NULL;
	}
	return err ? ext_raise(state_of(self), err) : outcome_of(self);
}

static void end(struct session *self)
{
	struct plumb_result result;

	Py_BEGIN_ALLOW_THREADS;
	if (!self->finished && self->pid == getpid())
		plumb_error_destroy(plumb_session_finish(self->s, &result));
	plumb_session_destroy(self->s);
	Py_END_ALLOW_THREADS;
}

static void dealloc(PyObject *o)
{
	struct session *self = (struct session *)o;
	PyTypeObject *type = Py_TYPE(o);

	PyObject_GC_UnTrack(o);
	if (self->s && !self->outcome)
		end(self);
	ext_lock_deinit(&self->lock);
	Py_XDECREF(self->outcome);
	Py_XDECREF(self->module);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
	Py_DECREF(type);
}

static int traverse(PyObject *o, visitproc visit, void *arg)
{
	Py_VISIT(((struct session *)o)->module);
	Py_VISIT(((struct session *)o)->outcome);
	return ext_visit_type(o, visit, arg);
}

/* ---- while it runs ----------------------------------------------------------------------------------------------- */

typedef void command_fn(struct plumb_session *s);

static PyObject *command(PyObject *o, command_fn *fn)
{
	struct session *self = (struct session *)o;

	if (check_alive(self) < 0)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	ext_lock(&self->lock);
	fn(self->s);
	ext_unlock(&self->lock);
	Py_END_ALLOW_THREADS;
	Py_RETURN_NONE;
}

static PyObject *session_pause(PyObject *o, PyObject *none)
{
	return command(o, plumb_session_pause);
}

static PyObject *session_resume(PyObject *o, PyObject *none)
{
	return command(o, plumb_session_resume);
}

static PyObject *session_reset(PyObject *o, PyObject *none)
{
	return command(o, plumb_session_reset);
}

static PyObject *session_set_rate(PyObject *o, PyObject *rate)
{
	struct session *self = (struct session *)o;
	double hz = PyFloat_AsDouble(rate);
	struct plumb_error *err;

	if ((hz == -1 && PyErr_Occurred()) || check_alive(self) < 0)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	ext_lock(&self->lock);
	err = plumb_session_set_rate(self->s, hz);
	ext_unlock(&self->lock);
	Py_END_ALLOW_THREADS;
	if (err)
		return ext_raise(state_of(self), err);
	Py_RETURN_NONE;
}

/* In the child of a fork somebody who is not there may have the lock. */
static PyObject *session_event(PyObject *o, PyObject *args)
{
	struct session *self = (struct session *)o;
	const char *name, *labels, *texts[2 * PLUMB_EVENT_LABELS];
	Py_ssize_t labels_len;
	size_t count = 0;

	if (!PyArg_ParseTuple(args, "ss#", &name, &labels, &labels_len))
		return NULL;
	if (self->pid != getpid() || has_outcome(self))
		Py_RETURN_NONE;
	if (check_alive(self) < 0)
		return NULL;
	for (const char *at = labels; at < labels + labels_len && count < 2 * PLUMB_EVENT_LABELS; at += strlen(at) + 1)
		texts[count++] = at;
	Py_BEGIN_ALLOW_THREADS;
	ext_lock(&self->lock);
	if (!self->finished)
		plumb_session_event(self->s, name, texts, count / 2);
	ext_unlock(&self->lock);
	Py_END_ALLOW_THREADS;
	Py_RETURN_NONE;
}

static PyObject *session_left_older(PyObject *o, PyObject *none)
{
	return PyBool_FromLong(((struct session *)o)->left_older);
}

static PyObject *status_dict(const struct plumb_status *st, const char *hottest)
{
#define BOOL(b)	  (b) ? Py_True : Py_False
#define NUMBER(n) (unsigned long long)(n)
	return Py_BuildValue(
		"{s:s, s:O, s:O, s:O, s:d, s:d, s:K, s:K, s:N, s:d, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:K, s:d}",
		"engine", "inprocess", "ended", BOOL(st->ended), "paused", BOOL(st->paused), "forked", BOOL(st->forked),
		"rate", st->rate_hz, "elapsed", (double)st->elapsed_ns / 1e9, "samples", NUMBER(st->samples), "threads",
		NUMBER(st->threads), "hottest", ext_text(hottest), "hottest_share", st->hottest_share, "ticks",
		NUMBER(st->ticks), "missed", NUMBER(st->missed), "unreadable", NUMBER(st->unreadable), "queue",
		NUMBER(st->queue), "exact", NUMBER(st->exact), "stopped", NUMBER(st->stopped), "doubtful",
		NUMBER(st->doubtful), "partial", NUMBER(st->partial), "folded", NUMBER(st->folded), "cpu",
		(double)st->cpu_ns / 1e9);
#undef NUMBER
#undef BOOL
}

static PyObject *session_status(PyObject *o, PyObject *none)
{
	struct session *self = (struct session *)o;
	struct plumb_status st;
	char hottest[256];

	if (check_alive(self) < 0)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	ext_lock(&self->lock);
	plumb_session_wait(self->s, 0, &st);
	snprintf(hottest, sizeof hottest, "%s", st.hottest);
	ext_unlock(&self->lock);
	Py_END_ALLOW_THREADS;
	return status_dict(&st, hottest);
}

/* ---- what it has counted ----------------------------------------------------------------------------------------- */

typedef struct plumb_error *profile_fn(struct plumb_session *s, struct plumb_profile **ret);

static PyObject *profile_of(struct session *self, profile_fn *fn)
{
	struct plumb_profile *p = NULL;
	struct plumb_error *err;

	if (check_alive(self) < 0)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	ext_lock(&self->lock);
	err = fn(self->s, &p);
	ext_unlock(&self->lock);
	Py_END_ALLOW_THREADS;
	return err ? ext_raise(state_of(self), err) : ext_profile_new(self->module, p, NULL, self->own);
}

static PyObject *session_snapshot(PyObject *o, PyObject *none)
{
	struct session *self = (struct session *)o;

	return has_outcome(self) ? outcome_of(self) : profile_of(self, plumb_session_snapshot);
}

static PyObject *session_recent(PyObject *o, PyObject *none)
{
	return profile_of((struct session *)o, plumb_session_recent);
}

/* What cycles have counted that have ended. */
struct ended {
	uint64_t when[MOST_ENDED];
	struct plumb_profile *profiles[MOST_ENDED];
	size_t count;
};

static struct plumb_error *take_ended(struct session *self, struct ended *e)
{
	struct plumb_error *err = NULL;

	ext_lock(&self->lock);
	for (; e->count < MOST_ENDED; e->count++)
		if ((err = plumb_session_cycle(self->s, &e->when[e->count], &e->profiles[e->count])) ||
		    !e->profiles[e->count])
			break;
	ext_unlock(&self->lock);
	return err;
}

/* (seconds, Profile), to which the profile belongs from here on. */
static int append_ended(const struct session *self, PyObject *list, uint64_t when, struct plumb_profile *p)
{
	PyObject *profile = ext_profile_new(self->module, p, NULL, self->own);
	PyObject *entry = profile ? Py_BuildValue("dN", (double)when / 1e9, profile) : NULL;
	int r = entry ? PyList_Append(list, entry) : -1;

	Py_XDECREF(entry);
	return r;
}

static PyObject *list_of_ended(const struct session *self, struct ended *e)
{
	PyObject *list = PyList_New(0);
	size_t i = 0;

	while (list && i < e->count) {
		if (append_ended(self, list, e->when[i], e->profiles[i]) < 0)
			Py_CLEAR(list);
		i++;
	}
	for (; i < e->count; i++)
		plumb_profile_destroy(e->profiles[i]);
	return list;
}

/* An error after some of them comes again when the next are asked for. */
static PyObject *session_cycles(PyObject *o, PyObject *none)
{
	struct session *self = (struct session *)o;
	struct ended e = {.count = 0};
	struct plumb_error *err;

	if (check_alive(self) < 0)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	err = take_ended(self, &e);
	Py_END_ALLOW_THREADS;
	if (err && e.count == 0)
		return ext_raise(state_of(self), err);
	plumb_error_destroy(err);
	return list_of_ended(self, &e);
}

static PyMethodDef methods[] = {
	{"stop", session_stop, METH_NOARGS,
	 "stop($self, /)\n--\n\nThe profile. The second time nothing happens; an error tells what is missing in the "
	 "recording, and the second time gives what there is."},
	{"pause", session_pause, METH_NOARGS, "pause($self, /)\n--\n\nNo samples, no wake-ups, and time stands still."},
	{"resume", session_resume, METH_NOARGS, "resume($self, /)\n--\n\n"},
	{"reset", session_reset, METH_NOARGS,
	 "reset($self, /)\n--\n\nForget what was counted; what is recorded stays."},
	{"set_rate", session_set_rate, METH_O, "set_rate($self, hz, /)\n--\n\n"},
	{"event", session_event, METH_VARARGS,
	 "event($self, name, labels, /)\n--\n\nSomething happened; labels are names and values, each with a NUL."},
	{"status", session_status, METH_NOARGS, "status($self, /)\n--\n\n"},
	{"left_older", session_left_older, METH_NOARGS,
	 "left_older($self, /)\n--\n\nAfter stop(): whether nothing was sampled, and what had the name of the "
	 "recording "
	 "stays."},
	{"snapshot", session_snapshot, METH_NOARGS, "snapshot($self, /)\n--\n\nThe profile so far."},
	{"recent", session_recent, METH_NOARGS, "recent($self, /)\n--\n\nThe cycle that has not ended."},
	{"cycles", session_cycles, METH_NOARGS,
	 "cycles($self, /)\n--\n\n[(time.time() of its end, profile)] of the oldest cycles that have "
	 "ended and were not asked for."},
	{0},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "Sampling; it begins at once.\n\n"
		    "pid None is this process: its memory is read by a thread that is none of Python's."},
	{Py_tp_new, (void *)session_create},
	{Py_tp_dealloc, (void *)dealloc},
	{Py_tp_traverse, (void *)traverse},
	{Py_tp_methods, methods},
	{0},
};

PyType_Spec ext_session_spec = {
	.name = "plumb._plumb.Session",
	.basicsize = sizeof(struct session),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = slots,
};
