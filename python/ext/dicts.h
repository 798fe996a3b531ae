/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of dicts as they lie in memory, where that is known and was proved when the module was imported: reading one
 * takes a tenth of the time that a call takes. Everywhere else the functions here say so, and the API is used. */
#ifndef PLUMB_EXT_DICTS_H
#define PLUMB_EXT_DICTS_H

#include "trees.h"

#include <stdint.h>

enum ext_dict_layout { EXT_DICT_UNKNOWN, EXT_DICT_38, EXT_DICT_311 };
extern enum ext_dict_layout ext_dict_layout; /* one for the process: that is of one release */

#define EXT_DICT_USED	16 /* offsets in a dict */
#define EXT_DICT_KEYS	32
#define EXT_DICT_VALUES 40

/** Of a dict: key and value of entry i are at[i * step] and at[i * step + 1]; both are NULL where one was deleted. */
struct ext_entries {
	PyObject **at;
	Py_ssize_t count;
	int step;
};

static inline void *ext_word(const void *object, size_t offset)
{
	return *(void *const *)((const char *)object + offset);
}

static inline size_t ext_index_size_38(size_t slots)
{
	return slots <= 0xff ? slots : slots <= 0xffff ? 2 * slots : slots <= 0xffffffff ? 4 * slots : 8 * slots;
}

/* Of a dict with entries that can be read. */
static inline void ext_entries_of(PyObject *dict, struct ext_entries *ret)
{
	char *keys = ext_word(dict, EXT_DICT_KEYS);

	if (ext_dict_layout == EXT_DICT_311) {
		bool has_hashes = keys[10] == 0;
		ret->count = (Py_ssize_t)ext_word(keys, 24);
		ret->at = (PyObject **)(keys + 32 + ((size_t)1 << keys[9])) + has_hashes;
		ret->step = 2 + has_hashes;
	} else {
		ret->count = (Py_ssize_t)ext_word(keys, 32);
		ret->at = (PyObject **)(keys + 40 + ext_index_size_38((size_t)ext_word(keys, 8))) + 1;
		ret->step = 3;
	}
}

/** Whether it is a dict whose entries can be read; they are there until the dict is changed. */
static inline bool ext_entries(PyObject *dict, struct ext_entries *ret)
{
	if (!PyDict_CheckExact(dict) || !ext_dict_layout || ext_word(dict, EXT_DICT_VALUES))
		return false;
	ext_entries_of(dict, ret);
	return true;
}

/** The same where there is at least one; nothing is read but the dict itself. */
static inline bool ext_has_entries(PyObject *dict)
{
	return PyDict_CheckExact(dict) && ext_dict_layout && !ext_word(dict, EXT_DICT_VALUES) &&
	       ext_word(dict, EXT_DICT_USED);
}

/** The value of a node's @p key, borrowed, where the last node had it if there; NULL: it must be asked for. Runs
 * nobody's code. */
static inline PyObject *ext_field(PyObject *node, PyObject *key, Py_ssize_t *last)
{
	struct ext_entries e;

	if (!ext_entries(node, &e))
		return NULL;
	if (*last < e.count && e.at[*last * e.step] == key)
		return e.at[*last * e.step + 1];
	for (Py_ssize_t i = 0; i < e.count; i++)
		if (e.at[i * e.step] == key) {
			*last = i;
			return e.at[i * e.step + 1];
		}
	return NULL;
}

/** Where nodes have had their fields lately; all 0 at the beginning. */
struct ext_shape {
	unsigned char count, identifier, description, children;
};

/** Fields of a node, borrowed. */
struct ext_fields {
	PyObject *count, *identifier, *description, *children;
};

/** 1: they are there; 0: they must be asked for one by one. Runs nobody's code. */
bool ext_fields(const struct ext_trees *st, struct ext_shape *s, PyObject *node, struct ext_fields *ret);

#define EXT_TOUCHED 32

/** Have up to EXT_TOUCHED dicts and their first and last entries in the cache: waits for all of them at once. */
void ext_touch(PyObject *const *dicts, size_t count);

/** Find out about the layout. -1 is an exception. */
int ext_dicts_init(void);

#endif
