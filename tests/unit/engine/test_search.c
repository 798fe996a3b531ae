/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the sampling thread's time looking for Pythons takes, on a clock of the test's own, and what is told
 * where none was found. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "remote_engine.h"
#include "search.h"
#include "target.h"

#define TARGETS 3
#define STEPS	3000
#define STEP_NS 1000000ull

/* As if at each step the first had become another program, and the others had grown. */
static void search_all(struct pl_engine *e, struct pl_target *targets, uint64_t now)
{
	struct plumb_error *err;

	for (size_t i = 0; i < TARGETS; i++) {
		targets[i].search.ino = i ? targets[i].search.ino : 0;
		targets[i].search.seen.vsize = targets[i].search.full_ns = 0;
		pl_search_step(e, &targets[i], now, &err);
		plumb_error_destroy(err);
	}
}

/* Each byte that is read is a nanosecond at most. A fifth and a twentieth of the time, and what may be taken ahead. */
static void looking_into_files_takes_its_share_of_time_and_no_more(void **state)
{
	const uint64_t allowed = STEPS * STEP_NS / 4 + 100000000 + PL_IMAGE_WORK;
	unsigned long calls, bytes = 0, bytes_after = 0;
	struct fake_large f;
	struct pl_engine e = {0};
	struct pl_target targets[TARGETS] = {0};

	fake_large_make(&f, "lib", 8u << 20);
	pid_t pid = fake_start_mapping(f.paths, FAKE_LARGE_FILES, 4096);
	for (size_t i = 0; i < TARGETS; i++)
		targets[i].python.pid = pid;
	bool told = fake_count_reads(&calls, &bytes);
	for (uint64_t i = 1; told && i <= STEPS && bytes_after <= bytes + allowed; i++) {
		search_all(&e, targets, i * STEP_NS);
		told = fake_count_reads(&calls, &bytes_after);
	}
	for (size_t i = 0; i < TARGETS; i++)
		pl_search_detach(&e, &targets[i]);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fake_large_remove(&f);
	if (!told) {
		print_message("this kernel does not count what is read\n");
		skip();
	}
	print_message("%lu of %lu MB\n", (bytes_after - bytes) >> 20, (unsigned long)allowed >> 20);
	assert_in_range(bytes_after - bytes, 1, allowed);
}

static size_t count_looked_at(const struct pl_target *targets, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += targets[i].search.next_ns != 0;
	return n;
}

/* Between two looks at so many there is a round of those that are known, and an end. */
static void many_processes_are_looked_at_by_and_by(void **state)
{
	enum { MANY = 2 * PL_SEARCHES_A_STEP + 1 };
	static struct pl_target targets[MANY];
	struct pl_engine e = {0};
	pid_t ended = fork();

	(void)state;
	if (ended == 0)
		_exit(0);
	assert_int_equal(waitpid(ended, NULL, 0), ended);
	for (size_t i = 0; i < MANY; i++) {
		targets[i].python.pid = ended;
		assert_true(pl_vec_push(&e.targets, &targets[i]));
	}
	for (size_t step = 1; step <= 2; step++) {
		pl_search_all(&e, STEP_NS);
		assert_int_equal(count_looked_at(targets, MANY), step * PL_SEARCHES_A_STEP);
	}
	pl_search_all(&e, STEP_NS);
	assert_int_equal(count_looked_at(targets, MANY), MANY);
	plumb_error_destroy(e.error);
	pl_vec_deinit(&e.targets);
}

/* It may be a Python: that there was none is not known. */
static void want_of_descriptors_is_why_a_process_is_not_looked_at(void **state)
{
	struct rlimit before, none;
	struct pl_target t = {.python.pid = getpid()};
	struct pl_engine e = {0};
	struct plumb_error *err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	pl_search_step(&e, &t, STEP_NS, &err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_SYSTEM);
	assert_non_null(strstr(plumb_error_message(err), "Too many open files"));
	plumb_error_destroy(err);
}

static void what_was_not_looked_at_is_told_whatever_is_found_later(void **state)
{
	const enum plumb_error_code later[] = {PLUMB_ERR_NOT_READY, PLUMB_ERR_NOT_PYTHON, PLUMB_ERR_STALE,
					       PLUMB_ERR_TARGET_EXITED};
	struct pl_engine e = {0};

	(void)state;
	pl_search_keep(&e, pl_error(PLUMB_ERR_NOT_PYTHON, "the first program"));
	pl_search_keep(&e, pl_error_errno(PLUMB_ERR_SYSTEM, EMFILE, "cannot look at the second"));
	for (size_t i = 0; i < sizeof later / sizeof *later; i++)
		pl_search_keep(&e, pl_error(later[i], "the third"));
	assert_int_equal(plumb_error_code(e.error), PLUMB_ERR_SYSTEM);
	plumb_error_destroy(e.error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looking_into_files_takes_its_share_of_time_and_no_more),
		cmocka_unit_test(many_processes_are_looked_at_by_and_by),
		cmocka_unit_test(want_of_descriptors_is_why_a_process_is_not_looked_at),
		cmocka_unit_test(what_was_not_looked_at_is_told_whatever_is_found_later),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
