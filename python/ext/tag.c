/* SPDX-License-Identifier: Apache-2.0 */
/* Tags: the numbers that threads bear in a ContextVar, their texts, and where a session finds them. Extension module.
 *
 * The texts and the addresses are the process's: written with the GIL, read without it by the threads of sessions, and
 * never taken back, so that a session can outlive the interpreter that set a tag. With several interpreters only those
 * of the first that uses tags are found: each has a ContextVar of its own. */
#include "tag.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define TAGS_MAX	 4096
#define TAGS_REQUEST_MAX (TAGS_MAX / 2) /* of them, of web requests: who may send some must not take all */
#define TAGS_FIRST	 (PLUMB_TAG_OTHER + 1)
#define MEMORY_MAX	 65536

/* ---- the texts --------------------------------------------------------------------------------------------------- */

#define OTHER_TAGS "[other tags]"

static const struct {
	struct plumb_tag_texts head;
	char text[sizeof OTHER_TAGS];
} other = {{.text_len = sizeof OTHER_TAGS}, OTHER_TAGS};
static _Atomic(const struct plumb_tag_texts *) texts[TAGS_FIRST + TAGS_MAX] = {[PLUMB_TAG_OTHER] = &other.head};
static atomic_uint text_count = TAGS_FIRST, request_count;

static const struct plumb_tag_texts *texts_of(uint32_t id)
{
	return id < TAGS_FIRST + TAGS_MAX ? atomic_load_explicit(&texts[id], memory_order_acquire) : NULL;
}

static char *labels_in(const struct plumb_tag_texts *t)
{
	return (char *)(t + 1);
}

static bool text_of(void *ctx, uint32_t id, char *ret, size_t size)
{
	const struct plumb_tag_texts *t = texts_of(id);

	if (!t || t->text_len > size)
		return false;
	memcpy(ret, labels_in(t) + t->labels_len, t->text_len);
	return true;
}

static size_t labels_of(void *ctx, uint32_t id, char *ret, size_t size)
{
	const struct plumb_tag_texts *t = texts_of(id);

	if (!t || t->labels_len > size)
		return 0;
	memcpy(ret, labels_in(t), t->labels_len);
	return t->labels_len;
}

/* Count one more, unless there are so many; what the count was. Interpreters with a GIL each may do so at the same
 * time. */
static unsigned count_up(atomic_uint *count, unsigned most)
{
	unsigned was = atomic_load(count);

	while (was < most && !atomic_compare_exchange_weak(count, &was, was + 1))
		;
	return was;
}

static unsigned next_id(bool of_request)
{
	if (of_request && count_up(&request_count, TAGS_REQUEST_MAX) == TAGS_REQUEST_MAX)
		return PLUMB_TAG_OTHER;
	unsigned id = count_up(&text_count, TAGS_FIRST + TAGS_MAX);
	return id < TAGS_FIRST + TAGS_MAX ? id : PLUMB_TAG_OTHER;
}

/* Never freed once it has a number. NULL with an exception. */
static struct plumb_tag_texts *copy_texts(const char *shown, const char *labels, size_t labels_len)
{
	size_t len = strlen(shown) + 1;

	if (len > PLUMB_TAG_TEXT_BYTES || labels_len > PLUMB_TAG_LABEL_BYTES) {
		PyErr_SetString(PyExc_ValueError, "the text of a tag is too long");
		return NULL;
	}
	struct plumb_tag_texts *t = malloc(sizeof *t + labels_len + len);
	if (!t) {
		PyErr_NoMemory();
		return NULL;
	}
	*t = (struct plumb_tag_texts){(uint32_t)labels_len, (uint32_t)len};
	memcpy(labels_in(t), labels, labels_len);
	memcpy(labels_in(t) + labels_len, shown, len);
	return t;
}

static PyObject *new_tag(PyObject *module, PyObject *args)
{
	const char *shown, *labels;
	Py_ssize_t labels_len;
	int of_request;

	if (!PyArg_ParseTuple(args, "ss#p", &shown, &labels, &labels_len, &of_request))
		return NULL;
	struct plumb_tag_texts *copy = copy_texts(shown, labels, (size_t)labels_len);
	if (!copy)
		return NULL;
	unsigned id = next_id(of_request);
	if (id == PLUMB_TAG_OTHER)
		free(copy);
	else
		atomic_store_explicit(&texts[id], copy, memory_order_release);
	return PyLong_FromUnsignedLong(id);
}

/* ---- the object that bears a number ------------------------------------------------------------------------------ */

struct tag {
	PyObject_HEAD;
	uint32_t id; /* right behind the header, where the sampler looks */
};

static int tag_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"id", NULL};
	unsigned id;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "I", names, &id))
		return -1;
	((struct tag *)self)->id = id;
	return 0;
}

static PyObject *tag_get_id(PyObject *self, void *closure)
{
	return PyLong_FromUnsignedLong(((struct tag *)self)->id);
}

static PyObject *tag_set_id(PyObject *self, PyObject *arg)
{
	unsigned long id = PyLong_AsUnsignedLong(arg);

	if (PyErr_Occurred())
		return NULL;
	((struct tag *)self)->id = (uint32_t)id;
	Py_RETURN_NONE;
}

static PyMethodDef tag_methods[] = {
	{"set_id", tag_set_id, METH_O, "set_id($self, id, /)\n--\n\nGive it another number; 0: no tag."}, {0}};
static PyGetSetDef tag_fields[] = {{"id", tag_get_id, NULL, "Its number.", NULL}, {0}};

static PyType_Slot tag_slots[] = {
	{Py_tp_doc, "Tag(id)\n--\n\nWhat a thread bears in its context; `plumb.tag` makes them."},
	{Py_tp_init, (void *)tag_init},
	{Py_tp_getset, tag_fields},
	{Py_tp_methods, tag_methods},
	{0},
};

static PyType_Spec tag_spec = {
	.name = "plumb._plumb.Tag",
	.basicsize = sizeof(struct tag),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.slots = tag_slots,
};

/* ---- where sessions look ----------------------------------------------------------------------------------------- */

static struct plumb_tags place = {.header = sizeof(PyObject), .text = text_of, .labels = labels_of};
static _Atomic(PyObject *) place_var; /* whose place it is: lives as long as sessions may look for its address */

const struct plumb_tags *ext_tags(void)
{
	return &place;
}

/* Whoever was interrupted between this and the end may come again, with the same variable. */
static bool claim_place(PyObject *var)
{
	PyObject *nobody = NULL;

	if (atomic_compare_exchange_strong(&place_var, &nobody, var)) {
		Py_INCREF(var);
		return true;
	}
	if (nobody == var)
		return true;
	PyErr_SetString(PyExc_RuntimeError, "another interpreter of this process uses tags, or another copy of plumb");
	return false;
}

static PyObject *set_tag_place(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"var",	   "value_type", "bitmap_type", "array_type", "collision_type",
				"context", "vars",	 "root",	"type",	      NULL};
	struct plumb_tags p = place;
	PyObject *var, *value_type;
	unsigned long long bitmap, array, collision;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOKKKIIII", names, &var, &value_type, &bitmap, &array,
					 &collision, &p.context, &p.vars, &p.root, &p.type))
		return NULL;
	Py_hash_t hash = PyObject_Hash(var);
	if (hash == -1)
		return NULL;
	if (!claim_place(var))
		return NULL;
	if (__atomic_load_n(&place.ready, __ATOMIC_ACQUIRE))
		Py_RETURN_NONE; /* sessions look there, and have found it to be right */
	/* As hamt_hash() in Python/hamt.c, which avoids -1. */
	p.hash = (uint32_t)(uint64_t)hash ^ (uint32_t)((uint64_t)hash >> 32);
	p.hash = p.hash == UINT32_MAX ? UINT32_MAX - 1 : p.hash;
	p.var = (uintptr_t)var;
	p.value_type = (uintptr_t)value_type;
	p.bitmap_type = bitmap;
	p.array_type = array;
	p.collision_type = collision;
	place = p;
	Py_RETURN_NONE;
}

static PyObject *use_tag_place(PyObject *module, PyObject *none)
{
	__atomic_store_n(&place.ready, 1, __ATOMIC_RELEASE);
	Py_RETURN_NONE;
}

static PyObject *tag_table(PyObject *module, PyObject *none)
{
	static struct plumb_tag_table table = {PLUMB_TAG_TABLE_MAGIC, sizeof place, TAGS_FIRST + TAGS_MAX, 0, 0};

	table.place = (uintptr_t)&place;
	table.texts = (uintptr_t)texts;
	return PyLong_FromVoidPtr(__atomic_load_n(&place.ready, __ATOMIC_ACQUIRE) ? &table : NULL);
}

static PyObject *thread_state(PyObject *module, PyObject *none)
{
	return PyLong_FromVoidPtr(PyThreadState_Get());
}

static PyObject *find_tag(PyObject *module, PyObject *arg)
{
	unsigned long long tstate = PyLong_AsUnsignedLongLong(arg);
	uint32_t id = 0;

	if (PyErr_Occurred())
		return NULL;
	struct plumb_error *err = plumb_tags_find(&place, tstate, &id);
	if (!err)
		return PyLong_FromUnsignedLong(id);
	PyErr_SetString(PyExc_RuntimeError, plumb_error_message(err));
	plumb_error_destroy(err);
	return NULL;
}

/* Checked: what is not mapped is left out, with all that follows it. */
static PyObject *own_memory(PyObject *module, PyObject *args)
{
	unsigned long long address;
	unsigned size;

	if (!PyArg_ParseTuple(args, "KI", &address, &size))
		return NULL;
	char *room = PyMem_Malloc(size < MEMORY_MAX ? size + 1 : MEMORY_MAX);
	if (!room)
		return PyErr_NoMemory();
	struct iovec to = {room, size < MEMORY_MAX ? size : MEMORY_MAX},
		     from = {(void *)(uintptr_t)address, to.iov_len};
	ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	PyObject *ret = got < 0 && errno != EFAULT ? PyErr_SetFromErrno(PyExc_OSError)
						   : PyBytes_FromStringAndSize(room, got < 0 ? 0 : got);
	PyMem_Free(room);
	return ret;
}

static PyMethodDef methods[] = {
	{"new_tag", new_tag, METH_VARARGS,
	 "new_tag($module, text, labels, of_request, /)\n--\n\nA number for it; 1 when there are too many. At most "
	 "half "
	 "of all are of requests. labels: names and values, each with a NUL behind it."},
	{"set_tag_place", (PyCFunction)(void (*)(void))set_tag_place, METH_VARARGS | METH_KEYWORDS,
	 "set_tag_place(var, value_type, bitmap_type, array_type, collision_type, context, vars, root, type)\n--\n\n"
	 "Where find_tag() looks from now on. Once."},
	{"use_tag_place", use_tag_place, METH_NOARGS, "use_tag_place($module, /)\n--\n\nLet sessions look there, too."},
	{"tag_table", tag_table, METH_NOARGS,
	 "tag_table($module, /)\n--\n\nAddress of what a session of another process reads tags by; 0: there is none "
	 "yet."},
	{"find_tag", find_tag, METH_O, "find_tag($module, thread_state, /)\n--\n\nThe number a thread bears; 0: none."},
	{"thread_state", thread_state, METH_NOARGS, "thread_state($module, /)\n--\n\nAddress of the caller's."},
	{"own_memory", own_memory, METH_VARARGS,
	 "own_memory($module, address, size, /)\n--\n\nBytes, as far as mapped."},
	{0},
};

int ext_add_tags(PyObject *module)
{
	PyObject *type = PyType_FromSpec(&tag_spec);

	if (!type)
		return -1;
	if (PyModule_AddFunctions(module, methods) < 0 || PyObject_SetAttrString(module, "Tag", type) < 0) {
		Py_DECREF(type);
		return -1;
	}
	Py_DECREF(type);
	return 0;
}
