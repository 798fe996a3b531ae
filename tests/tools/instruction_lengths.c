/* SPDX-License-Identifier: Apache-2.0 */
/* instruction_lengths: of the instructions on its input, one a line in hexadecimal ("48 8b 47 10"), those that are not
 * as long as that by plumb's reckoning; then how many there were, and how many are not known to it. */
#include <stdio.h>
#include <stdlib.h>

#include "instruction.h"

int main(void)
{
	unsigned long all = 0, unknown = 0;
	struct pl_instruction in;
	char line[256];

	while (fgets(line, sizeof line, stdin)) {
		uint8_t code[PL_INSTRUCTION_MAX] = {0};
		char *at = line, *end;
		size_t n = 0;

		for (; n < sizeof code; n++, at = end) {
			code[n] = (uint8_t)strtoul(at, &end, 16);
			if (end == at)
				break;
		}
		all++;
		if (!pl_instruction_read(code, &in))
			unknown++;
		else if (in.len != n)
			printf("%zu bytes, not %zu: %s", in.len, n, line);
	}
	printf("%lu instructions, %lu not known\n", all, unknown);
	return 0;
}
