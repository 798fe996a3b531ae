/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser. Layer cli. It knows no option: commands bring their tables.
 *
 * What it does not find it looks up among the options of other profilers, then among its own for the nearest name,
 * because people come with habits and with typing errors. */
#include "opt.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "foreign.h"
#include "nearest.h"

#define NAME_MAX_BYTES 100 /* of an unknown option that is quoted */

/* Arguments being read. */
struct args {
	const struct command *cmd;
	char **argv;
	int argc, at;
	struct config *c;
	struct failure *why;
};

/* How many of the @p len bytes at @p s, at most @p max, end with a whole character. */
static size_t whole_chars(const char *s, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max > 0 && (s[max] & 0xc0) == 0x80)
		max--;
	return max;
}

/* @p text in less than @p size bytes: without its middle if it is too long. */
static void keep_ends(const char *text, char *ret, size_t size)
{
	size_t len = strlen(text), half = size / 2 - sizeof "...";

	if (len + 1 < size) {
		memcpy(ret, text, len + 1);
		return;
	}
	size_t head = whole_chars(text, len, half), tail = len - half;
	while ((text[tail] & 0xc0) == 0x80)
		tail++;
	snprintf(ret, size, "%.*s...%s", (int)head, text, text + tail);
}

bool refuse(struct failure *why, const char *hint, const char *fmt, ...)
{
	char *message;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&message, fmt, ap) < 0)
		message = NULL;
	va_end(ap);
	keep_ends(message ? message : "out of memory", why->message, sizeof why->message);
	free(message);
	snprintf(why->hint, sizeof why->hint, "%s", hint);
	return false;
}

const struct opt *opt_next(const struct command *cmd, const struct opt *last)
{
	const struct opt *const *table = cmd->tables;

	if (!last)
		return *table && (*table)->name ? *table : NULL;
	if (last[1].name)
		return last + 1;
	/* At the end of a table: find which, to go on with the next. */
	for (; *table; table++) {
		const struct opt *o = *table;

		while (o->name && o != last)
			o++;
		if (o == last)
			return table[1];
	}
	return NULL;
}

const struct opt *opt_next_shown(const struct command *cmd, const struct opt *last)
{
	while ((last = opt_next(cmd, last)) && !last->help)
		;
	return last;
}

static const struct opt *by_letter(const struct command *cmd, char letter)
{
	const struct opt *o = NULL;

	while ((o = opt_next(cmd, o)) && o->letter != letter)
		;
	return o;
}

/* Exact name, or the only one that begins with @p name; *matches_ret tells how many do. */
static const struct opt *by_name(const struct command *cmd, const char *name, size_t len, int *matches_ret)
{
	const struct opt *found = NULL;

	*matches_ret = 0;
	for (const struct opt *o = NULL; (o = opt_next(cmd, o));) {
		if (strncmp(o->name, name, len) != 0)
			continue;
		if (o->name[len] == '\0') {
			*matches_ret = 1;
			return o;
		}
		found = o;
		++*matches_ret;
	}
	return *matches_ret == 1 ? found : NULL;
}

static bool ambiguous(const struct args *a, const char *name, size_t len)
{
	char list[256] = "";
	size_t at = 0;

	for (const struct opt *o = NULL; (o = opt_next(a->cmd, o));) {
		if (strncmp(o->name, name, len) == 0 && at < sizeof list)
			at += (size_t)snprintf(list + at, sizeof list - at, "%s--%s", at ? ", " : "it could be ",
					       o->name);
	}
	return refuse(a->why, list, "option '--%.*s' is not unique", (int)len, name);
}

/* @p option as written, dashes included, without a value. */
static bool unknown(const struct args *a, const char *option)
{
	const struct foreign *f = foreign_option(option, a->cmd->name);
	struct nearest best = nearest_start(option + strspn(option, "-"));
	char hint[256];

	if (f)
		return refuse(a->why, f->answer, "%s does not have %s option '%s'", a->cmd->name, f->tool, option);
	for (const struct opt *o = NULL; option[1] == '-' && (o = opt_next_shown(a->cmd, o));)
		nearest_try(&best, o->name);
	if (best.found)
		snprintf(hint, sizeof hint, "did you mean '--%s'? 'plumb help %s' lists all options", best.found,
			 a->cmd->name);
	else
		snprintf(hint, sizeof hint, "'plumb help %s' lists all options", a->cmd->name);
	return refuse(a->why, hint, "%s has no option '%s'", a->cmd->name, option);
}

static bool apply(struct args *a, const struct opt *o, const char *value)
{
	if (o->arg && !value) {
		if (a->at >= a->argc)
			return refuse(a->why, o->help, "option '--%s' needs a value: %s", o->name, o->arg);
		value = a->argv[a->at++];
	}
	return o->set(a->c, value, a->why);
}

/* "--native=all" is "--native-all": the option without a value whose name goes on with that word. NULL: there is none.
 */
static const struct opt *with_word(const struct command *cmd, const struct opt *o, const char *word)
{
	size_t len = strlen(o->name);

	for (const struct opt *other = NULL; (other = opt_next(cmd, other));)
		if (!other->arg && strncmp(other->name, o->name, len) == 0 && other->name[len] == '-' &&
		    strcmp(other->name + len + 1, word) == 0)
			return other;
	return NULL;
}

static bool long_option(struct args *a, const char *arg)
{
	const char *name = arg + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	int matches;
	const struct opt *o = by_name(a->cmd, name, len, &matches);
	char written[NAME_MAX_BYTES + 3];

	if (matches > 1 && len > 0)
		return ambiguous(a, name, len);
	if (!o) {
		snprintf(written, sizeof written, "--%.*s", (int)whole_chars(name, len, NAME_MAX_BYTES), name);
		return unknown(a, written);
	}
	if (!o->arg && equals)
		o = with_word(a->cmd, o, equals + 1);
	if (!o)
		return refuse(a->why, "", "option '--%.*s' takes no value", (int)len, name);
	return apply(a, o, o->arg && equals ? equals + 1 : NULL);
}

/* A letter may take several bytes. */
static bool unknown_letter(const struct args *a, const char *s)
{
	char written[6] = {'-', *s};

	for (size_t i = 1; (s[i] & 0xc0) == 0x80 && i + 2 < sizeof written; i++)
		written[i + 1] = s[i];
	return unknown(a, written);
}

static bool short_options(struct args *a, const char *arg)
{
	for (const char *s = arg + 1; *s; s++) {
		const struct opt *o = by_letter(a->cmd, *s);

		if (!o)
			return unknown_letter(a, s);
		if (o->arg)
			return apply(a, o, s[1] ? s + 1 : NULL);
		if (!apply(a, o, NULL))
			return false;
	}
	return true;
}

static bool check_count(const struct args *a, int operands)
{
	char hint[256];

	snprintf(hint, sizeof hint, "usage: plumb %s [options] %s", a->cmd->name, a->cmd->usage);
	if (operands < a->cmd->min_operands)
		return refuse(a->why, hint, "%s needs %s", a->cmd->name, a->cmd->operand);
	if (a->cmd->max_operands >= 0 && operands > a->cmd->max_operands)
		return refuse(a->why, hint, "%s does not take '%s'", a->cmd->name, a->argv[a->cmd->max_operands]);
	return true;
}

bool opt_parse(const struct command *cmd, int argc, char **argv, struct config *c, int *operands_ret,
	       struct failure *why)
{
	struct args a = {.cmd = cmd, .argv = argv, .argc = argc, .at = 1, .c = c, .why = why};
	bool options = true;
	int operands = 0;

	while (a.at < argc) {
		char *arg = argv[a.at++];
		bool is_option = options && arg[0] == '-' && arg[1] != '\0';

		if (is_option && strcmp(arg, "--") == 0) {
			c->split = operands;
			options = cmd->operands == OPERANDS_TWO_SIDES;
		} else if (!is_option) {
			argv[operands++] = arg;
			if (cmd->operands == OPERANDS_PROGRAM)
				options = false;
		} else if (!(arg[1] == '-' ? long_option(&a, arg) : short_options(&a, arg))) {
			return false;
		}
	}
	argv[operands] = NULL;
	*operands_ret = operands;
	return c->help || check_count(&a, operands);
}
