/* SPDX-License-Identifier: Apache-2.0 */
/* What a blocked thread waits for, into a dump. */
#ifndef PL_DUMP_WAIT_H
#define PL_DUMP_WAIT_H

#include "dump_model.h"
#include "mem.h"
#include "sockets.h"
#include "thread_clock.h"

/** @p ret is overwritten; what it held is freed. net->pid 0: the process lives no more. */
void pl_dump_wait(struct pl_dump *d, struct pl_net *net, struct pl_mem *mem, const struct pl_activity_info *info,
		  struct pl_dump_wait *ret);
struct pl_dump_other pl_dump_other(struct pl_dump *d, pid_t pid);

#endif
