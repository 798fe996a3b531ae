/* SPDX-License-Identifier: Apache-2.0 */
/* What the terminal and the environment say about how to write. */
#ifndef TERM_H
#define TERM_H

#include "config.h"

/** Columns of @p fd if it is a terminal, else of COLUMNS=, else 80. */
int term_width(int fd);
/** The locale's encoding is UTF-8. From LC_ALL, LC_CTYPE and LANG themselves: small containers have no locale data. */
bool term_is_utf8(void);
/** Colour for @p fd: --color, else NO_COLOR, CLICOLOR_FORCE, and whether it is a terminal. */
bool term_color(const struct config *c, int fd);
/** A line that is drawn over and over works on @p fd. */
bool term_can_redraw(int fd);
/** Fill in width, colour and character set of c->report for @p fd. */
void term_look(struct config *c, int fd);

#endif
