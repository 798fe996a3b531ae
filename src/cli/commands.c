/* SPDX-License-Identifier: Apache-2.0 */
/* The commands there are, and what is said of one that is not. Layer cli; data. */
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "foreign.h"
#include "nearest.h"

const struct command *const commands[] = {
	&command_run,	     &command_attach, &command_top,  &command_dump,	 &command_report,
	&command_convert,    &command_merge,  &command_diff, &command_symbolize, &command_doctor,
	&command_completion, &command_help,   NULL};

const struct command *command_by_name(const char *name)
{
	for (const struct command *const *c = commands; *c; c++) {
		if (strcmp((*c)->name, name) == 0)
			return *c;
	}
	return NULL;
}

static void refuse_unknown(const char *name, struct failure *why)
{
	const struct foreign *f = foreign_command(name);
	struct nearest best = nearest_start(name);
	char hint[256] = "'plumb help' lists the commands; to profile a program: plumb run -- PROGRAM";

	if (f) {
		refuse(why, f->answer, "there is no command '%s' like %s", name, f->tool);
		return;
	}
	for (const struct command *const *c = commands; *c; c++)
		nearest_try(&best, (*c)->name);
	if (best.found)
		snprintf(hint, sizeof hint, "did you mean 'plumb %s'? 'plumb help' lists the commands", best.found);
	else if (access(name, F_OK) == 0)
		snprintf(hint, sizeof hint,
			 "to profile a program: plumb run -- PROGRAM; to read a recording: plumb report FILE");
	refuse(why, hint, name[0] == '-' ? "there is no option '%s' before a command" : "there is no command '%s'",
	       name);
}

const struct command *command_find(const char *name, struct failure *why)
{
	const struct command *cmd = command_by_name(name);

	if (!cmd)
		refuse_unknown(name, why);
	return cmd;
}
