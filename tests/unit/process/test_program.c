/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a launched program has ended. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static pthread_barrier_t stopped, asked;

/* Stops it, and does not take note of that before it was asked for. */
static void *trace(void *ctx)
{
	const pid_t pid = *(pid_t *)ctx;
	siginfo_t info;

	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT), 0);
	pthread_barrier_wait(&stopped);
	pthread_barrier_wait(&asked);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	return NULL;
}

static atomic_bool killed, early;

static void *wait_end(void *ctx)
{
	pl_program_wait_end(*(pid_t *)ctx);
	early = !killed;
	return NULL;
}

/* As the sampling thread does, for some microseconds; on a busy machine for longer. */
static void a_stop_is_no_end(void **state)
{
	pid_t pid = start();
	pthread_t tracing, waiting;

	assert_int_equal(pthread_barrier_init(&stopped, NULL, 2), 0);
	assert_int_equal(pthread_barrier_init(&asked, NULL, 2), 0);
	assert_int_equal(pthread_create(&tracing, NULL, trace, &pid), 0);
	pthread_barrier_wait(&stopped);
	assert_false(pl_program_has_ended(pid));
	assert_int_equal(pthread_create(&waiting, NULL, wait_end, &pid), 0);
	pthread_barrier_wait(&asked);
	assert_int_equal(pthread_join(tracing, NULL), 0);
	assert_false(pl_program_has_ended(pid));
	killed = true;
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(pthread_join(waiting, NULL), 0);
	assert_false(early);
	assert_true(pl_program_has_ended(pid));
	const int status = pl_program_reap(pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_true(pl_program_has_ended(pid)); /* and was reaped */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_is_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
