/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that Python did not start, for native_threads.py: one computes, one waits, one calls Python back now and
 * then. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define EACH_NS 5000000u

static atomic_bool over;
static atomic_uint_least64_t computed_ns, called_ns, between_ns;
static void (*callback)(void);
static atomic_uint_least64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* For how long it was ready to run without a processor. */
static uint64_t waited_ns(void)
{
	static _Thread_local int fd = -1;
	uint64_t ran = 0, waited = 0;
	char text[64] = "";

	if (fd < 0)
		fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (pread(fd, text, sizeof text - 1, 0) > 0)
		sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &waited);
	return waited;
}

/* Running or ready: what samples count. */
static uint64_t ready_ns(void)
{
	return cpu_ns() + waited_ns();
}

/* One step of some hundred microseconds. */
static __attribute__((noinline)) uint64_t step(uint64_t x)
{
	for (int i = 0; i < 100000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

__attribute__((noinline)) void computes_alone(void)
{
	sink += step(cpu_ns());
	computed_ns = cpu_ns();
}

__attribute__((noinline)) void computes_between(void)
{
	uint64_t ready = ready_ns(), begin = cpu_ns();

	while (cpu_ns() - begin < EACH_NS)
		sink += step(begin);
	between_ns += ready_ns() - ready;
}

__attribute__((noinline)) void calls_back(void)
{
	uint64_t ready = ready_ns();

	callback();
	called_ns += ready_ns() - ready;
}

static void *computing(void *none)
{
	pthread_setname_np(pthread_self(), "cruncher");
	while (!over)
		computes_alone();
	return none;
}

__attribute__((noinline)) void waits_for_good(void)
{
	while (!over)
		pause();
}

static void *waiting(void *none)
{
	pthread_setname_np(pthread_self(), "sleeper");
	waits_for_good();
	return none;
}

static void *calling(void *none)
{
	pthread_setname_np(pthread_self(), "caller");
	while (!over) {
		computes_between();
		calls_back();
	}
	return none;
}

static int start(void *(*main)(void *))
{
	pthread_t thread;

	return pthread_create(&thread, NULL, main, NULL);
}

int start_computing(void)
{
	return start(computing);
}

int start_waiting(void)
{
	return start(waiting);
}

int start_calling(void (*python)(void))
{
	callback = python;
	return start(calling);
}

/* What they have run: alone; between calls and in calls, with the time for which that one was ready to run. */
void times_of(uint64_t ret[3])
{
	ret[0] = computed_ns;
	ret[1] = between_ns;
	ret[2] = called_ns;
}
