/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; see room.h. */
#include "room.h"

#include <sys/resource.h>

#define OWN_SHARE   4  /* of the descriptors that are free in our own process: one in four */
#define SPARE_FILES 16 /* without any left nothing of /proc could be read */

static uint64_t descriptor_limit(void)
{
	struct rlimit lim;

	return getrlimit(RLIMIT_NOFILE, &lim) == 0 ? lim.rlim_cur : SPARE_FILES;
}

void pl_room_raise(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
		lim.rlim_cur = lim.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &lim);
	}
}

/* Numbers are given out from the lowest: about so many are in use. */
void pl_room_measure(struct pl_room *r, int fd, bool own)
{
	uint64_t used = (uint64_t)fd + SPARE_FILES, all = descriptor_limit();

	r->max_files = all > used ? all - used : 0;
	if (own)
		r->max_files /= OWN_SHARE;
}

bool pl_room_for_native(const struct pl_room *r)
{
	return r->threads < PL_MAX_NATIVE_THREADS && 4 * ((uint64_t)r->processes + r->threads + 1) <= r->max_files;
}

bool pl_room_for_one(const struct pl_room *r)
{
	return r->threads == 0 || 2 * ((uint64_t)r->processes + r->threads + 1) <= r->max_files;
}
