/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share: their descriptors, exit statuses, and how a failure is told. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <plumb/plumb.h>

/* As env(1), timeout(1) and nohup(1): none of them collides with what a program usually returns. */
enum { EXIT_OWN_FAILURE = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_PROGRAM_NOT_FOUND = 127, EXIT_SIGNAL_BASE = 128 };
/* What is wrong with a file that is read is a result, not a failure of plumb. Not of diff, where 1 is a verdict. */
enum { EXIT_BAD_INPUT = 1 };

struct config;
struct opt;

enum operands {
	OPERANDS_PROGRAM, /* the first operand and all after it are a program and its arguments */
	OPERANDS_ANYWHERE,
	OPERANDS_TWO_SIDES, /* "--" stands between them, and options may follow it */
};

struct command {
	const char *name;
	const char *usage;		 /* what follows "plumb NAME [options] " */
	const char *summary;		 /* one line */
	const char *about;		 /* paragraphs for the help */
	const char *const *examples;	 /* pairs: command, what it does; ends with NULL */
	const struct opt *const *tables; /* ends with NULL; each table ends with a NULL name */
	enum operands operands;
	int min_operands, max_operands; /* max -1: any number */
	int written;			/* which operand names what is written, from 1; 0: none */
	const char *operand;		/* what is missing if there are too few: "PID" */
	int (*run)(const struct command *cmd, struct config *c, int argc, char **argv);
};

/** All commands, ends with NULL. */
extern const struct command *const commands[];
extern const struct command command_run, command_attach, command_dump, command_report, command_convert, command_merge,
	command_diff, command_doctor, command_help, command_completion, command_symbolize, command_top;
const struct command *command_by_name(const char *name);

/** A failure in words; filled in by whoever found it, told by whoever ends the command. */
struct failure {
	char message[512];
	char hint[512];
};

/** Fill in @p why; returns false, so that a setter can return it. @p hint may be "". What is quoted in the message can
 * be of any length: a message that is too long loses its middle, at whole characters, and stays a sentence. */
bool refuse(struct failure *why, const char *hint, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/** The command of that name; NULL and the reason if there is none. */
const struct command *command_find(const char *name, struct failure *why);

/* Tell on stderr, once: "plumb: MESSAGE" and, if there is one, "hint: HINT". Control characters are shown as '?'. */
void complain(const char *message, const char *hint);
/** Tell on stderr what went as it should, but may be missed: "note: MESSAGE". For struct plumb_report_options. */
void tell_note(void *ctx, const char *message);
/** The command line @p argv, without the program, as one text, words with blanks in quotes. @p out_name, the word or
 * part of a word that names what is written (NULL: none), is left out: the same thing under two names has equal bytes.
 * NULL: no memory. The caller frees. */
char *made_by(int argc, char *const *argv, const char *out_name);
/** complain() and return EXIT_OWN_FAILURE. */
int complain_failure(const struct failure *why);
/** complain() about @p err, destroy it and return EXIT_OWN_FAILURE. */
int complain_error(struct plumb_error *err);
/** complain_error() about a file that was to be read: EXIT_BAD_INPUT if it is not there or not what it should be. */
int complain_input_error(struct plumb_error *err);
/** The exit status for the wait status of a program. */
int program_exit_status(int wait_status);
/** complain_error() about a @p program that could not be started; 126 or 127 where that is known. */
int complain_launch(struct plumb_error *err, const char *program);
/** Flush stdout and tell if that failed. A reader that went away is no news: quietly EXIT_OWN_FAILURE. */
int finish_stdout(void);

#endif
