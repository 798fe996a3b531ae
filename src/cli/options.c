/* SPDX-License-Identifier: Apache-2.0 */
/* The options: what they are called, what they mean, what they set. Layer cli; data and one-line setters.
 *
 * An option stands in one table and each command lists the tables it takes, so that an option means the same
 * everywhere. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The words that options take. */
static const char *const modes[] = {
	[PLUMB_MODE_WALL] = "wall", [PLUMB_MODE_CPU] = "cpu", [PLUMB_MODE_GIL] = "gil", NULL};
static const char *const flavours[] = {"cpython", "seed", NULL};
static const char *const name_kinds[] = {"short", "full", NULL};
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
	{"MODE", VALUE_WORDS, .words = modes},
	{"KIND", VALUE_WORDS, .words = name_kinds},
	{"FORM", VALUE_WORDS, .formats = plumb_diff_format_at},
	{"FLAVOUR", VALUE_WORDS, .words = flavours},
	{"WHEN", VALUE_WORDS, .words = color_words},
	{"STATES", VALUE_WORDS, .bits = option_states},
	{"KINDS", VALUE_WORDS, .bits = option_kinds},
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

static bool set_output(struct config *c, const char *value, struct failure *why)
{
	if (!*value)
		return refuse(why, "", "option '--output' needs the name of a file");
	c->output = value;
	return true;
}

static bool set_duration(struct config *c, const char *value, struct failure *why)
{
	if (!value_duration(value, &c->session.duration_ns))
		return refuse(why, "give seconds, as in '-d 10' or '-d 0.5', or '500ms', '2m', '1h30m'",
			      "'%s' is not a duration", value);
	return true;
}

static bool set_rate(struct config *c, const char *value, struct failure *why)
{
	if (!value_rate(value, &c->session.rate_hz))
		return refuse(why,
			      "give samples per second from 0.01 to 1000000, as in '-r 1000', '-r 1k' or '-r 100hz', "
			      "or 'max'",
			      "'%s' is not a sampling rate", value);
	return true;
}

static bool set_max_overhead(struct config *c, const char *value, struct failure *why)
{
	if (!value_percent(value, &c->session.max_overhead))
		return refuse(why, "give percent from 0.01 to 100, as in '--max-overhead 1'",
			      "'%s' is not a percentage", value);
	return true;
}

static bool set_mode(struct config *c, const char *value, struct failure *why)
{
	int mode = value_word(value, modes);

	if (mode < 0 && strcmp(value, "exception") == 0)
		return refuse(why, "the modes are wall, cpu and gil",
			      "profiling.sampling's mode '%s' is not in plumb yet", value);
	if (mode < 0)
		return refuse(why, "the modes are wall, cpu and gil", "there is no mode '%s'", value);
	c->session.mode = (enum plumb_mode)mode;
	return true;
}

static bool set_subprocesses(struct config *c, const char *value, struct failure *why)
{
	c->session.subprocesses = PLUMB_SUBPROCESSES_YES;
	return true;
}

static bool set_opcodes(struct config *c, const char *value, struct failure *why)
{
	c->session.opcodes = true;
	return true;
}

static bool set_no_subprocesses(struct config *c, const char *value, struct failure *why)
{
	c->session.subprocesses = PLUMB_SUBPROCESSES_NO;
	return true;
}

static bool set_no_jitter(struct config *c, const char *value, struct failure *why)
{
	c->session.no_jitter = true;
	return true;
}

static bool set_seed(struct config *c, const char *value, struct failure *why)
{
	if (!value_u64(value, &c->session.seed))
		return refuse(why, "give a whole number from 0 to 18446744073709551615", "'%s' is not a seed", value);
	c->session.has_seed = true;
	return true;
}

static bool set_never_stop(struct config *c, const char *value, struct failure *why)
{
	c->session.stop = PLUMB_STOP_NEVER;
	return true;
}

static bool set_always_stop(struct config *c, const char *value, struct failure *why)
{
	c->session.stop = PLUMB_STOP_ALWAYS;
	return true;
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

static bool set_flavour(struct config *c, const char *value, struct failure *why)
{
	int flavour = value_word(value, flavours);

	if (flavour < 0)
		return refuse(why, "the flavours are cpython and seed", "there is no flavour '%s'", value);
	c->report.seed_flavour = flavour == 1;
	return true;
}

static bool set_from(struct config *c, const char *value, struct failure *why)
{
	struct plumb_format f;

	for (size_t i = 0; plumb_input_format_at(i, &f); i++) {
		if (strcmp(f.name, value) == 0) {
			c->from = f.name;
			return true;
		}
	}
	return refuse(why, "'plumb help formats' lists the input formats", "there is no input format '%s'", value);
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

static bool set_json(struct config *c, const char *value, struct failure *why)
{
	c->format = "json";
	return true;
}

static bool set_markdown(struct config *c, const char *value, struct failure *why)
{
	c->format = "markdown";
	return true;
}

static bool set_format(struct config *c, const char *value, struct failure *why)
{
	struct plumb_format f;

	for (size_t i = 0; plumb_format_at(i, &f); i++) {
		if (strcmp(f.name, value) == 0) {
			c->format = f.name;
			return true;
		}
	}
	return refuse(why, "'plumb help formats' lists the output formats", "there is no output format '%s'", value);
}

static bool set_names(struct config *c, const char *value, struct failure *why)
{
	int kind = value_word(value, name_kinds);

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

static bool set_dump_never_stop(struct config *c, const char *value, struct failure *why)
{
	c->dump.stop = PLUMB_STOP_NEVER;
	return true;
}

static bool set_core(struct config *c, const char *value, struct failure *why)
{
	if (!*value)
		return refuse(why, "", "option '--core' needs the name of a file");
	c->core = value;
	return true;
}

static bool set_root(struct config *c, const char *value, struct failure *why)
{
	struct stat st;

	if (stat(value, &st) != 0 || !S_ISDIR(st.st_mode))
		return refuse(why, "give the directory that was the root of the program", "there is no directory '%s'",
			      value);
	c->dump.root = value;
	return true;
}

static bool set_locals(struct config *c, const char *value, struct failure *why)
{
	c->dump.locals = true;
	return true;
}

static bool set_no_source(struct config *c, const char *value, struct failure *why)
{
	c->dump.no_source = true;
	return true;
}

static bool set_timeout(struct config *c, const char *value, struct failure *why)
{
	if (!value_duration(value, &c->dump.limit_ns))
		return refuse(why, "give seconds, as in '--timeout 10' or '--timeout 0.5', or '500ms'",
			      "'%s' is not a duration", value);
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

#define SAMPLING "Sampling"
#define STOPPING "Stopping the program's threads"
#define READING	 "Reading the process"
#define REPORT	 "Report"
#define OUTPUT	 "Output"
#define GENERAL	 "General"

#define FROM_HELP "what is read: plumb, or a format of another tool (default: its content tells)"

const struct opt options_sampling[] = {
	{"rate", 'r', "RATE", "samples per second and thread: 1000 (the default), 1k, 100hz, or max", SAMPLING,
	 set_rate},
	{"duration", 'd', "TIME", "end the sampling, not the program, after so many seconds, or 500ms, 2m, 1h30m",
	 SAMPLING, set_duration},
	{"max-overhead", 0, "PERCENT",
	 "lower the rate until the program is stopped for, and plumb computes for, no more than so much of the time",
	 SAMPLING, set_max_overhead},
	{"mode", 0, "MODE", "wall: all time (the default); cpu: time on a CPU; gil: time holding the GIL", SAMPLING,
	 set_mode},
	{"threads", 0, "LIST", "only these threads, by name or id, with commas between them; may be repeated", SAMPLING,
	 option_set_threads},
	{"opcodes", 0, NULL,
	 "record which instruction each frame runs, as the interpreter has specialised it (Python 3.11 and newer)",
	 SAMPLING, set_opcodes},
	{"subprocesses", 0, NULL, "sample the processes that the program starts, too (the default of run)", SAMPLING,
	 set_subprocesses},
	{"no-subprocesses", 0, NULL, "sample the program's own process alone (the default of attach)", SAMPLING,
	 set_no_subprocesses},
	{"output", 'o', "FILE",
	 "write the recording to FILE instead of plumb.PROG.PID.plumb; if FILE ends like an output format (x.folded, "
	 "x.json), "
	 "write that format there, too",
	 SAMPLING, set_output},
	{"no-jitter", 0, NULL, "sample in the middle of each period instead of at a random point of it", SAMPLING,
	 set_no_jitter},
	{"seed", 0, "N", "seed of those random points, to repeat a recording", SAMPLING, set_seed},
	{"never-stop", 0, NULL, "never stop a thread; what cannot be proved is counted as doubtful or partial",
	 STOPPING, set_never_stop},
	{"always-stop", 0, NULL,
	 "stop each running thread at each sample (default: only where it must be, within a budget)", STOPPING,
	 set_always_stop},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_rows[] = {
	{"lines", 0, NULL, "rows are lines", REPORT, set_lines},
	{"functions", 0, NULL, "rows are functions (the default); in other formats: leave lines out", REPORT,
	 set_functions},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_idle[] = {
	{"idle", 0, NULL, "keep threads that did nothing all along", REPORT, set_idle},
	{"skip-idle", 0, NULL, "count only samples on a CPU or holding the GIL", REPORT, set_skip_idle},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

#define FLAVOUR_HELP "flamegraph-json: cpython (as in 3.15.2, the default) or seed (as it was at first)"

const struct opt options_convert[] = {
	{"format", 'f', "FORMAT", "what is written (default: the end of its name tells)", OUTPUT, set_format},
	{"from", 0, "INPUT", FROM_HELP, OUTPUT, set_from},
	{"names", 0, "KIND", "short: base name of the file (the default); full: whole path and qualified name", OUTPUT,
	 set_names},
	{"no-escape", 0, NULL, "collapsed: leave ';' and line breaks in names as they are", OUTPUT, set_no_escape},
	{"flavour", 0, "FLAVOUR", FLAVOUR_HELP, OUTPUT, set_flavour},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_output[] = {
	{"names", 0, "KIND", "short: base name of the file (the default); full: whole path and qualified name", REPORT,
	 set_names},
	{"output", 'o', "OUT", "write to OUT instead of standard output; its end names the format", OUTPUT, set_output},
	{"json", 0, NULL, "same as -f json", OUTPUT, set_json},
	{"markdown", 0, NULL, "same as -f markdown", OUTPUT, set_markdown},
	{"no-escape", 0, NULL, "collapsed: leave ';' and line breaks in names as they are", OUTPUT, set_no_escape},
	{"width", 0, "N", "columns of the text (default: those of the terminal, or 80)", OUTPUT, set_width},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_formats[] = {
	{"format", 'f', "FORMAT", "text (the default), json, markdown or another; 'plumb help formats' lists them",
	 OUTPUT, set_format},
	{"from", 0, "INPUT", FROM_HELP, OUTPUT, set_from},
	{"flavour", 0, "FLAVOUR", FLAVOUR_HELP, OUTPUT, set_flavour},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_dump[] = {
	{"core", 0, "FILE", "read a core file instead of a process", READING, set_core},
	{"root", 0, "DIR", "with --core: the program's files are below DIR, which was its root directory", READING,
	 set_root},
	{"locals", 'l', NULL, "show arguments and local variables; values with names of secrets are masked", OUTPUT,
	 set_locals},
	{"no-source", 0, NULL, "do not show source lines", OUTPUT, set_no_source},
	{"json", 0, NULL, "write JSON", OUTPUT, set_json},
	{"width", 0, "N", "columns of the text (default: those of the terminal; elsewhere nothing is cut)", OUTPUT,
	 set_width},
	{"timeout", 0, "TIME", "give up on a process after so many seconds (default: 5), or 500ms, 2m", READING,
	 set_timeout},
	{"never-stop", 0, NULL, "never stop a thread; what cannot be proved is marked", READING, set_dump_never_stop},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_json[] = {
	{"json", 0, NULL, "write JSON", OUTPUT, set_json},
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
	free(c->made_by);
}
