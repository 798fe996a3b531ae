/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a file as another process sees it (layer os). Any thread.
 *
 * /proc/PID/root/PATH alone is not enough: an absolute link on the way would lead into our own root directory, so that
 * a program in a container could make us show any file of the machine. openat2 (Linux 5.6) keeps the walk inside. */
#include "target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_fd.h"
#include "proc.h"
#include "proc_file.h"
#include "reopen.h"

#define PATH_BYTES     4200
#define CONFIGFS_MAGIC 0x62656570 /* <linux/magic.h> has it not */

static int open_proc_dir(pid_t pid, const char *name)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* What the kernel makes up: it holds no sources, and is judged by who opens it and not by ids alone. */
static bool is_made_up(int fd)
{
	static const unsigned long kinds[] = {
		PROC_SUPER_MAGIC,    SYSFS_MAGIC,  DEBUGFS_MAGIC,  TRACEFS_MAGIC,  SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC, PSTOREFS_MAGIC, EFIVARFS_MAGIC, SELINUX_MAGIC,    CONFIGFS_MAGIC};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if ((unsigned long)fs.f_type == kinds[i])
			return true;
	return false;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Nothing that could block or wake a device is opened for reading before it is known to be a plain file; what came in
 * its place meanwhile is not taken for it. */
static int open_plain(int dir, const char *path, uint64_t resolve)
{
	struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, .resolve = resolve};
	struct open_how look = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve};
	struct stat seen, opened;
	int fd = (int)syscall(SYS_openat2, dir, path, &look, sizeof look);

	if (fd < 0)
		return -1;
	bool plain = fstat(fd, &seen) == 0 && S_ISREG(seen.st_mode) && !is_made_up(fd);
	close(fd);
	fd = plain ? (int)syscall(SYS_openat2, dir, path, &how, sizeof how) : -1;
	if (fd >= 0 && fstat(fd, &opened) == 0 && is_same(&seen, &opened))
		return fd;
	if (fd >= 0)
		close(fd);
	if (!plain || fd >= 0)
		errno = EINVAL;
	return -1;
}

/* The target's current directory as a path from its own root: readlink shows it from ours. None leads out of a root. */
static bool path_of_cwd(pid_t pid, const char *path, char *ret, size_t size)
{
	char link[40], root[PATH_BYTES], cwd[PATH_BYTES];

	snprintf(link, sizeof link, "/proc/%d/root", (int)pid);
	ssize_t n = readlink(link, root, sizeof root - 1);
	snprintf(link, sizeof link, "/proc/%d/cwd", (int)pid);
	ssize_t m = readlink(link, cwd, sizeof cwd - 1);
	if (n < 0 || m < 0)
		return false;
	root[n] = cwd[m] = '\0';
	size_t skip = n > 1 ? (size_t)n : 0;
	bool below = strncmp(cwd, root, skip) == 0 && (cwd[skip] == '/' || cwd[skip] == '\0');
	return below && (size_t)snprintf(ret, size, "%s/%s", cwd + skip, path) < size;
}

static int open_inside(int root, const char *path)
{
	return open_plain(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

static void close_keeping_errno(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
}

/* A file with a lease on it is one that may not be read: the kernel would keep us waiting until whoever has the lease
 * gives it back (or for lease-break-time, 45 s), at each of his files. */
static int open_held(int handle)
{
	return pl_reopen(handle, O_RDONLY | O_NONBLOCK);
}

/* Whether we may look at its root directory is asked of us; whether the file may be read, of the target.
 * @p path NULL: the file that @p at is for. */
static int open_as(const struct pl_rights *theirs, int at, const char *path)
{
	struct pl_own_rights own;

	if (!pl_rights_take(theirs, &own)) {
		errno = EACCES;
		return -1;
	}
	int fd = path ? open_inside(at, path) : open_held(at);
	int saved = errno;
	pl_rights_give_back(&own);
	if (fd >= 0 && !pl_rights_allow(theirs, fd)) {
		close(fd);
		fd = -1;
		saved = EACCES;
	}
	errno = saved;
	return fd;
}

/* 0 if it is who it was; else why not. */
static int who_else(pid_t pid, const struct pl_file_view *seen)
{
	struct pl_file_view now;

	if (!pl_file_view_of(pid, &now) || now.start_ticks != seen->start_ticks)
		return ESRCH;
	return pl_file_view_equal(&now, seen) ? 0 : EPERM;
}

static bool is_directory(int fd, uint64_t dev, uint64_t ino)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

/* @p judged: the process whose view has to be as it was seen; 0: that was found out. */
static int open_in(pid_t task, const struct pl_file_view *seen, const char *path, pid_t judged)
{
	char whole[2 * PATH_BYTES];
	const char *from_root = path;
	bool relative = path[0] != '/', placed = !relative || path_of_cwd(task, path, whole, sizeof whole);
	int root = open_proc_dir(task, "root"), fd = -1;

	/* Asked last: what it was before, it was meanwhile. */
	int other = judged ? who_else(judged, seen) : 0;
	if (relative)
		from_root = whole;
	if (!other && placed && is_directory(root, seen->root_dev, seen->root_ino))
		fd = open_as(&seen->rights, root, from_root);
	else
		errno = other ? other : EACCES;
	if (root >= 0)
		close_keeping_errno(root);
	return fd;
}

int pl_target_file_open(pid_t pid, const struct pl_file_view *seen, const char *path)
{
	/* a main thread that has ended has no root directory any more */
	return open_in(pl_proc_live_task(pid), seen, path, pid);
}

int pl_own_file_open(const struct pl_file_view *seen, const char *path)
{
	return open_in(getpid(), seen, path, 0);
}

int pl_file_open_below(const char *root, const struct pl_rights *as, const char *path)
{
	if (path[0] != '/') {
		errno = EINVAL;
		return -1;
	}
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	int fd = open_as(as, dir, path);
	close_keeping_errno(dir);
	return fd;
}

static bool can_be_taken(const struct pl_rights *theirs)
{
	struct pl_own_rights own;

	if (!pl_rights_take(theirs, &own))
		return false;
	pl_rights_give_back(&own);
	return true;
}

/* @p theirs, or those of all, which @p all is made to be. */
static const struct pl_rights *that_can_be_taken(const struct pl_rights *theirs, struct pl_rights *all)
{
	if (can_be_taken(theirs))
		return theirs;
	pl_rights_of_all(all);
	return all;
}

int pl_file_reopen(const struct pl_rights *as, int handle)
{
	struct pl_rights all;

	return as ? open_as(that_can_be_taken(as, &all), handle, NULL) : open_held(handle);
}

int pl_plain_file_open(const char *path)
{
	int handle = pl_own_fd(open(path, O_PATH | O_CLOEXEC)), fd = -1;
	struct stat st;

	if (handle >= 0 && fstat(handle, &st) == 0 && S_ISREG(st.st_mode) && !is_made_up(handle))
		fd = pl_own_fd(open_held(handle));
	pl_own_fd_close(handle);
	return fd;
}

int pl_plain_file_open_as(const struct pl_rights *as, const char *path)
{
	struct pl_own_rights own;
	struct pl_rights all;

	if (!as)
		return pl_plain_file_open(path);
	as = that_can_be_taken(as, &all);
	if (!pl_rights_take(as, &own))
		return -1;
	int fd = pl_plain_file_open(path);
	pl_rights_give_back(&own);
	if (fd < 0 || pl_rights_allow(as, fd))
		return fd;
	pl_own_fd_close(fd);
	return -1;
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* Of what a link in /proc leads to; 0 if it may not be followed. */
static void identify(pid_t pid, pid_t tid, const char *name, uint64_t *dev, uint64_t *ino)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	if (!pl_proc_identify(path, dev, ino))
		*dev = *ino = 0;
}

bool pl_file_view_by(pid_t pid, pid_t tid, struct pl_file_view *ret)
{
	struct pl_proc_stat stat;

	memset(ret, 0, sizeof *ret);
	if (!pl_proc_stat_read(pid, &stat) || stat.ended || !pl_rights_of_thread(pid, tid, &ret->rights))
		return false;
	ret->start_ticks = stat.start_ticks;
	identify(pid, tid, "exe", &ret->exe_dev, &ret->exe_ino);
	identify(pid, tid, "root", &ret->root_dev, &ret->root_ino);
	identify(pid, tid, "ns/mnt", &ret->mounts_dev, &ret->mounts_ino);
	/* On its way out a process lets go of its memory, then of its root, then of its namespaces. */
	return ret->exe_ino && ret->root_ino && ret->mounts_ino;
}

bool pl_file_view_of(pid_t pid, struct pl_file_view *ret)
{
	return pl_file_view_by(pid, pl_proc_live_task(pid), ret);
}

static bool same_mounts(const struct pl_file_view *a, const struct pl_file_view *b)
{
	return a->mounts_dev == b->mounts_dev && a->mounts_ino == b->mounts_ino;
}

bool pl_file_view_equal(const struct pl_file_view *a, const struct pl_file_view *b)
{
	return a->start_ticks == b->start_ticks && a->exe_dev == b->exe_dev && a->exe_ino == b->exe_ino &&
	       a->root_dev == b->root_dev && a->root_ino == b->root_ino && same_mounts(a, b) &&
	       pl_rights_equal(&a->rights, &b->rights);
}

bool pl_file_view_has_our_mounts(const struct pl_file_view *v)
{
	struct pl_file_view ours;

	return pl_file_view_of(getpid(), &ours) && same_mounts(v, &ours);
}

bool pl_file_view_is_ours(const struct pl_file_view *v)
{
	struct pl_file_view ours;

	return pl_file_view_of(getpid(), &ours) && v->root_dev == ours.root_dev && v->root_ino == ours.root_ino &&
	       same_mounts(v, &ours);
}

bool pl_file_view_holds(pid_t pid, const struct pl_file_view *seen)
{
	return who_else(pid, seen) == 0;
}
