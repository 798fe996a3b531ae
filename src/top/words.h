/* SPDX-License-Identifier: Apache-2.0 */
/* Figures and names as they are shown. */
#ifndef WORDS_H
#define WORDS_H

#include <plumb/plumb.h>

/** As much of @p s as fits into @p columns, safe to show; the end goes, or with @p keep_end the beginning. Returns the
 * columns that it takes. Text ends at its first NUL. */
int words_fit(const char *s, bool unicode, int columns, bool keep_end, char *buf, size_t size);
/** "62.1" percent. */
const char *words_percent(double share, char buf[16]);
/** "12.0 s", "3:05 min", "2:10 h" */
const char *words_time(uint64_t ns, char buf[24]);
/** "app.py:12"; "" where it has no place. */
void words_place(const struct plumb_view_function *f, char *buf, size_t size);

#endif
