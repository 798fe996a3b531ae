/* SPDX-License-Identifier: Apache-2.0 */
/* The live view on a whole terminal. */
#ifndef SCREEN_H
#define SCREEN_H

#include "feed.h"

/** Until the user ends it. *signo: for a program that was started, 0: none. False: this terminal cannot be drawn on. */
bool screen_run(struct feed *f, int *signo);

#endif
