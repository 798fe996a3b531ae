/* SPDX-License-Identifier: Apache-2.0 */
/* Python's marshal format, versions 0 to 5, token by token: what holds tokens is for the caller to keep. */
#ifndef PL_MARSHAL_H
#define PL_MARSHAL_H

#include <stdbool.h>

#include "cursor.h"
#include "error.h"
#include "vec.h"

enum pl_marshal_kind {
	PL_MARSHAL_OTHER, /* None, True, ... */
	PL_MARSHAL_END,	  /* of a dictionary */
	PL_MARSHAL_INT,
	PL_MARSHAL_FLOAT,
	PL_MARSHAL_TEXT,  /* or bytes */
	PL_MARSHAL_TUPLE, /* or list; `count` items follow */
	PL_MARSHAL_DICT,  /* keys and values follow up to END */
	PL_MARSHAL_KEPT,  /* what the caller has made of a tuple, met again */
};

#define PL_MARSHAL_NO_REF UINT32_MAX

struct pl_marshal_token {
	enum pl_marshal_kind kind;
	double number;	     /* of INT and FLOAT */
	const uint8_t *text; /* of TEXT */
	uint32_t count;	     /* bytes of TEXT, items of TUPLE */
	uint32_t ref;	     /* by what number it can be met again; PL_MARSHAL_NO_REF: by none */
	bool interned;	     /* the number is one of those that count apart */
	uint32_t kept;	     /* of KEPT, and of a TEXT that was kept */
	bool has_kept;	     /* of TEXT */
};

struct pl_marshal {
	struct pl_cursor in;
	const uint8_t *start;
	PL_VEC(struct pl_marshal_token) refs;
	PL_VEC(struct pl_marshal_token) interned; /* versions 1 and 2 count interned texts apart */
};

/** The bytes are borrowed. */
void pl_marshal_init(struct pl_marshal *m, const uint8_t *bytes, size_t len);
void pl_marshal_deinit(struct pl_marshal *m);
/** Errors: PLUMB_ERR_TRUNCATED, PLUMB_ERR_CORRUPT with the byte in the message, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_marshal_next(struct pl_marshal *m, struct pl_marshal_token *ret) PLUMB_MUST_CHECK;
/** Whoever meets the tuple @p ref again shall get a KEPT with @p kept. */
void pl_marshal_keep(struct pl_marshal *m, uint32_t ref, uint32_t kept);
/** Whoever meets the text @p t again, which may be long, shall get it with @p kept. */
void pl_marshal_keep_text(struct pl_marshal *m, const struct pl_marshal_token *t, uint32_t kept);
/** PLUMB_ERR_CORRUPT: "byte 12: @p what". */
struct plumb_error *pl_marshal_fail(const struct pl_marshal *m, const char *what) PLUMB_MUST_CHECK;

#endif
