/* SPDX-License-Identifier: Apache-2.0 */
/* See reopen.h. */
#include "reopen.h"

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
