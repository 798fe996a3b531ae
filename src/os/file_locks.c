/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds the locks on files. Layer os. The kernel's list is read a piece at a time, no further than needed, and each
 * line of it once, however many ask. */
#include "file_locks.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PIECE_BYTES 4096

void pl_file_locks_deinit(struct pl_file_locks *l)
{
	if (l->fd >= 0)
		close(l->fd);
	pl_vec_deinit(&l->list);
	pl_map_deinit(&l->holders);
	pl_buf_deinit(&l->rest);
	*l = (struct pl_file_locks)PL_FILE_LOCKS_INIT;
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

/* "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF", "1: -> FLOCK  ADVISORY  WRITE 1235 08:01:5678 0 EOF". */
static bool parse_line(const char *line, struct pl_file_lock *ret)
{
	unsigned dev_major, dev_minor;
	unsigned long long inode;
	int at = 0;

	if (sscanf(line, "%lld: %n", &ret->number, &at) != 1 || at == 0)
		return false;
	line += at;
	ret->waits = strncmp(line, "->", 2) == 0;
	if (sscanf(line + (ret->waits ? 2 : 0), " %*[A-Z] %*s %*s %d %x:%x:%llu", &ret->pid, &dev_major, &dev_minor,
		   &inode) != 4)
		return false;
	ret->device = makedev(dev_major, dev_minor);
	ret->inode = inode;
	return ret->pid > 0;
}

static bool add_line(struct pl_file_locks *l, const char *line)
{
	struct pl_file_lock lock;
	uint32_t first;

	if (!parse_line(line, &lock))
		return true;
	if (!lock.waits && !pl_map_get(&l->holders, lock.inode, lock.device, &first) &&
	    !pl_map_set(&l->holders, lock.inode, lock.device, (uint32_t)lock.pid))
		return false;
	return pl_vec_push(&l->list, lock);
}

/* Those that are whole. */
static bool add_lines(struct pl_file_locks *l)
{
	char *line = (char *)l->rest.data, *text_end = line + l->rest.len, *end;
	bool ok = true;

	while (ok && line < text_end && (end = memchr(line, '\n', (size_t)(text_end - line)))) {
		*end = '\0';
		ok = add_line(l, line);
		line = end + 1;
	}
	l->rest.len = (size_t)(text_end - line);
	memmove(l->rest.data, line, l->rest.len);
	return ok;
}

bool pl_file_locks_add(struct pl_file_locks *l, const char *text, size_t len)
{
	struct plumb_error *err = pl_buf_add(&l->rest, text, len);

	plumb_error_destroy(err);
	return !err && (!l->rest.len || add_lines(l));
}

pid_t pl_file_locks_of(const struct pl_file_locks *l, uint64_t device, uint64_t inode)
{
	uint32_t pid;

	return pl_map_get(&l->holders, inode, device, &pid) ? (pid_t)pid : 0;
}

pid_t pl_file_locks_waited_for(const struct pl_file_locks *l, pid_t waiter)
{
	struct pl_file_lock held = {.pid = 0};
	pid_t found = 0;

	for (size_t i = 0; i < l->list.len; i++) {
		const struct pl_file_lock *lock = &l->list.data[i];

		if (!lock->waits)
			held = *lock;
		if (!lock->waits || lock->pid != waiter)
			continue;
		pid_t holder = held.number == lock->number ? held.pid : 0;
		if (holder == 0 || (found && found != holder))
			return 0;
		found = holder;
	}
	return found;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* False: there is no more. */
static bool read_more(struct pl_file_locks *l)
{
	char piece[PIECE_BYTES];

	if (!l->begun)
		l->fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
	l->begun = true;
	ssize_t n = l->fd >= 0 && l->bytes < PL_FILE_LOCKS_BYTES ? read(l->fd, piece, sizeof piece) : 0;
	if (n <= 0 || !pl_file_locks_add(l, piece, (size_t)n))
		l->ended = true;
	else
		l->bytes += (size_t)n;
	return !l->ended;
}

pid_t pl_file_locks_holder(struct pl_file_locks *l, pid_t waiter, uint64_t device, uint64_t inode)
{
	pid_t holder = pl_file_locks_of(l, device, inode);

	while (!holder && !l->ended && read_more(l))
		holder = pl_file_locks_of(l, device, inode);
	if (holder)
		return holder;
	if (waiter != l->waiter)
		l->waited_for = pl_file_locks_waited_for(l, waiter);
	l->waiter = waiter;
	return l->waited_for;
}
