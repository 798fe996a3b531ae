/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `plumb diff`. Layer cli; data and one-line setters. */
#include "config.h"

static bool set_functions(struct config *c, const char *value, struct failure *why)
{
	c->diff.rows = PLUMB_DIFF_FUNCTIONS;
	return true;
}

static bool set_lines(struct config *c, const char *value, struct failure *why)
{
	c->diff.rows = PLUMB_DIFF_LINES;
	return true;
}

static bool set_paths(struct config *c, const char *value, struct failure *why)
{
	c->diff.rows = PLUMB_DIFF_PATHS;
	return true;
}

static bool set_normalize(struct config *c, const char *value, struct failure *why)
{
	if (!*value)
		return refuse(why, "give none, total, samples, or the name of a function",
			      "option '--normalize' needs what to compare by");
	c->diff.normalize = value;
	return true;
}

static bool set_per(struct config *c, const char *value, struct failure *why)
{
	if (!value_amounts(value, &c->per))
		return refuse(why,
			      "give the unit and how many were done before and after, as in '--per "
			      "request=1200,1250', or a number for each recording",
			      "'%s' does not say how much work was done", value);
	return true;
}

static bool set_fail_above(struct config *c, const char *value, struct failure *why)
{
	if (!value_percent(value, &c->diff.fail_above))
		return refuse(why, "give percent from 0.01 to 100, as in '--fail-above 5%'", "'%s' is not a percentage",
			      value);
	return true;
}

static bool set_form(struct config *c, const char *value, struct failure *why)
{
	c->format = value_format(value, plumb_diff_format_at);
	if (c->format)
		return true;
	return refuse(why, "a comparison can be written as text, json, markdown, html, collapsed or svg",
		      "diff has no output format '%s'", value);
}

#define COMPARING "Comparison"
#define OUTPUT	  "Output"

const struct opt options_diff[] = {
	{"functions", 0, NULL, "compare functions (the default)", COMPARING, set_functions},
	{"lines", 0, NULL, "compare lines", COMPARING, set_lines},
	{"paths", 0, NULL, "compare paths of calls", COMPARING, set_paths},
	{"normalize", 0, "BY",
	 "none: compare times as they are; total: shares of all time; samples: shares of all samples; or the name of a "
	 "function, whose time is the measure. Default: none if the programs ended by themselves or --per is given, "
	 "otherwise total",
	 COMPARING, set_normalize},
	{"per", 0, "UNIT=COUNTS",
	 "compare the time per unit of work, with how many were done before and after: request=1200,1250; for several "
	 "recordings a side these are sums, or give one number for each recording",
	 COMPARING, set_per},
	{"fail-above", 0, "PERCENT",
	 "exit with 1 if anything, or the total, takes more than PERCENT longer than before", COMPARING,
	 set_fail_above},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_diff_forms[] = {
	{"format", 'f', "FORM", "text (the default), json, markdown, html, collapsed or svg", OUTPUT, set_form},
	{NULL, 0, NULL, NULL, NULL, NULL},
};
