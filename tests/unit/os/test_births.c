/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "births.h"
#include "clock.h"
#include "stage.h"

struct scene {
	struct pl_births *births;
};

/* Births from a moment on at which the first sweep is over. */
static void open_scene(struct scene *s)
{
	struct pl_proc_stat st;

	assert_ok(pl_births_create(getpid(), &s->births));
	await (!pl_births_sweeping(s->births)) {
		pl_births_look(s->births, pl_clock_monotonic_ns());
		while (pl_births_next(s->births, pl_clock_monotonic_ns(), &st) != PL_BIRTH_NONE)
			;
	}
}

/* Look until @p pid is told. */
static enum pl_birth hear_of(struct scene *s, pid_t pid, struct pl_proc_stat *ret)
{
	enum pl_birth birth = PL_BIRTH_NONE;

	await (birth != PL_BIRTH_NONE && ret->pid == pid) {
		if (birth == PL_BIRTH_NONE)
			pl_births_look(s->births, pl_clock_monotonic_ns());
		birth = pl_births_next(s->births, pl_clock_monotonic_ns(), ret);
	}
	return birth;
}

static void a_child_is_told_with_its_parent(void **state)
{
	struct scene s;
	struct pl_proc_stat st;

	open_scene(&s);
	for (int i = 0; i < 20; i++) {
		pid_t pid = stage_fork();
		if (pid == 0)
			stage_block();
		assert_int_not_equal(hear_of(&s, pid, &st), PL_BIRTH_NONE);
		assert_int_equal(st.parent, getpid());
		assert_int_equal(st.session, getsid(0));
		assert_true(st.forked);
		assert_true(pl_proc_is_process(pid));
		stage_kill(pid);
	}
	pl_births_destroy(s.births);
}

static void a_zombie_is_told_as_one(void **state)
{
	struct scene s;
	struct pl_proc_stat st;

	open_scene(&s);
	pid_t pid = stage_fork();
	if (pid == 0)
		_exit(0);
	stage_await_state(pid, pid, "Z");
	assert_int_not_equal(hear_of(&s, pid, &st), PL_BIRTH_NONE);
	assert_int_equal(st.state, 'Z');
	assert_true(st.ended);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	pl_births_destroy(s.births);
}

static void *block(void *arg)
{
	(void)arg;
	stage_block();
}

static void a_main_thread_that_left_the_others_has_not_ended_the_process(void **state)
{
	struct pl_proc_stat st;

	pid_t pid = stage_fork();
	if (pid == 0) {
		pthread_t other;

		if (pthread_create(&other, NULL, block, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	stage_await_state(pid, pid, "Z");
	assert_true(pl_proc_stat_read(pid, &st));
	assert_int_equal(st.state, 'Z');
	assert_false(st.ended);
	stage_kill(pid);
}

static void a_program_that_was_executed_is_no_longer_forked(void **state)
{
	struct scene s;
	struct pl_proc_stat st;

	open_scene(&s);
	pid_t pid = stage_fork();
	if (pid == 0) {
		execl("/bin/sleep", "sleep", "60", (char *)NULL);
		_exit(127);
	}
	(void)hear_of(&s, pid, &st);
	await (!st.forked)
		assert_true(pl_proc_stat_read(pid, &st));
	stage_kill(pid);
	pl_births_destroy(s.births);
}

static void *stay(void *arg)
{
	pthread_barrier_t *barriers = arg;

	pthread_barrier_wait(&barriers[0]);
	pthread_barrier_wait(&barriers[1]);
	return NULL;
}

static void a_thread_is_told_apart(void **state)
{
	pthread_barrier_t barriers[2];
	pthread_t thread;

	pthread_barrier_init(&barriers[0], NULL, 2);
	pthread_barrier_init(&barriers[1], NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, stay, barriers), 0);
	pthread_barrier_wait(&barriers[0]);
	pl_tid_vec tids = {0};
	assert_ok(pl_proc_tids(getpid(), &tids));
	assert_true(tids.len >= 2);
	for (size_t i = 0; i < tids.len; i++)
		assert_int_equal(pl_proc_is_process(tids.data[i]), tids.data[i] == getpid());
	pl_vec_deinit(&tids);
	pthread_barrier_wait(&barriers[1]);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&barriers[0]);
	pthread_barrier_destroy(&barriers[1]);
}

static void a_sweep_finds_what_was_there_before(void **state)
{
	struct pl_births *births;
	struct pl_proc_stat st;
	bool found = false;
	pid_t pid = stage_fork();

	if (pid == 0)
		stage_block();
	assert_ok(pl_births_create(getpid(), &births));
	await (found || !pl_births_sweeping(births)) {
		enum pl_birth birth;
		int looked = 0;
		pl_births_look(births, pl_clock_monotonic_ns());
		while ((birth = pl_births_next(births, pl_clock_monotonic_ns(), &st)) != PL_BIRTH_NONE) {
			found |= birth == PL_BIRTH_SWEPT && st.pid == pid;
			looked++;
		}
		assert_true(looked <= 2 * PL_BIRTHS_PER_LOOK); /* a look is bounded */
	}
	assert_true(found);
	pl_births_destroy(births);
	stage_kill(pid);
}

#define CHILDREN 30

/* Each that is met for the first time may have children that were passed over. */
static void a_sweep_that_is_asked_for_again_and_again_goes_through_all_once_more(void **state)
{
	struct pl_births *births;
	struct pl_proc_stat st;
	pid_t pids[CHILDREN];
	bool met[CHILDREN] = {0};
	int told = 0;

	for (int i = 0; i < CHILDREN; i++)
		if ((pids[i] = stage_fork()) == 0)
			stage_block();
	assert_ok(pl_births_create(getpid(), &births));
	await (!pl_births_sweeping(births)) {
		enum pl_birth birth;

		pl_births_look(births, pl_clock_monotonic_ns());
		while ((birth = pl_births_next(births, pl_clock_monotonic_ns(), &st)) != PL_BIRTH_NONE)
			for (int i = 0; i < CHILDREN && birth == PL_BIRTH_SWEPT; i++) {
				if (st.pid != pids[i])
					continue;
				told++;
				if (!met[i])
					pl_births_sweep(births);
				met[i] = true;
			}
	}
	for (int i = 0; i < CHILDREN; i++) {
		assert_true(met[i]);
		stage_kill(pids[i]);
	}
	assert_in_range(told, 2 * CHILDREN, 4 * CHILDREN); /* more if thousands of others are born meanwhile */
	pl_births_destroy(births);
}

static void a_name_with_brackets_does_not_shift_the_fields(void **state)
{
	struct pl_proc_stat st;

	FILE *f = fopen("/proc/self/comm", "we");
	assert_non_null(f);
	fputs("a) Z 1 (b", f);
	assert_int_equal(fclose(f), 0);
	assert_true(pl_proc_stat_read(getpid(), &st));
	assert_string_equal(st.comm, "a) Z 1 (b");
	assert_int_equal(st.parent, getppid());
	assert_int_equal(st.state, 'R');
	assert_false(pl_proc_stat_read(0x3ffffff0, &st));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_is_told_with_its_parent),
		cmocka_unit_test(a_zombie_is_told_as_one),
		cmocka_unit_test(a_main_thread_that_left_the_others_has_not_ended_the_process),
		cmocka_unit_test(a_program_that_was_executed_is_no_longer_forked),
		cmocka_unit_test(a_thread_is_told_apart),
		cmocka_unit_test(a_sweep_finds_what_was_there_before),
		cmocka_unit_test(a_sweep_that_is_asked_for_again_and_again_goes_through_all_once_more),
		cmocka_unit_test(a_name_with_brackets_does_not_shift_the_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
