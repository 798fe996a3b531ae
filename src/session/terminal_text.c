/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/text.h>. Pure, any thread. The rules are those of all reports (glyph.h). */
#include <plumb/text.h>

#include <string.h>

#include "glyph.h"

#define LONGEST 4 /* bytes of one character */

size_t plumb_text_next(const char *s, bool utf8, char *buf, int *cols_ret)
{
	size_t len = strnlen(s, LONGEST);
	struct pl_glyph g = {0};
	size_t taken = len ? pl_glyph_next(s, len, utf8, &g) : 0;

	memcpy(buf, g.text, g.len);
	buf[g.len] = '\0';
	if (cols_ret)
		*cols_ret = g.cols;
	return taken;
}
