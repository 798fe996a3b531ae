/* SPDX-License-Identifier: Apache-2.0 */
/* Signals while a session runs. Layer cli. The one place with state of the whole process, because handlers have no
 * other.
 *
 * What plumb has inherited is noted before anything changes it: a program that plumb starts inherits the same. Who
 * started plumb with a signal ignored (nohup) keeps it so. */
#include "signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#include <plumb/plumb.h>

static struct plumb_signals inherited;
static struct plumb_session *volatile session;
static volatile sig_atomic_t waiting; /* signal that came before there was a session */

static void on_survive(int signo)
{
}

static void on_pass(int signo)
{
	if (session)
		plumb_session_signal(session, signo);
	else
		waiting = signo;
}

static void on_interrupt(int signo)
{
	if (session)
		plumb_session_interrupt(session);
}

static void on_stop(int signo)
{
	if (session)
		plumb_session_stop(session);
	else
		waiting = signo;
}

static void catch_signal(int signo, void (*handler)(int))
{
	struct sigaction old, action;

	if (sigaction(signo, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
		return;
	/* Without SA_RESTART: a wait has to come back and look. */
	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	sigemptyset(&action.sa_mask);
	sigaction(signo, &action, NULL);
}

void signals_remember(void)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};

	plumb_signals_now(&inherited);
	/* Where it is ignored, nobody can be asked how a child has ended. */
	sigaction(SIGCHLD, &plain, NULL);
}

const struct plumb_signals *signals_inherited(void)
{
	return &inherited;
}

void signals_give_back(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	for (int signo = 1; signo < NSIG; signo++)
		if (sigismember(&inherited.ignored, signo) > 0)
			sigaction(signo, &ignore, NULL);
	sigprocmask(SIG_SETMASK, &inherited.blocked, NULL);
}

static void mask_suspension(int how)
{
	static const int suspend[] = {SIGTSTP, SIGTTIN, SIGTTOU};
	sigset_t s;

	sigemptyset(&s);
	for (size_t i = 0; i < sizeof suspend / sizeof suspend[0]; i++)
		if (!sigismember(&inherited.blocked, suspend[i])) /* else it is blocked before and after */
			sigaddset(&s, suspend[i]);
	sigprocmask(how, &s, NULL);
}

void signals_hold_suspension(void)
{
	mask_suspension(SIG_BLOCK);
}

void signals_allow_suspension(void)
{
	mask_suspension(SIG_UNBLOCK);
}

void signals_no_pipe(void)
{
	catch_signal(SIGPIPE, on_survive);
}

void signals_for_run(void)
{
	static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

	for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
		catch_signal(passed[i], on_pass);
	catch_signal(SIGINT, on_interrupt);
	catch_signal(SIGQUIT, on_interrupt);
	signals_hold_suspension();
}

void signals_for_attach(void)
{
	catch_signal(SIGINT, on_stop);
	catch_signal(SIGTERM, on_stop);
	catch_signal(SIGHUP, on_stop);
	signals_hold_suspension();
}

/* A signal that came while the session was being made acts now; one that comes in between acts twice, which does no
 * harm. */
void signals_watch(struct plumb_session *s)
{
	struct sigaction term;
	int signo;

	session = s;
	signo = waiting;
	waiting = 0;
	if (s && signo && sigaction(signo, NULL, &term) == 0)
		term.sa_handler(signo);
}
