/* SPDX-License-Identifier: Apache-2.0 */
/* plumb.event(): writes what is said as one text, leaves it in the ring, and tells it to those who sample this process
 * from within. For Profiler.event() the text is all. Extension module, with the GIL. */
#include "event.h"

#include <plumb/event_ring.h>

#include "own_events.h"

#define KEY_LENGTH   40 /* characters */
#define VALUE_LENGTH 100

#ifndef METH_FASTCALL /* which all releases from 3.7 on have, and headers for the limited API of 3.8 do not tell of */
#define METH_FASTCALL 0x0080
#endif

/* The same of a function that all of them export: through PyArg_Parse() it takes twice the time. */
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *o, Py_ssize_t *ret);

struct said {
	size_t len, name_len;
	char text[PLUMB_EVENT_TEXT_BYTES];
};

static bool put(struct said *s, const char *text, size_t len)
{
	if (len > sizeof s->text - s->len)
		return false;
	memcpy(s->text + s->len, text, len);
	s->len += len;
	return true;
}

static bool is_plain(const char *text, Py_ssize_t len, int most)
{
	if (len > most)
		return false;
	for (Py_ssize_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

/* What is long, or has characters that cannot be shown, is what plumb._texts.cut() makes of it. */
static int put_cut(const struct ext_profiler *st, struct said *s, PyObject *o, int most)
{
	PyObject *shown = PyObject_CallFunction(st->cut, "Oi", o, most);
	Py_ssize_t len;
	const char *text = shown ? PyUnicode_AsUTF8AndSize(shown, &len) : NULL;
	int ret = text && put(s, text, (size_t)len) ? 0 : -1;

	Py_XDECREF(shown);
	return ret;
}

static int put_str(const struct ext_profiler *st, struct said *s, PyObject *o, int most)
{
	Py_ssize_t len;
	const char *text = PyUnicode_AsUTF8AndSize(o, &len);

	if (!text) { /* it has surrogates */
		PyErr_Clear();
		return put_cut(st, s, o, most);
	}
	if (!is_plain(text, len, most))
		return put_cut(st, s, o, most);
	return put(s, text, (size_t)len) ? 0 : -1;
}

static bool put_small_int(struct said *s, PyObject *o)
{
	char text[24], *at = text + sizeof text;
	int beyond;
	long value = PyLong_AsLongAndOverflow(o, &beyond);
	unsigned long left = value < 0 ? 0 - (unsigned long)value : (unsigned long)value;

	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		*--at = '-';
	return !beyond && put(s, at, (size_t)(text + sizeof text - at));
}

static int put_value(const struct ext_profiler *st, struct said *s, PyObject *o)
{
	if (Py_TYPE(o) == &PyUnicode_Type)
		return put_str(st, s, o, VALUE_LENGTH);
	if (Py_TYPE(o) == &PyLong_Type && put_small_int(s, o))
		return 0;
	PyObject *text = PyObject_Str(o);
	int ret = text ? put_str(st, s, text, VALUE_LENGTH) : -1;
	Py_XDECREF(text);
	return ret;
}

static int put_label(const struct ext_profiler *st, struct said *s, PyObject *key, PyObject *value)
{
	return put_str(st, s, key, KEY_LENGTH) == 0 && put(s, "", 1) && put_value(st, s, value) == 0 && put(s, "", 1)
		       ? 0
		       : -1;
}

/* What was called with. */
struct call {
	PyObject *const *args;
	Py_ssize_t count;
	PyObject *names; /* of the last ones; NULL: none */
};

static int put_all(const struct ext_profiler *st, struct said *s, const struct call *c)
{
	Py_ssize_t labels = c->names ? PyTuple_Size(c->names) : 0;
	int ret = put_str(st, s, c->args[0], VALUE_LENGTH);

	s->name_len = s->len;
	for (Py_ssize_t i = 0; i < labels && i < PLUMB_EVENT_LABELS && ret == 0; i++)
		ret = put_label(st, s, PyTuple_GetItem(c->names, i), c->args[1 + i]);
	return ret;
}

static int check(const struct call *c)
{
	if (c->count != 1) {
		PyErr_Format(PyExc_TypeError,
			     "event() takes the name of an event, and values by their names; %zd were given without",
			     c->count);
		return -1;
	}
	if (PyUnicode_Check(c->args[0]))
		return 0;
	PyErr_Format(PyExc_TypeError, "the name of an event is a text, not %R", c->args[0]);
	return -1;
}

/* 0, or -1 and an exception. */
static int write_said(const struct ext_profiler *st, const struct call *c, struct said *ret)
{
	ret->len = 0;
	if (check(c) < 0)
		return -1;
	if (put_all(st, ret, c) == 0)
		return 0;
	if (!PyErr_Occurred())
		PyErr_SetString(PyExc_ValueError, "the text of an event is too long");
	return -1;
}

/* Each one's session gets the text, which is written already. */
static PyObject *tell_all(const struct ext_profiler *st, const struct said *s)
{
	return PyObject_CallFunction(st->heard, "s#s#", s->text, (Py_ssize_t)s->name_len, s->text + s->name_len,
				     (Py_ssize_t)(s->len - s->name_len));
}

static PyObject *event(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	const struct ext_profiler *st = ext_profiler_of(module);
	const struct call c = {args, count, names};
	struct said s;

	if (write_said(st, &c, &s) < 0)
		return NULL;
	ext_event_leave(s.text, s.name_len, s.len - s.name_len);
	if (st->listening == Py_True)
		return tell_all(st, &s);
	Py_RETURN_NONE;
}

static PyObject *event_texts(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	const struct call c = {args, count, names};
	struct said s;

	if (write_said(ext_profiler_of(module), &c, &s) < 0)
		return NULL;
	return Py_BuildValue("s#s#", s.text, (Py_ssize_t)s.name_len, s.text + s.name_len,
			     (Py_ssize_t)(s.len - s.name_len));
}

/* Whom to tell stays: another thread may be about to call it. */
static PyObject *hear_events(PyObject *module, PyObject *args)
{
	struct ext_profiler *st = ext_profiler_of(module);
	PyObject *heard, *before = st->listening;
	int on;

	if (!PyArg_ParseTuple(args, "Op", &heard, &on))
		return NULL;
	if (!st->heard) {
		Py_INCREF(heard);
		st->heard = heard;
	}
	st->listening = PyBool_FromLong(on);
	Py_XDECREF(before);
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{"event", (PyCFunction)(void (*)(void))event, METH_FASTCALL | METH_KEYWORDS,
	 "event($module, name, /, **values)\n--\n\n"
	 "Note that this happens now, in this thread: `plumb.event(\"epoch\", number=3, loss=0.25)`.\n\n"
	 "Whoever records this process gets it: a recording or profiler of its own, `plumb run` and `plumb attach`. "
	 "Without one it is forgotten.\n"
	 "A name and values, which str() writes, are cut at 100 characters; of the values the first 16 are kept."},
	{"event_texts", (PyCFunction)(void (*)(void))event_texts, METH_FASTCALL | METH_KEYWORDS,
	 "event_texts($module, name, /, **values)\n--\n\n(name, labels) as event() writes them, for one session "
	 "alone."},
	{"hear_events", hear_events, METH_VARARGS,
	 "hear_events($module, heard, on, /)\n--\n\nheard(name, labels) is called for each event while that is on. The "
	 "function stays the first one."},
	{0},
};

int ext_add_events(PyObject *module)
{
	struct ext_profiler *st = ext_profiler_of(module);
	PyObject *place = PyLong_FromUnsignedLongLong(ext_event_place());

	if (!place || PyModule_AddFunctions(module, methods) < 0 ||
	    PyObject_SetAttrString(module, "_event_place", place) < 0) {
		Py_XDECREF(place);
		return -1;
	}
	Py_DECREF(place);
	st->cut = ext_imported("plumb._texts", "cut");
	return st->cut ? 0 : -1;
}
