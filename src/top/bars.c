/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see bars.h. */
#include "bars.h"

#include <stdio.h>

#define BARS_FROM  130 /* columns of the screen */
#define PART	   6   /* of it */
#define MOST_CELLS 40

enum { EMPTY, SURE, UNSURE, SLIGHT };

int bars_cells(int width)
{
	int cells = width / PART;

	if (width < BARS_FROM)
		return 0;
	return cells < MOST_CELLS ? cells : MOST_CELLS;
}

static int nearest(double share, int cells)
{
	return (int)((share < 0 ? 0 : share > 1 ? 1 : share) * cells + 0.5);
}

void bars_text(const struct bar *b, int cells, bool unicode, char *buf, size_t size)
{
	static const char *const glyphs[][2] = {
		[EMPTY] = {" ", " "},
		[SURE] = {"#", "\xe2\x96\x88"},
		[UNSURE] = {":", "\xe2\x96\x92"},
		[SLIGHT] = {".", "\xe2\x96\x8f"}, /* less than half a cell */
	};
	int sure = nearest(b->low, cells), end = nearest(b->high, cells);
	size_t at = 0;

	buf[0] = '\0';
	for (int i = 0; i < cells && at + 4 < size; i++) {
		int what = i < sure ? SURE : i < end ? UNSURE : i == 0 && b->high > 0 ? SLIGHT : EMPTY;

		at += (size_t)snprintf(buf + at, size - at, "%s", glyphs[what][unicode]);
	}
}
