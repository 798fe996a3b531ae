/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors of an engine that is a guest of its own process: in the child of a fork they are open, but nothing
 * else of the engine can be relied on, as its threads were in the middle of something. */
#ifndef PL_GUEST_H
#define PL_GUEST_H

#include <stdatomic.h>

#define PL_GUEST_FILES 1024 /* of more the child closes so many */

struct pl_guest_files {
	atomic_int fds[PL_GUEST_FILES]; /* 1 + descriptor; 0: free */
};

/** One thread at a time. Negative descriptors are none. */
void pl_guest_note(struct pl_guest_files *g, int fd);
/** Before it is closed. */
void pl_guest_forget(struct pl_guest_files *g, int fd);
/** In the child: close them. */
void pl_guest_close_all(struct pl_guest_files *g);

#endif
