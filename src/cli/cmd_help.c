/* SPDX-License-Identifier: Apache-2.0 */
/* plumb help: the overview, each command from its table, and topics. Layer cli. Writes to stdout. */
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "foreign.h"
#include "help.h"
#include "man.h"
#include "nearest.h"
#include "term.h"

#define NAME_COLUMN 25

static const struct opt *const tables[] = {options_man, options_common, NULL};

const char help_about[] = "plumb shows where a Python program spends its time, from outside and without changing it.";

const char *const help_examples[] = {
	"plumb run -- python app.py",
	"plumb attach 4242 -d 10",
	"plumb report plumb.app.py.4242.plumb --lines",
	NULL,
};

static void line(const char *name, const char *summary, int width, FILE *out)
{
	int at = fprintf(out, "  %-*s", NAME_COLUMN - 2, name);

	if (at > NAME_COLUMN) /* a long name has a line of its own */
		at = fprintf(out, "\n%*s", NAME_COLUMN, "") - 1;
	opt_wrap(summary, NAME_COLUMN, at, width, out);
}

static void text(const char *s, int width, FILE *out)
{
	opt_wrap(s, 0, 0, width, out);
}

void help_overview(int width, FILE *out)
{
	text(help_about, width, out);
	text("\nusage: plumb COMMAND [options] ...\n"
	     "\nCommands:",
	     width, out);
	for (const struct command *const *c = commands; *c; c++)
		line((*c)->name, (*c)->summary, width, out);
	fputs("\nExamples:\n", out);
	for (const char *const *e = help_examples; *e; e++)
		fprintf(out, "  %s\n", *e);
	text("\nTopics of 'plumb help TOPIC', besides the commands:", width, out);
	for (const struct help_topic *t = help_topics; t->name; t++)
		line(t->name, t->summary, width, out);
	text("\n'plumb --version' shows the version.", width, out);
}

static void write_text(const struct help_writer *w, const char *s)
{
	text(s, w->width, w->out);
}

static void write_item(const struct help_writer *w, const char *name, const char *s)
{
	line(name, s, w->width, w->out);
}

static void help_topic_text(const struct help_topic *t, int width, FILE *out)
{
	const struct help_writer w = {
		.text = write_text, .item = write_item, .out = out, .width = width, .utf8 = term_is_utf8()};

	t->write(&w);
}

static int unknown_topic(const char *name)
{
	const struct foreign *f = foreign_command(name);
	struct nearest best = nearest_start(name);
	struct failure why;
	char hint[128] = "'plumb help' lists the topics";

	for (const struct command *const *c = commands; *c; c++)
		nearest_try(&best, (*c)->name);
	for (const struct help_topic *t = help_topics; t->name; t++)
		nearest_try(&best, t->name);
	if (best.found)
		snprintf(hint, sizeof hint, "did you mean 'plumb help %s'?", best.found);
	refuse(&why, f ? f->answer : hint, "there is no help on '%s'", name);
	return complain_failure(&why);
}

static int man_page(const char *name)
{
	const struct command *cmd = name ? command_by_name(name) : NULL;
	struct failure why;

	if (name && !cmd) {
		refuse(&why, "man pages are there for commands; without one: plumb(1)", "there is no command '%s'",
		       name);
		return complain_failure(&why);
	}
	if (cmd)
		man_command(cmd, stdout);
	else
		man_overview(stdout);
	return finish_stdout();
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	int width = term_width(STDOUT_FILENO);
	const struct command *wanted;

	if (c->man)
		return man_page(argc ? argv[0] : NULL);
	if (argc == 0) {
		help_overview(width, stdout);
		return finish_stdout();
	}
	wanted = command_by_name(argv[0]);
	if (wanted) {
		opt_help(wanted, width, stdout);
		return finish_stdout();
	}
	for (const struct help_topic *t = help_topics; t->name; t++) {
		if (strcmp(t->name, argv[0]) == 0) {
			help_topic_text(t, width, stdout);
			return finish_stdout();
		}
	}
	return unknown_topic(argv[0]);
}

const struct command command_help = {
	.name = "help",
	.usage = "[TOPIC]",
	.summary = "this text, the help of a command, or a topic",
	.about = "Show the help of a command or a topic; without one, the list of both.",
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 0,
	.max_operands = 1,
	.operand = "",
	.run = run,
};
