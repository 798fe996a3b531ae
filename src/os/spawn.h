/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a program. */
#ifndef PL_SPAWN_H
#define PL_SPAWN_H

#include <plumb/signals.h>

#include <sys/types.h>

#include "error.h"

/**
 * fork and exec @p argv[0] (searched in PATH) with our stdin, stdout, stderr, environment and process group; with the
 * signals ignored and blocked that @p signals names; no descriptor of ours leaks (O_CLOEXEC everywhere). Returns after
 * the exec succeeded. Errors: PLUMB_ERR_NOT_FOUND, PLUMB_ERR_NOT_EXECUTABLE (permission, format, directory: says
 * which), PLUMB_ERR_SYSTEM. The child of a failed exec is reaped.
 */
struct plumb_error *pl_spawn(char *const argv[], const struct plumb_signals *signals, pid_t *ret) PLUMB_MUST_CHECK;
/** What a program that this thread executed now would begin with. */
void pl_spawn_signals(struct plumb_signals *ret);

#endif
