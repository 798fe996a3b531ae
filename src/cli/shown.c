/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others on its way to a terminal (layer cli): names and command lines of processes, paths, arguments. */
#include "shown.h"

#include <stdlib.h>
#include <string.h>

#include <plumb/text.h>

#include "term.h"

void put_shown(const char *s, size_t limit, FILE *out)
{
	char unit[PLUMB_TEXT_UNIT];
	bool utf8 = term_is_utf8();
	size_t at = 0;

	for (size_t taken; at < limit && (taken = plumb_text_next(s + at, utf8, unit, NULL)) > 0; at += taken)
		fputs(unit, out);
}

char *shown(const char *s, bool utf8)
{
	/* The longest escape takes ten bytes, for four. One byte that is no character can take three. */
	char *text = malloc(4 * strlen(s) + PLUMB_TEXT_UNIT), unit[PLUMB_TEXT_UNIT];
	size_t len = 0;

	if (!text)
		return NULL;
	for (size_t taken; (taken = plumb_text_next(s, utf8, unit, NULL)) > 0; s += taken)
		len = (size_t)(stpcpy(text + len, unit) - text);
	text[len] = '\0';
	return text;
}
