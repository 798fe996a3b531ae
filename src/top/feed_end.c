/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see feed.h. Sampling is over, and the program that was started is not: it ignores Ctrl-C, or takes its
 * time. Its end is waited for beside the signals. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arrivals.h"
#include "feed.h"

#define SOON_MS	      500 /* who ends by then needs no words */
#define LAST_OF_THESE 2

static void tell_wait(const struct feed *f)
{
	if (f->o->report.note)
		f->o->report.note(f->o->report.note_ctx,
				  "the program goes on, and plumb waits for its end: Ctrl-C is passed on to it, a "
				  "second one ends plumb alone");
}

/* False: whoever has sent them does not want to wait. */
static bool pass_signals(struct feed *f, unsigned *ends)
{
	bool by_terminal;

	for (int signo; (signo = arrivals_signal(&by_terminal));) {
		if (signo == SIGTSTP)
			arrivals_stop();
		if (!arrivals_ends(signo))
			continue;
		if (!by_terminal)
			plumb_session_signal(f->session, signo);
		++*ends;
	}
	return *ends < LAST_OF_THESE;
}

static bool is_over(int end)
{
	struct pollfd fd = {.fd = end, .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

bool feed_await_program(struct feed *f, int pid)
{
	int end = (int)syscall(SYS_pidfd_open, pid, 0);
	unsigned ends = 0;
	bool over;

	if (end < 0)
		return true;
	arrivals_wait(end, SOON_MS);
	if (!is_over(end))
		tell_wait(f);
	while (!(over = is_over(end)) && pass_signals(f, &ends))
		arrivals_wait(end, -1);
	close(end);
	if (!over)
		snprintf(f->left, sizeof f->left, "%d", pid);
	return over;
}
