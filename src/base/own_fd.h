/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that are ours in a process that is not. Whoever has the process may close them, as daemons close all
 * there are, and their numbers are other files' then: what is done with one by its number is done only while it is
 * ours. And in the child of a fork they are open while nobody is there who would close them: each child begins with
 * that. Any thread.
 */
#ifndef PL_OWN_FD_H
#define PL_OWN_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Which file a descriptor is open for. All of the kernel's events (eventfd and the like) are one. */
struct pl_file_id {
	bool known; /* the rest is */
	dev_t dev;
	ino_t ino;
	/* When it was made, where the file system tells: the number of a file that is gone is soon another one's. */
	int64_t born_s;
	uint32_t born_ns;
};

struct pl_file_id pl_file_id(int fd);
/** Is @p fd open for it? A file system that does not tell says nothing against it. */
bool pl_file_id_is(const struct pl_file_id *id, int fd);

/** From now on it is ours, and children close it. Returns @p fd, which may be none (negative). Without memory nothing
 * is noted: it is taken for ours, and children keep it. For what may wait when it is opened or closed, as files that a
 * server keeps: of a fork between its opening and this call, a child keeps it. */
int pl_own_fd(int fd);
/** The same for a call that waits for nobody: no fork comes between what it opens, or its closing, and our knowing. */
#define PL_OWN_FD(call) (pl_own_fd_begin(), pl_own_fd_end(call))
void pl_own_fd_begin(void);
int pl_own_fd_end(int fd);
/** Is this thread in a process that has our memory, and descriptors of its own? Nothing of them is noted or closed by
 * anybody else, and no lock is taken. */
void pl_own_fd_elsewhere(bool elsewhere);
/** Is it still what it was when it became ours? */
bool pl_own_fd_is(int fd);
/** As close(); the only way to close it. None, or no longer ours: nothing. */
int pl_own_fd_close(int fd);
/** The same if it is open for @p file: its number may be that of something else of ours. */
void pl_own_fd_close_as(int fd, const struct pl_file_id *file);

/** A directory that waits for nobody, such as one of /proc: as DIR, but closed only while it is ours. */
struct pl_own_dir {
	int fd;
	size_t at, len; /* bytes of the entries: where the next one is, and of how many */
	_Alignas(long long) char entries[4096];
};

/** false, and errno, if it cannot be opened. */
bool pl_own_dir_open(struct pl_own_dir *d, const char *path);
/** The name of the next entry, until the next call; NULL at the end. */
const char *pl_own_dir_next(struct pl_own_dir *d);
void pl_own_dir_close(struct pl_own_dir *d);

#endif
