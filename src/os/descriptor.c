/* SPDX-License-Identifier: Apache-2.0 */
/* What a descriptor of another process is (layer os). Any thread. The text of a link is partly the target's: a file may
 * be called "pipe:[7]", but then its link begins with a slash. */
#include "descriptor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "proc_file.h"

#define LINK_MAX_BYTES 4200
#define PIDFD_INFO     4096
#define DELETED	       " (deleted)"

static const struct {
	const char *name;
	enum pl_fd_kind kind;
} anonymous[] = {
	{"[eventpoll]", PL_FD_EPOLL}, {"[eventfd]", PL_FD_EVENT}, {"[timerfd]", PL_FD_TIMER},
	{"[signalfd]", PL_FD_SIGNAL}, {"inotify", PL_FD_INOTIFY}, {"[inotify]", PL_FD_INOTIFY},
	{"[pidfd]", PL_FD_PIDFD},
};

/* "pipe:[123]" */
static bool bracketed(const char *link, const char *word, uint64_t *inode)
{
	size_t len = strlen(word);

	if (strncmp(link, word, len) != 0 || strncmp(link + len, ":[", 2) != 0)
		return false;
	*inode = strtoull(link + len + 2, NULL, 10);
	return true;
}

static enum pl_fd_kind kind_of_anonymous(const char *name)
{
	for (size_t i = 0; i < sizeof anonymous / sizeof anonymous[0]; i++)
		if (strcmp(anonymous[i].name, name) == 0)
			return anonymous[i].kind;
	return PL_FD_OTHER;
}

void pl_fd_parse_link(const char *link, struct pl_fd_facts *ret)
{
	static const char anon[] = "anon_inode:";
	size_t len = strlen(link), cut = sizeof DELETED - 1;

	snprintf(ret->path, sizeof ret->path, "%s", link);
	ret->kind = PL_FD_OTHER;
	if (bracketed(link, "pipe", &ret->inode)) {
		ret->kind = PL_FD_PIPE;
	} else if (bracketed(link, "socket", &ret->inode)) {
		ret->kind = PL_FD_SOCKET;
	} else if (bracketed(link, "pidfd", &ret->inode)) {
		ret->kind = PL_FD_PIDFD;
	} else if (strncmp(link, anon, sizeof anon - 1) == 0) {
		ret->kind = kind_of_anonymous(link + sizeof anon - 1);
	} else if (link[0] == '/') {
		ret->kind = PL_FD_FILE;
		ret->deleted = len > cut && strcmp(link + len - cut, DELETED) == 0;
		if (ret->deleted && len - cut < sizeof ret->path)
			ret->path[len - cut] = '\0';
	}
}

/* What kind of file; also for one that is on a server that does not answer. */
static void look_at_file(const char *link, struct pl_fd_facts *ret)
{
	struct statx st;

	if (!pl_proc_look_behind(link, &st))
		return;
	ret->inode = st.stx_ino;
	ret->device = makedev(st.stx_dev_major, st.stx_dev_minor);
	if (ret->kind != PL_FD_FILE)
		return;
	if (S_ISDIR(st.stx_mode))
		ret->kind = PL_FD_FOLDER;
	else if (S_ISFIFO(st.stx_mode))
		ret->kind = PL_FD_PIPE;
	else if (S_ISCHR(st.stx_mode) &&
		 (strncmp(ret->path, "/dev/pts/", 9) == 0 || strncmp(ret->path, "/dev/tty", 8) == 0))
		ret->kind = PL_FD_TERMINAL;
	else if (S_ISCHR(st.stx_mode) || S_ISBLK(st.stx_mode))
		ret->kind = PL_FD_DEVICE;
}

bool pl_fd_info(pid_t pid, int fd, char *buf, size_t size)
{
	char name[32];

	snprintf(name, sizeof name, "fdinfo/%d", fd);
	return pl_proc_file(pid, name, buf, size) >= 0;
}

uint32_t pl_fd_watched(const char *info, int *ret, uint32_t max)
{
	uint32_t n = 0;

	for (const char *line = info; line; line = strchr(line, '\n')) {
		int fd;

		line += *line == '\n';
		if (sscanf(line, "tfd:%d", &fd) != 1)
			continue;
		if (n < max)
			ret[n] = fd;
		n++;
	}
	return n;
}

/* The rights of the link are those of the descriptor. */
static void look_at_pipe(const char *link, struct pl_fd_facts *ret)
{
	struct stat st;

	ret->writes = lstat(link, &st) == 0 && !(st.st_mode & S_IRUSR);
}

static void look_at_pidfd(pid_t pid, struct pl_fd_facts *ret)
{
	char info[PIDFD_INFO];

	if (pl_fd_info(pid, ret->fd, info, sizeof info))
		ret->process = (pid_t)(int64_t)pl_proc_status_number(info, "Pid", 10, 0);
}

void pl_fd_look(pid_t pid, int fd, struct pl_net *net, struct pl_fd_facts *ret)
{
	char path[48], link[LINK_MAX_BYTES], protocol[32] = "";

	*ret = (struct pl_fd_facts){.fd = fd, .socket.state = ""};
	pid = pl_proc_live_task(pid);
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
	ssize_t n = readlink(path, link, sizeof link - 1);
	if (n < 0)
		return;
	link[n] = '\0';
	pl_fd_parse_link(link, ret);
	if (ret->kind == PL_FD_SOCKET) {
		ssize_t len = getxattr(path, "system.sockprotoname", protocol, sizeof protocol - 1);
		protocol[len > 0 ? len : 0] = '\0';
		pl_net_find(net, ret->inode, protocol, &ret->socket);
	} else if (ret->kind == PL_FD_PIPE) {
		look_at_pipe(path, ret);
	} else if (ret->kind == PL_FD_PIDFD) {
		look_at_pidfd(pid, ret);
	} else if (ret->kind == PL_FD_FILE) {
		look_at_file(path, ret);
	}
}
