/* SPDX-License-Identifier: Apache-2.0 */
/* A file system that does not answer holds up whoever asks it in the kernel, where no signal handler is called: so a
 * thread of its own looks whether the one that asks gets on, which takes time of a processor. Layer cli. */
#include "patience.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "cli.h"

#define LOOKS 3 /* a second each */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const char *what; /* NULL: nothing is waited for */
	bool told, running;
	clockid_t clock; /* of the thread that waits */
} now = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static bool is_same(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static void tell(void)
{
	char message[512];

	snprintf(message, sizeof message, "waiting for %.300s, which has not answered for %d seconds", now.what, LOOKS);
	complain(message, "a file system that is gone, of a network or in user space, does that; Ctrl-C ends plumb, "
			  "but not while a server in user space has the request");
	now.told = true;
}

/* False: something else is waited for, or nothing. */
static bool wait_a_second(void)
{
	const char *before = now.what;
	struct timespec until;
	int failed = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	while (now.what == before && !failed)
		failed = pthread_cond_timedwait(&now.changed, &now.lock, &until);
	return now.what == before;
}

static void look(void)
{
	struct timespec before = {.tv_sec = -1}, after;
	int still = 0;

	while (now.what && !now.told) {
		if (!wait_a_second())
			return;
		clock_gettime(now.clock, &after);
		still = is_same(before, after) ? still + 1 : 0;
		before = after;
		if (still == LOOKS)
			tell();
	}
}

static void *thread_main(void *none)
{
	pthread_mutex_lock(&now.lock);
	for (;;) {
		while (!now.what || now.told)
			pthread_cond_wait(&now.changed, &now.lock);
		look();
	}
	return NULL;
}

static bool start(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	bool started = pthread_getcpuclockid(pthread_self(), &now.clock) == 0 &&
		       pthread_create(&thread, NULL, thread_main, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_detach(thread);
	return started;
}

static void change(const char *what)
{
	pthread_mutex_lock(&now.lock);
	now.what = what;
	now.told = false;
	pthread_cond_signal(&now.changed);
	pthread_mutex_unlock(&now.lock);
}

void patience_begin(const char *what)
{
	if (!now.running)
		now.running = start();
	if (now.running)
		change(what);
}

void patience_end(void)
{
	if (now.running)
		change(NULL);
}

/* A pipe and what is behind it take their time, and that is no file system's. */
static bool has_a_reader(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode));
}

void patience_for_output(const char *path)
{
	patience_begin(path);
	if (has_a_reader(path))
		patience_end();
}
