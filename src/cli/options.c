/* SPDX-License-Identifier: Apache-2.0 */
/* The options that commands of several kinds have, and what the values of options can be; options_*.c have the others.
 * Layer cli; data and one-line setters.
 *
 * An option stands in one table and each command lists the tables it takes, so that an option means the same
 * everywhere. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

static const char *const color_words[] = {
	[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};

/* Values by the name they have in the help. What is not here takes anything. */
static const struct {
	const char *arg;
	enum value_kind kind;
	const char *const *words;
	const struct value_bit *bits;
	bool (*formats)(size_t i, struct plumb_format *ret);
} kinds[] = {
	{"MODE", VALUE_WORDS, .words = option_modes},
	{"KIND", VALUE_WORDS, .words = option_name_kinds},
	{"FORM", VALUE_WORDS, .formats = plumb_diff_format_at},
	{"FLAVOUR", VALUE_WORDS, .words = option_flavours},
	{"WHEN", VALUE_WORDS, .words = color_words},
	{"STATES", VALUE_WORDS, .bits = option_states},
	{"KINDS", VALUE_WORDS, .bits = option_kinds},
	{"WHICH", VALUE_WORDS, .words = option_native},
	{"FORMAT", VALUE_WORDS, .formats = plumb_format_at},
	{"INPUT", VALUE_WORDS, .formats = plumb_input_format_at},
	{"FILE", VALUE_FILE, .words = NULL},
	{"OUT", VALUE_FILE, .words = NULL},
	{"IN", VALUE_FILE, .words = NULL},
	{"DIR", VALUE_FILE, .words = NULL},
	{"PID", VALUE_PID, .words = NULL},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

enum value_kind opt_value_kind(const char *arg)
{
	for (size_t k = 0; k < KINDS; k++) {
		if (strcmp(kinds[k].arg, arg) == 0)
			return kinds[k].kind;
	}
	return VALUE_ANY;
}

static const char *word_at(const char *const *words, size_t i)
{
	while (i > 0 && *words) {
		words++;
		i--;
	}
	return *words;
}

static const char *bit_word_at(const struct value_bit *bits, size_t i)
{
	while (i > 0 && bits->word) {
		bits++;
		i--;
	}
	return bits->word;
}

const char *opt_value_word(const char *arg, size_t i)
{
	struct plumb_format f;

	for (size_t k = 0; k < KINDS; k++) {
		if (strcmp(kinds[k].arg, arg) != 0 || kinds[k].kind != VALUE_WORDS)
			continue;
		if (kinds[k].words)
			return word_at(kinds[k].words, i);
		if (kinds[k].bits)
			return bit_word_at(kinds[k].bits, i);
		return kinds[k].formats(i, &f) ? f.name : NULL;
	}
	return NULL;
}

static bool set_json(struct config *c, const char *value, struct failure *why)
{
	c->format = "json";
	return true;
}

static bool set_color(struct config *c, const char *value, struct failure *why)
{
	int word = value_word(value, color_words);

	if (word < 0)
		return refuse(why, "give auto, always or never", "'%s' does not say when to use colour", value);
	c->color = (enum color)word;
	return true;
}

static bool set_width(struct config *c, const char *value, struct failure *why)
{
	if (!value_int(value, 20, 1000, &c->width))
		return refuse(why, "give a number of columns from 20 to 1000", "'%s' is not a width", value);
	return true;
}

static bool set_quiet(struct config *c, const char *value, struct failure *why)
{
	c->quiet = true;
	return true;
}

static bool set_help(struct config *c, const char *value, struct failure *why)
{
	c->help = true;
	return true;
}

static bool set_man(struct config *c, const char *value, struct failure *why)
{
	c->man = true;
	return true;
}

#define OUTPUT	"Output"
#define GENERAL "General"

const struct opt options_json[] = {
	{"json", 0, NULL, "write JSON", OUTPUT, set_json},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_width[] = {
	{"width", 0, "N", "columns of the text (default: those of the terminal; elsewhere 80, or no limit for a dump)",
	 OUTPUT, set_width},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_quiet[] = {
	{"quiet", 'q', NULL, "no report at the end and no status line; errors only", GENERAL, set_quiet},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

/* For packagers and for the build, which documents it: not in the help. */
const struct opt options_man[] = {
	{"man", 0, NULL, NULL, GENERAL, set_man},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_common[] = {
	{"color", 0, "WHEN", "auto (the default: on a terminal, unless NO_COLOR is set), always or never", GENERAL,
	 set_color},
	{"help", 'h', NULL, "show this help", GENERAL, set_help},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

void config_free(struct config *c)
{
	word_list_free(&c->threads);
	word_list_free(&c->processes);
	word_list_free(&c->modules);
	word_list_free(&c->tags);
	value_amounts_free(&c->per);
	word_list_free(&c->own);
	word_list_free(&c->names);
	free(c->made_by);
}
