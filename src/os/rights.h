/* SPDX-License-Identifier: Apache-2.0 */
/* Whose files may be read: a root that looks at somebody's program must not read for it what it may not read itself. */
#ifndef PL_RIGHTS_H
#define PL_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PL_RIGHTS_MAX_GROUPS 256 /* more are not taken on */

/** By which somebody is judged who opens a file. */
struct pl_rights {
	uid_t uid;
	gid_t gid;
	uint64_t capabilities; /* of those that let a file be read, as bits: what root has */
	bool anybody;	       /* nothing is known: what each and all may do */
	bool more_groups;      /* it may be in others than these */
	bool no_group;	       /* gid is not known, nor any other: nothing is open to it for a group */
	size_t group_count;
	gid_t groups[PL_RIGHTS_MAX_GROUPS];
};

/** Those of @p pid. False: it is gone. */
bool pl_rights_of(pid_t pid, struct pl_rights *ret);
/** Those of its thread @p tid: the kernel keeps them for each by itself, only the C library changes all at once. */
bool pl_rights_of_thread(pid_t pid, pid_t tid, struct pl_rights *ret);
/** Pure: the same of the text of its status file, if it is in our user namespace. */
bool pl_rights_parse(const char *status, struct pl_rights *ret);
/** Those of a user whose further groups are not known. */
void pl_rights_of_user(uid_t uid, gid_t gid, struct pl_rights *ret);
/** Those of the owner of a file, who need not be in the file's group: a directory can give that. */
void pl_rights_of_owner(uid_t uid, struct pl_rights *ret);
/** Those that everybody has. */
void pl_rights_of_all(struct pl_rights *ret);
bool pl_rights_equal(const struct pl_rights *a, const struct pl_rights *b);

/** What to give back. */
struct pl_own_rights {
	struct pl_rights files;
	uint32_t effective[2];
	bool changed_ids;
};

/** Open files as whoever has the rights @p theirs, in this thread, until pl_rights_give_back(@p own). Who is not root
 * can only be itself, and of its own groups. False: they cannot be had, and all is as it was. */
bool pl_rights_take(const struct pl_rights *theirs, struct pl_own_rights *own);
void pl_rights_give_back(const struct pl_own_rights *own);
/** Is the file, which was opened with these rights, open to all whose rights they may be? Who is in the group of a file
 * may do what the group may, also if others may do more: a group that was not taken on can be one that is shut out. */
bool pl_rights_allow(const struct pl_rights *r, int fd);

#endif
