/* SPDX-License-Identifier: Apache-2.0 */
/* The line that shows what `attach` sees while it runs. */
#ifndef STATUS_LINE_H
#define STATUS_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include <plumb/plumb.h>

/** Text of at most @p width columns; returns its length. @p limit_ns: how long it is to be sampled, 0: until it ends.
 */
size_t status_line_text(const struct plumb_status *st, uint64_t limit_ns, int width, bool utf8, char *buf, size_t size);
/** Draw over the line of before, on stderr. */
void status_line_draw(const struct plumb_status *st, uint64_t limit_ns);
void status_line_erase(void);

#endif
