/* SPDX-License-Identifier: Apache-2.0 */
/* Signals while a session runs. Layer cli. The one place with state of the whole process, because handlers have no
 * other.
 *
 * What plumb has inherited is noted before anything changes it: a program that plumb starts inherits the same.
 *
 * One rule holds for the signals of a program that is run: what a process sends to plumb, the program gets, also if it
 * is ignored or blocked here, as the program may want it all the same. What a terminal sends reaches the program by
 * itself, as it is in our process group. On plumb itself a signal that was ignored when it began (nohup) has no effect.
 */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include <plumb/plumb.h>

/* So long who is told to end goes on telling what it has sampled, to a pager that is not at the end or to nobody. */
#define TELLING_S 5

static struct plumb_signals inherited;
static struct plumb_session *volatile session;
static atomic_uint_least64_t waiting; /* signals that came before there was a session, one bit each */
static volatile sig_atomic_t last;    /* that is to end us while we tell */
static volatile sig_atomic_t hung_up; /* the terminal has gone, and the program was told alone */
static void (*catch_usual)(void);     /* while it is sampled */

typedef void handler(int signo, siginfo_t *info, void *context);

/* About plumb itself: its faults and limits, its children, its writing, its suspension. All others are the program's.
 */
static const int ours[] = {SIGILL,  SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,	SIGSEGV, SIGSYS,  SIGXCPU,
			   SIGXFSZ, SIGCHLD, SIGPIPE, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, 0};

static uint64_t bit(int signo)
{
	return 1ull << (signo - 1);
}

/* Of two that mean nothing unless one has asked for them. */
static bool is_news(int signo)
{
	return signo == SIGWINCH || signo == SIGURG;
}

static bool is_ignored(int signo)
{
	return sigismember(&inherited.ignored, signo) > 0;
}

static void on_survive(int signo, siginfo_t *info, void *context)
{
}

/* What we tell our group of a hang-up comes to us as well. */
static bool is_our_own(const siginfo_t *info)
{
	return info->si_signo == SIGHUP && info->si_code == SI_USER && info->si_pid == getpid();
}

/* The program decides what a signal means, whatever it means to us. */
static void on_pass(int signo, siginfo_t *info, void *context)
{
	int saved = errno;
	bool reached = signals_from_terminal(info) || is_our_own(info);

	hung_up |= signals_is_hangup(info);
	if (!session && !reached)
		atomic_fetch_or(&waiting, bit(signo));
	if (session && !reached)
		plumb_session_signal(session, signo);
	if (session && !is_news(signo) && !is_ignored(signo))
		plumb_session_interrupt(session);
	errno = saved;
}

static void on_stop(int signo, siginfo_t *info, void *context)
{
	if (session)
		plumb_session_stop(session);
	else
		atomic_fetch_or(&waiting, bit(signo));
}

static void catch_with(int signo, handler *h, int flags)
{
	struct sigaction action = {.sa_sigaction = h, .sa_flags = SA_SIGINFO | flags};

	sigaction(signo, &action, NULL);
}

static void catch_signal(int signo, handler *h)
{
	/* Else without SA_RESTART: a wait has to come back and look. */
	catch_with(signo, h, is_news(signo) ? SA_RESTART : 0);
}

static void catch_unless_ignored(int signo, handler *h)
{
	if (!is_ignored(signo))
		catch_signal(signo, h);
}

void signals_of_program(sigset_t *ret)
{
	sigfillset(ret);
	sigdelset(ret, SIGKILL);
	sigdelset(ret, SIGSTOP);
	for (const int *signo = ours; *signo; signo++)
		sigdelset(ret, *signo);
}

bool signals_from_terminal(const siginfo_t *info)
{
	if (info->si_code != SI_KERNEL)
		return false;
	switch (info->si_signo) {
	case SIGINT:
	case SIGQUIT:
	case SIGWINCH:
		return true;
	case SIGHUP:
		return !signals_is_hangup(info);
	default:
		return false;
	}
}

bool signals_is_hangup(const siginfo_t *info)
{
	if (info->si_signo != SIGHUP)
		return false;
	if (info->si_code == SI_QUEUE)
		return info->si_pid == getppid() && info->si_value.sival_int == SIGNALS_HANGUP;
	return info->si_code == SI_KERNEL && getsid(0) == getpid();
}

void signals_tell_group_of_hangup(void)
{
	if (!hung_up)
		return;
	hung_up = false;
	kill(0, SIGHUP);
}

void signals_remember(void)
{
	/* The kernel tells a tracer of each stop by that signal, too, and wakes up a thread for nothing. */
	struct sigaction of_ends_only = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};

	plumb_signals_now(&inherited);
	/* Where it is ignored, nobody can be asked how a child has ended. */
	sigaction(SIGCHLD, &of_ends_only, NULL);
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

void signals_of_writing(void)
{
	catch_unless_ignored(SIGPIPE, on_survive);
	catch_unless_ignored(SIGXFSZ, on_survive);
}

static void catch_for_run(void)
{
	sigset_t passed;

	signals_of_program(&passed);
	for (int signo = 1; signo < NSIG; signo++)
		if (sigismember(&passed, signo) > 0)
			catch_signal(signo, on_pass);
	sigprocmask(SIG_UNBLOCK, &passed, NULL);
}

void signals_for_run(void)
{
	catch_usual = catch_for_run;
	catch_usual();
	signals_hold_suspension();
}

void signals_before_attach(void)
{
	sigset_t end;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	sigprocmask(SIG_UNBLOCK, &end, NULL);
	signals_hold_suspension();
}

static void catch_for_attach(void)
{
	catch_signal(SIGTERM, on_stop);
	catch_unless_ignored(SIGINT, on_stop);
	catch_unless_ignored(SIGHUP, on_stop);
}

void signals_for_attach(void)
{
	catch_usual = catch_for_attach;
	catch_usual();
}

/* A second one acts as on any program. */
static void on_end(int signo, siginfo_t *info, void *context)
{
	if (session && !signals_from_terminal(info))
		plumb_session_signal(session, signo);
	last = signo;
	alarm(TELLING_S);
}

/* Of the clock, or of who means the program. */
static void on_alarm(int signo, siginfo_t *info, void *context)
{
	if (info->si_code != SI_KERNEL) {
		on_pass(signo, info, context);
		return;
	}
	sigaction(last, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	raise(last);
}

void signals_begin_telling(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t clock;

	sigemptyset(&clock);
	sigaddset(&clock, SIGALRM);
	catch_with(SIGALRM, on_alarm, SA_RESTART);
	sigprocmask(SIG_UNBLOCK, &clock, NULL);
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (!is_ignored(ends[i]))
			catch_with(ends[i], on_end, SA_RESTART | SA_RESETHAND);
}

void signals_end_telling(void)
{
	catch_usual();
	alarm(0);
}

/* A signal that came while the session was being made acts now; one that comes in between acts twice, which does no
 * harm. */
void signals_watch(struct plumb_session *s)
{
	session = s;
	uint64_t late = atomic_exchange(&waiting, 0);
	for (int signo = 1; s && signo < NSIG; signo++)
		if (late & bit(signo))
			raise(signo);
}
