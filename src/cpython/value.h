/* SPDX-License-Identifier: Apache-2.0 */
/* An object of the target as a short text, made by reading its memory: no code of the target ever runs (no repr, no
 * property, no __getattr__).
 *
 * - numbers, None, True, Ellipsis: as Python writes them; an int too long for the limit by its size: <int, 4000 bits>
 * - str, bytes, bytearray: 'quoted', escaped as by repr, cut: 'abcdef'... (12345 characters)
 * - list, tuple, set, frozenset, dict: [1, 2, 3, ... 97 more]
 * - collections.deque: deque([1, 2])
 * - exceptions: ValueError('message')
 * - classes, functions, modules: <class 'app.User'>, <function load>, <module 'app'>
 * - Lock and RLock as Python does: <locked _thread.lock object at 0x7f...>
 * - anything else: <app.User name='x', age=3>, the first plain ones of its __slots__ and __dict__
 *
 * Texts and long ints of 2.7 are written as 2.7 does: 'bytes', u'text', 5L. Subclasses of a builtin show as it does,
 * with their own type in front: <app.Point (1, 2)>. What cannot be read says so in its place: <unreadable>. The text is
 * UTF-8 on one line: control characters and lone surrogates are escaped. */
#ifndef PL_VALUE_H
#define PL_VALUE_H

#include "buf.h"
#include "detect.h"

/** How much of one value is shown and read. Each bound holds by itself, whatever the memory says. */
struct pl_value_limits {
	uint32_t depth;	      /* containers and objects inside one another; deeper: [...], {...}, <app.User> */
	uint32_t items;	      /* items of one container, attributes of one object */
	uint32_t text_bytes;  /* of one str, bytes or int, before escaping */
	uint32_t total_bytes; /* of the whole text of one value, roughly; then "..." */
	uint32_t reads;	      /* of memory for one value; then "..." */
	bool show_secrets;    /* false: the value of a variable, attribute or key whose name tells a secret is *** */
};

/** The usual limits: depth 2, 8 items, 80 bytes of text, 400 bytes and 400 reads a value, secrets masked. */
extern const struct pl_value_limits pl_value_usual;

#define PL_VALUE_TYPES 64
#define PL_TYPE_NAME   104

/** What is known of one type: see value_type.c. */
struct pl_value_type {
	pl_addr type;
	uint64_t flags;
	uint32_t kind;		 /* enum pl_value_kind */
	bool builtin;		 /* the very type that the kind is named for, not a subclass */
	char name[PL_TYPE_NAME]; /* with its module: app.User; builtins without */
};

/** A reader of values of one target. Plain data: nothing to free. Not thread-safe. Make a new one for each dump: it
 * remembers types by their address. */
struct pl_values {
	struct pl_mem *mem;
	const struct pl_py *py;
	struct pl_value_limits limits;
	struct pl_value_type types[PL_VALUE_TYPES];
	uint32_t types_next;
};

/** @p limits NULL: the usual ones. @p mem and @p py must outlive it. */
void pl_values_init(struct pl_values *v, struct pl_mem *mem, const struct pl_py *py,
		    const struct pl_value_limits *limits);

/**
 * Append the text of the object at @p obj. @p name: the variable or attribute it was found under, for masking; NULL for
 * none. What is unreadable, damaged, deep, or long is told inside the text; errors are only PLUMB_ERR_NO_MEMORY and
 * PLUMB_ERR_LIMIT of @p ret, which then is as before.
 */
struct plumb_error *pl_value_add(struct pl_values *v, pl_addr obj, const char *name, size_t name_len,
				 struct pl_buf *ret) PLUMB_MUST_CHECK;

/** Append "app.User" of the object's type (not of a type object itself: its metatype); "?" if it cannot be read. */
struct plumb_error *pl_value_add_type(struct pl_values *v, pl_addr obj, struct pl_buf *ret) PLUMB_MUST_CHECK;

/** The same as text of its own; of an instance of an old-style class of 2.7 its class. False if it cannot be read. */
bool pl_value_type_name(struct pl_values *v, pl_addr obj, char ret[static PL_TYPE_NAME]);
/** Is the object of the class @p name ("threading.Event"), or of one that is derived from it? False also if it cannot
 * be read. */
bool pl_value_is_a(struct pl_values *v, pl_addr obj, const char *name);

#define PL_SECRET_NAME_MAX 1024 /* bytes of a name that are looked at; who has a longer one may be anything */

/** Does this name tell that its value is a secret (password, api_key, authToken, Set-Cookie, ...)? ASCII only, in any
 * case; by whole words where a part would say too much ("auth" is one, "author" is not). One that is too long does. */
bool pl_name_is_secret(const char *name, size_t len);

#endif
