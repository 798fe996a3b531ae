/* SPDX-License-Identifier: Apache-2.0 */
/* A file that a descriptor of ours is for, by the name that /proc gives it: it is this one, whoever has its old name by
 * now. Any thread. */
#ifndef PL_REOPEN_H
#define PL_REOPEN_H

#define PL_FD_NAME_ROOM 32

/** Write that name to @p name. @return it. */
const char *pl_fd_name(int fd, char name[static PL_FD_NAME_ROOM]);
/** Open it once more, with the access and O_NONBLOCK of @p flags; no child keeps it, and no terminal becomes ours.
 * A handle (O_PATH) will do. @return -1 and errno: ENOENT where there is no /proc. Owner: the caller. */
int pl_reopen(int fd, int flags);
/** The same; where there is no /proc, what is called @p name in the directory @p dir by now. */
int pl_reopen_or_open(int fd, int dir, const char *name, int flags);

#endif
