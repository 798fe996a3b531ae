/* SPDX-License-Identifier: Apache-2.0 */
/* Whose files may be read: a root that looks at somebody's program must not read for it what it may not read itself. */
#ifndef PL_RIGHTS_H
#define PL_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PL_RIGHTS_MAX_GROUPS 256 /* more are not taken on: fewer rights, never more */

struct pl_rights {
	uid_t uid;
	gid_t gid;
	size_t group_count;
	gid_t groups[PL_RIGHTS_MAX_GROUPS];
};

/** By which @p pid is judged when it opens a file. False: it is gone. */
bool pl_rights_of(pid_t pid, struct pl_rights *ret);
/** Pure: the same of the text of its status file. */
bool pl_rights_parse(const char *status, struct pl_rights *ret);

/** Open files as @p pid would, in this thread, until pl_rights_give_back(@p own). Who is not root has no more than its
 * own rights, and keeps them. False: they cannot be had, and all is as it was. */
bool pl_rights_take(pid_t pid, struct pl_rights *own);
void pl_rights_give_back(const struct pl_rights *own);

#endif
