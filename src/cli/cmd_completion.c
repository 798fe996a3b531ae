/* SPDX-License-Identifier: Apache-2.0 */
/* plumb completion: writes the script that completes plumb's command line in a shell. Layer cli. Writes to stdout. */
#include <string.h>

#include "completion.h"
#include "config.h"

static const struct opt *const tables[] = {options_common, NULL};

static const char *const examples[] = {
	"source <(plumb completion bash)",
	"in ~/.bashrc; or save it as ~/.local/share/bash-completion/completions/plumb",
	"source <(plumb completion zsh)",
	"in ~/.zshrc, after compinit; or save it as _plumb in a directory of $fpath",
	"plumb completion fish > ~/.config/fish/completions/plumb.fish",
	"fish finds it there",
	NULL,
};

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct failure why;

	for (const struct completion_shell *s = completion_shells; s->name; s++) {
		if (strcmp(s->name, argv[0]) == 0) {
			s->write(stdout);
			return finish_stdout();
		}
	}
	refuse(&why, "the shells are bash, zsh and fish", "there is no completion for '%s'", argv[0]);
	return complain_failure(&why);
}

const struct command command_completion = {
	.name = "completion",
	.usage = "SHELL",
	.summary = "write the script that completes plumb's command line",
	.about = "Write the script for SHELL (bash, zsh or fish) that completes the commands, options and values of "
		 "plumb, the processes to attach to, and the program to run. Where plumb was installed by 'meson "
		 "install' or a package, the scripts are in their places.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 1,
	.max_operands = 1,
	.operand = "the name of a shell",
	.run = run,
};
