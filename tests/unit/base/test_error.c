/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "error.h"

static void message_and_hint_come_from_the_code(void **state)
{
	struct plumb_error *err = pl_error(PLUMB_ERR_NO_PROCESS, "there is no pid %d", 42);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_NO_PROCESS);
	assert_string_equal(plumb_error_message(err), "there is no pid 42");
	assert_string_equal(plumb_error_hint(err), "list running programs with 'ps -e'");
	plumb_error_destroy(err);
}

static void errno_text_follows_the_message(void **state)
{
	struct plumb_error *err = pl_error_errno(PLUMB_ERR_SYSTEM, ENOENT, "cannot open %s", "x");
	assert_string_equal(plumb_error_message(err), "cannot open x: No such file or directory");
	plumb_error_destroy(err);
}

/* A limit of the shell, where there is room enough. */
static void a_file_that_may_not_be_so_large_is_no_full_disk(void **state)
{
	struct plumb_error *large = pl_error_errno(PLUMB_ERR_WRITE_FAILED, EFBIG, "cannot write"),
			   *full = pl_error_errno(PLUMB_ERR_WRITE_FAILED, ENOSPC, "cannot write");

	(void)state;
	assert_non_null(strstr(plumb_error_hint(large), "ulimit -f"));
	assert_non_null(strstr(plumb_error_hint(full), "free space"));
	plumb_error_destroy(large);
	plumb_error_destroy(full);
}

static void a_hint_can_be_replaced_twice(void **state)
{
	struct plumb_error *err = pl_error(PLUMB_ERR_NOT_PERMITTED, "no");
	err = pl_error_hint(err, "first %s", "hint");
	err = pl_error_hint(err, "second %s", "hint");
	assert_string_equal(plumb_error_hint(err), "second hint");
	plumb_error_destroy(err);
}

static void long_messages_are_kept_whole(void **state)
{
	char text[5000];
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	struct plumb_error *err = pl_error_errno(PLUMB_ERR_SYSTEM, EACCES, "%s", text);
	assert_int_equal(strlen(plumb_error_message(err)), sizeof text - 1 + strlen(": Permission denied"));
	plumb_error_destroy(err);
}

static void static_errors_carry_their_text_and_survive_everything(void **state)
{
	struct plumb_error *err = pl_error_hint(&pl_err_stale, "ignored %d", 1);
	assert_ptr_equal(err, &pl_err_stale);
	plumb_error_destroy(err);
	plumb_error_destroy(err);
	assert_int_equal(plumb_error_code(&pl_err_stale), PLUMB_ERR_STALE);
	assert_string_equal(plumb_error_message(&pl_err_stale), "the stack changed while it was read");
	assert_string_equal(plumb_error_hint(&pl_err_stale), "none: counted, sampling continues");
}

static void null_is_success(void **state)
{
	assert_int_equal(plumb_error_code(NULL), PLUMB_OK);
	assert_string_equal(plumb_error_message(NULL), "no error");
	assert_string_equal(plumb_error_hint(NULL), "");
	plumb_error_destroy(NULL);
}

static void every_code_has_its_own_name(void **state)
{
	assert_string_equal(plumb_error_name(PLUMB_OK), "ok");
	assert_string_equal(plumb_error_name(PLUMB_ERR_COUNT), "unknown");
	for (int i = 0; i < PLUMB_ERR_COUNT; i++) {
		assert_true(*plumb_error_name(i));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(plumb_error_name(i), plumb_error_name(k));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(message_and_hint_come_from_the_code),
		cmocka_unit_test(errno_text_follows_the_message),
		cmocka_unit_test(a_file_that_may_not_be_so_large_is_no_full_disk),
		cmocka_unit_test(a_hint_can_be_replaced_twice),
		cmocka_unit_test(long_messages_are_kept_whole),
		cmocka_unit_test(static_errors_carry_their_text_and_survive_everything),
		cmocka_unit_test(null_is_success),
		cmocka_unit_test(every_code_has_its_own_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
