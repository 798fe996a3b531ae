/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine; see guest.h. */
#include "guest.h"

#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446 /* Linux 6.9 */
#endif

static void replace(struct pl_guest_files *g, int old, int value)
{
	for (size_t i = 0; i < PL_GUEST_FILES; i++)
		if (atomic_load(&g->fds[i]) == old) {
			atomic_store(&g->fds[i], value);
			return;
		}
}

void pl_guest_note(struct pl_guest_files *g, int fd)
{
	if (fd >= 0)
		replace(g, 0, fd + 1);
}

void pl_guest_forget(struct pl_guest_files *g, int fd)
{
	if (fd >= 0)
		replace(g, fd + 1, 0);
}

/* A number that was noted while the fork was under way may be another's in the child. */
static bool is_ours(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == ANON_INODE_FS_MAGIC || fs.f_type == PID_FS_MAGIC);
}

void pl_guest_close_all(struct pl_guest_files *g)
{
	for (size_t i = 0; i < PL_GUEST_FILES; i++) {
		int fd = atomic_exchange(&g->fds[i], 0) - 1;

		if (fd >= 0 && is_ours(fd))
			close(fd);
	}
}
