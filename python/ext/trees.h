/* SPDX-License-Identifier: Apache-2.0 */
/* plumb._trees: the functions of distributed.profile, over trees that are Python's own dicts. It knows nothing of
 * libplumb: docs/design/019-the-extension.md */
#ifndef PLUMB_EXT_TREES_H
#define PLUMB_EXT_TREES_H

#include "ext.h"

/* A row for each string that is looked up as an attribute of frames and code objects. */
#define EXT_ATTRIBUTES(X)                                                                                              \
	X(f_back);                                                                                                     \
	X(f_code);                                                                                                     \
	X(co_name);                                                                                                    \
	X(co_filename);                                                                                                \
	X(co_firstlineno);                                                                                             \
	X(endswith)

#define EXT_CODES 4096 /* a power of two */

/** What is known of a code object. */
struct ext_code {
	PyObject *code; /* NULL: an empty slot */
	PyObject *identifier, *filename;
};

struct ext_code_slot {
	struct ext_mutex mutex;
	struct ext_code known;
};

/** One for each interpreter that has imported the module. */
struct ext_trees {
	struct ext_keys key;
	struct ext_gc gc;
#define EXT_ATTRIBUTE(s) PyObject *s
	EXT_ATTRIBUTES(EXT_ATTRIBUTE);
#undef EXT_ATTRIBUTE
	PyObject *semicolon, *zero, *one;
	PyObject *frame_type, *code_type;
	PyObject *info_frame, *builtin_identifier; /* of plumb._frames */
	PyObject *color_of;			   /* of plumb._plot */
	PyObject *merged;			   /* a node with the keys in merge()'s order, to be copied */
	struct ext_code_slot *codes;
};

static inline struct ext_trees *ext_trees_of(PyObject *module)
{
	return PyModule_GetState(module);
}

/* tree_fields.c */

/** node.setdefault(key, value), a new reference. */
PyObject *ext_add(PyObject *node, PyObject *key, PyObject *value);
/** node[key] += 1; between ext_trees_begin() and ext_trees_end(), which it leaves for nodes and numbers of others. */
int ext_increment(const struct ext_trees *st, PyObject *node, PyObject *key);
/** Of a mapping, a dict to iterate over: itself or a copy. A new reference. */
PyObject *ext_as_dict(PyObject *mapping);
/** With a TypeError or KeyError set: say that @p tree is no tree, if that is why. */
void ext_explain_tree(const struct ext_trees *st, PyObject *tree);

/* frames.c: frames and code objects, real ones or what looks like one. */

/** Frame that called @p frame; *ret is NULL if there is none. A new reference. */
int ext_frame_back(const struct ext_trees *st, PyObject *frame, PyObject **ret);
/** A borrowed view of what is known of the frame's code object: @p room keeps it alive and must be cleared. */
int ext_frame_code(struct ext_trees *st, PyObject *frame, struct ext_code *room);
void ext_code_clear(struct ext_code *room);
/** Whether the file of a code object ends in @p suffix; one without a file never does. */
int ext_file_ends_in(const struct ext_trees *st, const struct ext_code *code, PyObject *suffix);

PyObject *ext_identifier(PyObject *module, PyObject *frame);
PyObject *ext_process(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_merge(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_pack(PyObject *module, PyObject *trees);
PyObject *ext_as_bytes(PyObject *module, PyObject *tree);
PyObject *ext_packed(PyObject *module, PyObject *args);
PyObject *ext_plot_data(PyObject *module, PyObject *args, PyObject *kwargs);

extern const char ext_identifier_doc[], ext_process_doc[], ext_merge_doc[], ext_pack_doc[], ext_as_bytes_doc[],
	ext_packed_doc[], ext_plot_data_doc[];

#endif
