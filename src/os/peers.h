/* SPDX-License-Identifier: Apache-2.0 */
/* Who has the other end of a pipe or a Unix socket. Found by looking through the descriptors of other processes, for
 * some milliseconds at most: it is worth knowing if it is cheap. */
#ifndef PL_PEERS_H
#define PL_PEERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "map.h"
#include "proc.h"
#include "vec.h"

struct pl_peer_end {
	uint64_t inode;
	pid_t pid;
	bool socket, reads, writes;
	uint32_t next, last; /* of the same inode; last: only of the first of it */
};

/** The processes looked through so far, the nearest ones first. Start with {.pid = pid}. */
struct pl_peers {
	pid_t pid;
	bool listed;
	pl_tid_vec others; /* by their distance from pid */
	size_t next;	   /* in others */
	uint64_t spent_ns;
	PL_VEC(struct pl_peer_end) ends;
	struct pl_map by_inode; /* the first of it */
};
void pl_peers_deinit(struct pl_peers *p);

/** A process that can write to (@p writes) or read from the pipe; rather another one than p->pid. 0: none was found. */
pid_t pl_peers_of_pipe(struct pl_peers *p, uint64_t inode, bool writes);
/** A process that has the socket @p inode. */
pid_t pl_peers_of_socket(struct pl_peers *p, uint64_t inode);

#endif
