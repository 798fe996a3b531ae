/* SPDX-License-Identifier: Apache-2.0 */
/* What has a name already that a new file is to have, and whether it may be lost: nothing is in it, or plumb wrote it,
 * and nobody writes to it any more. Layer base; any thread. */
#ifndef PL_OLDER_FILE_H
#define PL_OLDER_FILE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

/* A recording begins so. */
#define PL_FILE_MAGIC	  "plumb\0\r\n"
#define PL_FILE_MAGIC_LEN 8

/** What has the name and may be lost, as it was when that was found out. */
struct pl_older_file {
	bool there;    /* else nothing has the name */
	bool whatever; /* may be in it by then */
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec written;
};

/** Judge what is called @p name in the directory @p dir: the file that is opened, not its name.
 * @return NULL: there is nothing (*ret stays as it is), or it may be lost and *ret is set; else why it is kept, as the
 * predicate of a sentence. Static. */
const char *pl_older_file_judge(int dir, const char *name, struct pl_older_file *ret);
/** Note what is called @p name there as what may be lost whatever it is: somebody insists. */
void pl_older_file_insist(int dir, const char *name, struct pl_older_file *ret);
/** May what is called @p name there still be lost, or is nothing there? Else errno says why not; EEXIST: by now it is
 * another program's. What another plumb has finished since is not to be lost, either. */
bool pl_older_file_gives_way(const struct pl_older_file *o, int dir, const char *name);
/** Note in the file of @p fd that plumb wrote it. It is finished, unless it is a recording, which may grow. Where a
 * file system keeps no notes, nothing. */
void pl_older_file_mark(int fd);

#endif
