/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a text that is read: neither copied nor ended by a NUL. */
#ifndef PL_SPAN_H
#define PL_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pl_span {
	const char *s;
	size_t len;
};

/** Take the next line off @p rest, without its '\n'; false at the end. */
bool pl_span_line(struct pl_span *rest, struct pl_span *line_ret);
/** Take the next word off @p rest; an empty one at the end. Blanks are ' ', tabs and '\r', here and below. */
struct pl_span pl_span_word(struct pl_span *rest);
/** @p s without the blanks around it. */
struct pl_span pl_span_trim(struct pl_span s);
bool pl_span_is_blank(char c);

/* Asked of each frame of a file, mostly of a few bytes that are known when this is compiled: so they stand here. */
static inline bool pl_span_starts(struct pl_span s, const char *want)
{
	size_t len = strlen(want);

	return s.len >= len && memcmp(s.s, want, len) == 0;
}

static inline bool pl_span_is(struct pl_span s, const char *want)
{
	return s.len == strlen(want) && pl_span_starts(s, want);
}

static inline bool pl_span_ends(struct pl_span s, const char *want)
{
	size_t len = strlen(want);

	return s.len >= len && memcmp(s.s + s.len - len, want, len) == 0;
}

/* All of @p s as a number; false if it is none, or beyond 64 bits. */
bool pl_span_decimal(struct pl_span s, uint64_t *ret);
/** Digits alone, without 0x. */
bool pl_span_hex(struct pl_span s, uint64_t *ret);
/** 0 to 15; -1: none. */
int pl_span_hex_digit(char c);

#endif
