/* SPDX-License-Identifier: Apache-2.0 */
/* Which process it is, and what is said if that cannot be found out. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "identity.h"
#include "own_fd.h"

/* The limit with which @p n more descriptors can be opened. */
static rlim_t limit_for(rlim_t n)
{
	rlim_t fd = 0;

	for (; n; fd++)
		n -= fcntl((int)fd, F_GETFD) < 0;
	return fd;
}

static struct plumb_error *open_self(int *ret)
{
	struct pl_proc_stat st;
	struct plumb_error *err = pl_identity_read(getpid(), &st);

	return err ? err : pl_identity_open(&st, ret);
}

/* With none, with one that the process itself takes, with one more to look at it again. */
static void too_few_descriptors_are_not_a_process_that_is_gone(void **state)
{
	struct rlimit before;
	int fd = -1;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (rlim_t n = 0; n < 3; n++) {
		struct rlimit little = {.rlim_cur = limit_for(n), .rlim_max = before.rlim_max};

		assert_int_equal(setrlimit(RLIMIT_NOFILE, &little), 0);
		struct plumb_error *err = open_self(&fd);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (n == 2) {
			assert_ok(err);
			pl_own_fd_close(fd);
			continue;
		}
		assert_int_equal(plumb_error_code(err), PLUMB_ERR_SYSTEM);
		assert_non_null(strstr(plumb_error_message(err), "Too many open files"));
		plumb_error_destroy(err);
	}
}

static void a_number_that_went_to_another_process_is_told(void **state)
{
	struct pl_proc_stat st;
	int fd = -1;

	assert_ok(pl_identity_read(getpid(), &st));
	st.start_ticks--;
	struct plumb_error *err = pl_identity_open(&st, &fd);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_NO_PROCESS);
	assert_int_equal(fd, -1);
	plumb_error_destroy(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_few_descriptors_are_not_a_process_that_is_gone),
		cmocka_unit_test(a_number_that_went_to_another_process_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
