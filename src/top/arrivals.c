/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see arrivals.h. A handler only notes that it was called: in a pipe, which is waited on beside the keys. So
 * nothing is drawn or stopped but by the one thread that draws. */
#include "arrivals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#define BY_TERMINAL 0x80

static int noted[2] = {-1, -1};

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
#define CAUGHT (sizeof caught / sizeof caught[0])

/* That a terminal has gone is told to the leader of its session alone. */
static bool has_reached_all(int signo, const siginfo_t *info)
{
	return info->si_code == SI_KERNEL && (signo != SIGHUP || getsid(0) != getpid());
}

static void note(int signo, siginfo_t *info, void *context)
{
	int saved = errno;
	unsigned char byte = (unsigned char)(signo | (has_reached_all(signo, info) ? BY_TERMINAL : 0));
	ssize_t done = write(noted[1], &byte, 1); /* a full pipe has enough in it */

	(void)done;
	errno = saved;
}

/* What was ignored when plumb began (nohup) is of no effect. */
static void catch_unless_ignored(int signo)
{
	struct sigaction before, action = {.sa_sigaction = note, .sa_flags = SA_RESTART | SA_SIGINFO};

	if (sigaction(signo, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
		return;
	sigfillset(&action.sa_mask);
	sigaction(signo, &action, NULL);
}

/* The kernel tells a tracer of each stop by it, too, and wakes up a thread for nothing. */
static void no_news_of_stops(void)
{
	struct sigaction children;

	if (sigaction(SIGCHLD, NULL, &children) || children.sa_handler != SIG_DFL)
		return;
	children.sa_flags |= SA_NOCLDSTOP;
	sigaction(SIGCHLD, &children, NULL);
}

bool arrivals_catch(void)
{
	sigset_t ours, background;

	if (noted[0] < 0 && pipe2(noted, O_CLOEXEC | O_NONBLOCK))
		return false;
	sigemptyset(&ours);
	for (size_t i = 0; i < CAUGHT; i++) {
		catch_unless_ignored(caught[i]);
		sigaddset(&ours, caught[i]);
	}
	pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
	no_news_of_stops();
	/* Taken by the session's own thread, when it holds nothing. */
	sigemptyset(&background);
	sigaddset(&background, SIGTTIN);
	sigaddset(&background, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &background, NULL);
	return true;
}

int arrivals_signal(bool *by_terminal)
{
	unsigned char byte;

	if (read(noted[0], &byte, 1) != 1)
		return 0;
	*by_terminal = byte & BY_TERMINAL;
	return byte & ~BY_TERMINAL;
}

/* Not by SIGSTOP, which also stops who has nobody to go on with him. */
void arrivals_stop(void)
{
	struct sigaction noting;

	sigaction(SIGTSTP, NULL, &noting);
	if (noting.sa_handler == SIG_IGN) /* whoever began us does not want that */
		return;
	sigaction(SIGTSTP, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &noting, NULL);
}

bool arrivals_wait(int fd, int ms)
{
	struct pollfd fds[] = {{.fd = noted[0], .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	if (poll(fds, fd < 0 ? 1 : 2, ms) <= 0)
		return true;
	return !(fds[1].revents & (POLLHUP | POLLERR | POLLNVAL));
}

bool arrivals_wait_for_room(int fd, int ms)
{
	struct pollfd fds[] = {{.fd = noted[0], .events = POLLIN}, {.fd = fd, .events = POLLOUT}};

	return poll(fds, 2, ms) > 0 && fds[1].revents;
}

uint64_t arrivals_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool arrivals_ends(int signo)
{
	return signo == SIGINT || signo == SIGTERM || signo == SIGHUP || signo == SIGQUIT;
}
