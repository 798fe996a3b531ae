/* SPDX-License-Identifier: Apache-2.0 */
/* The help of a command, from its descriptor and option tables. Layer cli. */
#include <string.h>

#include "opt.h"

/* Column of the explanations; a longer option has a line for itself. */
#define HELP_COLUMN 24
/* Lines longer than this are hard to read, however wide the terminal is. */
#define MAX_WIDTH 100
#define MIN_TEXT  20

static int blanks(int n, FILE *out)
{
	for (int i = 0; i < n; i++)
		fputc(' ', out);
	return n;
}

void opt_wrap(const char *text, int indent, int at, int width, FILE *out)
{
	width = width > MAX_WIDTH ? MAX_WIDTH : width < indent + MIN_TEXT ? indent + MIN_TEXT : width;
	if (at < indent)
		at += blanks(indent - at, out);
	while (*text) {
		int len = (int)strcspn(text, " \n"), space = at > indent;

		if (space && at + 1 + len > width) {
			fputc('\n', out);
			at = blanks(indent, out);
			space = 0;
		}
		fprintf(out, "%s%.*s", space ? " " : "", len, text);
		at += space + len;
		text += len;
		for (; *text == ' ' || *text == '\n'; text++) {
			if (*text == '\n') {
				fputc('\n', out);
				at = text[1] && text[1] != '\n' ? blanks(indent, out) : 0;
			}
		}
	}
	fputc('\n', out);
}

static void help_option(const struct opt *o, int width, FILE *out)
{
	int at = o->letter ? fprintf(out, "  -%c, ", o->letter) : blanks(6, out);

	at += fprintf(out, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
	if (at + 2 > HELP_COLUMN) {
		fputc('\n', out);
		at = 0;
	}
	opt_wrap(o->help, HELP_COLUMN, at, width, out);
}

bool opt_is_first_of_group(const struct command *cmd, const struct opt *o)
{
	for (const struct opt *i = NULL; (i = opt_next_shown(cmd, i)) && i != o;) {
		if (strcmp(i->group, o->group) == 0)
			return false;
	}
	return true;
}

static void help_groups(const struct command *cmd, int width, FILE *out)
{
	for (const struct opt *first = NULL; (first = opt_next_shown(cmd, first));) {
		if (!opt_is_first_of_group(cmd, first))
			continue;
		fprintf(out, "\n%s:\n", first->group);
		for (const struct opt *o = NULL; (o = opt_next_shown(cmd, o));) {
			if (strcmp(o->group, first->group) == 0)
				help_option(o, width, out);
		}
	}
}

void opt_help(const struct command *cmd, int width, FILE *out)
{
	fprintf(out, "plumb %s [options] %s\n\n", cmd->name, cmd->usage);
	opt_wrap(cmd->about, 0, 0, width, out);
	if (cmd->examples)
		fputs("\nExamples:\n", out);
	for (const char *const *e = cmd->examples; e && *e; e += 2) {
		fprintf(out, "  %s\n", e[0]);
		opt_wrap(e[1], 6, 0, width, out);
	}
	help_groups(cmd, width, out);
}
