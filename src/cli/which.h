/* SPDX-License-Identifier: Apache-2.0 */
/* The process that an operand means. */
#ifndef WHICH_H
#define WHICH_H

#include <plumb/error.h>

#include "cli.h"
#include "values.h"

/**
 * A process id, or the name of exactly one process (plumb_processes_find). If there is none, or more than one, that is
 * told on stderr, with what there is.
 * @return 0, or the exit status.
 */
int which_process(const struct command *cmd, const char *operand, int *pid_ret);

/** Whom a command is about. */
struct chosen {
	int *pids; /* free() */
	int count;
	int failed; /* operands and names that mean no process, and operands that mean more than one */
};

/**
 * The processes that the operands mean, and all that have one of these names, before the first one is looked at. What
 * means none is told.
 * @return 0, or the exit status: no memory.
 */
int which_processes(const struct command *cmd, int argc, char **argv, const struct word_list *names,
		    struct chosen *ret);

/** For plumb_session_options.refused: a process that is left out, and why. */
void which_refused(void *chosen, int pid, const struct plumb_error *why);

#endif
