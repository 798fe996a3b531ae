/* SPDX-License-Identifier: Apache-2.0 */
/* The completion script for zsh: the tables as arguments of _arguments. Layer cli; writes to a stream. */
#include "completion.h"

static const char head[] = "#compdef plumb\n"
			   "# zsh completion for plumb; written by 'plumb completion zsh'.\n"
			   "\n"
			   "# zsh shows what it is given, and arguments are anybody's: their beginning, with '?' for\n"
			   "# what may be a command to the terminal.\n"
			   "_plumb_pids()\n"
			   "{\n"
			   "	local -a pids words_of\n"
			   "	local dir text\n"
			   "\n"
			   "	for dir in /proc/<->(N); do\n"
			   "		[[ -O $dir || $EUID == 0 ]] || continue\n"
			   "		text=\n"
			   "		{ IFS= read -r -k 1024 -u 0 text <$dir/cmdline } 2>/dev/null\n"
			   "		words_of=(${(0)text})\n"
			   "		[[ ${words_of[1]:t} == *python* ]] || continue\n"
			   "		text=${(j: :)words_of}\n"
			   "		pids+=(\"${dir:t}:${text//[^ -~[:alnum:]]/?}\")\n"
			   "	done\n"
			   "	_describe process pids\n"
			   "}\n"
			   "\n"
			   "# A program and its arguments; -- is left before them if no option stands before it.\n"
			   "_plumb_program()\n"
			   "{\n"
			   "	if [[ $words[1] == -- ]]; then\n"
			   "		shift words\n"
			   "		(( CURRENT-- ))\n"
			   "	fi\n"
			   "	_normal\n"
			   "}\n"
			   "\n";

static const char tail[] = "	esac\n"
			   "}\n"
			   "\n"
			   "# As a file of $fpath the first call loads it; in ~/.zshrc it is sourced.\n"
			   "if [[ $funcstack[1] == _plumb ]]; then\n"
			   "	_plumb \"$@\"\n"
			   "else\n"
			   "	compdef _plumb plumb\n"
			   "fi\n";

/* For the inside of single quotes and of [] or :: there. */
static void put_text(const char *s, FILE *out)
{
	char one[] = {0, 0};

	for (; *s; s++) {
		if (*s == '[' || *s == ']' || *s == ':' || *s == '\\')
			fputc('\\', out);
		*one = *s;
		completion_quoted(one, "'\\''", out);
	}
}

static void put_action(const char *arg, FILE *out)
{
	fprintf(out, ":%s:", arg);
	switch (completion_kind(arg)) {
	case VALUE_WORDS:
		fputc('(', out);
		completion_words(arg, out);
		fputc(')', out);
		break;
	case VALUE_FILE:
		fputs("_files", out);
		break;
	case VALUE_PID:
		fputs("_plumb_pids", out);
		break;
	case VALUE_ANY:
		fputc(' ', out);
		break;
	}
}

static void put_option(const struct opt *o, FILE *out)
{
	const char *letter_end = o->arg ? "+" : "", *name_end = o->arg ? "=" : "";

	fputs("			", out);
	if (o->letter)
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, letter_end, o->name,
			name_end);
	else
		fprintf(out, "'--%s%s[", o->name, name_end);
	put_text(o->help, out);
	fputc(']', out);
	if (o->arg)
		put_action(o->arg, out);
	fputs("' \\\n", out);
}

static void put_operands(const struct command *cmd, FILE *out)
{
	struct operand_name name = completion_operand(cmd);

	if (cmd->operands == OPERANDS_PROGRAM) {
		fputs("			'(-)1:program:_command_names -e' '*::argument:_plumb_program'\n", out);
		return;
	}
	fputs("			", out);
	if (name.text[0] && cmd->max_operands != 0) {
		fputs(cmd->max_operands == 1 ? "'1" : "'*", out);
		put_action(name.text, out);
		fputc('\'', out);
	} else {
		fputs("':'", out);
	}
	fputc('\n', out);
}

static void put_commands(FILE *out)
{
	fputs("_plumb_commands()\n{\n	local -a commands\n\n	commands=(\n", out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "		'%s:", (*c)->name);
		completion_quoted((*c)->summary, "'\\''", out);
		fputs("'\n", out);
	}
	fputs("	)\n	_describe command commands\n}\n\n", out);
}

void completion_zsh(FILE *out)
{
	fputs(head, out);
	put_commands(out);
	fputs("_plumb()\n{\n	local curcontext=$curcontext state state_descr line\n	typeset -A opt_args\n\n"
	      "	_arguments -C '(- : *)'{-h,--help}'[show the help]' '(- : *)'{-V,--version}'[show the version]' \\\n"
	      "		'1:command:_plumb_commands' '*::argument:->argument' && return\n"
	      "	[[ $state == argument ]] || return\n	case $words[1] in\n",
	      out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "	%s)\n		_arguments -s -S \\\n", (*c)->name);
		for (const struct opt *o = NULL; (o = opt_next_shown(*c, o));)
			put_option(o, out);
		put_operands(*c, out);
		fputs("		;;\n", out);
	}
	fputs(tail, out);
}
