/* SPDX-License-Identifier: Apache-2.0 */
/* Taking on the rights of somebody else to files (layer os). Of the calling thread only: the calls are made without the
 * C library, which would change all threads.
 *
 * Ids alone are not enough: a user id for files other than 0 takes from root the right to read all files, but not the
 * one to look into other processes, by which files of /proc are judged. So all capabilities go that the other side
 * lacks. They stay permitted, so that the way back is open. */
#include "rights.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "proc_file.h"

#define USUAL_STATUS_BYTES 4096
#define STATUS_BYTES	   65536       /* a process in many groups has a long list of them */
#define NO_CHANGE	   ((uid_t)-1) /* not an id: setfsuid only tells the one that holds */
#define NOBODY		   65534       /* who has no rights but those of all */
#define READS_FILES	   (1ull << CAP_DAC_OVERRIDE | 1ull << CAP_DAC_READ_SEARCH)

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
	const char *text = pl_proc_status_field(status, "Groups"), *caps = pl_proc_status_field(status, "CapEff");
	char *end;

	memset(ret, 0, sizeof *ret); /* compared as bytes */
	if (!files_id(status, "Uid", &ret->uid) || !files_id(status, "Gid", &ret->gid) || !text || !caps)
		return false;
	ret->capabilities = strtoull(caps, NULL, 16) & READS_FILES;
	ret->group_count = 0;
	while (ret->group_count < PL_RIGHTS_MAX_GROUPS && *text >= '0' && *text <= '9') {
		ret->groups[ret->group_count++] = (gid_t)strtoul(text, &end, 10);
		text = end + (*end == ' ');
	}
	ret->more_groups = *text >= '0' && *text <= '9';
	return true;
}

/* What it may in a user namespace of its own it may not in ours. */
static bool in_our_user_namespace(pid_t pid, pid_t tid)
{
	char path[64];
	struct stat theirs, ours;

	snprintf(path, sizeof path, "/proc/%d/task/%d/ns/user", (int)pid, (int)tid);
	return stat(path, &theirs) == 0 && stat("/proc/self/ns/user", &ours) == 0 && theirs.st_ino == ours.st_ino &&
	       theirs.st_dev == ours.st_dev;
}

static bool read_long_status(pid_t pid, const char *name, struct pl_rights *ret)
{
	char *status = malloc(STATUS_BYTES);
	bool ok = status && pl_proc_file(pid, name, status, STATUS_BYTES) > 0 && pl_rights_parse(status, ret);

	free(status);
	return ok;
}

/* Threads of a program ask, too, whose stacks may be small. */
static bool read_status(pid_t pid, pid_t tid, struct pl_rights *ret)
{
	char name[32], status[USUAL_STATUS_BYTES];

	snprintf(name, sizeof name, "task/%d/status", (int)tid);
	ssize_t n = pl_proc_file(pid, name, status, sizeof status);
	if (n >= (ssize_t)sizeof status - 1)
		return read_long_status(pid, name, ret);
	return n > 0 && pl_rights_parse(status, ret);
}

bool pl_rights_of_thread(pid_t pid, pid_t tid, struct pl_rights *ret)
{
	if (!read_status(pid, tid, ret))
		return false;
	if (ret->capabilities && !in_our_user_namespace(pid, tid))
		ret->capabilities = 0;
	return true;
}

bool pl_rights_of(pid_t pid, struct pl_rights *ret)
{
	return pl_rights_of_thread(pid, pid, ret);
}

void pl_rights_of_user(uid_t uid, gid_t gid, struct pl_rights *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->uid = uid;
	ret->gid = gid;
	ret->capabilities = uid == 0 ? READS_FILES : 0;
	ret->more_groups = true;
}

void pl_rights_of_owner(uid_t uid, struct pl_rights *ret)
{
	pl_rights_of_user(uid, NOBODY, ret);
	ret->no_group = true;
}

void pl_rights_of_all(struct pl_rights *ret)
{
	pl_rights_of_user(NOBODY, NOBODY, ret);
	ret->anybody = true;
}

bool pl_rights_equal(const struct pl_rights *a, const struct pl_rights *b)
{
	return a->uid == b->uid && a->gid == b->gid && a->capabilities == b->capabilities && a->anybody == b->anybody &&
	       a->more_groups == b->more_groups && a->no_group == b->no_group && a->group_count == b->group_count &&
	       memcmp(a->groups, b->groups, a->group_count * sizeof *a->groups) == 0;
}

/* ---- taking them on ---------------------------------------------------------------------------------------------- */

static bool set_groups(const struct pl_rights *r)
{
	return syscall(SYS_setgroups, r->group_count, r->groups) == 0;
}

static bool set_ids(const struct pl_rights *r)
{
	(void)setfsgid(r->gid);
	(void)setfsuid(r->uid);
	return (uid_t)setfsuid(NO_CHANGE) == r->uid && (gid_t)setfsgid((gid_t)NO_CHANGE) == r->gid;
}

static bool own_ids(struct pl_rights *ret)
{
	int count = getgroups(PL_RIGHTS_MAX_GROUPS, ret->groups);

	if (count < 0)
		return false;
	ret->uid = (uid_t)setfsuid(NO_CHANGE);
	ret->gid = (gid_t)setfsgid((gid_t)NO_CHANGE);
	ret->group_count = (size_t)count;
	return true;
}

static bool same_groups(const struct pl_rights *a, const struct pl_rights *b)
{
	return a->gid == b->gid && a->group_count == b->group_count &&
	       memcmp(a->groups, b->groups, a->group_count * sizeof *a->groups) == 0;
}

static bool capabilities(long call, struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(call, &header, data) == 0;
}

/* Of those that are permitted. */
static bool make_effective(const uint32_t effective[2])
{
	struct __user_cap_data_struct data[2];

	if (!capabilities(SYS_capget, data))
		return false;
	for (int i = 0; i < 2; i++)
		data[i].effective = effective[i];
	return capabilities(SYS_capset, data);
}

static bool note_effective(uint32_t ret[2])
{
	struct __user_cap_data_struct data[2];

	if (!capabilities(SYS_capget, data))
		return false;
	for (int i = 0; i < 2; i++)
		ret[i] = data[i].effective;
	return true;
}

static bool keep_capabilities(const struct pl_own_rights *own, uint64_t theirs)
{
	const uint32_t both[2] = {own->effective[0] & (uint32_t)theirs, own->effective[1] & (uint32_t)(theirs >> 32)};

	return make_effective(both);
}

/* Groups before ids: with the ids the right to change groups need not go, but nothing says so. */
static bool become(const struct pl_rights *theirs, struct pl_own_rights *own)
{
	own->changed_ids = true;
	return set_groups(theirs) && set_ids(theirs);
}

/* Who is not root cannot drop a group; a program of the same user could have been given it. And nobody else can be
 * taken on, so what is open to all is told by the file alone (pl_rights_allow). */
static bool is_us(const struct pl_rights *theirs, const struct pl_rights *own)
{
	if (own->uid != 0)
		return theirs->anybody || theirs->uid == own->uid;
	return theirs->uid == 0 && same_groups(theirs, own);
}

bool pl_rights_take(const struct pl_rights *theirs, struct pl_own_rights *own)
{
	memset(own, 0, sizeof *own);
	if (!own_ids(&own->files) || !note_effective(own->effective))
		return false;
	if ((is_us(theirs, &own->files) || (own->files.uid == 0 && become(theirs, own))) &&
	    keep_capabilities(own, theirs->capabilities))
		return true;
	pl_rights_give_back(own);
	return false;
}

void pl_rights_give_back(const struct pl_own_rights *own)
{
	(void)make_effective(own->effective);
	if (!own->changed_ids)
		return;
	(void)set_ids(&own->files);
	(void)set_groups(&own->files);
	(void)make_effective(own->effective); /* what came back with the user id may be more than there was */
}

/* ---- what they do not tell --------------------------------------------------------------------------------------- */

/* A list that shuts out some of those that the mode lets in. */
static bool has_list(int fd)
{
	return fgetxattr(fd, "system.posix_acl_access", NULL, 0) > 0;
}

bool pl_rights_allow(const struct pl_rights *r, int fd)
{
	const mode_t all = S_IRUSR | S_IRGRP | S_IROTH;
	struct stat st;

	if (r->capabilities || (!r->anybody && !r->more_groups))
		return true;
	if (fstat(fd, &st) != 0)
		return false;
	if (r->anybody)
		return (st.st_mode & all) == all && !has_list(fd);
	if (st.st_uid == r->uid)
		return true;
	if (!(st.st_mode & S_IROTH))
		return !r->no_group;
	return (st.st_mode & S_IRGRP) && !has_list(fd);
}
