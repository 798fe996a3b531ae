/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a file as another process sees it (layer os). Any thread.
 *
 * /proc/PID/root/PATH alone is not enough: an absolute link on the way would lead into our own root directory, so that
 * a program in a container could make us show any file of the machine. openat2 (Linux 5.6) keeps the walk inside. */
#include "target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc_file.h"
#include "rights.h"

#define PATH_BYTES 4200

static int open_proc_dir(pid_t pid, const char *name)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Nothing that could block or wake a device is opened for reading before it is known to be a plain file. */
static int open_plain(int dir, const char *path, uint64_t resolve)
{
	struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, .resolve = resolve};
	struct open_how look = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve};
	struct stat st;
	int fd = (int)syscall(SYS_openat2, dir, path, &look, sizeof look);

	if (fd < 0)
		return -1;
	bool plain = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	close(fd);
	if (plain)
		return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
	errno = EINVAL;
	return -1;
}

/* The target's current directory as a path from its own root: readlink shows it from ours. */
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
	size_t skip = n > 1 && strncmp(cwd, root, (size_t)n) == 0 ? (size_t)n : 0;
	return (size_t)snprintf(ret, size, "%s/%s", cwd + skip, path) < size;
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

/* Whether we may look at its root directory is asked of us; whether the file may be read, of the target. */
static int open_as(pid_t pid, int root, const char *path)
{
	struct pl_rights own;

	if (!pl_rights_take(pid, &own)) {
		errno = EACCES;
		return -1;
	}
	int fd = open_inside(root, path);
	int saved = errno;
	pl_rights_give_back(&own);
	errno = saved;
	return fd;
}

int pl_target_file_open(pid_t pid, const char *path)
{
	char whole[2 * PATH_BYTES];
	const char *from_root = path;

	pid = pl_proc_live_task(pid); /* a main thread that has ended has no root directory any more */
	if (path[0] != '/') {
		if (!path_of_cwd(pid, path, whole, sizeof whole))
			return -1;
		from_root = whole;
	}
	int root = open_proc_dir(pid, "root");
	if (root < 0)
		return -1;
	int fd = open_as(pid, root, from_root);
	close_keeping_errno(root);
	return fd;
}

int pl_file_open_below(const char *root, const char *path)
{
	if (path[0] != '/') {
		errno = EINVAL;
		return -1;
	}
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	int fd = open_inside(dir, path);
	close_keeping_errno(dir);
	return fd;
}

static bool same_file(pid_t pid, const char *name, const char *ours)
{
	char path[40];
	struct stat a, b;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return stat(path, &a) == 0 && stat(ours, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool pl_target_file_alike(pid_t pid)
{
	struct pl_rights theirs, ours;

	return same_file(pid, "root", "/") && same_file(pid, "ns/mnt", "/proc/self/ns/mnt") &&
	       pl_rights_of(pid, &theirs) && pl_rights_of(getpid(), &ours) && theirs.uid == ours.uid;
}
