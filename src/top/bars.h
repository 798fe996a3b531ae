/* SPDX-License-Identifier: Apache-2.0 */
/* Shares as bars, of which the end is a shade: the interval that the share lies in. */
#ifndef BARS_H
#define BARS_H

#include <stdbool.h>
#include <stddef.h>

struct bar {
	double low, high; /* 0..1, the ends of the interval; high 0: none */
};

/** How wide each of two bars is on a screen of that width; 0: there is no room. */
int bars_cells(int width);
/** @p cells columns of text. */
void bars_text(const struct bar *b, int cells, bool unicode, char *buf, size_t size);

#endif
