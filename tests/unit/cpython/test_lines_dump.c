/* SPDX-License-Identifier: Apache-2.0 */
/* Compare pl_lines_find with what interpreters say of their own line tables, at every offset of every code object of
 * the files given (made by dump_lines.py). Exit status 1 and the first differences on stderr if one is wrong, 2 if a
 * file is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define SHOW_MAX 10

struct code {
	enum pl_line_table kind;
	int firstlineno;
	unsigned bytes;
	uint8_t *table;
	size_t len;
};

struct count {
	size_t codes, offsets, wrong;
};

static const struct {
	const char *name;
	enum pl_line_table kind;
} kinds[] = {{"lnotab_u8", PL_LINES_LNOTAB_U8},
	     {"lnotab", PL_LINES_LNOTAB},
	     {"pep626", PL_LINES_PEP626},
	     {"pep657", PL_LINES_PEP657}};

static bool parse_code(const char *line, struct code *c)
{
	char kind[16];
	int at = 0;

	if (sscanf(line, "code %15s %d %u %n", kind, &c->firstlineno, &c->bytes, &at) != 3 || !at)
		return false;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (!strcmp(kind, kinds[i].name))
			c->kind = kinds[i].kind;
	}
	const char *hex = line + at;
	free(c->table);
	c->len = 0;
	c->table = malloc(strlen(hex) / 2 + 1); /* exactly as long as the table: a read past the end shows under ASan */
	for (unsigned byte; c->table && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		c->table[c->len++] = (uint8_t)byte;
	return c->table != NULL;
}

static void check_range(const char *file, const struct code *c, const char *line, struct count *n)
{
	int start, end;
	struct pl_position want;

	if (sscanf(line, "at %d %d %d %d %d %d", &start, &end, &want.line, &want.end_line, &want.column,
		   &want.end_column) != 6) {
		n->wrong++;
		return;
	}
	for (int at = start; at < end; at++, n->offsets++) {
		struct pl_position p = pl_lines_find(c->kind, c->table, c->len, c->firstlineno, at);
		if (!memcmp(&p, &want, sizeof p))
			continue;
		if (n->wrong++ < SHOW_MAX)
			fprintf(stderr, "%s: code %zu first line %d offset %d: %d-%d:%d:%d, want %d-%d:%d:%d\n", file,
				n->codes, c->firstlineno, at, p.line, p.end_line, p.column, p.end_column, want.line,
				want.end_line, want.column, want.end_column);
	}
}

static int check_file(const char *file)
{
	FILE *in = fopen(file, "r");
	struct code c = {0};
	struct count n = {0};
	char *line = NULL;
	size_t cap = 0;

	while (in && getline(&line, &cap, in) > 0) {
		if (!strncmp(line, "code ", 5) && parse_code(line, &c))
			n.codes++;
		else
			check_range(file, &c, line, &n);
	}
	free(line);
	free(c.table);
	if (in)
		fclose(in);
	printf("%s: %zu code objects, %zu offsets, %zu wrong\n", file, n.codes, n.offsets, n.wrong);
	if (!n.codes)
		return 2;
	return n.wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
	int status = argc > 1 ? 0 : 2;

	for (int i = 1; i < argc; i++) {
		int one = check_file(argv[i]);
		status = one > status ? one : status;
	}
	return status;
}
