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

/* Closes @p root. */
static int open_inside(int root, const char *path)
{
	if (root < 0)
		return -1;
	int fd = open_plain(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	int saved = errno;
	close(root);
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
	return open_inside(open_proc_dir(pid, "root"), from_root);
}

int pl_file_open_below(const char *root, const char *path)
{
	if (path[0] == '/')
		return open_inside(open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), path);
	errno = EINVAL;
	return -1;
}
