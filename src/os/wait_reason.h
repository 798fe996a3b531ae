/* SPDX-License-Identifier: Apache-2.0 */
/* For what a blocked thread waits, as one of a few reasons. */
#ifndef PL_WAIT_REASON_H
#define PL_WAIT_REASON_H

#include <sys/types.h>

#include "descriptor.h"
#include "reason.h"

struct pl_activity_info;
struct pl_mem;

/** Of a thread that is blocked as @p info says. Most calls say it themselves; where the descriptor does, it is looked
 * up (one system call). @p mem: of the process. Never PL_REASON_GIL, which the caller knows. */
enum pl_reason pl_wait_reason(pid_t pid, pid_t tid, struct pl_mem *mem, const struct pl_activity_info *info);
/** Of a thread that waits for a descriptor. */
enum pl_reason pl_wait_reason_of_fd(enum pl_fd_kind kind);

#endif
