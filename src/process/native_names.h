/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions of the interpreter are for, by their names. Pure. */
#ifndef PL_NATIVE_NAMES_H
#define PL_NATIVE_NAMES_H

#include <stdbool.h>

/** The eval loop, or a part of it that the compiler has cut off. */
bool pl_native_is_eval(const char *name);
/** Where a native function stands in its stack. */
struct pl_native_role {
	bool interpreter; /* it is a function of the interpreter: of the program, or of libpython */
	bool inner;	  /* Python frames are inside of it */
	bool outer;	  /* it is inside of Python frames */
	bool root;	  /* one of the two outermost of a stack without Python frames, and not all of it */
	bool passes_on;	  /* it evaluates Python frames, or has only to return: whatever its name */
};

/** Does it say something of the program? @p path: of its file; @p name: NULL, it has none. */
bool pl_native_is_shown(const struct pl_native_role *r, const char *path, const char *name);

/** Does it only pass a call on: to Python code, or from it to a function of C? Hidden, as it says nothing of the
 * program. */
bool pl_native_is_plumbing(const char *name);
/** The same of a function that was compiled into another one, which is of the interpreter, or of an extension, that has
 * them from Python's headers. */
bool pl_native_is_plumbing_inlined(const char *name, bool interpreter);
/** Is the file at @p path an interpreter, by what it is called: python3.12, libpython3.12.so.1.0? */
bool pl_native_is_python_file(const char *path);
/** Is the file at @p path the library of greenlets? They have a C stack in turns: greenlet, gevent, eventlet. */
bool pl_native_has_greenlets(const char *path);
/** Is it what starts a program or a thread, whatever that does? Of the C library. */
bool pl_native_is_start(const char *name);

#endif
