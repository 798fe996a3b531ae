/* SPDX-License-Identifier: Apache-2.0 */
/* The completion script for bash, 4.0 and later. Layer cli; writes to a stream.
 *
 * The tables become functions, what goes with them is constant text. Needs nothing of the package bash-completion;
 * where that is loaded, the program after `plumb run --` is completed by its own rules. */
#include "completion.h"

static const char head[] = "# bash completion for plumb; written by 'plumb completion bash'.\n"
			   "\n"
			   "# What option $2 of command $1 takes, in REPLY; false if it takes nothing. So for "
			   "operands, the number of those\n"
			   "# that stand before it in $2.\n";

static const char tail[] =
	"_plumb_pids()\n"
	"{\n"
	"	local dir program\n"
	"\n"
	"	for dir in /proc/[0-9]*; do\n"
	"		[[ -O $dir || $EUID == 0 ]] || continue\n"
	"		{ IFS= read -r -n 1024 -d '' program <\"$dir/cmdline\"; } 2>/dev/null || continue\n"
	"		[[ ${program##*/} == *python* ]] && printf '%s\\n' \"${dir#/proc/}\"\n"
	"	done\n"
	"}\n"
	"\n"
	"_plumb_words() # WORDS BEGINNING\n"
	"{\n"
	"	local IFS=$' \\t\\n'\n"
	"\n"
	"	mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")\n"
	"}\n"
	"\n"
	"# Files are left to readline, which knows about quotes and blanks.\n"
	"_plumb_files()\n"
	"{\n"
	"	compopt -o default 2>/dev/null\n"
	"}\n"
	"\n"
	"_plumb_offer() # KIND BEGINNING\n"
	"{\n"
	"	case $1 in\n"
	"	file) _plumb_files ;;\n"
	"	pid) _plumb_words \"$(_plumb_pids)\" \"$2\" ;;\n"
	"	'words '*) _plumb_words \"${1#words }\" \"$2\" ;;\n"
	"	esac\n"
	"}\n"
	"\n"
	"# The program of 'plumb run' is word $1 of the line.\n"
	"_plumb_program()\n"
	"{\n"
	"	if declare -F _comp_command_offset >/dev/null; then\n"
	"		_comp_command_offset \"$1\"\n"
	"	elif declare -F _command_offset >/dev/null; then\n"
	"		_command_offset \"$1\"\n"
	"	else\n"
	"		_plumb_files\n"
	"		((COMP_CWORD != $1)) || mapfile -t COMPREPLY < <(compgen -c -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
	"	fi\n"
	"}\n"
	"\n"
	"_plumb()\n"
	"{\n"
	"	local cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]} wants='' ended='' operands=0 REPLY='' word i\n"
	"\n"
	"	COMPREPLY=()\n"
	"	if ((COMP_CWORD == 1)); then\n"
	"		_plumb_options ''\n"
	"		_plumb_words \"$REPLY\" \"$cur\"\n"
	"		return\n"
	"	fi\n"
	"	for ((i = 2; i < COMP_CWORD; i++)); do\n"
	"		word=${COMP_WORDS[i]}\n"
	"		if [[ $wants ]]; then\n"
	"			[[ $word == '=' ]] || wants= # readline splits --mode=cpu\n"
	"		elif [[ ! $ended && $word == -- ]]; then\n"
	"			ended=1\n"
	"		elif [[ ! $ended && $word == -?* ]]; then\n"
	"			_plumb_value \"$cmd\" \"$word\" && wants=$REPLY\n"
	"		elif _plumb_value \"$cmd\" 0 && [[ $REPLY == program ]]; then\n"
	"			_plumb_program \"$i\"\n"
	"			return\n"
	"		else\n"
	"			((++operands))\n"
	"		fi\n"
	"	done\n"
	"	if [[ $wants ]]; then\n"
	"		[[ $cur == '=' ]] && cur=\n"
	"		_plumb_offer \"$wants\" \"$cur\"\n"
	"	elif [[ ! $ended && $cur == -* ]] || ! _plumb_value \"$cmd\" \"$operands\"; then\n"
	"		_plumb_options \"$cmd\"\n"
	"		[[ $ended ]] || _plumb_words \"$REPLY\" \"$cur\"\n"
	"	elif [[ $REPLY == program ]]; then\n"
	"		_plumb_program \"$COMP_CWORD\"\n"
	"	else\n"
	"		_plumb_offer \"$REPLY\" \"$cur\"\n"
	"	fi\n"
	"}\n"
	"\n"
	"complete -F _plumb plumb\n";

static void put_kind(const char *arg, FILE *out)
{
	switch (completion_kind(arg)) {
	case VALUE_WORDS:
		fputs("'words ", out);
		completion_words(arg, out);
		fputc('\'', out);
		break;
	case VALUE_FILE:
		fputs("'file'", out);
		break;
	case VALUE_PID:
		fputs("'pid'", out);
		break;
	case VALUE_ANY:
		fputs("'any'", out);
		break;
	}
}

static void put_operands(const struct command *cmd, FILE *out)
{
	struct operand_name name = completion_operand(cmd);

	if (cmd->operands == OPERANDS_PROGRAM) {
		fprintf(out, "	'%s 0') REPLY='program' ;;\n", cmd->name);
	} else if (name.text[0] && cmd->max_operands != 0) {
		/* More than one: the first number is as good as the others, so any number will do. */
		fprintf(out, cmd->max_operands == 1 ? "	'%s 0') REPLY=" : "	'%s '[0-9]*) REPLY=", cmd->name);
		put_kind(name.text, out);
		fputs(" ;;\n", out);
	}
}

static void put_values(FILE *out)
{
	fputs("_plumb_value() # COMMAND OPTION\n{\n	case \"$1 $2\" in\n", out);
	for (const struct command *const *c = commands; *c; c++) {
		for (const struct opt *o = NULL; (o = opt_next_shown(*c, o));) {
			if (!o->arg)
				continue;
			fprintf(out, "	'%s --%s'", (*c)->name, o->name);
			if (o->letter)
				fprintf(out, " | '%s -%c'", (*c)->name, o->letter);
			fputs(") REPLY=", out);
			put_kind(o->arg, out);
			fputs(" ;;\n", out);
		}
		put_operands(*c, out);
	}
	fputs("	*) return 1 ;;\n	esac\n}\n\n", out);
}

static void put_options(FILE *out)
{
	fputs("# What can begin an argument of command $1, in REPLY; without one, what can follow plumb.\n"
	      "_plumb_options()\n{\n	case $1 in\n",
	      out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "	%s) REPLY='", (*c)->name);
		for (const struct opt *o = NULL; (o = opt_next_shown(*c, o));) {
			fprintf(out, "--%s ", o->name);
			if (o->letter)
				fprintf(out, "-%c ", o->letter);
		}
		fputs("' ;;\n", out);
	}
	fputs("	'') REPLY='", out);
	for (const struct command *const *c = commands; *c; c++)
		fprintf(out, "%s ", (*c)->name);
	fputs("--help -h --version -V' ;;\n	*) REPLY= ;;\n	esac\n}\n\n", out);
}

void completion_bash(FILE *out)
{
	fputs(head, out);
	put_values(out);
	put_options(out);
	fputs(tail, out);
}
