/* SPDX-License-Identifier: Apache-2.0 */
/* Pull parser for JSON that may be anything: one token at a time, no tree. Strict RFC 8259, but for a byte order mark
 *at the start, which is skipped, and bytes of strings that are no UTF-8, which are kept.
 *
 * Most readers need no more than pl_json_reader_next(), _object() and _array():
 *
 *	static const struct pl_json_field fields[] = {{"name", read_name}, {"frames", read_frames}, {NULL, NULL}};
 *	err = pl_json_reader_next(&r);
 *	if (!err)
 *		err = pl_json_reader_object(&r, fields, ctx);
 *
 * A function that reads a value is called with its first token in r->token; of a container it may read all, a part or
 * nothing: the rest is skipped. */
#ifndef PL_JSON_READER_H
#define PL_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/* Trees of stacks are as deep as those: two containers a frame. */
#define PL_JSON_DEPTH_MAX 16384

enum pl_json_token {
	PL_JSON_END, /* after the value that is the document; before the first token */
	PL_JSON_OBJECT,
	PL_JSON_OBJECT_END,
	PL_JSON_ARRAY,
	PL_JSON_ARRAY_END,
	PL_JSON_KEY, /* its text is in str */
	PL_JSON_STRING,
	PL_JSON_NUMBER, /* its text is in str; see pl_json_reader_i64() and its neighbours */
	PL_JSON_BOOL,
	PL_JSON_NULL,
};

struct pl_json_reader {
	enum pl_json_token token;
	const char *str; /* unescaped, may hold NUL, is not terminated; valid up to the next token */
	size_t str_len;
	bool boolean;
	size_t offset; /* of the token, from the start of the document */
	int depth;     /* containers that are open */

	const uint8_t *bytes;
	size_t len, at;
	uint8_t expects;			  /* private */
	uint8_t in_object[PL_JSON_DEPTH_MAX / 8]; /* a bit for each container */
	struct pl_buf text;
};

/** @p bytes stay the caller's, and must live as long as the reader. */
void pl_json_reader_init(struct pl_json_reader *r, const void *bytes, size_t len);
void pl_json_reader_deinit(struct pl_json_reader *r);

/** Take the next token; at the end of the document PL_JSON_END, again and again.
 * Errors: PLUMB_ERR_CORRUPT with the place; PLUMB_ERR_LIMIT for more than PL_JSON_DEPTH_MAX containers in each other;
 * PLUMB_ERR_NO_MEMORY. After an error the reader may only be destroyed. */
struct plumb_error *pl_json_reader_next(struct pl_json_reader *r) PLUMB_MUST_CHECK;
/** Skip what is left of the value that the current token begins. */
struct plumb_error *pl_json_reader_skip(struct pl_json_reader *r) PLUMB_MUST_CHECK;

/** Skip it without a look at what is in it, but for where it ends: several times as fast, for who reads the document
 * twice. Errors: PLUMB_ERR_CORRUPT if it does not end. */
struct plumb_error *pl_json_reader_pass(struct pl_json_reader *r) PLUMB_MUST_CHECK;
/** The text of the array that the current token begins, up to the first bracket that closes one. An array that has the
 * same text as one that was read, and ended there, has the same items, and need not be read: pl_json_reader_end() goes
 * behind it. False: there is no such bracket. */
bool pl_json_reader_text(const struct pl_json_reader *r, const char **text, size_t *len);
/** The same up to the bracket that closes this array, where there may be others in it. Looks at each byte. */
bool pl_json_reader_whole_text(struct pl_json_reader *r, const char **text, size_t *len);
void pl_json_reader_end(struct pl_json_reader *r, size_t len);

typedef struct plumb_error *pl_json_value_fn(struct pl_json_reader *r, void *ctx);
struct pl_json_field {
	const char *key;
	pl_json_value_fn *read;
};
/** The current token begins an object: read it; members that are not in @p fields (ends with a NULL key) are skipped.
 * Errors: PLUMB_ERR_CORRUPT if it is no object, those of the functions. */
struct plumb_error *pl_json_reader_object(struct pl_json_reader *r, const struct pl_json_field *fields,
					  void *ctx) PLUMB_MUST_CHECK;
/** The current token begins an array: give each item to @p fn. */
struct plumb_error *pl_json_reader_array(struct pl_json_reader *r, pl_json_value_fn *fn, void *ctx) PLUMB_MUST_CHECK;

/** Whether the current token is the key or the string @p s. */
bool pl_json_reader_is(const struct pl_json_reader *r, const char *s);
/* The current token as a number; false (*ret untouched) if it is none or does not fit. */
bool pl_json_reader_double(const struct pl_json_reader *r, double *ret);
bool pl_json_reader_i64(const struct pl_json_reader *r, int64_t *ret); /* only if it is an integer: 10, 1e1, 10.0 */
bool pl_json_reader_u64(const struct pl_json_reader *r, uint64_t *ret);
/** The number times 10 ^ @p digits, decimally exact and then rounded half up: milliseconds with 6 are nanoseconds. */
bool pl_json_reader_scaled(const struct pl_json_reader *r, int digits, int64_t *ret);

/** An error at the current token: PLUMB_ERR_CORRUPT "line 3, column 14: ...". */
struct plumb_error *pl_json_reader_fail(const struct pl_json_reader *r, const char *fmt, ...)
	PL_PRINTF(2, 3) PLUMB_MUST_CHECK;

#endif
