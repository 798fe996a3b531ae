/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os, sampling thread only but for pl_beside_free; see beside.h. It sets the affinity of the sampling thread and
 * of no other one. That thread starts no thread and no process, which would inherit it. */
#include "beside.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "own_tid.h"
#include "proc_file.h"

#define STAT_MAX	1024
#define NICE_FIELD	19 /* of a stat file */
#define PROCESSOR_FIELD 39
#define POLICY_FIELD	41
#define PROCESSORS	(PL_BESIDE_SETS * CPU_SETSIZE)
#define SET_BYTES	sizeof(cpu_set_t[PL_BESIDE_SETS])
#define FREEING_NS	10000

static cpu_set_t *mine(struct pl_beside *b)
{
	return b->mine[atomic_load(&b->which)];
}

static void make_only(cpu_set_t *ret, int cpu)
{
	CPU_ZERO_S(SET_BYTES, ret);
	CPU_SET_S((size_t)cpu, SET_BYTES, ret);
}

/* Who has been given other processors than it keeps to, by whoever frees it, an administrator or a change of its
 * cpuset, keeps to none any more: those are what it may use from now on. */
static bool know_mine(struct pl_beside *b)
{
	cpu_set_t now[PL_BESIDE_SETS], only[PL_BESIDE_SETS];
	uint32_t other = !atomic_load(&b->which);

	if (sched_getaffinity(0, SET_BYTES, now))
		return false;
	if (b->cpu != PL_BESIDE_NOBODY) {
		make_only(only, b->cpu);
		if (CPU_EQUAL_S(SET_BYTES, now, only))
			return true;
	}
	b->cpu = PL_BESIDE_NOBODY;
	if (CPU_EQUAL_S(SET_BYTES, now, mine(b)))
		return true;
	memcpy(b->mine[other], now, SET_BYTES);
	atomic_store(&b->which, other);
	return true;
}

void pl_beside_init(struct pl_beside *b)
{
	int policy = sched_getscheduler(0);

	b->nice = getpriority(PRIO_PROCESS, 0);
	b->cpu = PL_BESIDE_NOBODY;
	/* Those of lower rank would wait until the thread lets go of the processor. */
	b->able = policy != SCHED_BATCH && policy != SCHED_IDLE && know_mine(b);
	if (b->able)
		atomic_store(&b->tid, pl_own_tid());
}

void pl_beside_end(struct pl_beside *b)
{
	pid_t tid = pl_own_tid();

	(void)pl_beside_leave(b);
	b->able = false;
	while (b->tid && !atomic_compare_exchange_strong(&b->tid, &tid, 0)) {
		tid = pl_own_tid();
		nanosleep(&(struct timespec){.tv_nsec = FREEING_NS}, NULL);
	}
}

/* Of these the kernel is fair to us. */
static bool shares(uint64_t policy)
{
	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

int pl_beside_where(const struct pl_beside *b, pid_t pid, pid_t tid)
{
	char name[48], stat[STAT_MAX];
	uint64_t nice, cpu, policy;

	snprintf(name, sizeof name, "task/%d/stat", (int)tid);
	if (pl_proc_file(pid, name, stat, sizeof stat) <= 0 || !pl_proc_stat_field(stat, NICE_FIELD, &nice) ||
	    !pl_proc_stat_field(stat, PROCESSOR_FIELD, &cpu) || !pl_proc_stat_field(stat, POLICY_FIELD, &policy))
		return PL_BESIDE_NOBODY;
	if (!shares(policy) || (int)nice < b->nice || cpu >= PROCESSORS)
		return PL_BESIDE_NOBODY;
	return (int)cpu;
}

/* The CPU time up to now was used where we have kept to. Of who keeps to none it is not asked: that is a system call.
 */
static void count(struct pl_beside *b)
{
	if (b->cpu == PL_BESIDE_NOBODY)
		return;
	uint64_t now = pl_clock_thread_cpu_ns();

	b->taken_ns += now - b->since_ns;
	b->since_ns = now;
}

/* What the kernel needs to move us, which in a virtual machine can be ten times as much as a sample, it needs on both
 * processors and mostly while other threads run there: nobody's time. */
static bool move(struct pl_beside *b, const cpu_set_t *where, int cpu)
{
	count(b);
	if (sched_setaffinity(0, SET_BYTES, where))
		return false;
	b->since_ns = pl_clock_thread_cpu_ns();
	b->cpu = cpu;
	return true;
}

bool pl_beside_go(struct pl_beside *b, int cpu)
{
	cpu_set_t only[PL_BESIDE_SETS];

	if (cpu == b->cpu)
		return true;
	if (cpu < 0 || cpu >= PROCESSORS || !b->able || atomic_load(&b->freed) || !know_mine(b) ||
	    !CPU_ISSET_S((size_t)cpu, SET_BYTES, mine(b)))
		return false;
	make_only(only, cpu);
	return move(b, only, cpu);
}

/* A thread is moved only from where it must not run. */
bool pl_beside_leave(struct pl_beside *b)
{
	cpu_set_t others[PL_BESIDE_SETS];

	if (b->cpu == PL_BESIDE_NOBODY || !know_mine(b) || b->cpu == PL_BESIDE_NOBODY)
		return b->cpu == PL_BESIDE_NOBODY;
	memcpy(others, mine(b), SET_BYTES);
	CPU_CLR_S((size_t)b->cpu, SET_BYTES, others);
	if (CPU_COUNT_S(SET_BYTES, others) == 0 || !move(b, others, PL_BESIDE_NOBODY))
		return false;
	(void)sched_setaffinity(0, SET_BYTES, mine(b));
	return true;
}

bool pl_beside_is_there(struct pl_beside *b)
{
	if (b->cpu == PL_BESIDE_NOBODY)
		return false;
	if (!atomic_load(&b->freed) && sched_getcpu() == b->cpu)
		return true;
	(void)know_mine(b);
	return false;
}

/* The number is that of a living thread as long as it is marked. Whoever finds it marked leaves it to who did. */
void pl_beside_free(struct pl_beside *b)
{
	atomic_store(&b->freed, true);
	pid_t tid = atomic_load(&b->tid);
	if (tid <= 0 || !atomic_compare_exchange_strong(&b->tid, &tid, -tid))
		return;
	int saved = errno; /* of whoever was interrupted */
	(void)sched_setaffinity(tid, SET_BYTES, mine(b));
	errno = saved;
	atomic_store(&b->tid, tid);
}

uint64_t pl_beside_taken_ns(struct pl_beside *b)
{
	count(b);
	uint64_t taken_ns = b->taken_ns;
	b->taken_ns = 0;
	return taken_ns;
}
