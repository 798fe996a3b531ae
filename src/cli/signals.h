/* SPDX-License-Identifier: Apache-2.0 */
/* Signals while a session runs. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct plumb_session;
struct plumb_signals;

/** First of all: what plumb has inherited, which a program that it starts inherits as well. */
void signals_remember(void);
const struct plumb_signals *signals_inherited(void);
/** In a child that is about to execute a program. */
void signals_give_back(void);

/** Those that are not about plumb itself. */
void signals_of_program(sigset_t *ret);
/** It was sent to the whole process group by a terminal: keys, another size, its end. */
bool signals_from_terminal(const siginfo_t *info);
/** The terminal has gone, of which the kernel tells the leader of a session alone: us, or the init that we are the
 * child of, which then sends SIGHUP with this value. */
bool signals_is_hangup(const siginfo_t *info);
#define SIGNALS_HANGUP 1
/** The program has ended: if it was told of a hang-up, so are the others of our group, as the kernel tells them when
 * the leader of a session ends, in whose place the program is. Ends the sampling of what it has left, too. */
void signals_tell_group_of_hangup(void);
/**
 * For `run`: those of the program are passed on to it, but for what a terminal sends, which has reached it by itself.
 * Call before the launch; what comes before signals_watch() waits.
 */
void signals_for_run(void);
/** For `attach`, while it looks for the Python: INT, TERM and HUP end plumb, by themselves, as it may wait for a file
 * where no handler would be called. TERM also if it was ignored or blocked when plumb began: a program that is sampled
 * from within has no other way to end the plumb that it started. */
void signals_before_attach(void);
/** From then on they end the sampling. */
void signals_for_attach(void);
/** Sampling is over, and what it found is told. Whoever reads that may be slow, or not be there: INT, TERM and HUP
 * leave it some seconds, a second one none. A program that outlives the sampling gets them as before. */
void signals_begin_telling(void);
void signals_end_telling(void);
/** SIGPIPE and SIGXFSZ are errors of the write that caused them. */
void signals_of_writing(void);
/**
 * Ctrl-Z (and a terminal that stops programs in the background) must not stop plumb while it holds a thread of the
 * program, which would stand still as long. Held back, such signals wait: during a session its sampling thread takes
 * them between two samples, else signals_allow_suspension() does. signals_for_run() and signals_before_attach() begin
 * with holding them back. SIGSTOP cannot be held back.
 */
void signals_hold_suspension(void);
void signals_allow_suspension(void);
/** The session that signals act on; NULL before it is destroyed. */
void signals_watch(struct plumb_session *s);

#endif
