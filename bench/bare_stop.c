/* SPDX-License-Identifier: Apache-2.0 */
/* bare_stop PID [SAMPLES [RATE]]: what it costs at least to take the registers and the stack of a thread that runs. At
 * each sample the main thread of PID is stopped, its registers and 16 KiB of its stack are read, and it runs on;
 * nothing is made of it. Three ways in turn, so that all have the same machine: of a thread that stays traced, waiting
 * asleep or asking again and again; and of one that is traced for each sample anew, as plumb does, so that nobody else
 * is kept from it. `nothing` only wakes up. CPU time is that of this program; a pause is from the question to the
 * answer that the thread is let go. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#define STACK (16u << 10)
#define BATCH 100
#define MAX   100000

enum way { NOTHING, KEPT_ASLEEP, ANEW_ASLEEP, ANEW_ASKING, WAYS };

static const char *const names[WAYS] = {"nothing", "stays traced, waits asleep", "traced anew, waits asleep",
					"traced anew, asks for 25 us first"};

struct figures {
	uint64_t cpu_ns, pauses[MAX];
	unsigned samples;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void take(pid_t pid)
{
	static char stack[STACK];
	struct user_regs_struct regs;
	struct iovec to = {&regs, sizeof regs}, here = {stack, sizeof stack}, there = {0};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &to))
		fail("PTRACE_GETREGSET");
	there = (struct iovec){(void *)(uintptr_t)regs.rsp, sizeof stack};
	(void)process_vm_readv(pid, &here, 1, &there, 1, 0); /* less, where the stack ends */
}

/* The signal that it was about to get, which it gets when it is let go. */
static int stopped(pid_t pid, uint64_t ask_ns)
{
	const uint64_t end = now_ns(CLOCK_MONOTONIC) + ask_ns;
	int status;
	pid_t r = 0;

	while (r == 0)
		r = waitpid(pid, &status, __WALL | (now_ns(CLOCK_MONOTONIC) < end ? WNOHANG : 0));
	if (r < 0 || !WIFSTOPPED(status))
		fail("the program has ended");
	return status >> 16 ? 0 : WSTOPSIG(status);
}

static void sample(pid_t pid, enum way way)
{
	if (way != KEPT_ASLEEP && ptrace(PTRACE_SEIZE, pid, 0, 0))
		fail("PTRACE_SEIZE");
	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		fail("PTRACE_INTERRUPT");
	int signo = stopped(pid, way == ANEW_ASKING ? 25000 : 0);
	take(pid);
	if (ptrace(way == KEPT_ASLEEP ? PTRACE_CONT : PTRACE_DETACH, pid, 0, (void *)(intptr_t)signo))
		fail("the thread cannot be let go");
}

static void batch(pid_t pid, enum way way, uint64_t period_ns, struct figures *f)
{
	uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID), next = now_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; i < BATCH; i++) {
		const struct timespec at = {(time_t)((next += period_ns) / 1000000000u), (long)(next % 1000000000u)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		uint64_t asked = now_ns(CLOCK_MONOTONIC);
		if (way != NOTHING)
			sample(pid, way);
		f->pauses[f->samples++] = now_ns(CLOCK_MONOTONIC) - asked;
	}
	f->cpu_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static void keep(pid_t pid, enum way way)
{
	if (way == KEPT_ASLEEP && ptrace(PTRACE_SEIZE, pid, 0, 0))
		fail("PTRACE_SEIZE");
}

static void let_go(pid_t pid, enum way way)
{
	if (way != KEPT_ASLEEP)
		return;
	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		fail("PTRACE_INTERRUPT");
	if (ptrace(PTRACE_DETACH, pid, 0, (void *)(intptr_t)stopped(pid, 0)))
		fail("PTRACE_DETACH");
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static struct figures figures[WAYS];
	const pid_t pid = argc > 1 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	const unsigned long samples = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000;
	const unsigned long rate = argc > 3 ? strtoul(argv[3], NULL, 10) : 500;

	if (pid <= 0 || samples > MAX - BATCH || rate == 0) {
		fprintf(stderr, "usage: bare_stop PID [SAMPLES [RATE]]\n");
		return 2;
	}
	while (figures[WAYS - 1].samples < samples)
		for (enum way way = 0; way < WAYS; way++) {
			keep(pid, way);
			batch(pid, way, 1000000000u / rate, &figures[way]);
			let_go(pid, way);
		}
	for (enum way way = 0; way < WAYS; way++) {
		struct figures *f = &figures[way];

		qsort(f->pauses, f->samples, sizeof *f->pauses, by_value);
		printf("%-33s %6.1f us of CPU time a sample, pause %5.1f us (middle), %7.1f us (99 %%)\n", names[way],
		       (double)f->cpu_ns / 1e3 / f->samples, (double)f->pauses[f->samples / 2] / 1e3,
		       (double)f->pauses[(size_t)f->samples * 99 / 100] / 1e3);
	}
	return 0;
}
