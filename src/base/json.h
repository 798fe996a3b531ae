/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming JSON writer to a stdio stream. Commas and nesting are its business; a misuse is an assert.
 * Text is bytes: valid UTF-8 is kept, anything else (bad bytes, lone surrogates) becomes U+FFFD. Also escapes controls,
 * U+2028/9 and '</'. */
#ifndef PL_JSON_H
#define PL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pl_json {
	FILE *out;
	int depth, indent;
	bool first[64], in_object[64], after_key;
};

void pl_json_init(struct pl_json *j, FILE *out, int indent /* 0: one line */);
void pl_json_object(struct pl_json *j);
void pl_json_object_end(struct pl_json *j);
void pl_json_array(struct pl_json *j);
void pl_json_array_end(struct pl_json *j);
void pl_json_key(struct pl_json *j, const char *key);
void pl_json_str(struct pl_json *j, const char *s);
void pl_json_strn(struct pl_json *j, const char *s, size_t len);
void pl_json_u64(struct pl_json *j, uint64_t v);
void pl_json_i64(struct pl_json *j, int64_t v);
void pl_json_double(struct pl_json *j, double v, int decimals); /* NaN and infinity: null */
/** v / 10 to the power of @p decimals, exactly: for times, of which there are millions. */
void pl_json_decimal(struct pl_json *j, uint64_t v, int decimals);
/** The shortest number that reads back as @p v. */
void pl_json_number(struct pl_json *j, double v); /* NaN and infinity: null */
void pl_json_bool(struct pl_json *j, bool v);
void pl_json_null(struct pl_json *j);

/* Members of an object: a key and its value. */
void pl_json_key_str(struct pl_json *j, const char *key, const char *s);
void pl_json_key_strn(struct pl_json *j, const char *key, const char *s, size_t len);
void pl_json_key_u64(struct pl_json *j, const char *key, uint64_t v);
void pl_json_key_i64(struct pl_json *j, const char *key, int64_t v);
void pl_json_key_double(struct pl_json *j, const char *key, double v, int decimals);
void pl_json_key_bool(struct pl_json *j, const char *key, bool v);
void pl_json_key_null(struct pl_json *j, const char *key);
/** null instead of a value that is not @p known; of a text that is NULL or empty. */
void pl_json_key_u64_or_null(struct pl_json *j, const char *key, bool known, uint64_t v);
void pl_json_key_str_or_null(struct pl_json *j, const char *key, const char *s);
/** A time since 1970 as "2024-02-29T23:59:59.000001Z"; null if the calendar does not reach so far. */
void pl_json_key_time(struct pl_json *j, const char *key, uint64_t real_ns);

#endif
