/* SPDX-License-Identifier: Apache-2.0 */
/* The program that is sampled: starting it, naming it, waiting for it. */
#ifndef PL_TARGET_H
#define PL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "error.h"

/** As pl_spawn (os/spawn.h). */
struct plumb_error *pl_target_launch(char *const argv[], pid_t *ret) PLUMB_MUST_CHECK;
/** PLUMB_ERR_NO_PROCESS if there is none. */
struct plumb_error *pl_target_check(pid_t pid) PLUMB_MUST_CHECK;
/** A short name, fit for a file name. */
void pl_target_program(pid_t pid, char *buf, size_t size);
/** The command line. */
void pl_target_command(pid_t pid, char *buf, size_t size);
/** Wait for a launched target; its wait status, -1 if it was reaped elsewhere. */
int pl_target_reap(pid_t pid);

#endif
