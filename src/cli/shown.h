/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others on its way to a terminal. */
#ifndef SHOWN_H
#define SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Write @p s so that it cannot move the cursor, hide or turn text: at most about @p limit bytes of it. */
void put_shown(const char *s, size_t limit, FILE *out);
/** The same as a string; NULL without memory. Owner: caller. */
char *shown(const char *s, bool utf8);

#endif
