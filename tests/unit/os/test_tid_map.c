/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stage.h"
#include "tid_map.h"

enum { MAIN, WORKER, LATER, THREADS };

/* Each thread says what it calls itself, and what it is called where /proc was mounted: by us. */
struct scene {
	stage_word ready[THREADS], start_later, leave;
	pid_t its[THREADS], ours[THREADS], pid;
	bool refused;
};

static struct scene *sc;

static void introduce(size_t i)
{
	char link[64] = "";
	int pid, tid;

	sc->its[i] = gettid();
	if (readlink("/proc/thread-self", link, sizeof link - 1) > 0 && sscanf(link, "%d/task/%d", &pid, &tid) == 2) {
		sc->pid = pid;
		sc->ours[i] = tid;
	}
	stage_set(&sc->ready[i], 1);
}

static void *serve(void *number)
{
	introduce((size_t)(uintptr_t)number);
	stage_await(&sc->leave, (uint32_t)(uintptr_t)number);
	syscall(SYS_exit, 0);
	return NULL;
}

static _Noreturn void run_target(void)
{
	pthread_t t;

	pthread_create(&t, NULL, serve, (void *)(uintptr_t)WORKER);
	introduce(MAIN);
	stage_await(&sc->start_later, 1);
	pthread_create(&t, NULL, serve, (void *)(uintptr_t)LATER);
	stage_block();
}

/* The first process of a new pid namespace, or a process of ours. Returns whom to kill in the end. */
static pid_t start(bool elsewhere)
{
	sc = stage_share(sizeof *sc);
	pid_t starter = stage_fork();
	if (starter == 0) {
		sc->refused = elsewhere && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0;
		if (sc->refused) {
			stage_set(&sc->ready[MAIN], 1);
			stage_set(&sc->ready[WORKER], 1);
		} else if (!elsewhere || fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL); /* stage_fork() does not know its parent there */
			run_target();
		}
		stage_block();
	}
	stage_await(&sc->ready[MAIN], 1);
	stage_await(&sc->ready[WORKER], 1);
	if (sc->refused) {
		print_message("this user may not make a pid namespace\n");
		stage_kill(starter);
		skip();
	}
	return starter;
}

static void end(pid_t starter, struct pl_tid_map *m)
{
	pl_tid_map_deinit(m);
	stage_kill(starter);
	munmap(sc, sizeof *sc);
}

static void assert_thread(struct pl_tid_map *m, size_t i)
{
	assert_int_equal(pl_tid_map_ours(m, sc->its[i]), sc->ours[i]);
	assert_int_equal(pl_tid_map_its(m, sc->ours[i]), sc->its[i]);
}

static void numbers_of_another_namespace_are_translated(void **state)
{
	struct pl_tid_map m = {0};
	pid_t starter = start(true);
	assert_int_equal(sc->its[MAIN], 1);
	pl_tid_map_begin(&m, sc->pid);
	assert_thread(&m, MAIN);
	assert_thread(&m, WORKER);
	assert_int_equal(pl_tid_map_ours(&m, 12345), 0);
	stage_set(&sc->start_later, 1);
	stage_await(&sc->ready[LATER], 1);
	assert_int_equal(pl_tid_map_ours(&m, sc->its[LATER]), 0); /* listed once a round */
	pl_tid_map_begin(&m, sc->pid);
	assert_thread(&m, LATER);
	assert_thread(&m, MAIN);
	stage_set(&sc->leave, WORKER);
	stage_await_state(sc->pid, sc->ours[WORKER], "");
	assert_int_equal(pl_tid_map_ours(&m, sc->its[WORKER]), 0);
	assert_int_equal(pl_tid_map_its(&m, sc->ours[WORKER]), 0);
	end(starter, &m);
}

static void numbers_of_our_own_namespace_stay(void **state)
{
	struct pl_tid_map m = {0};
	pid_t starter = start(false);
	pl_tid_map_begin(&m, sc->pid);
	assert_thread(&m, MAIN);
	assert_thread(&m, WORKER);
	assert_int_equal(sc->its[WORKER], sc->ours[WORKER]);
	end(starter, &m);
}

static void a_process_that_is_gone_has_no_threads(void **state)
{
	struct pl_tid_map m = {0};
	pid_t starter = start(true), pid = sc->pid;
	pl_tid_map_begin(&m, pid);
	assert_thread(&m, MAIN);
	kill(pid, SIGKILL);
	stage_await_state(pid, sc->ours[WORKER], "");
	pl_tid_map_begin(&m, pid);
	assert_int_equal(pl_tid_map_ours(&m, sc->its[WORKER]), 0);
	end(starter, &m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_another_namespace_are_translated),
		cmocka_unit_test(numbers_of_our_own_namespace_stay),
		cmocka_unit_test(a_process_that_is_gone_has_no_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
