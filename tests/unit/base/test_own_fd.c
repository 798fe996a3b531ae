/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "own_fd.h"

#define FORKS 300

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* In a child of a fork: what @p fn says. */
static int in_child(int (*fn)(const int *fds), const int *fds)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(fn(fds));
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int has_others_only(const int *fds)
{
	if (is_open(fds[0]) || !is_open(fds[1]) || is_open(fds[2]))
		return 1;
	/* its number is the child's, and so is what the child's children have */
	if (dup2(fds[1], fds[0]) != fds[0])
		return 2;
	pid_t child = fork();
	if (child == 0)
		_exit(is_open(fds[0]) ? 0 : 3);
	int status;
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

static void a_child_of_a_fork_has_what_is_not_ours(void **state)
{
	const int fds[] = {pl_own_fd(eventfd(0, 0)), eventfd(0, 0), pl_own_fd(eventfd(0, 0))};

	assert_int_equal(pl_own_fd_close(fds[2]), 0);
	assert_int_equal(in_child(has_others_only, fds), 0);
	assert_true(is_open(fds[0]) && is_open(fds[1]));
	assert_int_equal(pl_own_fd_close(fds[0]), 0);
	close(fds[1]);
	assert_int_equal(pl_own_fd(-1), -1);
	assert_int_equal(pl_own_fd_close(-1), 0);
}

/* An own file for the number of @p fd. */
static void give_away(int fd)
{
	int other = memfd_create("another", MFD_CLOEXEC);

	assert_true(other >= 0 && dup3(other, fd, O_CLOEXEC) == fd);
	close(other);
}

static int has_it(const int *fds)
{
	return is_open(fds[0]) ? 0 : 1;
}

/* As daemons close all descriptors there are, without a fork. */
static void a_number_that_is_anothers_by_now_stays_open(void **state)
{
	int fds[] = {pl_own_fd(memfd_create("ours", MFD_CLOEXEC)), pl_own_fd(memfd_create("ours", MFD_CLOEXEC))};

	assert_true(pl_own_fd_is(fds[0]) && pl_own_fd_is(fds[1]) && !pl_own_fd_is(-1));
	give_away(fds[0]);
	close(fds[1]);
	assert_false(pl_own_fd_is(fds[0]) || pl_own_fd_is(fds[1]));
	assert_int_equal(in_child(has_it, fds), 0);
	assert_int_equal(pl_own_fd_close(fds[0]), 0);
	assert_int_equal(pl_own_fd_close(fds[1]), 0);
	assert_true(is_open(fds[0]));
	assert_int_equal(pl_own_fd_close(fds[0]), 0);
	assert_true(is_open(fds[0]));
	close(fds[0]);
}

static atomic_bool over;

/* The numbers that are free go to and fro between ours and theirs. */
static int open_and_lose(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	assert_true(fd >= 0 && close(fd) == 0);
	return fd;
}

/* As by a thread of the program that closes all there are. What has the number afterwards is nothing of ours. */
static void a_number_that_is_lost_while_it_is_opened_is_anothers(void **state)
{
	int (*const take[])(int fd) = {pl_own_fd, pl_own_fd_end};

	for (int i = 0; i < 2; i++) {
		if (i)
			pl_own_fd_begin();
		int fd = take[i](open_and_lose());

		assert_int_equal(memfd_create("another", MFD_CLOEXEC), fd);
		assert_false(pl_own_fd_is(fd));
		assert_int_equal(pl_own_fd_close(fd), 0);
		assert_true(is_open(fd));
		close(fd);
	}
}

static void *open_and_close(void *unused)
{
	while (!atomic_load(&over)) {
		int ours = pl_own_fd(eventfd(0, 0));
		pl_own_fd_close(ours);
	}
	return NULL;
}

static void *open_without_a_wait(void *unused)
{
	while (!atomic_load(&over)) {
		pl_own_fd_close(PL_OWN_FD(eventfd(0, 0)));
		struct pl_own_dir dir;
		if (pl_own_dir_open(&dir, "/proc/self"))
			pl_own_dir_close(&dir);
	}
	return NULL;
}

static int opens_and_keeps(const int *unused)
{
	int own = eventfd(0, 0);

	return own >= 0 && is_open(own) && pl_own_fd_close(own) == 0 ? 0 : 1;
}

static void a_fork_at_any_moment_leaves_a_child_that_works(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, open_and_close, NULL), 0);
	for (int i = 0; i < FORKS; i++)
		assert_int_equal(in_child(opens_and_keeps, NULL), 0);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

#define NUMBERS 64

static int has_no_more(const int *was_open)
{
	for (int fd = 0; fd < NUMBERS; fd++)
		if (is_open(fd) && !was_open[fd])
			return 1 + fd;
	return 0;
}

static void a_child_keeps_nothing_that_is_open_for_a_moment(void **state)
{
	pthread_t thread;
	int was_open[NUMBERS];

	for (int fd = 0; fd < NUMBERS; fd++)
		was_open[fd] = is_open(fd);
	atomic_store(&over, false);
	assert_int_equal(pthread_create(&thread, NULL, open_without_a_wait, NULL), 0);
	for (int i = 0; i < FORKS; i++)
		assert_int_equal(in_child(has_no_more, was_open), 0);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

static int nameless(void)
{
	char path[] = "/tmp/plumb-test-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

/* Until the kernel gives files a later time than now. Its clock for them lags behind, and may have gone ahead of that
 * for a file that somebody looked at (Linux 6.13). */
static void wait_for_the_clock_of_files(void)
{
	struct timespec first, now;

	clock_gettime(CLOCK_REALTIME, &first);
	do
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	while (now.tv_sec < first.tv_sec || (now.tv_sec == first.tv_sec && now.tv_nsec <= first.tv_nsec));
}

/* The program has closed a file of ours that has no name, and opened one: many a file system gives it the same number.
 */
static void a_new_file_with_the_number_of_the_old_one_is_left_alone(void **state)
{
	int fd = pl_own_fd(nameless());
	struct pl_file_id old = pl_file_id(fd);

	wait_for_the_clock_of_files();
	close(fd);
	int other = nameless();
	struct pl_file_id new = pl_file_id(other);
	assert_int_equal(other, fd);
	print_message("%s file system\n", new.ino == old.ino ? "such a" : "another");
	pl_own_fd_close_as(fd, &old);
	assert_true(is_open(other));
	close(other);
}

static void all_entries_of_a_directory_are_listed(void **state)
{
	struct pl_own_dir dir;
	char path[] = "/tmp/plumb-test-XXXXXX", name[64];
	int entries = 0;

	assert_non_null(mkdtemp(path));
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "%s/%d", path, i);
		close(open(name, O_WRONLY | O_CREAT, 0600));
	}
	assert_true(pl_own_dir_open(&dir, path));
	for (const char *entry; (entry = pl_own_dir_next(&dir));)
		entries += entry[0] != '.';
	pl_own_dir_close(&dir);
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof name, "%s/%d", path, i);
		unlink(name);
	}
	rmdir(path);
	assert_int_equal(entries, 500);
	assert_false(pl_own_dir_open(&dir, path));
}

/* The program has closed it, and its number is that of another file. */
static void a_directory_that_is_no_longer_ours_is_left_alone(void **state)
{
	struct pl_own_dir dir;
	int ends[2];

	assert_true(pl_own_dir_open(&dir, "/proc/self/fd"));
	assert_non_null(pl_own_dir_next(&dir));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[0], dir.fd), dir.fd);
	pl_own_dir_close(&dir);
	assert_true(is_open(dir.fd));
	close(dir.fd);
	close(ends[0]);
	close(ends[1]);
}

/* In a process with memory of ours and descriptors of its own: its numbers may be those of ours. */
static void descriptors_of_elsewhere_are_left_alone(void **state)
{
	int ours = PL_OWN_FD(eventfd(0, 0));

	pl_own_fd_elsewhere(true);
	int theirs = PL_OWN_FD(eventfd(0, 0));
	struct pl_own_dir dir;
	assert_true(pl_own_dir_open(&dir, "/proc"));
	pl_own_dir_close(&dir);
	pl_own_fd_elsewhere(false);
	const int fds[] = {theirs};
	assert_int_equal(in_child(has_it, fds), 0);
	pl_own_fd_elsewhere(true);
	assert_int_equal(pl_own_fd_close(theirs), 0);
	pl_own_fd_elsewhere(false);
	assert_false(is_open(theirs));
	assert_int_equal(pl_own_fd_close(ours), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_of_a_fork_has_what_is_not_ours),
		cmocka_unit_test(a_number_that_is_anothers_by_now_stays_open),
		cmocka_unit_test(a_number_that_is_lost_while_it_is_opened_is_anothers),
		cmocka_unit_test(a_fork_at_any_moment_leaves_a_child_that_works),
		cmocka_unit_test(a_child_keeps_nothing_that_is_open_for_a_moment),
		cmocka_unit_test(a_new_file_with_the_number_of_the_old_one_is_left_alone),
		cmocka_unit_test(all_entries_of_a_directory_are_listed),
		cmocka_unit_test(a_directory_that_is_no_longer_ours_is_left_alone),
		cmocka_unit_test(descriptors_of_elsewhere_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
