/* SPDX-License-Identifier: Apache-2.0 */
/* plumb: finds the command and hands over. Layer cli; sees include/ only. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "help.h"
#include "signals.h"
#include "term.h"

/* A file opened in place of a closed standard stream would be written to by mistake. What is opened here instead fails
 * like a closed one: it cannot be used in the direction of the stream. Only standard error, closed by somebody who
 * wants to read none of it, swallows what it is given. The program that we start finds closed what was closed. */
static void fill_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
		    open("/dev/null", (fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0)
			_exit(EXIT_OWN_FAILURE);
	}
}

/* What the parsed command line says is written. */
static const char *out_name(const struct command *cmd, const struct config *c, int operands, char **argv)
{
	return cmd->written && operands >= cmd->written ? argv[cmd->written - 1] : c->output;
}

static int run_command(const char *program, const struct command *cmd, int argc, char **argv)
{
	struct config c = CONFIG_INIT;
	struct failure why = {0};
	char **words = calloc((size_t)argc + 1, sizeof *words); /* the parser moves them */
	int operands, status;

	if (words)
		memcpy(words, argv, (size_t)argc * sizeof *words);
	c.words = words;
	if (!opt_parse(cmd, argc, argv, &c, &operands, &why)) {
		status = complain_failure(&why);
	} else if (c.help) {
		opt_help(cmd, term_width(STDOUT_FILENO), stdout);
		status = finish_stdout();
	} else {
		c.report.program = strchr(program, '/') ? program : NULL; /* else it is found as it was */
		c.made_by = words ? made_by(argc, words, out_name(cmd, &c, operands, argv)) : NULL;
		status = cmd->run(cmd, &c, operands, argv);
	}
	config_free(&c);
	free(words);
	return status;
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	struct failure why;

	signals_remember();
	fill_standard_streams();
	signals_of_writing();
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
	cmd = command_find(argv[1], &why);
	return cmd ? run_command(argv[0], cmd, argc - 1, argv + 1) : complain_failure(&why);
}
