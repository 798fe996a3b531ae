/* SPDX-License-Identifier: Apache-2.0 */
/* Moving about in a table: keys, the wheel, a click. */
#ifndef MOVE_H
#define MOVE_H

#include "table.h"

/** Whether @p key moves, and it is done; @p page: rows that are seen at once. */
bool move_by_key(struct table *t, int key, int page);

#endif
