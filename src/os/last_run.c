/* SPDX-License-Identifier: Apache-2.0 */
/* For how long a thread has not run (layer os). One thread at a time.
 *
 * No file says since when a thread is blocked. But /proc/PID/task/TID/sched has se.exec_start: when it ran last, by the
 * clock of the scheduler on the CPU where that was. That clock stands still while a hypervisor runs others, differently
 * on each CPU, and has no name in clock_gettime. So it is asked where it ticks: a thread of ours that has just been put
 * on that CPU finds the time in its own sched file. As the clock is never faster than the time, what comes out is a
 * lower bound. */
#include "last_run.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "own_tid.h"
#include "proc_file.h"

#define SCHED_MAX   8192
#define STAT_MAX    1024
#define CPU_FIELD   39 /* of a stat file */
#define ANSWER_NS   20000000ull
#define STACK_BYTES 65536

bool pl_last_run_parse(const char *text, uint64_t *ret_ns)
{
	const char *line = strstr(text, "\nse.exec_start");
	unsigned long long ms;
	char digits[7];

	if (!line || !(line = strchr(line, ':')) || sscanf(line, ": %llu.%6[0-9]", &ms, digits) != 2 ||
	    strlen(digits) != 6 || ms > UINT64_MAX / 1000000 - 1)
		return false;
	*ret_ns = ms * 1000000 + strtoull(digits, NULL, 10);
	return *ret_ns > 0; /* a thread that has not run yet */
}

bool pl_last_run_at(pid_t pid, pid_t tid, uint64_t *ret_ns)
{
	char name[48], text[SCHED_MAX];

	snprintf(name, sizeof name, "task/%d/sched", (int)tid);
	return pl_proc_file(pid, name, text, sizeof text) > 0 && pl_last_run_parse(text, ret_ns);
}

/* A question to a CPU. Whoever lets go of it last frees it: the answer may come when nobody waits any more. */
struct question {
	_Atomic int holders;
	sem_t answered;
	bool known;
	int64_t ahead_ns;
};

static void let_go(struct question *q)
{
	if (atomic_fetch_sub(&q->holders, 1) > 1)
		return;
	sem_destroy(&q->answered);
	free(q);
}

/* Runs on the CPU that is asked. It sleeps for a moment: the clock is noted when a thread is put on the CPU. The time
 * is asked after that: if the thread loses the CPU in between, the clock seems to be behind, and not ahead. */
static void *answer(void *arg)
{
	struct question *q = arg;
	uint64_t now_ns;

	nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
	q->known = pl_last_run_at(0, pl_own_tid(), &now_ns);
	q->ahead_ns = q->known ? (int64_t)(now_ns - pl_clock_monotonic_ns()) : 0;
	sem_post(&q->answered);
	let_go(q);
	return NULL;
}

static bool start_on(int cpu, struct question *q)
{
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t *set = CPU_ALLOC(PL_LAST_RUN_CPUS);
	size_t size = CPU_ALLOC_SIZE(PL_LAST_RUN_CPUS);

	if (!set || pthread_attr_init(&attr)) {
		CPU_FREE(set);
		return false;
	}
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	bool started = pthread_attr_setaffinity_np(&attr, size, set) == 0 &&
		       pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0 &&
		       pthread_attr_setstacksize(&attr, STACK_BYTES) == 0 &&
		       pthread_create(&thread, &attr, answer, q) == 0;
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return started;
}

static void ask(int cpu, struct pl_sched_clock *ret)
{
	struct question *q = calloc(1, sizeof *q);
	struct timespec until;

	ret->asked = true;
	if (!q || sem_init(&q->answered, 0, 0)) {
		free(q);
		return;
	}
	atomic_store(&q->holders, 2);
	if (!start_on(cpu, q)) {
		atomic_store(&q->holders, 1); /* there is no thread to let go of it */
	} else {
		uint64_t end = pl_clock_real_ns() + ANSWER_NS;

		until = (struct timespec){.tv_sec = (time_t)(end / PL_NS_PER_S), .tv_nsec = (long)(end % PL_NS_PER_S)};
		int r;
		while ((r = sem_timedwait(&q->answered, &until)) && errno == EINTR)
			;
		ret->known = r == 0 && q->known;
		ret->ahead_ns = ret->known ? q->ahead_ns : 0;
	}
	let_go(q);
}

void pl_sched_clocks_deinit(struct pl_sched_clocks *c)
{
	free(c->cpu);
	c->cpu = NULL;
}

static const struct pl_sched_clock *clock_of(struct pl_sched_clocks *c, uint64_t cpu)
{
	if (cpu >= PL_LAST_RUN_CPUS || (!c->cpu && !(c->cpu = calloc(PL_LAST_RUN_CPUS, sizeof *c->cpu))))
		return NULL;
	if (!c->cpu[cpu].asked)
		ask((int)cpu, &c->cpu[cpu]);
	return c->cpu[cpu].known ? &c->cpu[cpu] : NULL;
}

bool pl_last_run(struct pl_sched_clocks *c, pid_t pid, pid_t tid, uint64_t *ret_ago_ns)
{
	char name[48], stat[STAT_MAX];
	uint64_t ran_ns, cpu, again_ns;

	const struct pl_sched_clock *clock = NULL;
	snprintf(name, sizeof name, "task/%d/stat", (int)tid);
	if (!pl_last_run_at(pid, tid, &ran_ns) || pl_proc_file(pid, name, stat, sizeof stat) <= 0 ||
	    !pl_proc_stat_field(stat, CPU_FIELD, &cpu) || !(clock = clock_of(c, cpu)))
		return false;
	/* That was the CPU, if it has not run since. */
	uint64_t now_ns = pl_clock_monotonic_ns() + (uint64_t)clock->ahead_ns;
	if (!pl_last_run_at(pid, tid, &again_ns) || again_ns != ran_ns)
		return false;
	*ret_ago_ns = now_ns > ran_ns ? now_ns - ran_ns : 0;
	return true;
}
