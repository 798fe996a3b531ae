/* SPDX-License-Identifier: Apache-2.0 */
/* What a descriptor of another process is. Looks at /proc only: nothing of the target is opened, shared or asked. */
#ifndef PL_DESCRIPTOR_H
#define PL_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sockets.h"

enum pl_fd_kind {
	PL_FD_UNKNOWN, /* closed meanwhile, or /proc does not tell */
	PL_FD_FILE,
	PL_FD_FOLDER,
	PL_FD_TERMINAL,
	PL_FD_DEVICE,
	PL_FD_PIPE,
	PL_FD_SOCKET,
	PL_FD_EPOLL,
	PL_FD_EVENT,
	PL_FD_TIMER,
	PL_FD_SIGNAL,
	PL_FD_INOTIFY,
	PL_FD_PIDFD,
	PL_FD_OTHER, /* path says what the kernel calls it */
};

struct pl_fd_facts {
	int fd;
	enum pl_fd_kind kind;
	uint64_t inode, device; /* device: as stat has it */
	char path[512]; /* of files, devices and named pipes, as the target sees it; else what the kernel says */
	bool deleted;
	bool writes;		       /* a pipe: it is the end that is written to */
	struct pl_socket_facts socket; /* of a socket */
	pid_t process;		       /* of a pidfd; 0 unknown */
};

/** Never fails: what cannot be found out stays empty. @p net is of the same process; NULL: of a socket nothing is
 * asked.
 */
void pl_fd_look(pid_t pid, int fd, struct pl_net *net, struct pl_fd_facts *ret);
/** Its kind alone, in one system call unless it is a file. @p tid: a thread that has it. */
enum pl_fd_kind pl_fd_kind_of(pid_t pid, pid_t tid, int fd);
/** The descriptors that an epoll waits for, at most @p max; *total_ret: how many there are. False: that is not told. It
 * can take seconds, in which no signal helps (process/watched_fds.h). Allocates nothing. */
bool pl_fd_watched(pid_t pid, int epoll, int *ret, uint32_t max, uint32_t *total_ret);
/** Pure: what the link in /proc/PID/fd leads to, by its text; fills in kind, inode, path and deleted. */
void pl_fd_parse_link(const char *link, struct pl_fd_facts *ret);

#endif
