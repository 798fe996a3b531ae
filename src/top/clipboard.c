/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see clipboard.h. */
#include "clipboard.h"

#include <stdio.h>
#include <string.h>

#define IN_SCREEN_MAX 700 /* GNU screen cuts what is longer, with the end of it */

/* RFC 4648, of at most 3 bytes. */
static void encode(const unsigned char *bytes, size_t len, char digits[5])
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned all = 0;

	for (size_t i = 0; i < 3; i++)
		all = all << 8 | (i < len ? bytes[i] : 0);
	for (size_t i = 0; i < 4; i++)
		digits[i] = i <= len ? alphabet[all >> (18 - 6 * i) & 63] : '=';
	digits[4] = '\0';
}

/* The console of Linux and what is named after hardware have no clipboard, and some of them would show the text. */
static bool has_none(const char *name)
{
	return strncmp(name, "linux", 5) == 0 || strncmp(name, "vt", 2) == 0;
}

bool clipboard_sequence(const char *text, const char *name, bool in_screen, char *buf, size_t size)
{
	const char *begin = in_screen ? "\033P\033]52;c;" : "\033]52;c;", *end = in_screen ? "\a\033\\" : "\a";
	size_t len = strlen(text), at = strlen(begin), needed = at + (len + 2) / 3 * 4 + strlen(end) + 1;

	if (!len || has_none(name) || needed > size || (in_screen && needed > IN_SCREEN_MAX))
		return false;
	memcpy(buf, begin, at);
	for (size_t i = 0; i < len; i += 3, at += 4)
		encode((const unsigned char *)text + i, len - i < 3 ? len - i : 3, buf + at);
	memcpy(buf + at, end, strlen(end) + 1);
	return true;
}
