/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_locks.h"

static struct pl_file_locks locks;

static int set_up(void **state)
{
	locks = (struct pl_file_locks)PL_FILE_LOCKS_INIT;
	return 0;
}

static int tear_down(void **state)
{
	pl_file_locks_deinit(&locks);
	return 0;
}

static void add(const char *text)
{
	assert_true(pl_file_locks_add(&locks, text, strlen(text)));
}

static void the_holder_of_a_file_is_the_first_one_that_does_not_wait(void **state)
{
	add("1: FLOCK  ADVISORY  WRITE 77 08:01:41 0 EOF\n"
	    "1: -> FLOCK  ADVISORY  WRITE 78 08:01:42 0 EOF\n"
	    "2: POSIX  ADVISORY  READ 79 08:02:42 0 EOF\n"
	    "3: POSIX  ADVISORY  WRITE 80 08:01:42 100 200\n"
	    "4: POSIX  ADVISORY  WRITE 81 08:01:42 300 400\n"
	    "5: FLOCK\n"
	    "\n");
	assert_int_equal(pl_file_locks_of(&locks, 0x801, 41), 77);
	assert_int_equal(pl_file_locks_of(&locks, 0x801, 42), 80);
	assert_int_equal(pl_file_locks_of(&locks, 0x802, 42), 79);
	assert_int_equal(pl_file_locks_of(&locks, 0x801, 43), 0);
}

/* An inode that is cut is that of another file. */
static void a_line_that_is_cut_waits_for_its_end(void **state)
{
	static const char text[] = "1: FLOCK  ADVISORY  WRITE 77 08:01:41 0 EOF\n"
				   "2: FLOCK  ADVISORY  WRITE 78 08:01:4242 0 EOF\n";

	for (size_t cut = 0; cut < sizeof text; cut++) {
		pl_file_locks_deinit(&locks);
		assert_true(pl_file_locks_add(&locks, text, cut));
		assert_int_equal(pl_file_locks_of(&locks, 0x801, 42), 0);
		assert_true(pl_file_locks_add(&locks, text + cut, sizeof text - 1 - cut));
		assert_int_equal(pl_file_locks_of(&locks, 0x801, 41), 77);
		assert_int_equal(pl_file_locks_of(&locks, 0x801, 42), 0);
		assert_int_equal(pl_file_locks_of(&locks, 0x801, 4242), 78);
	}
}

/* On overlayfs the device is not the one that a file says it is on. */
static void a_holder_is_found_by_who_waits(void **state)
{
	add("1: FLOCK  ADVISORY  WRITE 77 00:1f:42 0 EOF\n"
	    "1: -> FLOCK  ADVISORY  WRITE 78 00:1f:42 0 EOF\n"
	    "1:  -> FLOCK  ADVISORY  WRITE 79 00:1f:42 0 EOF\n"
	    "2: OFDLCK ADVISORY  WRITE -1 00:1f:43 0 EOF\n"
	    "2: -> POSIX  ADVISORY  WRITE 80 00:1f:43 0 EOF\n"
	    "3: POSIX  ADVISORY  WRITE 81 00:1f:44 0 9\n"
	    "3: -> POSIX  ADVISORY  WRITE 78 00:1f:44 0 9\n"
	    "3: -> POSIX  ADVISORY  WRITE 83 00:1f:44 0 9\n"
	    "4: FLOCK  ADVISORY  WRITE 81 00:1f:45 0 EOF\n"
	    "4: -> FLOCK  ADVISORY  WRITE 83 00:1f:45 0 EOF\n"
	    "5: -> FLOCK\n");
	assert_int_equal(pl_file_locks_waited_for(&locks, 79), 77);
	assert_int_equal(pl_file_locks_waited_for(&locks, 83), 81);
	assert_int_equal(pl_file_locks_waited_for(&locks, 78), 0); /* of two */
	assert_int_equal(pl_file_locks_waited_for(&locks, 80), 0); /* whose holder has no number */
	assert_int_equal(pl_file_locks_waited_for(&locks, 77), 0);
}

static pid_t holder(const struct stat *file)
{
	return pl_file_locks_holder(&locks, getpid(), file->st_dev, file->st_ino);
}

/* What changes meanwhile is not looked for. */
static void the_list_of_the_kernel_is_read_once(void **state)
{
	int fd = memfd_create("one", 0), other_fd = memfd_create("other", 0);
	struct stat file, other;

	assert_int_equal(fstat(fd, &file), 0);
	assert_int_equal(fstat(other_fd, &other), 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(holder(&other), 0);
	assert_int_equal(holder(&file), getpid());
	size_t bytes = locks.bytes;
	assert_int_equal(flock(other_fd, LOCK_EX), 0);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(holder(&other), 0);
		assert_int_equal(holder(&file), getpid());
	}
	assert_int_equal(locks.bytes, bytes);
	close(fd);
	close(other_fd);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_holder_of_a_file_is_the_first_one_that_does_not_wait),
		TEST(a_line_that_is_cut_waits_for_its_end),
		TEST(a_holder_is_found_by_who_waits),
		TEST(the_list_of_the_kernel_is_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
