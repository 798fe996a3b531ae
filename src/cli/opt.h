/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables and their parser. A table is data: the parser, the help, the man pages and the completions read it. */
#ifndef OPT_H
#define OPT_H

#include "cli.h"

struct opt {
	const char *name;  /* long, without the dashes */
	char letter;	   /* 0: none */
	const char *arg;   /* name of the value for the help; NULL: takes none */
	const char *help;  /* one or two lines; no full stop; NULL: hidden from all who list options */
	const char *group; /* heading in the help */
	/** Store @p value (NULL without arg) in @p c, or fill in @p why and return false. */
	bool (*set)(struct config *c, const char *value, struct failure *why);
};

/** Options of @p cmd one after the other, over all its tables: start with NULL, ends with NULL. */
const struct opt *opt_next(const struct command *cmd, const struct opt *last);
/** The same without what is hidden. */
const struct opt *opt_next_shown(const struct command *cmd, const struct opt *last);
/** @p o is the first of its group that is shown. */
bool opt_is_first_of_group(const struct command *cmd, const struct opt *o);

/* What a value can be. The name it has in the help decides, for options and operands alike: a MODE is the same
 * everywhere. */
enum value_kind {
	VALUE_ANY, /* nothing is known */
	VALUE_WORDS,
	VALUE_FILE,
	VALUE_PID,
};
enum value_kind opt_value_kind(const char *arg);
/** The @p i-th word that @p arg can be, from 0; NULL past the last, and for other kinds. */
const char *opt_value_word(const char *arg, size_t i);

/**
 * Parse argv[1..]. Understands --name VALUE, --name=VALUE, unique beginnings of names, -x VALUE, -xVALUE, joined
 * letters, and
 * -- as the end of the options. Operands are moved to the front of @p argv, which loses nothing but the options.
 * @param operands_ret number of operands, at argv[0] on.
 */
bool opt_parse(const struct command *cmd, int argc, char **argv, struct config *c, int *operands_ret,
	       struct failure *why);

/** The help of @p cmd, wrapped for @p width columns. */
void opt_help(const struct command *cmd, int width, FILE *out);
/** @p text wrapped at @p width, each line @p indent columns in; @p at: columns already used in the first. '\n' is kept.
 */
void opt_wrap(const char *text, int indent, int at, int width, FILE *out);

#endif
