/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the extension module share. Limited API of CPython 3.8: one file for all releases with a GIL; for
 * free-threaded ones it is built with their own headers.
 *
 * All of it runs with the GIL, or where there is none as an attached thread, unless it says otherwise. A function that
 * returns int gives -1 with an exception set; one that returns an object gives NULL then. */
#ifndef PLUMB_EXT_H
#define PLUMB_EXT_H

#include "gil.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

#include <plumb/plumb.h>

/* A row for each string that is looked up in dicts or as an attribute. */
#define EXT_NAMES(X)                                                                                                   \
	X(count);                                                                                                      \
	X(children);                                                                                                   \
	X(identifier);                                                                                                 \
	X(description);                                                                                                \
	X(filename);                                                                                                   \
	X(name);                                                                                                       \
	X(line);                                                                                                       \
	X(line_number);                                                                                                \
	X(f_back);                                                                                                     \
	X(f_code);                                                                                                     \
	X(co_name);                                                                                                    \
	X(co_filename);                                                                                                \
	X(co_firstlineno);                                                                                             \
	X(endswith)

#define EXT_CODES   4096 /* a power of two */
#define EXT_GUESSES 256

/** As PyMem_Calloc, which headers of 3.8 and 3.9 do not declare for the limited API. */
static inline void *ext_calloc(size_t count, size_t size)
{
	void *p = count <= PY_SSIZE_T_MAX / size ? PyMem_Malloc(count * size) : NULL;

	return p ? memset(p, 0, count * size) : NULL;
}

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
struct ext_state {
#define EXT_NAME(s) PyObject *s
	EXT_NAMES(EXT_NAME);
#undef EXT_NAME
	PyObject *semicolon, *zero, *one;
	PyObject *frame_type, *code_type;
	/* of plumb._frames */
	PyObject *info_frame, *builtin_identifier, *recorded_line;
	PyObject *color_of;				 /* of plumb._plot */
	PyObject *gc_isenabled, *gc_disable, *gc_enable; /* of gc */
	PyObject *merged;				 /* a node with the keys in merge()'s order, to be copied */
	PyObject *error, *profile_type, *session_type;
	struct ext_code_slot *codes;
	PyObject *guesses[EXT_GUESSES]; /* of process.c; not to be looked into */
};

static inline struct ext_state *ext_state_of(PyObject *module)
{
	return PyModule_GetState(module);
}

/* types.c */

/** A type whose objects know the module they are of: ext_module_of(type). */
PyObject *ext_new_type(PyObject *module, PyType_Spec *spec);
/** The module of a type that ext_new_type() made, a new reference. */
PyObject *ext_module_of(PyTypeObject *type);
/** The tp_new of a type whose objects come from functions only. */
PyObject *ext_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
/** What every object of such a type refers to, to be visited by its tp_traverse. */
int ext_visit_type(PyObject *self, visitproc visit, void *arg);

/* fields.c: nodes are dicts; any other mapping works, too, slowly. */

/** node[key], a new reference. */
PyObject *ext_get(PyObject *node, PyObject *key);
/** node.get(key), a new reference; *ret is NULL if there is none. */
int ext_find(PyObject *node, PyObject *key, PyObject **ret);
int ext_set(PyObject *node, PyObject *key, PyObject *value);
/** node.setdefault(key, value), a new reference. */
PyObject *ext_add(PyObject *node, PyObject *key, PyObject *value);
/** node[key] += 1; between ext_trees_begin() and ext_trees_end(), which it leaves for nodes and numbers of others. */
int ext_increment(const struct ext_state *st, PyObject *node, PyObject *key);
/** Of a mapping, a dict to iterate over: itself or a copy. A new reference. */
PyObject *ext_as_dict(PyObject *mapping);
/** With a TypeError or KeyError set: say that @p tree is no tree, if that is why. */
void ext_explain_tree(const struct ext_state *st, PyObject *tree);
/** A fresh empty tree, as create() gives it. */
PyObject *ext_create(const struct ext_state *st);

/* gc.c */

/** Let no collection begin, however many objects are made, where it could. Whether there is something to resume; -1 is
 * an exception. */
int ext_pause_gc(const struct ext_state *st);
/** After ext_pause_gc() gave @p paused. An exception that is set stays. */
void ext_resume_gc(const struct ext_state *st, int paused);

/* frames.c: frames and code objects, real ones or what looks like one. */

/** Frame that called @p frame; *ret is NULL if there is none. A new reference. */
int ext_frame_back(const struct ext_state *st, PyObject *frame, PyObject **ret);
/** A borrowed view of what is known of the frame's code object: @p room keeps it alive and must be cleared. */
int ext_frame_code(struct ext_state *st, PyObject *frame, struct ext_code *room);
void ext_code_clear(struct ext_code *room);
/** Whether the file of a code object ends in @p suffix; one without a file never does. */
int ext_file_ends_in(const struct ext_state *st, const struct ext_code *code, PyObject *suffix);

/* errors.c */

PyObject *ext_new_error(void);
/** Raise what @p err says and free it; gives NULL. */
PyObject *ext_raise(const struct ext_state *st, struct plumb_error *err);

/* library_lock.c: without the GIL. One that somebody held while the process forked is free in the child. */

struct ext_lock {
	pthread_mutex_t mutex;
	_Atomic(pid_t) pid; /* of the process in which somebody may hold it */
};

void ext_lock_init(struct ext_lock *l);
void ext_lock_deinit(struct ext_lock *l);
void ext_lock(struct ext_lock *l);
void ext_unlock(struct ext_lock *l);

/* sink.c */

/** Where to: a file of that name, or else a descriptor. */
struct ext_place {
	const char *path;
	enum plumb_output_name name;
	int fd;
};
/** From "chosen", "named" or "forced". */
int ext_choose_name(const char *word, enum plumb_output_name *ret);
/** Called without the GIL. */
typedef struct plumb_error *ext_writer(void *ctx, int fd);
/** Let @p fn write; None. @p to NULL: what it wrote, as bytes. */
PyObject *ext_write(const struct ext_state *st, const struct ext_place *to, ext_writer *fn, void *ctx);

/* report.c: the options of plumb report, from keywords. */

#define EXT_NOTES 8

struct ext_words {
	PyObject *bytes; /* a list, which owns the words */
	const char **words;
	size_t count;
};

/** From one word or several; none for NULL and None. To be freed by ext_words_deinit() in any case. */
int ext_words_init(struct ext_words *w, PyObject *words);
void ext_words_deinit(struct ext_words *w);

struct ext_report {
	struct plumb_report_options options;
	struct ext_words threads, processes, modules, tags, own;
	PyObject *focus, *ignore, *recording, *made_by; /* bytes */
	char *notes[EXT_NOTES];				/* what options.note was told */
	size_t note_count;
};

/** @p kwargs may be NULL. To be freed by ext_report_deinit() in any case. */
int ext_report_init(struct ext_report *r, PyObject *kwargs);
void ext_report_deinit(struct ext_report *r);

/* profile_type.c, session_type.c, profile_tree.c */

extern PyType_Spec ext_profile_spec, ext_session_spec;

/** A Profile of @p p, which is the session's if there is one: then that goes with it, else the profile does. Takes both
 * over, also when it fails. */
PyObject *ext_profile_new(PyObject *module, struct plumb_profile *p, struct plumb_session *session);

/** That of an object, which keeps it, and its lock; TypeError for another type. */
const struct plumb_profile *ext_profile_of(const struct ext_state *st, PyObject *o, struct ext_lock **lock_ret);

/** @p omit and @p stop as in process(); @p depth is negative for all. @p lock is that of the profile. */
struct ext_tree_options {
	PyObject *omit, *stop; /* NULL: none */
	Py_ssize_t depth;
	bool lines; /* look up the text of lines */
};
PyObject *ext_tree(const struct ext_state *st, const struct plumb_profile *p, struct ext_lock *lock,
		   const struct ext_tree_options *o);

PyObject *ext_identifier(PyObject *module, PyObject *frame);
PyObject *ext_process(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_merge(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_pack(PyObject *module, PyObject *trees);
PyObject *ext_plot_data(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_allow_tracer(PyObject *module, PyObject *pid);
/** ({name: suffix} of the formats that a profile is written in, of those that are read, of those of a comparison) */
PyObject *ext_formats(PyObject *module, PyObject *none);

PyObject *ext_add_up(PyObject *module, PyObject *args);
PyObject *ext_compare(PyObject *module, PyObject *args, PyObject *kwargs);

extern const char ext_add_up_doc[], ext_compare_doc[], ext_identifier_doc[], ext_process_doc[], ext_merge_doc[],
	ext_pack_doc[], ext_plot_data_doc[], ext_allow_tracer_doc[];

#endif
