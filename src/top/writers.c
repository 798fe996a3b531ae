/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see writers.h. */
#include "writers.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

struct writers {
	uid_t uid;
	gid_t gid;
};

/* With a list of further users and groups the bits of the group are the most that any of them may. In a sticky
 * directory a group may not do with what is there what its owner may: only root's counts. */
static bool group_is_ours(const char *path, const struct stat *st, const struct writers *w)
{
	return (st->st_gid == 0 || (st->st_gid == w->gid && !(st->st_mode & S_ISVTX))) &&
	       lgetxattr(path, "system.posix_acl_access", NULL, 0) < 0;
}

/* In a sticky directory others may not replace what is ours, but lay something beside it. */
static bool is_ours(const char *path, bool sticky, const struct writers *w)
{
	struct stat st;

	if (lstat(path, &st) != 0 || (st.st_uid != 0 && st.st_uid != w->uid))
		return false;
	return (sticky && S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX) ||
	       (!(st.st_mode & S_IWOTH) && (!(st.st_mode & S_IWGRP) || group_is_ours(path, &st, w)));
}

bool nobody_else_writes(const char *path, uid_t uid, gid_t gid)
{
	const struct writers w = {uid, gid};
	char part[PATH_MAX];
	size_t level = 0; /* above the file */

	snprintf(part, sizeof part, "%s", path);
	for (char *slash; (slash = strrchr(part, '/')); level++) {
		if (!is_ours(part, level > 1, &w))
			return false;
		*slash = '\0';
	}
	return is_ours("/", level > 1, &w);
}

bool nobody_else_writes_beside(const char *path, uid_t uid, gid_t gid)
{
	const struct writers w = {uid, gid};
	char folder[PATH_MAX];

	snprintf(folder, sizeof folder, "%s", path);
	*strrchr(folder, '/') = '\0';
	return is_ours(path, false, &w) && is_ours(*folder ? folder : "/", false, &w);
}
