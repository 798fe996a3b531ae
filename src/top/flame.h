/* SPDX-License-Identifier: Apache-2.0 */
/* The call tree as a flame graph in text: a row of the screen is a depth, the roots are at the top, and what a call
 * took is as wide as its share. The rows are those of the table of VIEW_FLAME. */
#ifndef FLAME_H
#define FLAME_H

#include "views.h"

/** On the rows @p from to below @p to of the screen; the last of them tells of the one that is chosen. */
void flame_draw(struct table *t, const struct choice *c, int from, int to, int width, bool unicode);
/** Whether @p key walks in it, and it is done: up to the caller, down to what it calls, to the sides; Enter makes the
 * chosen one as wide as the screen, or all of it again. */
bool flame_key(struct table *t, struct choice *c, int key);
/** Choose what was drawn there: @p line lines below the first, in that column. */
void flame_choose_at(struct table *t, const struct choice *c, int line, int column, int width);

#endif
