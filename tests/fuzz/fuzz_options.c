/* SPDX-License-Identifier: Apache-2.0 */
/* Any command line, with the tables of the real commands. The input is lines: a command, then its arguments; what names
 * no command is refused and its first byte chooses one. What is refused is told in one sentence, what is accepted keeps
 * its operands. */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "require.h"

#define ARGS_MAX  64
#define INPUT_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each argument is an allocation of its own: the sanitizer then sees a read past its end. */
struct line {
	char *argv[ARGS_MAX + 1];
	int argc;
	bool utf8;
};

/* Bytes of the UTF-8 character at @p s, 0 if it is none. Not the code that is tested. */
static size_t character(const char *s)
{
	const uint8_t *u = (const uint8_t *)s;
	size_t len = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	}
	return len;
}

static bool is_utf8(const char *s)
{
	size_t len;

	for (; *s; s += len) {
		len = character(s);
		if (!len)
			return false;
	}
	return true;
}

static void split(struct line *l, const uint8_t *data, size_t size)
{
	l->utf8 = true;
	for (size_t at = 0; at <= size && l->argc < ARGS_MAX;) {
		const uint8_t *end = at < size ? memchr(data + at, '\n', size - at) : NULL;
		size_t len = end ? (size_t)(end - data) - at : size - at;
		char *arg = at + len < size || len ? strndup((const char *)data + at, len) : NULL;

		if (!arg)
			break;
		l->utf8 = l->utf8 && is_utf8(arg);
		l->argv[l->argc++] = arg;
		at += len + 1;
	}
}

/* What is told names options that are there, to the last of them. */
static void check_list(const struct command *cmd, const char *hint)
{
	const char *last = NULL;
	bool found = false;

	if (strncmp(hint, "it could be ", strlen("it could be ")) != 0)
		return;
	for (const char *s = hint; (s = strstr(s, "--")); s += 2)
		last = s + 2;
	REQUIRE(last);
	for (const struct opt *o = NULL; (o = opt_next(cmd, o));)
		found = found || strcmp(o->name, last) == 0;
	REQUIRE(found);
}

/* "usage: plumb diff BEFORE... -- AFTER...": dots that belong to the last operand. */
static bool is_usage_of_many(const char *text, size_t len)
{
	return strncmp(text, "usage: ", strlen("usage: ")) == 0 && len > 3 && strcmp(text + len - 3, "...") == 0;
}

/* What fills its array may have been cut. */
static void check_text(const char *text, size_t size, bool utf8)
{
	size_t len = strnlen(text, size);

	REQUIRE(len < size - 1 && !strchr(text, '\n'));
	REQUIRE(len == 0 || is_usage_of_many(text, len) ||
		(text[len - 1] != '.' && text[len - 1] != ' ' && text[len - 1] != ','));
	REQUIRE(!utf8 || is_utf8(text));
}

static void check_sentence(const struct failure *why, bool utf8)
{
	REQUIRE(*why->message);
	check_text(why->message, sizeof why->message, utf8);
	check_text(why->hint, sizeof why->hint, utf8);
}

static void check_operands(const struct command *cmd, const struct line *before, const struct line *l, int operands)
{
	int from = 0;

	REQUIRE(operands >= cmd->min_operands && (cmd->max_operands < 0 || operands <= cmd->max_operands));
	REQUIRE(operands < l->argc && !l->argv[operands]);
	for (int i = 0; i < operands; i++, from++) {
		while (from < before->argc && before->argv[from] != l->argv[i])
			from++;
		REQUIRE(from < before->argc);
	}
}

static void parse(const struct command *cmd, const struct line *before)
{
	struct line l = *before; /* the parser moves its operands */
	struct config c = CONFIG_INIT;
	struct failure why = {0};
	int operands;

	if (!opt_parse(cmd, l.argc, l.argv, &c, &operands, &why)) {
		check_sentence(&why, l.utf8);
		check_list(cmd, why.hint);
	} else if (!c.help) {
		check_operands(cmd, before, &l, operands);
	}
	config_free(&c);
}

static const struct command *command_of(const struct line *l)
{
	struct failure why = {0};
	const struct command *cmd = command_find(l->argv[0], &why);
	size_t count = 0;

	if (cmd)
		return cmd;
	check_sentence(&why, l->utf8);
	while (commands[count])
		count++;
	return commands[(uint8_t)l->argv[0][0] % count];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line l = {.argc = 0};

	if (size > INPUT_MAX)
		return 0;
	split(&l, data, size);
	if (l.argc)
		parse(command_of(&l), &l);
	for (int i = 0; i < l.argc; i++)
		free(l.argv[i]);
	return 0;
}
