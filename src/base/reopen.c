/* SPDX-License-Identifier: Apache-2.0 */
/* See reopen.h. */
#include "reopen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

const char *pl_fd_name(int fd, char name[static PL_FD_NAME_ROOM])
{
	snprintf(name, PL_FD_NAME_ROOM, "/proc/self/fd/%d", fd);
	return name;
}

int pl_reopen(int fd, int flags)
{
	char name[PL_FD_NAME_ROOM];

	return open(pl_fd_name(fd, name), flags | O_CLOEXEC | O_NOCTTY);
}

int pl_reopen_or_open(int fd, int dir, const char *name, int flags)
{
	int again = pl_reopen(fd, flags);

	return again < 0 && errno == ENOENT ? openat(dir, name, flags | O_CLOEXEC | O_NOCTTY) : again;
}
