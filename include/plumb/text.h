/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others (names of functions, files and threads, command lines) in a terminal. */
#ifndef PLUMB_TEXT_H
#define PLUMB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <plumb/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_TEXT_UNIT 16

/**
 * The next unit of @p s, which ends with a NUL, as it can be shown: what would move the cursor, hide or reorder text,
 * or is no character, becomes an escape such as \x1b or \u202e; without @p utf8 all but ASCII does.
 *
 * @param buf      Gets the unit, NUL-terminated: at least PLUMB_TEXT_UNIT bytes.
 * @param cols_ret Columns that it takes in a terminal; may be NULL.
 * @return bytes of @p s that it stands for; 0 at the end.
 */
PLUMB_API size_t plumb_text_next(const char *s, bool utf8, char *buf, int *cols_ret);

#ifdef __cplusplus
}
#endif
#endif
