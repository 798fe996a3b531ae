/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and their code objects. Module _trees; with the GIL.
 *
 * The identifier of a code object is asked for at each frame of each sample and never changes, so it is remembered, in
 * a table of fixed size where a newcomer takes the place of who was there: no more than EXT_CODES code objects are kept
 * alive by it. */
#include "trees.h"

#include <stdint.h>

/* Public since 3.9, in the limited API later or never, so the headers may hide them or declare them with other types.
 * Where they are missing (3.8) the attributes are asked for. */
extern PyObject *get_back(PyObject *frame) __asm__("PyFrame_GetBack") __attribute__((weak));
extern PyObject *get_code(PyObject *frame) __asm__("PyFrame_GetCode") __attribute__((weak));

static bool is_real(const struct ext_trees *st, PyObject *frame)
{
	return (PyObject *)Py_TYPE(frame) == st->frame_type;
}

int ext_frame_back(const struct ext_trees *st, PyObject *frame, PyObject **ret)
{
	if (get_back && is_real(st, frame)) {
		*ret = get_back(frame);
		return *ret || !PyErr_Occurred() ? 0 : -1;
	}
	*ret = PyObject_GetAttr(frame, st->f_back);
	if (*ret == Py_None)
		Py_CLEAR(*ret);
	else if (!*ret)
		return -1;
	return 0;
}

static PyObject *code_of(const struct ext_trees *st, PyObject *frame)
{
	return get_code && is_real(st, frame) ? get_code(frame) : PyObject_GetAttr(frame, st->f_code);
}

void ext_code_clear(struct ext_code *room)
{
	Py_CLEAR(room->code);
	Py_CLEAR(room->identifier);
	Py_CLEAR(room->filename);
}

static PyObject *joined(const struct ext_trees *st, PyObject *name, PyObject *filename, PyObject *first_line)
{
	PyObject *number = PyObject_Str(first_line);
	if (!number)
		return NULL;
	PyObject *parts = PyTuple_Pack(3, name, filename, number);
	Py_DECREF(number);
	if (!parts)
		return NULL;
	PyObject *all = PyUnicode_Join(st->semicolon, parts);
	Py_DECREF(parts);
	return all;
}

/* NULL without an exception: it lacks what a code object of Python has. */
static PyObject *attribute(PyObject *code, PyObject *name)
{
	PyObject *value = PyObject_GetAttr(code, name);

	if (!value && PyErr_ExceptionMatches(PyExc_AttributeError))
		PyErr_Clear();
	return value;
}

static PyObject *python_identifier(const struct ext_trees *st, PyObject *code, PyObject *filename)
{
	PyObject *name = attribute(code, st->co_name), *line = name ? attribute(code, st->co_firstlineno) : NULL;
	PyObject *text = line ? joined(st, name, filename, line) : NULL;

	Py_XDECREF(name);
	Py_XDECREF(line);
	return text;
}

/* Cython's frames may have a builtin for their code; such a one has a name that tells the line, too. */
static int describe(const struct ext_trees *st, PyObject *frame, struct ext_code *room)
{
	room->filename = attribute(room->code, st->co_filename);
	if (!room->filename && PyErr_Occurred())
		return -1;
	if (room->filename)
		room->identifier = python_identifier(st, room->code, room->filename);
	if (!room->identifier && !PyErr_Occurred())
		room->identifier = PyObject_CallFunctionObjArgs(st->builtin_identifier, frame, NULL);
	return room->identifier ? 0 : -1;
}

static void copy_refs(struct ext_code *to, const struct ext_code *from)
{
	Py_INCREF(from->code);
	Py_INCREF(from->identifier);
	Py_INCREF(from->filename);
	*to = *from;
}

static struct ext_code_slot *slot_of(struct ext_trees *st, PyObject *code)
{
	uintptr_t address = (uintptr_t)code >> 4;

	return &st->codes[(address ^ address >> 12) & (EXT_CODES - 1)];
}

/* What is known of room->code is put there. */
static bool is_known(struct ext_trees *st, struct ext_code *room)
{
	struct ext_code_slot *slot = slot_of(st, room->code);
	PyObject *code = room->code;

	ext_mutex_lock(&slot->mutex);
	bool known = slot->known.code == code;
	if (known)
		copy_refs(room, &slot->known);
	ext_mutex_unlock(&slot->mutex);
	if (known)
		Py_DECREF(code);
	return known;
}

static void remember(struct ext_trees *st, const struct ext_code *room)
{
	struct ext_code_slot *slot = slot_of(st, room->code);

	ext_mutex_lock(&slot->mutex);
	struct ext_code old = slot->known;
	copy_refs(&slot->known, room);
	ext_mutex_unlock(&slot->mutex);
	ext_code_clear(&old);
}

int ext_frame_code(struct ext_trees *st, PyObject *frame, struct ext_code *room)
{
	*room = (struct ext_code){.code = code_of(st, frame)};
	if (!room->code) {
		if (PyErr_ExceptionMatches(PyExc_AttributeError))
			PyErr_Format(PyExc_AttributeError, "frame is a frame, as sys._getframe() gives one, not %R",
				     frame);
		return -1;
	}
	if (is_known(st, room))
		return 0;
	if (describe(st, frame, room) < 0) {
		ext_code_clear(room);
		return -1;
	}
	if ((PyObject *)Py_TYPE(room->code) == st->code_type)
		remember(st, room);
	return 0;
}

int ext_file_ends_in(const struct ext_trees *st, const struct ext_code *code, PyObject *suffix)
{
	if (!code->filename)
		return 0;
	if (PyUnicode_CheckExact(code->filename) && PyUnicode_CheckExact(suffix))
		return (int)PyUnicode_Tailmatch(code->filename, suffix, 0, PY_SSIZE_T_MAX, 1);
	PyObject *answer = PyObject_CallMethodObjArgs(code->filename, st->endswith, suffix, NULL);
	if (!answer)
		return -1;
	int r = PyObject_IsTrue(answer);
	Py_DECREF(answer);
	return r;
}

const char ext_identifier_doc[] = "identifier($module, frame, /)\n--\n\n"
				  "The key of a frame's function in a tree: name;file;first line.";

PyObject *ext_identifier(PyObject *module, PyObject *frame)
{
	struct ext_code room;

	if (frame == Py_None)
		return PyUnicode_FromString("None");
	if (ext_frame_code(ext_trees_of(module), frame, &room) < 0)
		return NULL;
	PyObject *identifier = room.identifier;
	Py_INCREF(identifier);
	ext_code_clear(&room);
	return identifier;
}
