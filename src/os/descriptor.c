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

#include "own_fd.h"
#include "proc_file.h"

#define LINK_MAX_BYTES 4200
#define PIDFD_INFO     4096
#define WATCHED_PIECE  4096 /* that is read at a time */
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

/* What an epoll watches, as it is read. */
struct watched {
	int *ret;
	uint32_t max, total;
};

static void take_line(struct watched *w, const char *line)
{
	int fd;

	if (sscanf(line, "tfd:%d", &fd) != 1)
		return;
	if (w->total < w->max)
		w->ret[w->total] = fd;
	w->total++;
}

/* Those that are whole; what is left of the text moves to its beginning. Returns how long that is. */
static size_t take_lines(struct watched *w, char text[static WATCHED_PIECE], size_t len)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', (size_t)(text + len - line)))) {
		*end = '\0';
		take_line(w, line);
		line = end + 1;
	}
	len = (size_t)(text + len - line);
	memmove(text, line, len);
	return len < WATCHED_PIECE ? len : 0;
}

bool pl_fd_watched(pid_t pid, int epoll, int *ret, uint32_t max, uint32_t *total_ret)
{
	char path[48], text[WATCHED_PIECE];
	struct watched w = {.max = max};
	size_t len = 0;
	ssize_t n;

	w.ret = ret;
	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pl_proc_live_task(pid), epoll);
	int fd = PL_OWN_FD(open(path, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return false;
	while ((n = read(fd, text + len, sizeof text - len)) > 0)
		len = take_lines(&w, text, len + (size_t)n);
	pl_own_fd_close(fd);
	*total_ret = w.total;
	return n == 0;
}

/* The rights of the link are those of the descriptor. */
static void look_at_pipe(const char *link, struct pl_fd_facts *ret)
{
	struct stat st;

	ret->writes = lstat(link, &st) == 0 && !(st.st_mode & S_IRUSR);
}

static void look_at_pidfd(pid_t pid, struct pl_fd_facts *ret)
{
	char name[32], info[PIDFD_INFO];

	snprintf(name, sizeof name, "fdinfo/%d", ret->fd);
	if (pl_proc_file(pid, name, info, sizeof info) > 0)
		ret->process = (pid_t)(int64_t)pl_proc_status_number(info, "Pid", 10, 0);
}

/* What the link says; false: nothing. */
static bool read_link(const char *path, struct pl_fd_facts *ret)
{
	char link[LINK_MAX_BYTES];
	ssize_t n = readlink(path, link, sizeof link - 1);

	if (n < 0)
		return false;
	link[n] = '\0';
	pl_fd_parse_link(link, ret);
	return true;
}

enum pl_fd_kind pl_fd_kind_of(pid_t pid, pid_t tid, int fd)
{
	struct pl_fd_facts facts = {.fd = fd};
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/fd/%d", (int)pid, (int)tid, fd);
	if (read_link(path, &facts) && facts.kind == PL_FD_FILE)
		look_at_file(path, &facts);
	return facts.kind;
}

void pl_fd_look(pid_t pid, int fd, struct pl_net *net, struct pl_fd_facts *ret)
{
	char path[48], protocol[32] = "";

	*ret = (struct pl_fd_facts){.fd = fd, .socket.state = ""};
	pid = pl_proc_live_task(pid);
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
	if (!read_link(path, ret))
		return;
	if (ret->kind == PL_FD_SOCKET && net) {
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
