/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser, with the real tables: what is understood, what is refused and what the refusal says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config.h"
#include "nearest.h"

#define MAX_ARGS 16

static const struct opt *const run_tables[] = {options_sampling, options_rows,	 options_idle,
					       options_quiet,	 options_common, NULL};
static const struct opt *const report_tables[] = {options_rows,	 options_idle,	  options_threads, options_filters,
						  options_names, options_output,  options_html,	   options_json,
						  options_width, options_formats, options_common,  NULL};

static const struct command run = {.name = "run",
				   .usage = "[--] PROGRAM [ARG...]",
				   .about = "About.\n\nMore about it.",
				   .tables = run_tables,
				   .operands = OPERANDS_PROGRAM,
				   .min_operands = 1,
				   .max_operands = -1,
				   .operand = "a program to run"};
static const struct command report = {.name = "report",
				      .usage = "FILE",
				      .about = "About.",
				      .tables = report_tables,
				      .operands = OPERANDS_ANYWHERE,
				      .min_operands = 1,
				      .max_operands = 1,
				      .operand = "the name of a recording"};

/* What became of a command line, given as one string of words. */
struct parsed {
	char text[512];
	char *argv[MAX_ARGS];
	int argc, operands;
	bool ok;
	struct config c;
	struct failure why;
};

static struct parsed *parse(const struct command *cmd, const char *line)
{
	struct parsed *p = calloc(1, sizeof *p);
	const struct config init = CONFIG_INIT;

	assert_non_null(p);
	p->c = init;
	snprintf(p->text, sizeof p->text, "%s %s", cmd->name, line);
	for (char *word = strtok(p->text, " "); word; word = strtok(NULL, " "))
		p->argv[p->argc++] = word;
	assert_true(p->argc < MAX_ARGS);
	p->ok = opt_parse(cmd, p->argc, p->argv, &p->c, &p->operands, &p->why);
	return p;
}

static void drop(struct parsed *p)
{
	config_free(&p->c);
	free(p);
}

static struct parsed *good(const struct command *cmd, const char *line)
{
	struct parsed *p = parse(cmd, line);

	if (!p->ok)
		fail_msg("%s: %s", line, p->why.message);
	return p;
}

static void refused(const struct command *cmd, const char *line, const char *message, const char *hint)
{
	struct parsed *p = parse(cmd, line);

	if (p->ok)
		fail_msg("'%s' was accepted", line);
	assert_string_equal(p->why.message, message);
	if (!strstr(p->why.hint, hint))
		fail_msg("no \"%s\" in the hint: %s", hint, p->why.hint);
	drop(p);
}

static void all_ways_to_write_an_option(void **state)
{
	static const char *const lines[] = {"-r 100 -d 2 x",
					    "-r100 -d2 x",
					    "--rate 100 --duration 2 x",
					    "--rate=100 --duration=2 x",
					    "--ra 100 --du=2 x",
					    "-d 2 --rate 5 -r 100hz -- x"};

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct parsed *p = good(&run, lines[i]);

		assert_true(p->c.session.rate_hz == 100);
		assert_int_equal(p->c.session.duration_ns, 2000000000);
		assert_int_equal(p->operands, 1);
		assert_string_equal(p->argv[0], "x");
		assert_null(p->argv[1]);
		drop(p);
	}
}

static void letters_can_be_joined(void **state)
{
	struct parsed *p = good(&run, "-qr100 x");

	assert_true(p->c.quiet);
	assert_true(p->c.session.rate_hz == 100);
	drop(p);
}

static void options_after_the_program_are_its_own(void **state)
{
	struct parsed *p = good(&run, "-q python -c pass -q --rate 7 -- -x");

	assert_int_equal(p->operands, 8);
	assert_string_equal(p->argv[0], "python");
	assert_string_equal(p->argv[6], "--");
	assert_true(p->c.session.rate_hz == 1000);
	drop(p);
	p = good(&run, "-- -strange --name");
	assert_int_equal(p->operands, 2);
	assert_string_equal(p->argv[0], "-strange");
	drop(p);
}

static void other_commands_take_options_anywhere(void **state)
{
	struct parsed *p = good(&report, "x.plumb --json --lines");

	assert_int_equal(p->operands, 1);
	assert_string_equal(p->argv[0], "x.plumb");
	assert_string_equal(p->c.format, "json");
	assert_true(p->c.report.lines);
	drop(p);
	p = good(&report, "-f text -- -file");
	assert_string_equal(p->argv[0], "-file");
	drop(p);
}

static void each_option_sets_what_it_says(void **state)
{
	struct parsed *p =
		good(&run, "--mode cpu --threads a,b --threads 7 --lines --idle --no-jitter --seed 9 --never-stop x");

	assert_int_equal(p->c.session.mode, PLUMB_MODE_CPU);
	assert_int_equal(p->c.threads.count, 3);
	assert_int_equal(p->c.report.idle, PLUMB_IDLE_KEEP);
	assert_true(p->c.report.lines && p->c.session.no_jitter && p->c.session.has_seed);
	assert_int_equal(p->c.session.seed, 9);
	assert_int_equal(p->c.session.stop, PLUMB_STOP_NEVER);
	drop(p);
	p = good(&run, "--lines --functions --skip-idle --always-stop --color never -o f.plumb -r max --mode gil x");
	assert_false(p->c.report.lines);
	assert_int_equal(p->c.report.idle, PLUMB_IDLE_SKIP_SAMPLES);
	assert_int_equal(p->c.session.stop, PLUMB_STOP_ALWAYS);
	assert_int_equal(p->c.color, COLOR_NEVER);
	assert_string_equal(p->c.output, "f.plumb");
	assert_true(p->c.session.rate_hz == 0);
	drop(p);
	p = good(&report, "f --names full --no-escape --width 100 -f json");
	assert_true(p->c.report.full_names && p->c.report.no_escape);
	assert_int_equal(p->c.width, 100);
	drop(p);
}

static void help_needs_no_operands(void **state)
{
	struct parsed *p = good(&run, "--help");

	assert_true(p->c.help);
	drop(p);
	p = good(&report, "-h");
	assert_true(p->c.help);
	drop(p);
}

static void bad_values_are_quoted_and_explained(void **state)
{
	refused(&run, "-r 0 x", "'0' is not a sampling rate", "-r 1k");
	refused(&run, "-d soon x", "'soon' is not a duration", "-d 0.5");
	refused(&run, "--mode fast x", "there is no mode 'fast'", "wall, cpu and gil");
	refused(&run, "--mode exception x", "profiling.sampling's mode 'exception' is not in plumb yet",
		"wall, cpu and gil");
	refused(&run, "--seed -1 x", "'-1' is not a seed", "whole number");
	refused(&run, "--threads , x", "',' names no thread", "--threads MainThread,4243");
	refused(&run, "--color maybe x", "'maybe' does not say when to use colour", "always");
	refused(&report, "f --width 9", "'9' is not a width", "20 to 1000");
	refused(&report, "f --names long", "'long' is no kind of names", "short or full");
	refused(&report, "f -f gif", "there is no output format 'gif'", "plumb help formats");
	refused(&run, "--rate", "option '--rate' needs a value: RATE", "1000");
	refused(&run, "-qr", "option '--rate' needs a value: RATE", "1000");
	refused(&run, "--lines=yes x", "option '--lines' takes no value", "");
}

static void operands_are_counted(void **state)
{
	refused(&run, "-q", "run needs a program to run", "usage: plumb run");
	refused(&report, "", "report needs the name of a recording", "usage: plumb report [options] FILE");
	refused(&report, "a b", "report does not take 'b'", "usage");
}

static void typing_errors_get_a_suggestion(void **state)
{
	refused(&run, "--raet 5 x", "run has no option '--raet'", "did you mean '--rate'?");
	refused(&run, "--neverstop x", "run has no option '--neverstop'", "did you mean '--never-stop'?");
	refused(&run, "--tread 7 x", "run has no option '--tread'", "did you mean '--threads'?");
	refused(&run, "--xyzzy x", "run has no option '--xyzzy'", "'plumb help run' lists");
	refused(&run, "-z x", "run has no option '-z'", "'plumb help run' lists");
	refused(&run, "--raet=5 x", "run has no option '--raet'", "did you mean '--rate'?");
	refused(&report, "f --n", "option '--n' is not unique", "it could be --names, --no-escape");
}

/* What is quoted may be long, or hold letters of several bytes: the sentence keeps its end, and letters stay whole. */
static void a_refusal_is_a_sentence_whatever_it_quotes(void **state)
{
	struct failure why;
	char value[700] = "";

	for (size_t i = 0; i + 3 < sizeof value; i += 3)
		memcpy(value + i, "\xe2\x82\xac", 4);
	assert_false(refuse(&why, "", "'%s' is not a duration", value));
	assert_memory_equal(why.message, "'\xe2\x82\xac", 4);
	assert_non_null(strstr(why.message, "\xe2\x82\xac...\xe2\x82\xac"));
	assert_string_equal(strrchr(why.message, '\''), "' is not a duration");
	refused(&run, "-q\xe2\x82\xac\xe2\x82\xac x", "run has no option '-\xe2\x82\xac'", "lists all options");
	refused(&run, "--=5 x", "run has no option '--'", "lists all options");
}

static void options_of_other_profilers_are_answered(void **state)
{
	refused(&run, "-m app", "run does not have python's or austin's option '-m'", "plumb run -- python3 -m MODULE");
	refused(&run, "-c print() x", "run does not have python's or austin's option '-c'",
		"plumb run -- python3 -c CODE");
	refused(&report, "-m app", "report does not have austin's option '-m'", "not memory");
	refused(&run, "--async-aware x", "run does not have profiling.sampling's option '--async-aware'",
		"use '--tasks'");
	refused(&run, "--pid 7", "run does not have py-spy's option '--pid'", "plumb attach PID");
	refused(&run, "-p 7", "run does not have py-spy's option '-p'", "plumb attach PID");
	refused(&report, "--native x", "report does not have py-spy's option '--native'", "'run', 'attach' and 'dump'");
	refused(&run, "--core x", "run does not have py-spy's option '--core'", "plumb dump --core FILE");
	refused(&run, "--locals x", "run does not have py-spy's option '--locals'", "plumb dump PID --locals");
	refused(&report, "--children x", "report does not have perf's option '--children'",
		"count what a function calls");
	refused(&run, "--nonblocking x", "run does not have py-spy's option '--nonblocking'", "--never-stop");
	refused(&run, "--gil x", "run does not have py-spy's option '--gil'", "--mode gil");
	refused(&run, "-f raw x", "run does not have py-spy's option '-f'", "-o NAME.folded");
	refused(&run, "-i 100 x", "run does not have py-spy's, austin's or pyinstrument's option '-i'", "-r 10k");
	refused(&run, "-x 5 x", "run does not have austin's option '-x'", "-d SECONDS");
	refused(&run, "--sampling-rate 5 x", "run does not have profiling.sampling's option '--sampling-rate'",
		"-r RATE");
	refused(&run, "--flamegraph x", "run does not have profiling.sampling's option '--flamegraph'", "-o NAME.svg");
}

static void check_table(const struct command *cmd)
{
	for (const struct opt *a = NULL; (a = opt_next(cmd, a));) {
		assert_non_null(a->help);
		assert_non_null(a->group);
		assert_non_null(a->set);
		assert_true(a->help[strlen(a->help) - 1] != '.');
		for (const struct opt *b = a; (b = opt_next(cmd, b));) {
			if (strcmp(a->name, b->name) == 0 || (a->letter && a->letter == b->letter))
				fail_msg("%s has --%s and --%s", cmd->name, a->name, b->name);
		}
	}
}

static void tables_are_sound(void **state)
{
	static const struct opt *const none[] = {NULL};
	const struct command empty = {.name = "empty", .tables = none};

	check_table(&run);
	check_table(&report);
	assert_null(opt_next(&empty, NULL));
}

/* What completion offers must be understood. */
static void check_words(const struct command *cmd, size_t *words_ret)
{
	for (const struct opt *o = NULL; (o = opt_next(cmd, o));) {
		const char *word;

		if (!o->arg || opt_value_kind(o->arg) != VALUE_WORDS)
			continue;
		assert_non_null(opt_value_word(o->arg, 0));
		for (size_t i = 0; (word = opt_value_word(o->arg, i)); i++, ++*words_ret) {
			struct config c = CONFIG_INIT;
			struct failure why;

			if (!o->set(&c, word, &why))
				fail_msg("--%s %s: %s", o->name, word, why.message);
		}
	}
}

static void each_word_that_is_offered_for_a_value_is_understood(void **state)
{
	size_t words = 0;

	check_words(&run, &words);
	check_words(&report, &words);
	assert_true(words >= 3 + 3 + 2 + 2 + 3); /* modes, colours; names, formats, colours */
	assert_null(opt_value_word("RATE", 0));
	assert_null(opt_value_word("FILE", 0));
	assert_int_equal(opt_value_kind("FILE"), VALUE_FILE);
	assert_int_equal(opt_value_kind("RATE"), VALUE_ANY);
}

static void hidden_options_are_parsed_and_not_listed(void **state)
{
	static const struct opt *const tables[] = {options_man, options_common, NULL};
	const struct command help = {.name = "help", .usage = "", .about = "About.", .tables = tables, .operand = ""};
	struct parsed *p = good(&help, "--man");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(p->c.man);
	opt_help(&help, 80, out);
	fclose(out);
	assert_null(strstr(text, "--man"));
	assert_non_null(strstr(text, "--color"));
	assert_ptr_equal(opt_next_shown(&help, NULL), options_common);
	free(text);
	drop(p);
}

static void check_help(const struct command *cmd, int width)
{
	char *text = NULL, *copy;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	opt_help(cmd, width, out);
	fclose(out);
	for (const struct opt *o = NULL; (o = opt_next(cmd, o));) {
		char name[64];

		snprintf(name, sizeof name, "--%s", o->name);
		if (!strstr(text, name))
			fail_msg("the help lacks %s", name);
	}
	copy = text;
	for (char *line = strsep(&copy, "\n"); line; line = strsep(&copy, "\n")) {
		if ((int)strlen(line) > width)
			fail_msg("wider than %d: %s", width, line);
	}
	free(text);
}

static void help_comes_from_the_table_and_keeps_to_the_width(void **state)
{
	for (int width = 50; width <= 120; width++) {
		check_help(&run, width);
		check_help(&report, width);
	}
}

static void distances(void **state)
{
	assert_int_equal(nearest_distance("rate", "rate"), 0);
	assert_int_equal(nearest_distance("raet", "rate"), 1);
	assert_int_equal(nearest_distance("", "abc"), 3);
	assert_int_equal(nearest_distance("kitten", "sitting"), 3);
	assert_true(nearest_distance("a-word-that-is-longer-than-any-option-of-ours", "a") > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_ways_to_write_an_option),
		cmocka_unit_test(letters_can_be_joined),
		cmocka_unit_test(options_after_the_program_are_its_own),
		cmocka_unit_test(other_commands_take_options_anywhere),
		cmocka_unit_test(each_option_sets_what_it_says),
		cmocka_unit_test(help_needs_no_operands),
		cmocka_unit_test(bad_values_are_quoted_and_explained),
		cmocka_unit_test(operands_are_counted),
		cmocka_unit_test(typing_errors_get_a_suggestion),
		cmocka_unit_test(a_refusal_is_a_sentence_whatever_it_quotes),
		cmocka_unit_test(options_of_other_profilers_are_answered),
		cmocka_unit_test(tables_are_sound),
		cmocka_unit_test(help_comes_from_the_table_and_keeps_to_the_width),
		cmocka_unit_test(each_word_that_is_offered_for_a_value_is_understood),
		cmocka_unit_test(hidden_options_are_parsed_and_not_listed),
		cmocka_unit_test(distances),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
