/* SPDX-License-Identifier: Apache-2.0 */
/* Signals and keys, waited for together. */
#ifndef ARRIVALS_H
#define ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

/** Catch the signals that end, suspend, go on or resize. False: that cannot be done. */
bool arrivals_catch(void);
/** The next signal that has come; 0: none. @p by_terminal: the whole process group has it, the program that was
 * started, too. */
int arrivals_signal(bool *by_terminal);
/** Stop, as SIGTSTP asks for, until somebody goes on with us. Where nobody could, as of what a terminal runs alone, the
 * kernel does not stop us. */
void arrivals_stop(void);
/** Wait until a signal has come, or @p fd (-1: none) can be read, at most @p ms. False: nobody is at its other end. */
bool arrivals_wait(int fd, int ms);
/** Wait until @p fd takes more, at most @p ms (-1: as long as it takes). False: it does not, or a signal came before
 * that. */
bool arrivals_wait_for_room(int fd, int ms);
/** Monotonic. */
uint64_t arrivals_now_ms(void);
/** Whether @p signo means that it is over. */
bool arrivals_ends(int signo);
#endif
