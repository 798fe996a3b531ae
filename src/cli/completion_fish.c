/* SPDX-License-Identifier: Apache-2.0 */
/* The completion script for fish: one `complete` for each option and operand. Layer cli; writes to a stream.
 *
 * fish asks the condition of every line that might apply; it asks equal conditions only once. */
#include "completion.h"

static const char functions[] =
	"# What stands before the cursor: the command, whether -- ended the options, and the operands.\n"
	"function __plumb_state\n"
	"    set -l words (commandline -opc)\n"
	"    set -l wants 0\n"
	"    set -l ended 0\n"
	"    set -l operands\n"
	"    for word in $words[3..-1]\n"
	"        if set -q operands[1]; and __plumb_takes_program $words[2]\n"
	"            set -a operands $word\n"
	"        else if test $wants = 1\n"
	"            set wants 0\n"
	"        else if test $ended = 0; and string match -qr -- '^--$' $word\n"
	"            set ended 1\n"
	"        else if test $ended = 0; and string match -qr -- '^-.' $word\n"
	"            __plumb_takes_value \"$words[2] $word\"; and set wants 1\n"
	"        else\n"
	"            set -a operands $word\n"
	"        end\n"
	"    end\n"
	"    printf '%s\\n' \"$words[2]\" $ended $operands\n"
	"end\n"
	"\n"
	"function __plumb_is_command\n"
	"    set -l state (__plumb_state)\n"
	"    test -z \"$state[1]\"\n"
	"end\n"
	"\n"
	"# An option of command $argv[1] can stand here.\n"
	"function __plumb_is_option\n"
	"    set -l state (__plumb_state)\n"
	"    test \"$state[1]\" = $argv[1]; and test $state[2] = 0; or return 1\n"
	"    not __plumb_takes_program $argv[1]; or not set -q state[3]\n"
	"end\n"
	"\n"
	"# An operand of command $argv[1], which takes $argv[2] at most, or any number, can stand here.\n"
	"function __plumb_is_operand\n"
	"    set -l state (__plumb_state)\n"
	"    test \"$state[1]\" = $argv[1]; or return 1\n"
	"    test $argv[2] -lt 0; or test (count $state) -lt (math $argv[2] + 2)\n"
	"end\n"
	"\n"
	"# A program and its arguments are completed as if they stood alone.\n"
	"function __plumb_program\n"
	"    set -l state (__plumb_state)\n"
	"    set -l line (string join ' ' -- (string escape -- $state[3..-1]) (commandline -ct))\n"
	"    complete --do-complete=\"$line\"\n"
	"end\n"
	"\n"
	"# A process may end at any time, and of its own redirections fish complains. Arguments are anybody's:\n"
	"# their beginning is shown, with '?' for what may be a command to the terminal, or end the candidate.\n"
	"function __plumb_pids\n"
	"    set -l files /proc/*/cmdline\n"
	"    for file in (command grep -sl python /dev/null $files)\n"
	"        set -l pid (string match -r '^/proc/([0-9]+)/' $file)[2]; or continue\n"
	"        test -O /proc/$pid; or test (id -u) = 0; or continue\n"
	"        set -l words (command head -c 1024 $file 2>/dev/null | string split0)\n"
	"        string match -qr '(^|/)[^/]*python[^/]*$' -- \"$words[1]\"; or continue\n"
	"        set words (string replace -ra '[^ -~\\p{L}\\p{N}]' '?' -- $words)\n"
	"        printf '%s\\t%s\\n' $pid (string join ' ' -- $words)\n"
	"    end\n"
	"end\n"
	"\n"
	"complete -c plumb -f\n"
	"complete -c plumb -n __plumb_is_command -s h -l help -d 'show the help'\n"
	"complete -c plumb -n __plumb_is_command -s V -l version -d 'show the version'\n";

static void put_text(const char *s, FILE *out)
{
	fputc('\'', out);
	completion_quoted(s, "\\'", out);
	fputc('\'', out);
}

/* The part of a `complete` that tells what can stand there. */
static void put_kind(const char *arg, FILE *out)
{
	switch (completion_kind(arg)) {
	case VALUE_WORDS:
		fputs(" -a '", out);
		completion_words(arg, out);
		fputc('\'', out);
		break;
	case VALUE_FILE:
		fputs(" -F", out);
		break;
	case VALUE_PID:
		fputs(" -a '(__plumb_pids)'", out);
		break;
	case VALUE_ANY:
		break;
	}
}

static void put_option(const struct command *cmd, const struct opt *o, FILE *out)
{
	fprintf(out, "complete -c plumb -n '__plumb_is_option %s' -l %s", cmd->name, o->name);
	if (o->letter)
		fprintf(out, " -s %c", o->letter);
	if (o->arg) {
		fputs(completion_kind(o->arg) == VALUE_FILE ? " -r" : " -x", out);
		put_kind(o->arg, out);
	}
	fputs(" -d ", out);
	put_text(o->help, out);
	fputc('\n', out);
}

static void put_operand(const struct command *cmd, FILE *out)
{
	struct operand_name name = completion_operand(cmd);

	if (!name.text[0] || (cmd->operands != OPERANDS_PROGRAM && completion_kind(name.text) == VALUE_ANY))
		return;
	fprintf(out, "complete -c plumb -n '__plumb_is_operand %s %d'", cmd->name, cmd->max_operands);
	if (cmd->operands == OPERANDS_PROGRAM)
		fputs(" -a '(__plumb_program)'", out);
	else
		put_kind(name.text, out);
	fputc('\n', out);
}

static void put_command(const struct command *cmd, FILE *out)
{
	fprintf(out, "\ncomplete -c plumb -n __plumb_is_command -a %s -d ", cmd->name);
	put_text(cmd->summary, out);
	fputc('\n', out);
	for (const struct opt *o = NULL; (o = opt_next_shown(cmd, o));)
		put_option(cmd, o, out);
	put_operand(cmd, out);
}

/* What the functions ask about the tables. */
static void put_facts(FILE *out)
{
	fputs("# fish completion for plumb; written by 'plumb completion fish'.\n\n"
	      "function __plumb_takes_program\n    contains -- $argv[1]",
	      out);
	for (const struct command *const *c = commands; *c; c++) {
		if ((*c)->operands == OPERANDS_PROGRAM)
			fprintf(out, " %s", (*c)->name);
	}
	fputs("\nend\n\nfunction __plumb_takes_value\n    contains -- $argv[1]", out);
	for (const struct command *const *c = commands; *c; c++) {
		for (const struct opt *o = NULL; (o = opt_next_shown(*c, o));) {
			if (o->arg)
				fprintf(out, " \\\n        '%s --%s'", (*c)->name, o->name);
			if (o->arg && o->letter)
				fprintf(out, " '%s -%c'", (*c)->name, o->letter);
		}
	}
	fputs("\nend\n\n", out);
}

void completion_fish(FILE *out)
{
	put_facts(out);
	fputs(functions, out);
	for (const struct command *const *c = commands; *c; c++)
		put_command(*c, out);
}
