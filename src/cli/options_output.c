/* SPDX-License-Identifier: Apache-2.0 */
/* The options that say in which form and where a profile is written. Layer cli; data and one-line setters. */
#include "config.h"

const char *const option_flavours[] = {"cpython", "seed", NULL};
const char *const option_name_kinds[] = {"short", "full", NULL};

bool option_set_output(struct config *c, const char *value, struct failure *why)
{
	if (!*value)
		return refuse(why, "", "option '--output' needs the name of a file");
	c->output = value;
	return true;
}

enum plumb_output_name config_output_name(const struct config *c)
{
	return c->force ? PLUMB_OUTPUT_FORCED : c->chosen ? PLUMB_OUTPUT_CHOSEN : PLUMB_OUTPUT_NAMED;
}

static bool set_lines(struct config *c, const char *value, struct failure *why)
{
	c->report.lines = true;
	c->report.functions = false;
	return true;
}

static bool set_functions(struct config *c, const char *value, struct failure *why)
{
	c->report.lines = false;
	c->report.functions = true;
	return true;
}

static bool set_top(struct config *c, const char *value, struct failure *why)
{
	if (value_int(value, 1, PLUMB_TOP_MAX, &c->report.top))
		return true;
	return refuse(why, "give a number of rows from 1 to 100", "'%s' is no number of rows", value);
}

static bool set_quality(struct config *c, const char *value, struct failure *why)
{
	c->report.quality = true;
	return true;
}

static bool set_idle(struct config *c, const char *value, struct failure *why)
{
	c->report.idle = PLUMB_IDLE_KEEP;
	return true;
}

static bool set_skip_idle(struct config *c, const char *value, struct failure *why)
{
	c->report.idle = PLUMB_IDLE_SKIP_SAMPLES;
	return true;
}

static bool set_names(struct config *c, const char *value, struct failure *why)
{
	int kind = value_word(value, option_name_kinds);

	if (kind < 0)
		return refuse(why, "names are short or full", "'%s' is no kind of names", value);
	c->report.full_names = kind == 1;
	return true;
}

static bool set_no_escape(struct config *c, const char *value, struct failure *why)
{
	c->report.no_escape = true;
	return true;
}

static bool set_format(struct config *c, const char *value, struct failure *why)
{
	c->format = value_format(value, plumb_format_at);
	if (c->format)
		return true;
	return refuse(why, "'plumb help formats' lists the output formats", "there is no output format '%s'", value);
}

static bool set_from(struct config *c, const char *value, struct failure *why)
{
	c->from = value_format(value, plumb_input_format_at);
	if (c->from)
		return true;
	return refuse(why, "'plumb help formats' lists the input formats", "there is no input format '%s'", value);
}

static bool set_flavour(struct config *c, const char *value, struct failure *why)
{
	int flavour = value_word(value, option_flavours);

	if (flavour < 0)
		return refuse(why, "the flavours are cpython and seed", "there is no flavour '%s'", value);
	c->report.seed_flavour = flavour == 1;
	return true;
}

static bool set_html(struct config *c, const char *value, struct failure *why)
{
	c->format = "html";
	return true;
}

static bool set_open(struct config *c, const char *value, struct failure *why)
{
	c->open = true;
	return true;
}

static bool set_annotate(struct config *c, const char *value, struct failure *why)
{
	c->report.annotate = true;
	return true;
}

static bool set_force(struct config *c, const char *value, struct failure *why)
{
	c->force = c->session.force = true;
	return true;
}

static bool set_markdown(struct config *c, const char *value, struct failure *why)
{
	c->format = "markdown";
	return true;
}

#define REPORT "Report"
#define OUTPUT "Output"

const struct opt options_rows[] = {
	{"lines", 0, NULL, "rows are lines", REPORT, set_lines},
	{"functions", 0, NULL, "rows are functions (the default); in other formats: leave lines out", REPORT,
	 set_functions},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_text[] = {
	{"top", 0, "COUNT", "text, Markdown: show so many rows in each table, however light or uncertain", REPORT,
	 set_top},
	{"quality", 0, NULL, "text: also show the figures behind the line 'quality'", REPORT, set_quality},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_idle[] = {
	{"idle", 0, NULL, "also show threads that did nothing", REPORT, set_idle},
	{"skip-idle", 0, NULL, "count only samples on a CPU or holding the GIL", REPORT, set_skip_idle},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_names[] = {
	{"names", 0, "KIND", "short: base name of the file (the default); full: whole path and qualified name", REPORT,
	 set_names},
	{"no-escape", 0, NULL, "collapsed: leave ';' and line breaks in names as they are", OUTPUT, set_no_escape},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_formats[] = {
	{"format", 'f', "FORMAT",
	 "the format to write (default: by the end of the name); 'plumb help formats' lists them", OUTPUT, set_format},
	{"annotate", 0, NULL, "collapsed: functions of the kernel end with _[k], as other tools colour them", OUTPUT,
	 set_annotate},
	{"from", 0, "INPUT", "the format to read: plumb, or that of another tool (default: by its content)", OUTPUT,
	 set_from},
	{"flavour", 0, "FLAVOUR", "flamegraph-json: cpython (as in 3.15.2, the default) or seed (as it was at first)",
	 OUTPUT, set_flavour},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_html[] = {
	{"html", 0, NULL,
	 "write a page for a browser; on a terminal, and by run and attach, into a file named after the recording",
	 OUTPUT, set_html},
	{"open", 0, NULL, "write it and show it in the browser that BROWSER names, else by xdg-open", OUTPUT, set_open},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_force[] = {
	{"force", 0, NULL, "replace even a file that plumb did not write", OUTPUT, set_force},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_recording[] = {
	{"output", 'o', "FILE", "the recording to write; - is standard output", OUTPUT, option_set_output},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_output[] = {
	{"output", 'o', "OUT", "write to OUT instead of standard output; its end names the format", OUTPUT,
	 option_set_output},
	{"markdown", 0, NULL, "write Markdown", OUTPUT, set_markdown},
	{NULL, 0, NULL, NULL, NULL, NULL},
};
