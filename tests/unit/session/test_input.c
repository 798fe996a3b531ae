/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "input.h"
#include "own_fd.h"

static bool is_never(void *ctx, const uint8_t *bytes, size_t len)
{
	return false;
}

static int next_number(void)
{
	int fd = dup(STDERR_FILENO);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

/* The numbers of descriptors of ours that were closed are those of what is opened next: the file's handle, and itself.
 */
static void a_file_is_closed_whatever_had_its_number(void **state)
{
	const int number = next_number();
	struct pl_input in;

	for (int i = 0; i < 2; i++) {
		int own = PL_OWN_FD(open("/dev/null", O_RDONLY | O_CLOEXEC)),
		    next = PL_OWN_FD(open("/dev/null", O_RDONLY | O_CLOEXEC));
		assert_true(own == number && next == number + 1);
		pl_own_fd_close(own);
		pl_own_fd_close(next);
		assert_ok(pl_input_open("/proc/self/exe", is_never, NULL, &in));
		assert_int_equal(in.fd, next);
		pl_input_close(&in);
		assert_int_equal(next_number(), number);
	}
}

/* A program that closes all there are has another file by that number. */
static void a_file_of_others_is_not_closed(void **state)
{
	struct pl_input in;

	assert_ok(pl_input_open("/proc/self/exe", is_never, NULL, &in));
	const int number = in.fd;
	assert_int_equal(dup2(STDERR_FILENO, number), number);
	pl_input_close(&in);
	assert_true(fcntl(number, F_GETFD) >= 0);
	close(number);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_closed_whatever_had_its_number),
		cmocka_unit_test(a_file_of_others_is_not_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
