/* SPDX-License-Identifier: Apache-2.0 */
/* Files as another process sees them. */
#ifndef PL_TARGET_FILE_H
#define PL_TARGET_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "rights.h"

/** Who a process is, as far as files go, and where it sees them. Compared as bytes. */
struct pl_file_view {
	uint64_t start_ticks;		 /* since boot: with the pid it names the process */
	uint64_t exe_dev, exe_ino;	 /* its program */
	uint64_t root_dev, root_ino;	 /* its root directory */
	uint64_t mounts_dev, mounts_ino; /* its mount namespace */
	struct pl_rights rights;
};

/** That of @p pid now, by its main thread. False: it is gone, or hidden from us. */
bool pl_file_view_of(pid_t pid, struct pl_file_view *ret);
/** The same by its thread @p tid, which can have rights, a root directory and mounts of its own. */
bool pl_file_view_by(pid_t pid, pid_t tid, struct pl_file_view *ret);
bool pl_file_view_equal(const struct pl_file_view *a, const struct pl_file_view *b);
/** Does it see the files that we see? Then they can be opened without it. */
bool pl_file_view_is_ours(const struct pl_file_view *v);
/** Is what is mounted for it what is for us? Its root directory may be another one. */
bool pl_file_view_has_our_mounts(const struct pl_file_view *v);
/** Is @p pid still who it was when it had the view @p seen? */
bool pl_file_view_holds(pid_t pid, const struct pl_file_view *seen);

/**
 * Open the plain file @p path for reading, as @p pid would that had the view @p seen: from its root directory, and from
 * its current one if the path is relative, with its rights, whoever we are. A link that leads out of that root is not
 * followed out of it. Returns a descriptor; -1 with errno: also for what is no plain file, or one that the kernel makes
 * up (/proc, /sys); ESRCH if the process has ended, EPERM if it is no longer who it was.
 */
int pl_target_file_open(pid_t pid, const struct pl_file_view *seen, const char *path);
/** The same as the process that we are in, which has that view: whoever calls has found that out. */
int pl_own_file_open(const struct pl_file_view *seen, const char *path);
/** The same from the directory @p root, which is opened as ourselves; a relative path is none. */
int pl_file_open_below(const char *root, const struct pl_rights *as, const char *path);
/** Open for reading the plain file that @p handle (O_PATH) is for, with these rights, or NULL: our own. How it was come
 * by is for whoever calls to judge; -1 with errno: EACCES if it may not be read with them. Where they cannot be taken
 * on it has to be open to all. */
int pl_file_reopen(const struct pl_rights *as, int handle);
/** Open the plain file @p path for reading, as ourselves: nothing else is opened, as a FIFO, a device or what the
 * kernel makes up, where that would do something. The descriptor is noted as ours (own_fd.h); negative: none. */
int pl_plain_file_open(const char *path);
/** The same with these rights, also on the way to it, or NULL: our own. Where they cannot be taken on it has to be open
 * to all. */
int pl_plain_file_open_as(const struct pl_rights *as, const char *path);

#endif
