/* SPDX-License-Identifier: Apache-2.0 */
/* What the files value*.c share: one rendering under way, kinds of types, and the texts of plain values. Two sorts of
 * failure are kept apart: what cannot be read becomes part of the text (pl_render_broken); errors that functions return
 * are those of the output buffer. */
#ifndef PL_VALUE_PARTS_H
#define PL_VALUE_PARTS_H

#include "value.h"

#define PL_VALUE_DEPTH_MAX 16
#define PL_VALUE_WINDOW	   128

enum pl_value_kind {
	PL_KIND_OBJECT,
	/* plain: told by one text */
	PL_KIND_NONE,
	PL_KIND_CONSTANT, /* Ellipsis, NotImplemented */
	PL_KIND_BOOL,
	PL_KIND_INT,
	PL_KIND_SMALL_INT, /* the int of 2.7, whose long is as the int of 3.x */
	PL_KIND_FLOAT,
	PL_KIND_COMPLEX,
	PL_KIND_STR,
	PL_KIND_BYTES,
	PL_KIND_BYTEARRAY,
	PL_KIND_LAST_PLAIN = PL_KIND_BYTEARRAY,
	PL_KIND_TUPLE,
	PL_KIND_LIST,
	PL_KIND_SET,
	PL_KIND_FROZENSET,
	PL_KIND_DICT,
	PL_KIND_DEQUE,
	PL_KIND_EXCEPTION,
	PL_KIND_CLASS,
	PL_KIND_FUNCTION,
	PL_KIND_METHOD,
	PL_KIND_GENERATOR, /* and coroutines of either kind */
	PL_KIND_MODULE,
	PL_KIND_LOCK,	   /* Lock or RLock in C: lock.h tells them apart */
	PL_KIND_OLD_CLASS, /* 2.7: made by `class A:` */
	PL_KIND_OLD_INSTANCE,
};

/** One value being told. `mem` counts the reads of `values` down and fails with pl_err_limit at 0. The words of an
 * object are read one after the other: a window on what follows the last address serves most of them, of one moment. */
struct pl_render {
	struct pl_mem mem;
	uint32_t reads_left;
	uint32_t window_len;
	pl_addr window;
	uint8_t window_bytes[PL_VALUE_WINDOW];
	struct pl_values *v;
	struct pl_buf *out;
	size_t out_start;
	pl_addr inside[PL_VALUE_DEPTH_MAX]; /* the containers around the value */
	uint32_t depth;
};

/** The type of an object, from the cache or read. Read errors only. */
struct plumb_error *pl_type_of(struct pl_render *r, pl_addr obj, struct pl_value_type *ret) PLUMB_MUST_CHECK;
/** The same of a type object itself. */
struct plumb_error *pl_type_read(struct pl_render *r, pl_addr type, struct pl_value_type *ret) PLUMB_MUST_CHECK;

/** "app.User" of an old-style class of 2.7. Read errors only. */
struct plumb_error *pl_old_class_name(struct pl_render *r, pl_addr class,
				      char name[static PL_TYPE_NAME]) PLUMB_MUST_CHECK;

/** A C string, cut to @p size - 1. Read errors only. */
struct plumb_error *pl_read_c_string(struct pl_render *r, pl_addr addr, char *text, size_t size) PLUMB_MUST_CHECK;
/** Names come from the target's memory and go to a terminal. False if it is empty, no UTF-8, or holds what hides. A
 * name of @p size - 1 bytes that was cut inside a character loses the rest of that. */
bool pl_clean_name(char *name, size_t size);

/** Has the text of the value reached its maximum? */
bool pl_render_full(const struct pl_render *r);
/** Take a read error and write what it means in place of the value. */
struct plumb_error *pl_render_broken(struct pl_render *r, struct plumb_error *err) PLUMB_MUST_CHECK;

/** Code points that change how the text around them looks, or how a terminal behaves. */
bool pl_char_is_hidden(uint32_t c);
/** Plain values; the caller has found the kind. */
struct plumb_error *pl_render_small_int(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_int(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_bool(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_float(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_complex(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_str(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_bytes(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_bytearray(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
/** A str without quotes, escaped all the same. */
struct plumb_error *pl_render_bare_str(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
/** As repr(float): "0.1", "1e+16", "nan". */
void pl_format_double(double d, char ret[static 48]);

/** Any value. @p secret: what it is named says that it must not be told. */
struct plumb_error *pl_render_value(struct pl_render *r, pl_addr obj, bool secret) PLUMB_MUST_CHECK;
/** Containers and all else that is no plain value: value_items.c, value_object.c. */
struct plumb_error *pl_render_container(struct pl_render *r, pl_addr obj,
					const struct pl_value_type *type) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_object(struct pl_render *r, pl_addr obj,
				     const struct pl_value_type *type) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_old_class(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_old_instance(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_module(struct pl_render *r, pl_addr obj) PLUMB_MUST_CHECK;
struct plumb_error *pl_render_lock(struct pl_render *r, pl_addr obj, const struct pl_value_type *type) PLUMB_MUST_CHECK;
/** May the contents of @p obj be told? Not below the depth, not inside itself. If true, leave again. */
bool pl_render_enter(struct pl_render *r, pl_addr obj);
void pl_render_leave(struct pl_render *r);
uint32_t pl_render_items_max(const struct pl_render *r);
/** Is the object a str or bytes that names a secret? */
bool pl_render_names_secret(struct pl_render *r, pl_addr key);

#endif
