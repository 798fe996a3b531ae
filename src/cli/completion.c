/* SPDX-License-Identifier: Apache-2.0 */
/* What the completion scripts of all shells have in common: which words a value or an operand can be. Layer cli. */
#include "completion.h"

#include <string.h>

#include "help.h"

const struct completion_shell completion_shells[] = {
	{"bash", completion_bash},
	{"zsh", completion_zsh},
	{"fish", completion_fish},
	{NULL, NULL},
};

struct operand_name completion_operand(const struct command *cmd)
{
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct operand_name ret = {""};
	const char *name = strpbrk(cmd->usage, capitals);

	if (name)
		snprintf(ret.text, sizeof ret.text, "%.*s", (int)strspn(name, capitals), name);
	return ret;
}

/* The operands that need more than the option tables to know them. */
static const char *operand_word(const char *arg, size_t i)
{
	if (strcmp(arg, "SHELL") == 0)
		return i < sizeof completion_shells / sizeof completion_shells[0] ? completion_shells[i].name : NULL;
	if (strcmp(arg, "TOPIC") != 0)
		return NULL;
	for (const struct command *const *c = commands; *c; c++) {
		if (i-- == 0)
			return (*c)->name;
	}
	for (const struct help_topic *t = help_topics; t->name; t++) {
		if (i-- == 0)
			return t->name;
	}
	return NULL;
}

enum value_kind completion_kind(const char *arg)
{
	return operand_word(arg, 0) ? VALUE_WORDS : opt_value_kind(arg);
}

void completion_words(const char *arg, FILE *out)
{
	const char *(*word_of)(const char *, size_t) = operand_word(arg, 0) ? operand_word : opt_value_word;
	const char *word;

	for (size_t i = 0; (word = word_of(arg, i)); i++)
		fprintf(out, "%s%s", i ? " " : "", word);
}

void completion_quoted(const char *s, const char *quote, FILE *out)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs(quote, out);
		else
			fputc(*s, out);
	}
}
