/* SPDX-License-Identifier: Apache-2.0 */
/* A shell or a launcher whose number was given instead of that of the Python that it has started. Layer session. */
#ifndef PL_WRAPPED_H
#define PL_WRAPPED_H

#include <sys/types.h>

#include "error.h"

/** If @p err says that @p pid runs no Python: name the Pythons that it has started in the hint, and @p command for
 * them. Each time all processes there are are gone through, so @p hinted counts, and it is done for the first few.
 * Takes and returns @p err. */
struct plumb_error *pl_hint_wrapped(struct plumb_error *err, pid_t pid, const char *command, size_t *hinted);

#endif
