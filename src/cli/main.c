/* SPDX-License-Identifier: Apache-2.0 */
/* plumb: finds the command and hands over. Layer cli; sees include/ only. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "foreign.h"
#include "help.h"
#include "nearest.h"
#include "signals.h"
#include "term.h"

const struct command *const commands[] = {&command_run,	   &command_attach,	&command_dump, &command_report,
					  &command_doctor, &command_completion, &command_help, NULL};

const struct command *command_by_name(const char *name)
{
	for (const struct command *const *c = commands; *c; c++) {
		if (strcmp((*c)->name, name) == 0)
			return *c;
	}
	return NULL;
}

/* A file opened in place of a closed standard stream would be written to by mistake. What is opened here instead fails
 * like a closed one: it cannot be used in the direction of the stream. Only standard error, closed by somebody who
 * wants to read none of it, swallows what it is given. */
static void fill_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
		    open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) < 0)
			_exit(EXIT_OWN_FAILURE);
	}
}

static int unknown_command(const char *name)
{
	const struct foreign *f = foreign_command(name);
	struct nearest best = nearest_start(name);
	struct failure why;
	char hint[256] = "'plumb help' lists the commands; to profile a program: plumb run -- PROGRAM";

	if (f) {
		refuse(&why, f->answer, "there is no command '%s' like %s", name, f->tool);
		return complain_failure(&why);
	}
	for (const struct command *const *c = commands; *c; c++)
		nearest_try(&best, (*c)->name);
	if (best.found)
		snprintf(hint, sizeof hint, "did you mean 'plumb %s'? 'plumb help' lists the commands", best.found);
	else if (access(name, F_OK) == 0)
		snprintf(hint, sizeof hint,
			 "to profile a program: plumb run -- PROGRAM; to read a recording: plumb report FILE");
	refuse(&why, hint, name[0] == '-' ? "there is no option '%s' before a command" : "there is no command '%s'",
	       name);
	return complain_failure(&why);
}

static int run_command(const struct command *cmd, int argc, char **argv)
{
	struct config c = CONFIG_INIT;
	struct failure why = {0};
	int operands, status;

	if (!opt_parse(cmd, argc, argv, &c, &operands, &why)) {
		status = complain_failure(&why);
	} else if (c.help) {
		opt_help(cmd, term_width(STDOUT_FILENO), stdout);
		status = finish_stdout();
	} else {
		status = cmd->run(cmd, &c, operands, argv);
	}
	config_free(&c);
	return status;
}

int main(int argc, char **argv)
{
	const struct command *cmd;

	fill_standard_streams();
	signals_no_pipe();
	if (argc < 2) {
		help_overview(term_width(STDERR_FILENO), stderr);
		return EXIT_OWN_FAILURE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("plumb %s\n", PLUMB_VERSION);
		return finish_stdout();
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help_overview(term_width(STDOUT_FILENO), stdout);
		return finish_stdout();
	}
	cmd = command_by_name(argv[1]);
	return cmd ? run_command(cmd, argc - 1, argv + 1) : unknown_command(argv[1]);
}
