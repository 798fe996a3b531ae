/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; see priority.h. Any thread. */
#include "priority.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS       100000ull
#define INSISTENT_NICE (-10)

/* The kernel's struct sched_attr, not in the C library's headers everywhere. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* 0, or why not. A real-time or idle policy is somebody's choice and stays. */
static int be_punctual(bool insist)
{
	struct attr a = {.size = sizeof a};

	if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0)
		return errno;
	if (a.policy != SCHED_OTHER)
		return 0;
	a.runtime = SLICE_NS;
	if (insist && a.nice > INSISTENT_NICE)
		a.nice = INSISTENT_NICE;
	return syscall(SYS_sched_setattr, 0, &a, 0) == 0 ? 0 : errno;
}

void pl_priority_be_punctual(bool insist)
{
	if (be_punctual(insist) && insist)
		(void)be_punctual(false);
}

static void *try_to_insist(void *ret)
{
	*(int *)ret = be_punctual(true);
	return NULL;
}

/* The kernel knows more reasons than we could ask for: capabilities, limits, user namespaces, filters. */
struct plumb_error *pl_priority_check(void)
{
	pthread_t thread;
	int why = 0, created = pthread_create(&thread, NULL, try_to_insist, &why);

	if (created)
		return pl_error_errno(PLUMB_ERR_NO_MEMORY, created, "cannot start a thread");
	pthread_join(thread, NULL);
	if (why == 0)
		return NULL;
	return pl_error_hint(
		pl_error_errno(PLUMB_ERR_NOT_PERMITTED, why, "cannot sample at nice %d", INSISTENT_NICE),
		"it takes root, CAP_SYS_NICE or a limit of ulimit -e; without --priority plumb samples at the "
		"priority that it was started with");
}
