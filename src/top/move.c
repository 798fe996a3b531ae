/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see move.h. */
#include "move.h"

#include <curses.h>

bool move_by_key(struct table *t, int key, int page)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		table_move(t, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		table_move(t, 1);
		return true;
	case KEY_PPAGE:
		table_move(t, -page);
		return true;
	case KEY_NPAGE:
	case ' ':
		table_move(t, page);
		return true;
	case KEY_HOME:
	case 'g':
		table_move(t, -TABLE_MAX_ROWS);
		return true;
	case KEY_END:
	case 'G':
		table_move(t, TABLE_MAX_ROWS);
		return true;
	default:
		return false;
	}
}
