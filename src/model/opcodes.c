/* SPDX-License-Identifier: Apache-2.0 */
/* Which table of instructions a profile speaks of (layer model). */
#include "opcodes.h"

#include <stdio.h>
#include <string.h>

#include "profile.h"

/* "3.14.2" -> 14; 0: none of ours. */
static int minor_of(const struct plumb_profile *p, uint32_t string)
{
	char text[16];
	size_t len;
	const char *s = pl_strtab_get(p->strings, string, &len);
	int minor = 0;

	if (len >= sizeof text)
		len = sizeof text - 1;
	memcpy(text, s, len);
	text[len] = '\0';
	return sscanf(text, "3.%d", &minor) == 1 ? minor : 0;
}

const char *pl_opcode_name(const struct pl_opcodes *known, unsigned opcode)
{
	return known && opcode < known->count ? known->rows[opcode].name : NULL;
}

const struct pl_opcodes *pl_opcodes_of(const struct plumb_profile *p)
{
	int minor = 0;

	for (uint32_t i = 0; i < p->process_count; i++) {
		int other = minor_of(p, p->processes[i].python);

		if (i && other != minor)
			return NULL;
		minor = other;
	}
	return pl_opcodes(minor);
}
