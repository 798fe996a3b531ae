/* SPDX-License-Identifier: Apache-2.0 */
/* What an epoll of another process watches. The kernel writes down all of it before it gives any, however little is
 * asked for: millions of descriptors take seconds, in which no signal helps. So it is read by somebody who can be left
 * behind. One thread. */
#ifndef PL_WATCHED_FDS_H
#define PL_WATCHED_FDS_H

#include <sys/types.h>

#include "aside.h"

#define PL_WATCHED_FDS 16 /* are named */

struct pl_watched_reader {
	struct pl_asker asker;
	uint64_t left_ns; /* for all that is still to be asked */
};

/** The first of them; *total_ret: how many there are. False: it is not known, because it takes too long, or others did
 * before. */
bool pl_watched_read(struct pl_watched_reader *r, pid_t pid, int epoll, int ret[static PL_WATCHED_FDS],
		     uint32_t *total_ret);

#endif
