/* SPDX-License-Identifier: Apache-2.0 */
/* Which process it is: a number may be another process's at any moment, a descriptor of it never. Any thread. */
#ifndef PL_IDENTITY_H
#define PL_IDENTITY_H

#include "error.h"
#include "proc.h"

/** What /proc says of it. Where that cannot be read for a reason of ours, the error is that reason.
 * Errors: PLUMB_ERR_NO_PROCESS, PLUMB_ERR_NOT_PERMITTED, PLUMB_ERR_SYSTEM. */
struct plumb_error *pl_identity_read(pid_t pid, struct pl_proc_stat *ret) PLUMB_MUST_CHECK;
/** A descriptor of the process of which @p st was read, readable when it has ended; the caller's, for pl_own_fd_close.
 * Errors: PLUMB_ERR_NO_PROCESS, PLUMB_ERR_NOT_PERMITTED, PLUMB_ERR_NOT_SUPPORTED, PLUMB_ERR_SYSTEM. */
struct plumb_error *pl_identity_open(const struct pl_proc_stat *st, int *ret) PLUMB_MUST_CHECK;

#endif
