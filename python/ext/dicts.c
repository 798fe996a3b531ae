/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of dicts as they lie in memory. Module _trees; with the GIL.
 *
 * There are two layouts: that of 3.8 to 3.10 and that of 3.11 to 3.15. Which one holds is decided by the release, and
 * believed only when dicts of all sorts, read so, are what PyDict_Next() says they are. In a release that is not known,
 * or built otherwise, nothing is read. */
#include "dicts.h"

enum ext_dict_layout ext_dict_layout;

static enum ext_dict_layout by_release(void)
{
	int minor;

	if (sscanf(Py_GetVersion(), "3.%d", &minor) != 1 || strstr(Py_GetVersion(), "free-threading"))
		return EXT_DICT_UNKNOWN;
	if (minor >= 8 && minor <= 10)
		return EXT_DICT_38;
	return minor >= 11 && minor <= 15 ? EXT_DICT_311 : EXT_DICT_UNKNOWN;
}

/* A debug build may have more in front of each object. */
static int has_size_of_dict(void)
{
	PyObject *size = PyObject_GetAttrString((PyObject *)&PyDict_Type, "__basicsize__");
	long value = size ? PyLong_AsLong(size) : -1;

	Py_XDECREF(size);
	return value == -1 && PyErr_Occurred() ? -1 : value == 48 && sizeof(PyObject) == 16;
}

static bool is_read_right(PyObject *dict)
{
	struct ext_entries e;
	PyObject *key, *value;
	Py_ssize_t at = 0, i = 0;

	if (!ext_entries(dict, &e))
		return false;
	while (PyDict_Next(dict, &at, &key, &value)) {
		while (i < e.count && !e.at[i * e.step + 1])
			i++;
		if (i >= e.count || e.at[i * e.step] != key || e.at[i * e.step + 1] != value)
			return false;
		i++;
	}
	while (i < e.count && !e.at[i * e.step + 1])
		i++;
	return i == e.count;
}

static int add_entry(PyObject *dict, PyObject *key)
{
	PyObject *value = key ? PyTuple_Pack(1, key) : NULL;
	int r = value ? PyDict_SetItem(dict, key, value) : -1;

	Py_XDECREF(key);
	Py_XDECREF(value);
	return r;
}

/* Grow a dict entry by entry, with some deleted on the way; keys are all texts or also numbers. */
static int try_sizes(PyObject *dict, const char *format, bool *right)
{
	for (long i = 0; i < 300 && *right; i++) {
		PyObject *key = i % 7 == 3 && !*format ? PyLong_FromLong(i) : PyUnicode_FromFormat("%ld", i);
		if (add_entry(dict, key) < 0)
			return -1;
		*right = is_read_right(dict);
		if (*right && i % 5 == 4) {
			PyObject *gone = PyUnicode_FromFormat("%ld", i);
			int r = gone ? PyDict_DelItem(dict, gone) : -1;
			Py_XDECREF(gone);
			if (r < 0 && !PyErr_ExceptionMatches(PyExc_KeyError))
				return -1;
			PyErr_Clear();
			*right = is_read_right(dict);
		}
	}
	return 0;
}

static int try_layout(bool *right)
{
	int r = 0;

	for (int texts = 0; r == 0 && *right && texts < 2; texts++) {
		PyObject *dict = PyDict_New();
		r = dict ? try_sizes(dict, texts ? "%ld" : "", right) : -1;
		Py_XDECREF(dict);
	}
	return r;
}

int ext_dicts_init(void)
{
	int usual = has_size_of_dict();
	bool right = true;

	if (usual < 0)
		return -1;
	ext_dict_layout = usual ? by_release() : EXT_DICT_UNKNOWN;
	int r = ext_dict_layout ? try_layout(&right) : 0;
	if (r < 0 || !right)
		ext_dict_layout = EXT_DICT_UNKNOWN;
	return r;
}

/* Where the four are; false if that cannot be told by comparing addresses. */
static bool find_shape(const struct ext_trees *st, const struct ext_entries *e, struct ext_shape *ret)
{
	unsigned found = 0;

	for (Py_ssize_t i = 0; i < e->count && i < UINT8_MAX; i++) {
		PyObject *key = e->at[i * e->step];
		if (key == st->key.count)
			ret->count = (unsigned char)i, found |= 1;
		else if (key == st->key.identifier)
			ret->identifier = (unsigned char)i, found |= 2;
		else if (key == st->key.description)
			ret->description = (unsigned char)i, found |= 4;
		else if (key == st->key.children)
			ret->children = (unsigned char)i, found |= 8;
	}
	return found == 15;
}

static bool has_shape(const struct ext_trees *st, const struct ext_entries *e, const struct ext_shape *s)
{
	return s->count < e->count && s->identifier < e->count && s->description < e->count && s->children < e->count &&
	       e->at[s->count * e->step] == st->key.count && e->at[s->identifier * e->step] == st->key.identifier &&
	       e->at[s->description * e->step] == st->key.description &&
	       e->at[s->children * e->step] == st->key.children;
}

/* First where the last node had them. */
static bool take_shape(const struct ext_trees *st, const struct ext_entries *e, struct ext_shape *s)
{
	return has_shape(st, e, s) || find_shape(st, e, s);
}

bool ext_fields(const struct ext_trees *st, struct ext_shape *s, PyObject *node, struct ext_fields *ret)
{
	struct ext_entries e;

	if (!ext_entries(node, &e) || !take_shape(st, &e, s))
		return false;
	*ret = (struct ext_fields){
		.count = e.at[s->count * e.step + 1],
		.identifier = e.at[s->identifier * e.step + 1],
		.description = e.at[s->description * e.step + 1],
		.children = e.at[s->children * e.step + 1],
	};
	return true;
}

/* No branch depends on what is not in the cache yet, for it would be waited for. */
void ext_touch(PyObject *const *dicts, size_t count)
{
	PyObject *filled[EXT_TOUCHED];
	struct ext_entries e[EXT_TOUCHED];
	size_t some = 0;
	uintptr_t unused = 0;

	for (size_t i = 0; i < count; i++)
		unused ^= (uintptr_t)Py_TYPE(dicts[i]);
	for (size_t i = 0; i < count; i++) {
		filled[some] = dicts[i];
		some += ext_has_entries(dicts[i]);
	}
	for (size_t i = 0; i < some; i++)
		ext_entries_of(filled[i], &e[i]);
	for (size_t i = 0; i < some; i++)
		unused ^= (uintptr_t)e[i].at[0] ^ (uintptr_t)e[i].at[e[i].step * (e[i].count - 1) + 1];
	__asm__ volatile("" : : "r"(unused));
}
