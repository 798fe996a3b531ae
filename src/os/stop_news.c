/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; see stop_news.h. */
#include "stop_news.h"

#include <signal.h>
#include <stddef.h>

/* To be interrupted is all. */
static void heard(int signo)
{
}

bool pl_stop_news_begin(void)
{
	const struct sigaction listen = {.sa_handler = heard, .sa_flags = SA_RESTART};
	struct sigaction now;

	if (sigaction(SIGCHLD, NULL, &now) || now.sa_handler != SIG_DFL || !(now.sa_flags & SA_NOCLDSTOP))
		return false;
	return sigaction(SIGCHLD, &listen, NULL) == 0;
}

void pl_stop_news_end(void)
{
	const struct sigaction refuse = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	struct sigaction now;

	if (sigaction(SIGCHLD, NULL, &now) == 0 && now.sa_handler == heard)
		(void)sigaction(SIGCHLD, &refuse, NULL);
}
