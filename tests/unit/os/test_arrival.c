/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "arrival.h"
#include "stage.h"

#define CHILDREN 2

static bool has_sched(void)
{
	if (access("/proc/self/sched", R_OK) == 0)
		return true;
	print_message("[  SKIPPED ] this kernel has no /proc/PID/sched\n");
	return false;
}

/* We and whoever is forked from now on are on one processor. */
static void keep_to_one_processor(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	for (int cpu = 0, found = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && found++)
			CPU_CLR(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

static void arrive(struct pl_arrival *a)
{
	nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	pl_arrival_note(a, 0);
}

/* Of two that compute on our processor one at most was on it when we came, and each is it at times. */
static void whose_processor_was_taken_is_known(void **state)
{
	struct pl_arrival arrival = {0};
	pid_t child[CHILDREN];
	int took[CHILDREN] = {0};

	if (!has_sched())
		skip();
	keep_to_one_processor();
	for (int i = 0; i < CHILDREN; i++)
		if ((child[i] = stage_fork()) == 0)
			for (;;)
				;
	assert_int_equal(pl_arrival_took(&arrival, child[0], child[0]), PL_ARRIVAL_UNKNOWN); /* nobody came */
	await (took[0] && took[1]) {
		int of_this = 0;

		arrive(&arrival);
		for (int i = 0; i < CHILDREN; i++) {
			bool it = pl_arrival_took(&arrival, child[i], child[i]) == PL_ARRIVAL_TOOK;

			took[i] += it;
			of_this += it;
		}
		assert_true(of_this <= 1);
	}
	for (int i = 0; i < CHILDREN; i++)
		stage_kill(child[i]);
}

static void who_sleeps_has_lost_nothing_to_us(void **state)
{
	struct pl_arrival arrival = {0};
	pid_t child = stage_fork();

	if (child == 0) {
		poll(NULL, 0, -1);
		_exit(0);
	}
	if (!has_sched()) {
		stage_kill(child);
		skip();
	}
	stage_await_state(child, child, "S");
	arrive(&arrival);
	assert_int_equal(pl_arrival_took(&arrival, child, child), PL_ARRIVAL_UNKNOWN); /* nobody had asked */
	arrive(&arrival);
	assert_int_equal(pl_arrival_took(&arrival, child, child), PL_ARRIVAL_DID_NOT);
	stage_kill(child);
	assert_int_equal(pl_arrival_took(&arrival, child, child), PL_ARRIVAL_UNKNOWN);
}

/* To know costs more than all else that is done when nothing has run. */
static void who_is_not_asked_stops_to_note(void **state)
{
	struct pl_arrival arrival = {0};

	if (!has_sched())
		skip();
	(void)pl_arrival_took(&arrival, getpid(), getpid());
	pl_arrival_note(&arrival, 0);
	assert_true(arrival.at_ns);
	for (int i = 0; i < PL_ARRIVALS_NOTED; i++)
		pl_arrival_note(&arrival, 0);
	assert_false(arrival.at_ns);
}

/* Where one in two waits until somebody else gives the processor up, they are late; where all of them take long, none.
 */
static void late_is_who_takes_longer_than_the_promptest(void **state)
{
	struct pl_arrival mixed = {0}, slow = {0};
	int late = 0, prompt = 0, slow_late = 0;

	for (int i = 0; i < 400; i++) {
		pl_arrival_note(&mixed, i % 2 ? 200000 : 20000);
		late += i >= 100 && i % 2 && mixed.late;
		prompt += i >= 100 && i % 2 == 0 && !mixed.late;
		pl_arrival_note(&slow, 3000000);
		slow_late += i >= 100 && slow.late;
	}
	assert_int_equal(late, 150);
	assert_true(prompt >= 75);
	assert_true(slow_late < 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_sleeps_has_lost_nothing_to_us),
		cmocka_unit_test(who_is_not_asked_stops_to_note),
		cmocka_unit_test(late_is_who_takes_longer_than_the_promptest),
		cmocka_unit_test(whose_processor_was_taken_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
