/* SPDX-License-Identifier: Apache-2.0 */
/* The live view on a whole terminal. */
#ifndef SCREEN_H
#define SCREEN_H

#include "feed.h"

/** On the terminal, which is open, until the user ends it. *signo: for a program that was started, 0: none. True: he
 * has left it with its key; false: all is to end. */
bool screen_run(struct feed *f, int *signo);

#endif
