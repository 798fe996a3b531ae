/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "last_run.h"
#include "stage.h"

#define LONG_NS 50000000ull

static void the_time_is_read_to_the_nanosecond(void **state)
{
	static const char *const bad[] = {
		"",
		"se.exec_start",
		"x\nse.exec_start : 12",
		"x\nse.exec_start : 12.34567\n",
		"x\nse.exec_start : a.123456\n",
		"x\nse.exec_start : 99999999999999999999999.123456\n",
		"x\nse.vruntime : 12.345678\n",
		"python (12, #threads: 1)\n---\nse.exec_start      :         0.000000\nse.x", /* it has not run yet */
	};
	uint64_t ns;

	assert_true(
		pl_last_run_parse("python (12, #threads: 1)\n---\nse.exec_start      :   3838943.026011\nse.x", &ns));
	assert_int_equal(ns, 3838943026011ull);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(pl_last_run_parse(bad[i], &ns));
}

/* A child that waits in poll() without a limit is asked until it has waited long enough; never is it longer than it is.
 */
static void a_blocked_thread_tells_how_long_it_has_not_run(void **state)
{
	struct pl_sched_clocks clocks = {0};
	uint64_t start = pl_clock_monotonic_ns(), ago = 0;
	pid_t pid = stage_fork();

	if (pid == 0) {
		poll(NULL, 0, -1);
		_exit(0);
	}
	if (access("/proc/self/sched", R_OK)) {
		print_message("[  SKIPPED ] this kernel has no /proc/PID/sched\n");
		stage_kill(pid);
		skip();
	}
	await (ago >= LONG_NS) {
		if (!pl_last_run(&clocks, pid, pid, &ago)) {
			ago = 0;
			pl_sched_clocks_deinit(&clocks); /* a CPU that did not answer in time is asked once more */
			clocks = (struct pl_sched_clocks){0};
		}
		assert_true(ago <= pl_clock_monotonic_ns() - start);
	}
	stage_kill(pid);
	assert_false(pl_last_run(&clocks, pid, pid, &ago));
	pl_sched_clocks_deinit(&clocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_is_read_to_the_nanosecond),
		cmocka_unit_test(a_blocked_thread_tells_how_long_it_has_not_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
