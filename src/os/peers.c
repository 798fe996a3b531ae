/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for the other end of a pipe or socket (layer os). One thread per object. Processes of other users are passed
 * over: their descriptors are not shown to us. */
#include "peers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "descriptor.h"
#include "proc_file.h"

#define SEARCH_NS 3000000ull /* of our CPU time: what is found does not depend on what else the machine does */
#define MAX_ENDS  65536
#define MAX_PIDS  65536
#define NO_END	  UINT32_MAX
/* Descriptors of one process. Anybody may have a million of them, and a number near that of somebody else's process. */
#define MAX_OWN	   65536
#define MAX_OTHERS 4096

void pl_peers_deinit(struct pl_peers *p)
{
	pl_vec_deinit(&p->others);
	pl_vec_deinit(&p->ends);
	pl_map_deinit(&p->by_inode);
}

static pid_t distance(pid_t a, pid_t b)
{
	return a > b ? a - b : b - a;
}

static int compare_distance(const void *a, const void *b, void *ctx)
{
	pid_t x = distance(*(const pid_t *)a, *(const pid_t *)ctx),
	      y = distance(*(const pid_t *)b, *(const pid_t *)ctx);

	return (x > y) - (x < y);
}

/* Pipes are mostly shared by relatives, and those have near numbers. The process itself is the nearest. */
static void list_others(struct pl_peers *p)
{
	DIR *dir = opendir("/proc");

	p->listed = true;
	for (const struct dirent *d; dir && (d = readdir(dir)) && p->others.len < MAX_PIDS;) {
		int pid = atoi(d->d_name);

		if (pid > 0)
			(void)pl_vec_push(&p->others, pid); /* without memory: some are not looked at */
	}
	if (dir)
		closedir(dir);
	if (p->others.len)
		qsort_r(p->others.data, p->others.len, sizeof *p->others.data, compare_distance, &p->pid);
}

/* Behind the others of its inode; what one process has of it is one end. Without memory it is not known. */
static void add_end(struct pl_peers *p, const struct pl_peer_end *end)
{
	const uint32_t at = (uint32_t)p->ends.len;
	uint32_t first = at;
	const bool known = pl_map_get(&p->by_inode, end->inode, end->socket, &first);
	struct pl_peer_end *last = known ? &p->ends.data[p->ends.data[first].last] : NULL;

	if (last && last->pid == end->pid) {
		last->reads |= end->reads;
		last->writes |= end->writes;
		return;
	}
	if (!pl_vec_push(&p->ends, *end) || (!known && !pl_map_set(&p->by_inode, end->inode, end->socket, at)))
		return;
	if (known)
		p->ends.data[p->ends.data[first].last].next = at;
	p->ends.data[first].last = at;
}

/* The rights of the link are those of the descriptor. */
static void note_end(struct pl_peers *p, pid_t pid, int dir, const char *name)
{
	struct pl_fd_facts f = {0};
	struct stat st;
	char link[64];
	ssize_t n = readlinkat(dir, name, link, sizeof link - 1);

	if (n <= 0)
		return;
	link[n] = '\0';
	pl_fd_parse_link(link, &f);
	if ((f.kind != PL_FD_PIPE && f.kind != PL_FD_SOCKET) || p->ends.len >= MAX_ENDS)
		return;
	struct pl_peer_end end = {.inode = f.inode, .pid = pid, .socket = f.kind == PL_FD_SOCKET, .next = NO_END};
	if (!end.socket && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		end.reads = st.st_mode & S_IRUSR;
		end.writes = st.st_mode & S_IWUSR;
	}
	add_end(p, &end);
}

/* Returns how many descriptors were looked at. */
static size_t note_ends(struct pl_peers *p, pid_t pid, pid_t task)
{
	char path[32];
	size_t listed = 0, most = pid == p->pid ? MAX_OWN : MAX_OTHERS;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)task);
	DIR *dir = opendir(path);
	for (const struct dirent *d; dir && listed < most && (d = readdir(dir));) {
		if (d->d_name[0] == '.')
			continue;
		listed++;
		note_end(p, pid, dirfd(dir), d->d_name);
	}
	if (dir)
		closedir(dir);
	return listed;
}

static void look_through(struct pl_peers *p, pid_t pid)
{
	/* Once the main thread has ended, only another one shows the descriptors. */
	if (!note_ends(p, pid, pid))
		(void)note_ends(p, pid, pl_proc_live_task(pid));
}

/* One more process; false when there are no more, or no more time. */
static bool look_further(struct pl_peers *p)
{
	uint64_t start = pl_clock_thread_cpu_ns();

	if (!p->listed)
		list_others(p);
	if (p->next >= p->others.len || p->spent_ns > SEARCH_NS)
		return false;
	look_through(p, p->others.data[p->next++]);
	p->spent_ns += pl_clock_thread_cpu_ns() - start;
	return true;
}

static bool matches(const struct pl_peer_end *e, bool socket, bool writes)
{
	return socket || (writes ? e->writes : e->reads);
}

static pid_t find(struct pl_peers *p, bool socket, uint64_t inode, bool writes)
{
	uint32_t seen = NO_END, at;
	pid_t own = 0;

	do {
		if (seen != NO_END)
			at = p->ends.data[seen].next;
		else if (!pl_map_get(&p->by_inode, inode, socket, &at))
			continue;
		for (; at != NO_END; seen = at, at = p->ends.data[at].next) {
			if (!matches(&p->ends.data[at], socket, writes))
				continue;
			if (p->ends.data[at].pid != p->pid)
				return p->ends.data[at].pid;
			own = p->pid;
		}
		/* A socket that the process has itself is seldom shared, a pipe often is. */
	} while (!(own && socket) && look_further(p));
	return own;
}

pid_t pl_peers_of_pipe(struct pl_peers *p, uint64_t inode, bool writes)
{
	return inode ? find(p, false, inode, writes) : 0;
}

pid_t pl_peers_of_socket(struct pl_peers *p, uint64_t inode)
{
	return inode ? find(p, true, inode, false) : 0;
}
