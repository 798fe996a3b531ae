/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that are ours in a process that is not: in the child of a fork they are open, while nobody is there who
 * would close them. Later on is too late, as their numbers may be another's by then: daemons close all there are. So
 * each child begins with closing them. Any thread. */
#ifndef PL_OWN_FD_H
#define PL_OWN_FD_H

/** From now on children close it. Returns @p fd, which may be none (negative). Without memory they keep it. */
int pl_own_fd(int fd);
/** As close(); the only way to close it. None: nothing. */
int pl_own_fd_close(int fd);

#endif
