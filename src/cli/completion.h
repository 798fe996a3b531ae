/* SPDX-License-Identifier: Apache-2.0 */
/* Completion scripts for shells, written from the option tables. */
#ifndef COMPLETION_H
#define COMPLETION_H

#include "opt.h"

struct completion_shell {
	const char *name;
	void (*write)(FILE *out);
};

/** Ends with a NULL name. */
extern const struct completion_shell completion_shells[];

void completion_bash(FILE *out);
void completion_zsh(FILE *out);
void completion_fish(FILE *out);

/* What the three have in common. */

/** The name an operand has in the help. */
struct operand_name {
	char text[32]; /* "": there are no operands */
};
struct operand_name completion_operand(const struct command *cmd);
/** As opt_value_kind(); knows topics and shells, too. */
enum value_kind completion_kind(const char *arg);
/** All words that @p arg can be, with blanks between. */
void completion_words(const char *arg, FILE *out);
/** @p s for the inside of single quotes, where the shell has @p quote for one of them. */
void completion_quoted(const char *s, const char *quote, FILE *out);

#endif
