/* SPDX-License-Identifier: Apache-2.0 */
/* A program that plumb runs in may fork while plumb looks into /proc: the child has none of the files. */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mem_live.h"
#include "proc.h"
#include "thread_clock.h"

#define FORKS	300
#define NUMBERS 64

static atomic_bool over;

static void look_at_process(void)
{
	struct pl_proc_stat stat;
	pl_tid_vec tids = {0};
	char name[16];

	assert_true(pl_proc_stat_read(getpid(), &stat));
	assert_null(pl_proc_tids(getpid(), &tids));
	pl_proc_comm(getpid(), getpid(), name);
	pl_vec_deinit(&tids);
}

static void look_at_memory(void)
{
	struct pl_thread_clock clock;
	struct pl_mem_live *live;

	pl_thread_clock_open(&clock, getpid(), getpid());
	pl_thread_clock_close(&clock);
	assert_null(pl_mem_live_create(getpid(), &live));
	pl_mem_live_destroy(live);
}

static void *look(void *unused)
{
	static void (*const ways[])(void) = {look_at_process, look_at_memory};

	for (unsigned i = 0; !atomic_load(&over); i++)
		ways[i % 2]();
	return NULL;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int has_no_more(const bool *was_open)
{
	for (int fd = 0; fd < NUMBERS; fd++)
		if (is_open(fd) && !was_open[fd])
			return 1 + fd;
	return 0;
}

static void a_child_keeps_no_file_of_proc(void **state)
{
	bool was_open[NUMBERS];
	pthread_t thread;

	for (int fd = 0; fd < NUMBERS; fd++)
		was_open[fd] = is_open(fd);
	assert_int_equal(pthread_create(&thread, NULL, look, NULL), 0);
	for (int i = 0; i < FORKS; i++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			_exit(has_no_more(was_open));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_keeps_no_file_of_proc)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
