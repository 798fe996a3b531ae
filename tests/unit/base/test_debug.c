/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "debug.h"

static void check_parse(const char *text, unsigned set, const char *unknown)
{
	const char *word = "";
	size_t len;

	assert_int_equal(pl_debug_parse(text, &word, &len), set);
	assert_int_equal(len, strlen(unknown));
	assert_memory_equal(word, unknown, len);
}

static void domains_are_named_in_a_list(void **state)
{
	check_parse("", 0, "");
	check_parse(",,", 0, "");
	check_parse("engine", PL_DEBUG_ENGINE, "");
	check_parse("process,engine,", PL_DEBUG_ENGINE | PL_DEBUG_PROCESS, "");
	check_parse("all", PL_DEBUG_ENGINE | PL_DEBUG_PROCESS, "");
}

static void what_is_no_domain_is_told_and_the_rest_is_on(void **state)
{
	check_parse("engines,process,x", PL_DEBUG_PROCESS, "engines");
	check_parse("Engine", 0, "Engine");
	check_parse("engine process", 0, "engine process");
}

static int asked;

static int ask(void)
{
	return ++asked;
}

/* What is written to stderr meanwhile. */
static size_t written(const char *text, char *ret, size_t size)
{
	int fds[2], before = dup(STDERR_FILENO);

	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	errno = ENOENT;
	pl_debug(PL_DEBUG_PROCESS, "%s %d", text, ask());
	assert_int_equal(errno, ENOENT);
	dup2(before, STDERR_FILENO);
	close(before);
	close(fds[1]);
	ssize_t len = read(fds[0], ret, size - 1);
	close(fds[0]);
	assert_true(len >= 0);
	ret[len] = '\0';
	return (size_t)len;
}

static void what_is_off_computes_and_writes_nothing(void **state)
{
	char line[1024];

	asked = 0;
	pl_debug_domains = PL_DEBUG_ENGINE;
	assert_int_equal(written("text", line, sizeof line), 0);
	assert_int_equal(asked, 0);
}

static void what_is_on_is_a_line_without_control_characters(void **state)
{
	char line[1024], text[2000];

	asked = 6;
	pl_debug_domains = PL_DEBUG_PROCESS;
	written("a\nb\x1b[0m", line, sizeof line);
	assert_memory_equal(line, "plumb process ", 14);
	assert_string_equal(strchr(line, ':'), ": a?b?[0m 7\n");
	written("\xc2\x9b"
		"31m \x9b \xc3\xa9t\xc3\xa9",
		line, sizeof line);
	assert_string_equal(strchr(line, ':'), ": ?31m ? \xc3\xa9t\xc3\xa9 8\n");
	written("a\xe2\x80\xae"
		"b\xe2\x81\xa6"
		"c\xe2\x80\x8f.",
		line, sizeof line);
	assert_string_equal(strchr(line, ':'), ": a?b?c?. 9\n");
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	size_t len = written(text, line, sizeof line);
	assert_true(len > 400 && len <= 512 && line[len - 1] == '\n');
	pl_debug_domains = 0;
}

/* A stop of a thread may be on its way, or at hand, meanwhile. */
static void who_writes_waits_for_nobody(void **state)
{
	char line[1024];
	int fds[2], before = dup(STDERR_FILENO);

	pl_debug_domains = PL_DEBUG_PROCESS;
	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	for (int i = 0; i < 5000; i++) /* a pipe takes less */
		pl_debug(PL_DEBUG_PROCESS, "a line");
	dup2(before, STDERR_FILENO);
	close(before);
	close(fds[0]);
	close(fds[1]);
	written("read again", line, sizeof line);
	unsigned lost = 0;
	assert_int_equal(sscanf(line, "plumb: %u lines before were lost: nobody read them\nplumb process", &lost), 1);
	assert_in_range(lost, 1, 4999);
	written("and no more", line, sizeof line);
	assert_memory_equal(line, "plumb process ", 14);
	pl_debug_domains = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(domains_are_named_in_a_list),
		cmocka_unit_test(what_is_no_domain_is_told_and_the_rest_is_on),
		cmocka_unit_test(what_is_off_computes_and_writes_nothing),
		cmocka_unit_test(what_is_on_is_a_line_without_control_characters),
		cmocka_unit_test(who_writes_waits_for_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
