/* SPDX-License-Identifier: Apache-2.0 */
/* Taking on the rights of another process to files (layer os). Of the calling thread only: the calls are made without
 * the C library, which would change all threads.
 *
 * A user id for files other than 0 takes root's right to read everything away until it is 0 again; the right to change
 * ids stays, so that the way back is open. */
#include "rights.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc_file.h"

#define STATUS_BYTES 16384
#define NO_CHANGE    ((uid_t)-1) /* not an id: setfsuid only tells the one that holds */

/* "Uid: real effective saved files" */
static bool files_id(const char *status, const char *key, uint32_t *ret)
{
	const char *text = pl_proc_status_field(status, key);
	char *end = (char *)(uintptr_t)text;

	for (int i = 0; i < 4; i++, text = end) {
		if (!text)
			return false;
		*ret = (uint32_t)strtoul(text, &end, 10);
		if (end == text)
			return false;
	}
	return true;
}

bool pl_rights_parse(const char *status, struct pl_rights *ret)
{
	const char *text = pl_proc_status_field(status, "Groups");
	char *end;

	if (!files_id(status, "Uid", &ret->uid) || !files_id(status, "Gid", &ret->gid) || !text)
		return false;
	ret->group_count = 0;
	while (ret->group_count < PL_RIGHTS_MAX_GROUPS && *text >= '0' && *text <= '9') {
		ret->groups[ret->group_count++] = (gid_t)strtoul(text, &end, 10);
		text = end + (*end == ' ');
	}
	return true;
}

bool pl_rights_of(pid_t pid, struct pl_rights *ret)
{
	char status[STATUS_BYTES];

	return pl_proc_file(pid, "status", status, sizeof status) > 0 && pl_rights_parse(status, ret);
}

static bool set_groups(const struct pl_rights *r)
{
	return syscall(SYS_setgroups, r->group_count, r->groups) == 0;
}

static void set_ids(const struct pl_rights *r)
{
	(void)setfsgid(r->gid);
	(void)setfsuid(r->uid);
}

static bool has_ids(const struct pl_rights *r)
{
	return (uid_t)setfsuid(NO_CHANGE) == r->uid && (gid_t)setfsgid((gid_t)NO_CHANGE) == r->gid;
}

static bool own_rights(struct pl_rights *ret)
{
	int count = getgroups(PL_RIGHTS_MAX_GROUPS, ret->groups);

	if (count < 0)
		return false;
	ret->uid = (uid_t)setfsuid(NO_CHANGE);
	ret->gid = (gid_t)setfsgid((gid_t)NO_CHANGE);
	ret->group_count = (size_t)count;
	return true;
}

bool pl_rights_take(pid_t pid, struct pl_rights *own)
{
	struct pl_rights theirs;

	own->uid = NO_CHANGE;
	if (setfsuid(NO_CHANGE) != 0)
		return true;
	if (!pl_rights_of(pid, &theirs))
		return false;
	if (theirs.uid == 0)
		return true;
	if (own_rights(own) && set_groups(&theirs)) {
		set_ids(&theirs);
		if (has_ids(&theirs))
			return true;
	}
	pl_rights_give_back(own);
	return false;
}

void pl_rights_give_back(const struct pl_rights *own)
{
	if (own->uid == NO_CHANGE)
		return;
	set_ids(own);
	(void)set_groups(own);
}
