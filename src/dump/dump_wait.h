/* SPDX-License-Identifier: Apache-2.0 */
/* What a blocked thread waits for, into a dump. */
#ifndef PL_DUMP_WAIT_H
#define PL_DUMP_WAIT_H

#include "dump_model.h"
#include "file_locks.h"
#include "mem.h"
#include "peers.h"
#include "sockets.h"
#include "thread_clock.h"
#include "watched_fds.h"

/** What is around a process. Start with both pids set (0: it lives no more), and PL_FILE_LOCKS_INIT. */
struct pl_surroundings {
	struct pl_net net;
	struct pl_peers peers;
	struct pl_file_locks locks; /* as they are when the first thread is met that waits for one */
	struct pl_watched_reader watched;
};
void pl_surroundings_deinit(struct pl_surroundings *s);

/** @p ret is overwritten; what it held is freed. */
void pl_dump_wait(struct pl_dump *d, struct pl_surroundings *around, struct pl_mem *mem,
		  const struct pl_activity_info *info, struct pl_dump_wait *ret);
/** What an epoll watches that the thread waits for: when its stack has been looked at, as it may take a while. */
void pl_dump_watched(struct pl_dump *d, struct pl_surroundings *around, struct pl_dump_wait *w);
struct pl_dump_other pl_dump_other(struct pl_dump *d, pid_t pid);

#endif
