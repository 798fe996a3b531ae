/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and picking apart small files under /proc (layer os). Any thread. The text comes from the kernel, but the
 * names in it come from the target: nothing here trusts it. */
#include "proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "own_fd.h"
#include "proc.h"

static ssize_t read_whole(int fd, char *buf, size_t size)
{
	size_t len = 0;
	while (len < size - 1) {
		ssize_t n = read(fd, buf + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	buf[len] = '\0';
	return (ssize_t)len;
}

/* Of what is longer the beginning and the end. */
static ssize_t read_ends(int fd, char *buf, size_t size)
{
	const size_t head = size / 2, quarter = size / 4;
	ssize_t len = read_whole(fd, buf, size);

	while (len == (ssize_t)size - 1) {
		const size_t kept = size - 1 - quarter;

		memmove(buf + head, buf + head + quarter, kept - head);
		len = read_whole(fd, buf + kept, size - kept);
		len = len < 0 ? len : (ssize_t)kept + len;
	}
	return len;
}

/* All but the list of groups. No name in a status file has a line end. */
static ssize_t read_but_groups(int fd, char *buf, size_t size)
{
	ssize_t len = read_whole(fd, buf, size);
	char *groups = len > 0 ? strstr(buf, "\nGroups:") : NULL, *rest = NULL;

	while (groups && len > 0 && !(rest = strchr(groups + 1, '\n')))
		len = read_whole(fd, groups + 1, size - (size_t)(groups + 1 - buf));
	if (!rest)
		return len;
	const size_t kept = (size_t)(groups - buf) + strlen(rest);

	memmove(groups, rest, strlen(rest) + 1);
	len = read_whole(fd, buf + kept, size - kept);
	return len < 0 ? len : (ssize_t)kept + len;
}

typedef ssize_t read_fn(int fd, char *buf, size_t size);

static ssize_t read_file(pid_t pid, const char *name, char *buf, size_t size, read_fn *read_it)
{
	char path[96];
	if (pid)
		snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	else
		snprintf(path, sizeof path, "/proc/self/%s", name);
	int fd = PL_OWN_FD(open(path, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return -1;
	ssize_t len = read_it(fd, buf, size);
	int saved = errno;
	pl_own_fd_close(fd);
	errno = saved;
	return len;
}

ssize_t pl_proc_file(pid_t pid, const char *name, char *buf, size_t size)
{
	return read_file(pid, name, buf, size, read_whole);
}

ssize_t pl_proc_file_ends(pid_t pid, const char *name, char *buf, size_t size)
{
	return read_file(pid, name, buf, size, read_ends);
}

ssize_t pl_proc_status(pid_t pid, const char *name, char *buf, size_t size)
{
	return read_file(pid, name, buf, size, read_but_groups);
}

bool pl_proc_look_behind(const char *link, struct statx *ret)
{
	return statx(AT_FDCWD, link, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_INO, ret) == 0;
}

bool pl_proc_identify(const char *link, uint64_t *dev, uint64_t *ino)
{
	struct statx st;

	if (!pl_proc_look_behind(link, &st))
		return false;
	*dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	*ino = st.stx_ino;
	return true;
}

bool pl_out_of_descriptors(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE;
}

const char *pl_proc_status_field(const char *status, const char *key)
{
	size_t len = strlen(key);
	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0 && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
	}
	return NULL;
}

uint64_t pl_proc_status_number(const char *status, const char *key, int base, uint64_t fallback)
{
	const char *text = pl_proc_status_field(status, key);
	char *end;
	if (!text)
		return fallback;
	uint64_t v = strtoull(text, &end, base);
	return end == text ? fallback : v;
}

bool pl_proc_stat_field(const char *stat, int n, uint64_t *ret)
{
	const char *p = strrchr(stat, ')');
	for (int field = 2; p && field < n; field++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	const char *digit = p ? p + (*p == '-') : NULL;
	if (!digit || *digit < '0' || *digit > '9')
		return false;
	*ret = strtoull(p, NULL, 10);
	return true;
}

/* That we have no descriptor left to ask with says nothing about the thread. */
bool pl_proc_thread_alive(pid_t pid, pid_t tid)
{
	char name[32], stat[1024];
	snprintf(name, sizeof name, "task/%d/stat", (int)tid);
	if (pl_proc_file(pid, name, stat, sizeof stat) < 0)
		return pl_out_of_descriptors(errno);
	const char *p = strrchr(stat, ')');
	return p && p[1] == ' ' && p[2] != 'Z' && p[2] != 'X';
}

pid_t pl_proc_live_task(pid_t pid)
{
	char path[32];
	pid_t found = pid;
	if (pl_proc_thread_alive(pid, pid))
		return pid;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	struct pl_own_dir dir;
	if (!pl_own_dir_open(&dir, path))
		return pid;
	for (const char *name; found == pid && (name = pl_own_dir_next(&dir));) {
		pid_t tid = atoi(name); /* 0 for "." and ".." */
		if (tid > 0 && pl_proc_thread_alive(pid, tid))
			found = tid;
	}
	pl_own_dir_close(&dir);
	return found;
}

const char *pl_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}
