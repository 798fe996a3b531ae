/* SPDX-License-Identifier: Apache-2.0 */
/* Files as another process sees them. */
#ifndef PL_TARGET_FILE_H
#define PL_TARGET_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * Open the plain file @p path for reading, as @p pid would: from its root directory, and from its current one if the
 * path is relative. A link that leads out of that root is not followed out of it, and what its user may not read is not
 * read, whoever we are. Returns a descriptor, -1 with errno: also for what is no plain file.
 */
int pl_target_file_open(pid_t pid, const char *path);
/** The same from the directory @p root; a relative path is none. */
int pl_file_open_below(const char *root, const char *path);
/** Does it see the files that we see, as the user that we are? Then they can be read without it when it has ended. */
bool pl_target_file_alike(pid_t pid);

#endif
