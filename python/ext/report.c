/* SPDX-License-Identifier: Apache-2.0 */
/* The options of plumb report as keywords of Python. Module _plumb; with the GIL, but for take_note(). */
#include "profiler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct choice {
	const char *word;
	int value;
};

static const struct choice states[] = {
#define PLUMB_DOING(name, bit, state, word, ...) {word, PLUMB_DOING_##name},
#include <plumb/words.def>
	{0}};
static const struct choice kinds[] = {
#define PLUMB_KIND(name, number, word, ...) {word, PLUMB_KIND_##name},
#include <plumb/words.def>
	{0}};
static const struct choice idles[] = {
	{"hide", PLUMB_IDLE_HIDE_THREADS}, {"keep", PLUMB_IDLE_KEEP}, {"skip", PLUMB_IDLE_SKIP_SAMPLES}, {0}};
static const struct choice names[] = {{"short", false}, {"full", true}, {0}};
static const struct choice natives[] = {{"off", PLUMB_NATIVE_SHOWN_OFF},
					{"leaf", PLUMB_NATIVE_SHOWN_LEAF},
					{"callable", PLUMB_NATIVE_SHOWN_CALLABLE},
					{"all", PLUMB_NATIVE_SHOWN_ALL},
					{0}};
static const struct choice flavours[] = {{"cpython", false}, {"seed", true}, {0}};

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* The bytes of a str or of the str() of a number, as plumb keeps texts; a new reference. */
static PyObject *encoded(PyObject *word)
{
	PyObject *text = PyObject_Str(word);
	PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass") : NULL;

	Py_XDECREF(text);
	return bytes;
}

static int append(PyObject *list, PyObject *bytes)
{
	int r = bytes ? PyList_Append(list, bytes) : -1;

	Py_XDECREF(bytes);
	return r;
}

static int append_each(PyObject *list, PyObject *words)
{
	PyObject *iterator = PyObject_GetIter(words), *word;
	int r = 0;

	if (!iterator)
		return -1;
	while (r == 0 && (word = PyIter_Next(iterator))) {
		r = append(list, encoded(word));
		Py_DECREF(word);
	}
	Py_DECREF(iterator);
	return r < 0 || PyErr_Occurred() ? -1 : 0;
}

static bool is_one(PyObject *words)
{
	return PyUnicode_Check(words) || PyLong_Check(words);
}

int ext_words_init(struct ext_words *w, PyObject *words)
{
	if (!words || words == Py_None)
		return 0;
	if (!(w->bytes = PyList_New(0)))
		return -1;
	if ((is_one(words) ? append(w->bytes, encoded(words)) : append_each(w->bytes, words)) < 0)
		return -1;
	w->count = (size_t)PyList_Size(w->bytes);
	w->words = ext_calloc(w->count + 1, sizeof *w->words);
	if (!w->words) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < w->count; i++)
		w->words[i] = PyBytes_AsString(PyList_GetItem(w->bytes, (Py_ssize_t)i));
	return 0;
}

void ext_words_deinit(struct ext_words *w)
{
	PyMem_Free(w->words);
	Py_XDECREF(w->bytes);
}

static int unknown(const char *option, const char *word, const struct choice *choices)
{
	PyObject *list = PyUnicode_FromString("");

	for (const struct choice *c = choices; list && c->word; c++) {
		PyObject *longer = PyUnicode_FromFormat("%U%s%s", list, c == choices ? "" : ", ", c->word);
		Py_DECREF(list);
		list = longer;
	}
	if (list)
		PyErr_Format(PyExc_ValueError, "%s is one of %U, not '%s'", option, list, word);
	Py_XDECREF(list);
	return -1;
}

static int choose(const char *option, const char *word, const struct choice *choices, int *ret)
{
	for (const struct choice *c = choices; c->word; c++) {
		if (strcmp(word, c->word) == 0) {
			*ret = c->value;
			return 0;
		}
	}
	return unknown(option, word, choices);
}

/* A set of choices from one word or several. */
static int choose_all(const char *option, PyObject *given, const struct choice *choices, unsigned *ret)
{
	struct ext_words w = {0};
	int bit = 0, r = ext_words_init(&w, given);

	for (size_t i = 0; r == 0 && i < w.count; i++) {
		r = choose(option, w.words[i], choices, &bit);
		*ret |= (unsigned)bit;
	}
	ext_words_deinit(&w);
	return r;
}

/* ---- one option each --------------------------------------------------------------------------------------------- */

static int set_idle(struct plumb_report_options *o, PyObject *given)
{
	PyObject *bytes;
	int idle = PLUMB_IDLE_HIDE_THREADS;

	if (!given || given == Py_None)
		return 0;
	if (PyBool_Check(given)) {
		o->idle = given == Py_True ? PLUMB_IDLE_KEEP : PLUMB_IDLE_HIDE_THREADS;
		return 0;
	}
	if (!(bytes = encoded(given)))
		return -1;
	int r = choose("idle", PyBytes_AsString(bytes), idles, &idle);
	Py_DECREF(bytes);
	o->idle = (enum plumb_idle)idle;
	return r;
}

static int nanoseconds(PyObject *seconds, uint64_t *ret)
{
	if (seconds == Py_None)
		return 0;
	double value = PyFloat_AsDouble(seconds);
	if (!PyErr_Occurred() && value >= 0 && value < 1e9) {
		*ret = (uint64_t)llround(value * 1e9);
		return 0;
	}
	PyErr_SetString(PyErr_Occurred() ? PyExc_TypeError : PyExc_ValueError,
			"time is (from, to), two numbers of seconds since the start; None: no limit");
	return -1;
}

static int set_time(struct plumb_report_options *o, PyObject *given)
{
	PyObject *from, *to;

	if (!given || given == Py_None)
		return 0;
	if (!PyTuple_Check(given) || PyTuple_Size(given) != 2) {
		PyErr_SetString(PyExc_TypeError, "time is a tuple: (from, to) in seconds since the start");
		return -1;
	}
	if (!PyArg_ParseTuple(given, "OO:time", &from, &to) || nanoseconds(from, &o->from_ns) < 0 ||
	    nanoseconds(to, &o->to_ns) < 0)
		return -1;
	if (to == Py_None || o->to_ns > o->from_ns)
		return 0;
	PyErr_SetString(PyExc_ValueError, "time ends before it begins");
	return -1;
}

static int set_share(struct plumb_report_options *o, PyObject *given)
{
	double percent = given ? PyFloat_AsDouble(given) : 0;

	if (percent == -1 && PyErr_Occurred())
		return -1;
	if (!(percent >= 0 && percent <= 100)) {
		PyErr_Format(PyExc_ValueError, "min_share is a percentage from 0 to 100, not %R", given);
		return -1;
	}
	o->min_share = percent / 100;
	return 0;
}

static int set_top(struct plumb_report_options *o, int rows)
{
	if (rows < 0 || rows > PLUMB_TOP_MAX) {
		PyErr_Format(PyExc_ValueError, "top is a number of rows up to %d; 0: as many as fit", PLUMB_TOP_MAX);
		return -1;
	}
	o->top = rows;
	return 0;
}

/* @p *ret owns the text. */
static int set_text(const char **to, PyObject *given, PyObject **ret)
{
	if (!given || given == Py_None)
		return 0;
	PyObject *bytes = NULL;
	if (!PyUnicode_FSConverter(given, &bytes))
		return -1;
	*ret = bytes;
	*to = PyBytes_AsString(bytes);
	return 0;
}

static int set_bool(bool *to, const char *option, const char *word, const struct choice *choices)
{
	int value = false;
	int r = word ? choose(option, word, choices, &value) : 0;

	*to = value;
	return r;
}

static int set_native(struct plumb_report_options *o, const char *word)
{
	int value = PLUMB_NATIVE_SHOWN_AS_RECORDED;
	int r = word ? choose("native", word, natives, &value) : 0;

	o->native = (enum plumb_native_shown)value;
	return r;
}

/* Called while the profile is written: without the GIL. */
static void take_note(void *ctx, const char *message)
{
	struct ext_report *r = ctx;

	if (r->note_count < EXT_NOTES && (r->notes[r->note_count] = strdup(message)))
		r->note_count++;
}

int ext_report_init(struct ext_report *r, PyObject *kwargs)
{
	static char *known[] = {"lines",   "functions", "idle",	 "threads",  "process",	  "time",    "state",
				"kind",	   "module",	"focus", "ignore",   "min_share", "names",   "no_escape",
				"flavour", "color",	"ascii", "width",    "recording", "made_by", "top",
				"quality", "own",	"tag",	 "annotate", "native",	  NULL};
	PyObject *idle = NULL, *threads = NULL, *processes = NULL, *time = NULL, *state = NULL, *kind = NULL;
	PyObject *module = NULL, *focus = NULL, *ignore = NULL, *recording = NULL, *made_by = NULL, *own = NULL,
		 *tag = NULL;
	int lines = 0, functions = 0, no_escape = 0, color = 0, ascii = 0, width = 0, top = 0, quality = 0,
	    annotate = 0;
	const char *name_kind = NULL, *flavour = NULL, *native = NULL;
	PyObject *percent = NULL;

	*r = (struct ext_report){.options = PLUMB_REPORT_OPTIONS_INIT};
	struct plumb_report_options *o = &r->options;
	PyObject *none = PyTuple_New(0);
	int parsed = none && PyArg_ParseTupleAndKeywords(none, kwargs, "|ppOOOOOOOOOOzpzppiOOipOOpz:write", known,
							 &lines, &functions, &idle, &threads, &processes, &time, &state,
							 &kind, &module, &focus, &ignore, &percent, &name_kind,
							 &no_escape, &flavour, &color, &ascii, &width, &recording,
							 &made_by, &top, &quality, &own, &tag, &annotate, &native);
	Py_XDECREF(none);
	if (!parsed || set_idle(o, idle) < 0 || ext_words_init(&r->threads, threads) < 0 ||
	    ext_words_init(&r->processes, processes) < 0 || ext_words_init(&r->modules, module) < 0 ||
	    ext_words_init(&r->own, own) < 0 || ext_words_init(&r->tags, tag) < 0 || set_time(o, time) < 0 ||
	    choose_all("state", state, states, &o->states) < 0 || choose_all("kind", kind, kinds, &o->kinds) < 0 ||
	    set_text(&o->focus, focus, &r->focus) < 0 || set_text(&o->ignore, ignore, &r->ignore) < 0 ||
	    set_text(&o->recording, recording, &r->recording) < 0 || set_text(&o->made_by, made_by, &r->made_by) < 0 ||
	    set_share(o, percent) < 0 || set_top(o, top) < 0 || set_native(o, native) < 0 ||
	    set_bool(&o->full_names, "names", name_kind, names) < 0 ||
	    set_bool(&o->seed_flavour, "flavour", flavour, flavours) < 0)
		return -1;
	o->page_option = "--open";
	o->lines = lines;
	o->functions = functions;
	o->no_escape = no_escape;
	o->annotate = annotate;
	o->color = color;
	o->ascii = ascii;
	o->width = width;
	o->quality = quality;
	o->threads = r->threads.words;
	o->thread_count = r->threads.count;
	o->processes = r->processes.words;
	o->process_count = r->processes.count;
	o->modules = r->modules.words;
	o->module_count = r->modules.count;
	o->tags = r->tags.words;
	o->tag_count = r->tags.count;
	o->own = r->own.words;
	o->own_count = r->own.count;
	o->note = take_note;
	o->note_ctx = r;
	return 0;
}

void ext_report_deinit(struct ext_report *r)
{
	ext_words_deinit(&r->threads);
	ext_words_deinit(&r->processes);
	ext_words_deinit(&r->modules);
	ext_words_deinit(&r->tags);
	ext_words_deinit(&r->own);
	Py_XDECREF(r->focus);
	Py_XDECREF(r->ignore);
	Py_XDECREF(r->recording);
	Py_XDECREF(r->made_by);
	for (size_t i = 0; i < r->note_count; i++)
		free(r->notes[i]);
}
