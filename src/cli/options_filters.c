/* SPDX-License-Identifier: Apache-2.0 */
/* The options that choose what of a profile is written: the same for all commands and formats. Layer cli; data and
 * one-line setters. */
#include "config.h"

const struct value_bit option_states[] = {
#define PLUMB_DOING(name, bit, state, word, ...) {word, PLUMB_DOING_##name},
#include <plumb/words.def>
	{NULL, 0},
};
/* By their numbers, from 1 on. */
const char *const option_native[] = {"off", "leaf", "callable", "all", NULL};

const struct value_bit option_kinds[] = {
#define PLUMB_KIND(name, number, word, ...) {word, PLUMB_KIND_##name},
#include <plumb/words.def>
	{NULL, 0},
};

bool option_set_threads(struct config *c, const char *value, struct failure *why)
{
	if (!word_list_add(&c->threads, value))
		return refuse(why, "give names or ids, separated by commas, as in '--threads MainThread,4243'",
			      "'%s' names no thread", value);
	return true;
}

static bool set_processes(struct config *c, const char *value, struct failure *why)
{
	if (!word_list_add(&c->processes, value))
		return refuse(why, "give names or ids, separated by commas, as in '--process worker.py,4243'",
			      "'%s' names no process", value);
	return true;
}

static bool set_time(struct config *c, const char *value, struct failure *why)
{
	if (!value_time_range(value, &c->report.from_ns, &c->report.to_ns))
		return refuse(why,
			      "give seconds since the start, as in '--time 10..20', '--time 1m30s..' or '--time ..0.5'",
			      "'%s' is not a range of time", value);
	return true;
}

static bool set_state(struct config *c, const char *value, struct failure *why)
{
	if (!value_set(value, option_states, &c->report.states))
		return refuse(why,
			      "the states are "
#define PLUMB_DOING(name, bit, state, word, ...) word ", "
#include <plumb/words.def>
			      "separated by commas",
			      "'%s' is no state", value);
	return true;
}

static bool set_kind(struct config *c, const char *value, struct failure *why)
{
	if (!value_set(value, option_kinds, &c->report.kinds))
		return refuse(why,
			      "the kinds are "
#define PLUMB_KIND(name, number, word, ...) word ", "
#include <plumb/words.def>
			      "separated by commas",
			      "'%s' is no kind of frames", value);
	return true;
}

static bool set_native(struct config *c, const char *value, struct failure *why)
{
	int which = value_word(value, option_native);

	if (which < 0)
		return refuse(why, "the choices are off, leaf, callable and all", "'%s' is no choice of native frames",
			      value);
	c->report.native = (enum plumb_native_shown)(PLUMB_NATIVE_SHOWN_OFF + which);
	return true;
}

static bool set_module(struct config *c, const char *value, struct failure *why)
{
	if (!word_list_add(&c->modules, value))
		return refuse(why, "give names or paths, separated by commas, as in '--module json,app.py'",
			      "'%s' names no module", value);
	return true;
}

/* Not a list: values may have commas. */
static bool set_tag(struct config *c, const char *value, struct failure *why)
{
	if (*value == '\0' || *value == '=' || !word_list_add_whole(&c->tags, value))
		return refuse(why, "give a name with its value, as in '--tag route=/x', or only a name: '--tag route'",
			      "'%s' is no label", value);
	return true;
}

static bool set_focus(struct config *c, const char *value, struct failure *why)
{
	c->report.focus = value;
	return true;
}

static bool set_ignore(struct config *c, const char *value, struct failure *why)
{
	c->report.ignore = value;
	return true;
}

static bool set_min_share(struct config *c, const char *value, struct failure *why)
{
	if (!value_percent(value, &c->report.min_share))
		return refuse(why, "give percent from 0.01 to 100, as in '--min-share 0.5'", "'%s' is not a percentage",
			      value);
	return true;
}

static bool set_own(struct config *c, const char *value, struct failure *why)
{
	if (!word_list_add(&c->own, value))
		return refuse(why, "give names or paths, separated by commas, as in '--own mylib,/srv/plugins'",
			      "'%s' names no module", value);
	return true;
}

#define FILTERS "Choosing a part"

const struct opt options_own[] = {
	{"own", 0, "LIST",
	 "the code of these modules or packages, files or folders counts as the program's own though it is installed; "
	 "may be repeated",
	 FILTERS, set_own},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_threads[] = {
	{"threads", 0, "LIST", "only these threads, by name or id, separated by commas; may be repeated", FILTERS,
	 option_set_threads},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_native[] = {
	{"native", 0, "WHICH",
	 "of the functions of C, C++ and Rust: off (none), leaf (those that no Python function is inside of), callable "
	 "(not those that only pass calls on), all (default: as recorded; 'run --native' records all)",
	 FILTERS, set_native},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_filters[] = {
	{"process", 0, "LIST", "only these processes, by name or id, separated by commas; may be repeated", FILTERS,
	 set_processes},
	{"time", 0, "A..B", "only the samples from A to B seconds after the start; also A.., ..B, 1m30s, 500ms",
	 FILTERS, set_time},
	{"state", 0, "STATES",
	 "only samples in one of these states: "
#define PLUMB_DOING(name, bit, state, word, ...) word ", "
#include <plumb/words.def>
	 "separated by commas",
	 FILTERS, set_state},
	{"kind", 0, "KINDS",
	 "only frames of these kinds: "
#define PLUMB_KIND(name, number, word, ...) word ", "
#include <plumb/words.def>
	 "separated by commas",
	 FILTERS, set_kind},
	{"module", 0, "LIST",
	 "only samples with a frame of these modules or packages (json.decoder), files or folders (app.py, /srv/app)",
	 FILTERS, set_module},
	{"tag", 0, "NAME[=VALUE]",
	 "only samples with this label (plumb.tag), of any value if none is given; may be repeated: of two values of "
	 "one "
	 "name one counts, two names must both be there",
	 FILTERS, set_tag},
	{"focus", 0, "REGEX", "only samples with a frame whose 'function file' matches", FILTERS, set_focus},
	{"ignore", 0, "REGEX", "only samples without a frame whose 'function file' matches", FILTERS, set_ignore},
	{"min-share", 0, "PERCENT", "count calls that take less than PERCENT of the time in their callers", FILTERS,
	 set_min_share},
	{NULL, 0, NULL, NULL, NULL, NULL},
};
