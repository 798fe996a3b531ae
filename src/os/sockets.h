/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets of another process: protocol, state and the addresses of both ends, by inode. From /proc/PID/net, which
 * is the target's network namespace; the other end of a Unix socket from the kernel's socket diagnosis. */
#ifndef PL_SOCKETS_H
#define PL_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "map.h"

struct pl_socket_facts {
	char protocol[16]; /* "tcp", "udp6", "unix", "netlink"; "" unknown */
	const char *state; /* "listening", "connected", ...; static; "" unknown */
	char local[128], peer[128];
	uint64_t peer_inode; /* unix: of the socket at the other end, 0 unknown */
};

enum { PL_NET_TCP, PL_NET_TCP6, PL_NET_UDP, PL_NET_UDP6, PL_NET_UNIX, PL_NET_TABLES };

/** The text of a table, as far as it was needed: the kernel takes a millisecond to walk through its sockets. */
struct pl_net_table {
	char *text; /* whole rows; NULL: nothing was read yet */
	size_t len;
	struct pl_map rows; /* inode -> where its row begins in `text`; 0: there are several, and they differ */
	size_t indexed;	    /* the line break up to which `rows` has all; 0: none is there */
	int fd;
	bool opened, ended;
};

/** The tables of one process. Start with {.pid = pid}. */
struct pl_net {
	pid_t pid;
	struct pl_net_table tables[PL_NET_TABLES];
};
void pl_net_deinit(struct pl_net *n);

/** @p protocol as the kernel names it ("TCP"), "" unknown. What cannot be found, or might be made up by the name of
 * another Unix socket, stays empty. */
void pl_net_find(struct pl_net *n, uint64_t inode, const char *protocol, struct pl_socket_facts *ret);

/** The row of @p inode in the text of table @p table that was read so far; NULL if it is not there, or if others say
 * something else. Without memory rows are missing. */
const char *pl_net_row(struct pl_net *n, int table, uint64_t inode);
/* Pure: what a row says. False if it is none. */
bool pl_net_parse_inet(const char *row, bool tcp, struct pl_socket_facts *ret);
bool pl_net_parse_unix(const char *row, struct pl_socket_facts *ret);

#endif
