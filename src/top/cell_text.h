/* SPDX-License-Identifier: Apache-2.0 */
/* Figures and names as they are shown. */
#ifndef CELL_TEXT_H
#define CELL_TEXT_H

#include <plumb/plumb.h>

/** As much of @p s as fits into @p columns, safe to show; the end goes, or with @p keep_end the beginning. Returns the
 * columns that it takes. Text ends at its first NUL. */
int cell_fit(const char *s, bool unicode, int columns, bool keep_end, char *buf, size_t size);
/** "62.1" percent. */
const char *cell_percent(double share, char buf[16]);
/** "12.0 s", "3:05 min", "2:10 h" */
const char *cell_time(uint64_t ns, char buf[24]);
/** "app.py:12"; "" where it has no place. */
void cell_place(const struct plumb_view_function *f, char *buf, size_t size);

#endif
