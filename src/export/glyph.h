/* SPDX-License-Identifier: Apache-2.0 */
/* Names as they can be shown in a terminal: one printable unit at a time, with the columns it takes. */
#ifndef PL_GLYPH_H
#define PL_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame_name.h"

struct pl_glyph {
	char text[12]; /* not terminated */
	uint8_t len, cols;
};

/**
 * Take the next unit of @p s, @p len > 0 bytes; returns the bytes it takes. A character that would move the cursor,
 * hide or reorder text, or that is no character, becomes an escape such as \x1b or \u202e; without @p unicode all but
 * ASCII does.
 */
size_t pl_glyph_next(const char *s, size_t len, bool unicode, struct pl_glyph *ret);
/** Columns of the whole of @p s, counted no further than @p limit. */
int pl_glyph_columns(const char *s, size_t len, bool unicode, int limit);

/** Append @p text to @p buf, as safe to show as our own, as far as it fits into the @p size bytes of that. */
void pl_glyph_add(char *buf, size_t size, struct pl_text text, bool unicode);

#endif
