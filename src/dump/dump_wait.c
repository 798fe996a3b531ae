/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: from what src/os finds out about a system call to the dump's own words. */
#include "dump_wait.h"

#include "blocked.h"
#include "descriptor.h"
#include "proc.h"

static const char *const fd_kinds[] = {
	[PL_FD_UNKNOWN] = "unknown",   [PL_FD_FILE] = "file",	    [PL_FD_FOLDER] = "folder",
	[PL_FD_TERMINAL] = "terminal", [PL_FD_DEVICE] = "device",   [PL_FD_PIPE] = "pipe",
	[PL_FD_SOCKET] = "socket",     [PL_FD_EPOLL] = "epoll",	    [PL_FD_EVENT] = "eventfd",
	[PL_FD_TIMER] = "timerfd",     [PL_FD_SIGNAL] = "signalfd", [PL_FD_INOTIFY] = "inotify",
	[PL_FD_PIDFD] = "pidfd",       [PL_FD_OTHER] = "other"};

static const enum pl_waits_on waits[] = {
	[PL_ON_NOTHING] = PL_WAITS_NOTHING,	[PL_ON_FD] = PL_WAITS_FD,	  [PL_ON_FDS] = PL_WAITS_FDS,
	[PL_ON_TIME] = PL_WAITS_TIME,		[PL_ON_FUTEX] = PL_WAITS_LOCK,	  [PL_ON_CHILD] = PL_WAITS_CHILD,
	[PL_ON_FILE_LOCK] = PL_WAITS_FILE_LOCK, [PL_ON_SIGNAL] = PL_WAITS_SIGNAL, [PL_ON_PATH] = PL_WAITS_PATH};

struct pl_dump_other pl_dump_other(struct pl_dump *d, pid_t pid)
{
	char comm[16];

	if (pid <= 0)
		return (struct pl_dump_other){.name = pl_dump_str(d, "")};
	pl_proc_comm(pid, pid, comm);
	return (struct pl_dump_other){.pid = (uint32_t)pid, .name = pl_dump_str(d, comm)};
}

/* Pipes and sockets are told apart by their inode: their links say nothing else. */
static bool path_says_something(const struct pl_fd_facts *f)
{
	return f->path[0] == '/' || f->kind == PL_FD_OTHER;
}

void pl_surroundings_deinit(struct pl_surroundings *s)
{
	pl_net_deinit(&s->net);
	pl_peers_deinit(&s->peers);
	pl_file_locks_deinit(&s->locks);
}

/* Who is at the other end. */
static pid_t other_end(struct pl_surroundings *around, const struct pl_fd_facts *f)
{
	if (f->kind == PL_FD_PIPE)
		return pl_peers_of_pipe(&around->peers, f->inode, !f->writes);
	if (f->kind == PL_FD_SOCKET)
		return pl_peers_of_socket(&around->peers, f->socket.peer_inode);
	return f->process;
}

static struct pl_dump_fd look_at(struct pl_dump *d, struct pl_surroundings *around, int fd)
{
	struct pl_fd_facts f;

	if (!around->net.pid)
		return (struct pl_dump_fd){.fd = fd, .kind = fd_kinds[PL_FD_UNKNOWN], .state = ""};
	pl_fd_look(around->net.pid, fd, &around->net, &f);
	return (struct pl_dump_fd){
		.fd = fd,
		.kind = fd_kinds[f.kind],
		.path = pl_dump_str(d, path_says_something(&f) ? f.path : ""),
		.deleted = f.deleted,
		.inode = f.kind == PL_FD_PIPE || f.kind == PL_FD_SOCKET ? f.inode : 0,
		.protocol = pl_dump_str(d, f.socket.protocol),
		.local = pl_dump_str(d, f.socket.local),
		.peer = pl_dump_str(d, f.socket.peer),
		.state = f.socket.state,
		.other = pl_dump_other(d, other_end(around, &f)),
	};
}

void pl_dump_wait(struct pl_dump *d, struct pl_surroundings *around, struct pl_mem *mem,
		  const struct pl_activity_info *info, struct pl_dump_wait *ret)
{
	struct pl_blocked b;
	pl_dump_fd_vec watched = ret->watched;

	pl_vec_clear(&watched);
	*ret = (struct pl_dump_wait){.number = info->syscall,
				     .fd = {.fd = -1, .kind = fd_kinds[PL_FD_UNKNOWN], .state = ""}};
	ret->watched = watched;
	if (info->syscall < 0)
		return;
	pl_blocked_describe(around->net.pid, mem, &around->locks, info, &b);
	ret->call = pl_dump_str(d, b.call);
	ret->on = waits[b.on];
	if (b.fd >= 0)
		ret->fd = look_at(d, around, b.fd);
	for (uint32_t i = 0; i < b.fd_count; i++)
		(void)pl_vec_push(&ret->watched, look_at(d, around, b.fds[i])); /* without memory: listed short */
	ret->watched_total = b.fd_total;
	ret->lock = b.futex;
	if (around->net.pid)
		ret->child = pl_dump_other(d, b.child);
	else
		ret->child = (struct pl_dump_other){.pid = b.child > 0 ? (uint32_t)b.child : 0};
	ret->child_group = b.child < 0 ? -b.child : 0;
	ret->holder = pl_dump_other(d, b.lock_holder);
	ret->path = pl_dump_str(d, b.path);
	ret->limited = b.limited;
	ret->limit_ns = b.limit_ns;
	ret->left_known = b.left_known;
	ret->left_ns = b.left_ns;
}

void pl_dump_watched(struct pl_dump *d, struct pl_surroundings *around, struct pl_dump_wait *w)
{
	int fds[PL_WATCHED_FDS];
	uint32_t total;

	if (w->on != PL_WAITS_FD || w->fd.kind != fd_kinds[PL_FD_EPOLL] ||
	    !pl_watched_read(&around->watched, around->net.pid, w->fd.fd, fds, &total))
		return;
	for (uint32_t i = 0; i < total && i < PL_WATCHED_FDS; i++)
		(void)pl_vec_push(&w->watched, look_at(d, around, fds[i])); /* without memory: listed short */
	w->watched_total = total;
}
