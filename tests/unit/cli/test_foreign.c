/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to the options and commands of other profilers: an answer that names what is not there is worse than none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "foreign.h"
#include "opt.h"

#define WORD_MAX 64

/* What an answer says of one row: the commands that it names alone ('attach') are those that have its bare options. */
struct reading {
	const struct foreign *row;
	const struct command *asked; /* NULL: for a command that is not there */
	const struct command *named[8];
	int count;
};

static const struct opt *option_of(const struct command *cmd, const char *word)
{
	size_t len = strcspn(word, "=:,");

	for (const struct opt *o = NULL; (o = opt_next(cmd, o));) {
		if (word[1] == '-' ? strlen(o->name) == len - 2 && strncmp(o->name, word + 2, len - 2) == 0
				   : o->letter == word[1])
			return o;
	}
	return NULL;
}

static void must_have(const struct reading *r, const struct command *cmd, const char *word)
{
	if (!option_of(cmd, word))
		fail_msg("the answer to %s names %s, which %s does not have: %s", r->row->name, word, cmd->name,
			 r->row->answer);
}

/* The next word of what is quoted, at most up to @p end. */
static const char *next_word(const char *s, const char *end, char *word)
{
	size_t len;

	while (s < end && *s == ' ')
		s++;
	len = strcspn(s, " '");
	len = len < WORD_MAX ? len : WORD_MAX - 1;
	memcpy(word, s, len);
	word[len] = '\0';
	return s + len;
}

static void check_command_line(const struct reading *r, const char *s, const char *end)
{
	char word[WORD_MAX];
	const struct command *cmd;

	s = next_word(s + strlen("plumb"), end, word);
	if (strcmp(word, "--version") == 0)
		return;
	cmd = command_by_name(word);
	if (!cmd)
		fail_msg("the answer to %s names the command '%s': %s", r->row->name, word, r->row->answer);
	while (s < end && strcmp(word, "--") != 0) { /* what follows is another program's */
		s = next_word(s, end, word);
		if (word[0] == '-' && strcmp(word, "--") != 0)
			must_have(r, cmd, word);
	}
}

static void check_bare_option(const struct reading *r, const char *s, const char *end)
{
	char word[WORD_MAX];

	next_word(s, end, word);
	for (int i = 0; i < r->count; i++)
		must_have(r, r->named[i], word);
	if (r->count == 0 && r->asked)
		must_have(r, r->asked, word);
	if (r->count == 0 && !r->asked)
		fail_msg("the answer to %s does not say which command has %s", r->row->name, word);
}

/* What stands in quotes, one after the other. An apostrophe, as in "py-spy's", follows a letter. */
static const char *next_quoted(const char *s, const char *start, const char **end_ret)
{
	for (; (s = strchr(s, '\'')); s++) {
		if (s == start || s[-1] == ' ' || s[-1] == '(') {
			*end_ret = strchr(s + 1, '\'');
			assert_non_null(*end_ret);
			return s + 1;
		}
	}
	return NULL;
}

static void check_answer(const struct foreign *row, const struct command *asked)
{
	struct reading r = {.row = row, .asked = asked};
	const char *s = row->answer, *end, *last = row->answer;
	char word[WORD_MAX];

	while ((s = next_quoted(s, row->answer, &end))) {
		next_word(s, end, word);
		if (memchr(last, ';', (size_t)(s - last))) /* another thing begins */
			r.count = 0;
		if (strcmp(word, "plumb") == 0)
			check_command_line(&r, s, end);
		else if (word[0] == '-')
			check_bare_option(&r, s, end);
		else if (command_by_name(word))
			r.named[r.count++] = command_by_name(word);
		last = s = end + 1;
	}
}

static void answers_name_only_what_there_is(void **state)
{
	size_t checked = 0;

	for (const struct command *const *cmd = commands; *cmd; cmd++) {
		for (const struct foreign *row = foreign_options; row->name; row++) {
			const struct foreign *f = foreign_option(row->name, (*cmd)->name);

			assert_non_null(f);
			if (option_of(*cmd, row->name)) /* it is ours: nothing to answer */
				continue;
			check_answer(f, *cmd);
			checked++;
		}
	}
	for (const struct foreign *row = foreign_commands; row->name; row++, checked++)
		check_answer(row, NULL);
	assert_true(checked > 300);
}

/* An answer that is never given is worth nothing, and one for a command that is not there neither. */
static void each_answer_is_given_by_a_command(void **state)
{
	for (const struct foreign *row = foreign_options; row->name; row++) {
		bool given = false;

		for (const struct command *const *cmd = commands; *cmd; cmd++)
			given = given ||
				(!option_of(*cmd, row->name) && foreign_option(row->name, (*cmd)->name) == row);
		if (!given)
			fail_msg("nobody gives the answer to %s for %s", row->name,
				 row->command ? row->command : "any");
	}
	for (const struct foreign *row = foreign_commands; row->name; row++) {
		assert_ptr_equal(foreign_command(row->name), row);
		assert_null(command_by_name(row->name));
	}
	assert_null(foreign_option("--rate", "run"));
	assert_null(foreign_command("run"));
}

static void a_command_has_its_own_answer(void **state)
{
	assert_non_null(strstr(foreign_option("-p", "dump")->answer, "give the number alone: 'plumb dump PID'"));
	assert_non_null(strstr(foreign_option("--pid", "dump")->answer, "give the number alone: 'plumb dump PID'"));
	assert_non_null(strstr(foreign_option("--pid", "run")->answer, "use 'plumb attach PID'"));
	assert_string_equal(foreign_option("-j", "dump")->answer, "use '--json'");
	assert_non_null(strstr(foreign_option("-m", "run")->answer, "'plumb run -- python3 -m MODULE'"));
	assert_non_null(strstr(foreign_option("-c", "run")->answer, "'plumb run -- python3 -c CODE'"));
	assert_non_null(strstr(foreign_option("-c", "attach")->answer, "'plumb dump --core FILE'"));
}

/* Of each tool a habit, and the sentence as it stands. */
static void each_tool_is_answered(void **state)
{
	static const struct {
		const char *option, *command, *tool, *answer;
	} habits[] = {
		{"--gil", "run", "py-spy's", "with 'run' and 'attach': use '--mode gil'"},
		{"--exposure", "attach", "austin's", "with 'run' and 'attach': use '-d SECONDS'"},
		{"--flamegraph", "report", "profiling.sampling's",
		 "with 'run', 'attach' and 'report': use '-o NAME.svg'"},
		{"--show-all", "report", "pyinstrument's", "use 'plumb report FILE -f tree'"},
		{"--follow-fork", "run", "memray's",
		 "'plumb run' samples the processes that the program starts, too; with 'attach' say "
		 "'--subprocesses'"},
		{"--call-graph", "attach", "perf's",
		 "not needed: each sample is a whole Python stack; with 'run' and 'attach': '--native' adds the "
		 "functions of C"},
		{"--input", "report", "perf's", "give the recording alone: 'plumb report FILE'"},
	};

	for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++) {
		const struct foreign *f = foreign_option(habits[i].option, habits[i].command);

		assert_non_null(f);
		assert_string_equal(f->tool, habits[i].tool);
		assert_string_equal(f->answer, habits[i].answer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_name_only_what_there_is),
		cmocka_unit_test(each_answer_is_given_by_a_command),
		cmocka_unit_test(a_command_has_its_own_answer),
		cmocka_unit_test(each_tool_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
