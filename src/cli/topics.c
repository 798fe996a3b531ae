/* SPDX-License-Identifier: Apache-2.0 */
/* The topics of `plumb help`, for whatever writer: the terminal and the man page show the same text. Layer cli. */
#include <plumb/plumb.h>

#include "help.h"

/* ".folded: one line per stack; keeps threads, lines" */
static void put_format(const struct help_writer *w, const struct plumb_format *f, const char *keeps)
{
	char text[512];

	snprintf(text, sizeof text, "%s%s%s%s%s", f->suffix, *f->suffix ? ": " : "", f->summary,
		 *keeps ? "; keeps " : "", keeps);
	w->item(w, f->name, text);
}

/* "html: not in this plumb: it was built without Node" */
static bool put_missing(const struct help_writer *w, const struct plumb_format *f)
{
	struct plumb_error *err = plumb_format_check(f->name);

	if (!err)
		return false;
	w->item(w, f->name, plumb_error_message(err));
	plumb_error_destroy(err);
	return true;
}

static void help_formats(const struct help_writer *w)
{
	struct plumb_format f;
	char keeps[256];

	w->text(w, "Output formats, for 'plumb report FILE -f FORMAT' and 'plumb convert IN OUT'. If no format is "
		   "named, the end of the name after -o decides, "
		   "for run and attach as well.\n");
	for (size_t i = 0; plumb_format_at(i, &f); i++) {
		if (put_missing(w, &f))
			continue;
		if (!plumb_format_keeps(f.name, keeps, sizeof keeps))
			*keeps = '\0';
		put_format(w, &f, keeps);
	}
	w->text(w, "\nInput formats, for 'plumb convert IN OUT' and 'plumb report FILE'. The content says which it "
		   "is, else the end of the name, else --from; gzip is unpacked.\n");
	for (size_t i = 0; plumb_input_format_at(i, &f); i++) {
		put_format(w, &f, "");
	}
	w->text(w, "\nThe JSON has a documented schema, plumb.report/1: docs/user/json.md. Collapsed stacks are "
		   "'tid:ID;file:function:line;... COUNT' with the outermost frame first; with "
		   "several processes 'pid:ID NAME;' comes before that.");
}

static void help_exit(const struct help_writer *w)
{
	w->text(w, "Exit status of 'plumb run':\n");
	w->item(w, "N", "the program's own exit status");
	w->item(w, "128+N", "the program was killed by signal N");
	w->item(w, "125",
		"plumb itself failed, or the program succeeded but its recording or report could not be written");
	w->item(w, "126", "the program cannot be executed");
	w->item(w, "127", "there is no such program");
	w->text(w,
		"\nAll other commands: 0, or 125 if plumb failed. 'plumb report', 'plumb convert', 'plumb merge' and "
		"'plumb symbolize' return 1 if something is wrong with a file they read, 'plumb diff' if something is "
		"slower than "
		"--fail-above allows (and 125 if plumb failed), 'plumb doctor' if sampling does not work, "
		"'plumb dump' if some of the processes could not be read. 'plumb attach' returns 0 when the "
		"process ends, at Ctrl-C and when -d TIME is over.");
}

static void help_figures(const struct help_writer *w)
{
	const char *plus_minus = w->utf8 ? "\xc2\xb1" : "+-";
	char example[256];

	snprintf(example, sizeof example,
		 "'52 %% %s1.1' means: with 95 %% confidence the share is between 50.9 and 53.1 %%. [+2] in the tree "
		 "stands for two "
		 "frames left out, which do little but call the next one.\n",
		 plus_minus);
	w->text(w, example);
	w->item(w, "self", "time in a function itself");
	w->item(w, "total", "time in a function and in all it called");
	w->item(w, "exact", "samples whose stack was proved while the program ran");
	w->item(w, "stopped", "samples taken while the thread was stopped for some microseconds");
	w->item(w, "doubtful", "probably right, not proved: the thread could not or must not be stopped");
	w->item(w, "partial", "only the outer part of the stack is proved; it ends in <moving>");
	w->item(w, "missed", "moments at which plumb got no processor in time for a sample");
	w->item(w, "unreadable", "stacks that could not be read");
	w->text(w, "\nMore in docs/user/reading-the-report.md.");
}

static void help_environment(const struct help_writer *w)
{
	w->item(w, "BROWSER", "programs that show a page, with colons between them, for --open (default: xdg-open)");
	w->item(w, "NO_COLOR", "if set, no colour unless --color says so");
	w->item(w, "CLICOLOR_FORCE", "if set and not 0, colour where there is no terminal, too");
	w->item(w, "COLUMNS", "width of a report that does not go to a terminal (80)");
	w->item(w, "PLUMB_DEBUG_PATH",
		"directories with symbols of stripped files, with colons between them, for --native "
		"and symbolize: DIR/.build-id/ab/cdef.debug, or DIR/abcdef/debuginfo (~/.cache/debuginfod_client); "
		"then "
		"/usr/lib/debug");
	w->item(w, "LC_ALL, LC_CTYPE, LANG", "plain ASCII unless the first of them that is set names UTF-8");
}

const struct help_topic help_topics[] = {
	{"formats", "what can be written and read", help_formats},
	{"figures", "what the figures of a report mean", help_figures},
	{"exit-status", "what plumb returns", help_exit},
	{"environment", "variables that plumb reads", help_environment},
	{NULL, NULL, NULL},
};
