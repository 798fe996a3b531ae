/* SPDX-License-Identifier: Apache-2.0 */
/* plumb._plumb: sessions, profiles, reports, comparisons, errors and tags, over libplumb. */
#ifndef PLUMB_EXT_PROFILER_H
#define PLUMB_EXT_PROFILER_H

#include "ext.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include <plumb/plumb.h>

/** One for each interpreter that has imported the module. Objects only. */
struct ext_profiler {
	struct ext_keys key;
	struct ext_gc gc;
	PyObject *zero;
	PyObject *recorded_line; /* of plumb._frames */
	PyObject *error, *profile_type, *session_type;
	PyObject *cut;		     /* of plumb._texts */
	PyObject *heard, *listening; /* who is told of events, while that is True */
};

static inline struct ext_profiler *ext_profiler_of(PyObject *module)
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

/* errors.c */

PyObject *ext_new_error(void);
/** A text of libplumb's, in which there may be some of a program's or a file's, which may be anything, and cut. */
PyObject *ext_text(const char *text);
/** Raise what @p err says and free it; gives NULL. */
PyObject *ext_raise(const struct ext_profiler *st, struct plumb_error *err);

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
PyObject *ext_write(const struct ext_profiler *st, const struct ext_place *to, ext_writer *fn, void *ctx);

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

/* profile_type.c, session_type.c, held_file.c, profile_tree.c */

extern PyType_Spec ext_profile_spec, ext_session_spec, ext_held_file_spec;

/** A Profile of @p p, which is the session's if there is one: then that goes with it, else the profile does. Takes both
 * over, also when it fails. @p own: it is of this process, which chose the files that it names. */
PyObject *ext_profile_new(PyObject *module, struct plumb_profile *p, struct plumb_session *session, bool own);

/** What is missing of what was read, as the command line says it, is added to a list. -1 with an exception. */
int ext_tell_missing(const struct plumb_recording_info *info, PyObject *list);

/** That of an object, which keeps it, and its lock; TypeError for another type. */
const struct plumb_profile *ext_profile_of(const struct ext_profiler *st, PyObject *o, struct ext_lock **lock_ret);

/** @p omit and @p stop as in process(); @p depth is negative for all. @p lock is that of the profile. */
struct ext_tree_options {
	PyObject *omit, *stop; /* NULL: none */
	Py_ssize_t depth;
	bool lines; /* look up the text of lines: */
	bool own;   /* of files of this process, whose profile it is; else in the recording alone */
};
PyObject *ext_tree(const struct ext_profiler *st, const struct plumb_profile *p, struct ext_lock *lock,
		   const struct ext_tree_options *o);

/** ({name: suffix} of the formats that a profile is written in, of those that are read, of those of a comparison) */
PyObject *ext_formats(PyObject *module, PyObject *none);
/** Whether this plumb has that output format; else an exception. */
PyObject *ext_check_format(PyObject *module, PyObject *format);
/** Whether a file could be made, as Profile.save() would; else the exception that it would raise. */
PyObject *ext_try_output(PyObject *module, PyObject *args);
PyObject *ext_add_up(PyObject *module, PyObject *args);
PyObject *ext_compare(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_allow_tracer(PyObject *module, PyObject *pid);
PyObject *ext_started(PyObject *module, PyObject *pid);
PyObject *ext_signal_child(PyObject *module, PyObject *args);

extern const char ext_add_up_doc[], ext_compare_doc[], ext_allow_tracer_doc[], ext_started_doc[],
	ext_signal_child_doc[];

#endif
