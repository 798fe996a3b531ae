/* SPDX-License-Identifier: Apache-2.0 */
/* What of signals a program inherits from whoever starts it. */
#ifndef PLUMB_SIGNALS_H
#define PLUMB_SIGNALS_H

#include <signal.h> /* sigset_t: of POSIX */

#include <plumb/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plumb_signals {
	sigset_t ignored, blocked;
};

/** As they are in this process and this thread. */
PLUMB_API void plumb_signals_now(struct plumb_signals *ret);

#ifdef __cplusplus
}
#endif
#endif
