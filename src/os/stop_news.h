/* SPDX-License-Identifier: Apache-2.0 */
/* Hearing at once that a thread has come to a stop that we have asked for. The kernel tells a tracer of that by
 * SIGCHLD. Plumb's programs refuse it (SA_NOCLDSTOP), as each stop would wake up a thread for nothing; a stop that is
 * late is worth it. Whoever listens has that signal blocked but while he waits, and looks before he waits. */
#ifndef PL_STOP_NEWS_H
#define PL_STOP_NEWS_H

#include <stdbool.h>

/** From now on SIGCHLD interrupts whoever lets it in. False: it is not refused, so it is somebody else's. */
bool pl_stop_news_begin(void);
/** It is refused again. */
void pl_stop_news_end(void);

#endif
