/* SPDX-License-Identifier: Apache-2.0 */
/* plumb help: the overview, each command from its table, and topics. Layer cli. Writes to stdout. */
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "foreign.h"
#include "help.h"
#include "nearest.h"
#include "term.h"

#define NAME_COLUMN 21

static const struct opt *const tables[] = {options_common, NULL};

static void line(const char *name, const char *summary, int width, FILE *out)
{
	int at = fprintf(out, "  %-*s", NAME_COLUMN - 2, name);

	opt_wrap(summary, NAME_COLUMN, at, width, out);
}

static void text(const char *s, int width, FILE *out)
{
	opt_wrap(s, 0, 0, width, out);
}

static void help_formats(int width, FILE *out)
{
	struct plumb_format f;
	char name[64];

	text("Output formats, for 'plumb report FILE -f NAME'. Where no format is named, the end of the name after -o "
	     "tells it, "
	     "for run and attach as well.\n",
	     width, out);
	for (size_t i = 0; plumb_format_at(i, &f); i++) {
		snprintf(name, sizeof name, "%-9s %s", f.name, f.suffix);
		line(name, f.summary, width, out);
	}
	text("\nThe JSON has a documented schema, plumb.report/1: docs/user/json.md. Collapsed stacks are "
	     "'tid:ID;file:function:line;... COUNT' with the outermost frame first.",
	     width, out);
}

static void help_exit(int width, FILE *out)
{
	text("Exit status of 'plumb run':\n", width, out);
	line("N", "the program's own exit status", width, out);
	line("128+N", "the program was killed by signal N", width, out);
	line("125", "plumb itself failed, or the program succeeded but its recording or report could not be written",
	     width, out);
	line("126", "the program cannot be executed", width, out);
	line("127", "there is no such program", width, out);
	text("\nAll other commands: 0, or 125 if plumb failed. 'plumb attach' returns 0 when the process ends, at "
	     "Ctrl-C and when "
	     "-d TIME is over.",
	     width, out);
}

static void help_figures(int width, FILE *out)
{
	const char *plus_minus = term_is_utf8() ? "\xc2\xb1" : "+-";
	char example[256];

	snprintf(example, sizeof example,
		 "'52 %% %s1.1' means: with 95 %% confidence the share is between 50.9 and 53.1 %%. [+2] in the tree "
		 "stands for two "
		 "frames that only pass the time on.\n",
		 plus_minus);
	text(example, width, out);
	line("self", "time in a function itself", width, out);
	line("total", "time in a function and in all it called", width, out);
	line("exact", "samples whose stack was proved while the program ran", width, out);
	line("stopped", "samples taken while the thread stood still for some microseconds", width, out);
	line("doubtful", "with --never-stop: stacks that are probably right, but not proved", width, out);
	line("partial", "only the outer part of the stack is proved; it ends in <moving>", width, out);
	line("missed", "moments at which plumb came too late for a sample", width, out);
	line("unreadable", "stacks that could not be read", width, out);
	text("\nMore in docs/user/reading-the-report.md.", width, out);
}

static void help_environment(int width, FILE *out)
{
	line("NO_COLOR", "if set, no colour unless --color says so", width, out);
	line("CLICOLOR_FORCE", "if set and not 0, colour where there is no terminal, too", width, out);
	line("COLUMNS", "width of a report that does not go to a terminal (80)", width, out);
	line("LC_ALL, LC_CTYPE, LANG", "plain ASCII unless the first of them that is set names UTF-8", width, out);
}

static const struct topic {
	const char *name, *summary;
	void (*write)(int width, FILE *out);
} topics[] = {
	{"formats", "output formats of reports", help_formats},
	{"figures", "what the figures of a report mean", help_figures},
	{"exit-status", "what plumb returns", help_exit},
	{"environment", "variables that plumb reads", help_environment},
};
#define TOPICS (sizeof topics / sizeof topics[0])

void help_overview(int width, FILE *out)
{
	text("plumb shows where a Python program spends its time, from outside and without changing it.\n"
	     "\nusage: plumb COMMAND [options] ...\n"
	     "\nCommands:",
	     width, out);
	for (const struct command *const *c = commands; *c; c++)
		line((*c)->name, (*c)->summary, width, out);
	fputs("\nExamples:\n"
	      "  plumb run -- python app.py\n"
	      "  plumb attach 4242 -d 10\n"
	      "  plumb report plumb.app.4242.plumb --lines\n",
	      out);
	text("\nTopics of 'plumb help TOPIC', beside the commands:", width, out);
	for (size_t i = 0; i < TOPICS; i++)
		line(topics[i].name, topics[i].summary, width, out);
	text("\n'plumb --version' tells the version.", width, out);
}

static int unknown_topic(const char *name)
{
	const struct foreign *f = foreign_command(name);
	struct nearest best = nearest_start(name);
	struct failure why;
	char hint[128] = "'plumb help' lists the topics";

	for (const struct command *const *c = commands; *c; c++)
		nearest_try(&best, (*c)->name);
	for (size_t i = 0; i < TOPICS; i++)
		nearest_try(&best, topics[i].name);
	if (best.found)
		snprintf(hint, sizeof hint, "did you mean 'plumb help %s'?", best.found);
	refuse(&why, f ? f->answer : hint, "there is no help on '%s'", name);
	return complain_failure(&why);
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	int width = term_width(STDOUT_FILENO);
	const struct command *wanted;

	if (argc == 0) {
		help_overview(width, stdout);
		return finish_stdout();
	}
	wanted = command_by_name(argv[0]);
	if (wanted) {
		opt_help(wanted, width, stdout);
		return finish_stdout();
	}
	for (size_t i = 0; i < TOPICS; i++) {
		if (strcmp(topics[i].name, argv[0]) == 0) {
			topics[i].write(width, stdout);
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
