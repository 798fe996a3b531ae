/* SPDX-License-Identifier: Apache-2.0 */
/* The process that an operand means. */
#ifndef WHICH_H
#define WHICH_H

#include "cli.h"

/**
 * A process id, or the name of exactly one process (plumb_processes_find). If there is none, or more than one, that is
 * told on stderr, with what there is.
 * @return 0, or the exit status.
 */
int which_process(const struct command *cmd, const char *operand, int *pid_ret);
/** The same for a command that takes recordings, too, of which @p operand is none: a file of that name is told. */
int which_process_or_file(const struct command *cmd, const char *operand, int *pid_ret);

#endif
