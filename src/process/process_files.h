/* SPDX-License-Identifier: Apache-2.0 */
/* How a process sees files: with which rights, from which root directory. It can change that at any moment, so a file
 * that its code names is opened as it saw files both before and after that code was seen. */
#ifndef PL_PROCESS_FILES_H
#define PL_PROCESS_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target_file.h"

struct pl_process_files {
	struct pl_file_view view; /* at the last look */
	uint32_t number;	  /* grows with each change of the view; 0: not known yet */
};

/** Look at @p pid. True: the view is as it was. */
bool pl_process_files_look(struct pl_process_files *f, pid_t pid);
/** Its thread @p tid can have rights, a root directory and mounts of its own: does it see files as @p f does? */
bool pl_process_files_seen_by(const struct pl_process_files *f, pid_t pid, pid_t tid);

#endif
