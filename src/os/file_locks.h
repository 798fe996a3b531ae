/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds the locks on files, by /proc/locks. */
#ifndef PL_FILE_LOCKS_H
#define PL_FILE_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"
#include "map.h"
#include "vec.h"

#define PL_FILE_LOCKS_BYTES (64u << 10) /* looked at */

/** A line: a process holds a lock, or waits for it. */
struct pl_file_lock {
	long long number; /* of the lock; who waits for it has the same */
	uint64_t device, inode;
	pid_t pid;
	bool waits;
};

/** What has been read so far, once: each read makes the kernel hold up all locks on files for some milliseconds. Start
 * with PL_FILE_LOCKS_INIT. One thread. */
struct pl_file_locks {
	PL_VEC(struct pl_file_lock) list;
	struct pl_map holders; /* (inode, device) -> who holds a lock on that file, the first one listed */
	struct pl_buf rest;    /* a line that is not whole yet */
	size_t bytes;	       /* read */
	int fd;
	bool begun, ended;
	pid_t waiter, waited_for; /* the last answer to that question */
};

#define PL_FILE_LOCKS_INIT                                                                                             \
	{                                                                                                              \
		.rest = PL_BUF_INIT(PL_FILE_LOCKS_BYTES), .fd = -1                                                     \
	}

void pl_file_locks_deinit(struct pl_file_locks *l);

/** Who holds a lock on the file, for which process @p waiter waits; 0: nobody, or it is not known. Reads no further
 * than it has to. */
pid_t pl_file_locks_holder(struct pl_file_locks *l, pid_t waiter, uint64_t device, uint64_t inode);

/** Pure, as all that follows: more of the text, which may end within a line. False without memory. */
bool pl_file_locks_add(struct pl_file_locks *l, const char *text, size_t len);
/** Who holds a lock on the file; 0: nobody, as far as it has been read. */
pid_t pl_file_locks_of(const struct pl_file_locks *l, uint64_t device, uint64_t inode);
/** Who holds the lock that process @p waiter waits for; 0: nobody, or it waits for locks of several. For files that are
 * not known there by their own device: overlayfs names that of the layer below. */
pid_t pl_file_locks_waited_for(const struct pl_file_locks *l, pid_t waiter);

#endif
