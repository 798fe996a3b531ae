/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/maps. */
#ifndef PL_MAPS_H
#define PL_MAPS_H

#include <stdbool.h>
#include <sys/types.h>

#include "mem.h"
#include "vec.h"

struct pl_mapping {
	pl_addr start, end;
	uint64_t offset, inode;
	uint32_t dev_major, dev_minor;
	bool readable, writable, executable, deleted;
	char *path; /* "" for anonymous; octal escapes of /proc decoded */
};
typedef PL_VEC(struct pl_mapping) pl_mapping_vec;

/** Of its file: with the inode it says which one it is. */
static inline uint64_t pl_mapping_device(const struct pl_mapping *m)
{
	return (uint64_t)m->dev_major << 32 | m->dev_minor;
}

/** Pure: parse the text of a maps file (hostile: any bytes). Lines that make no sense are skipped. */
struct plumb_error *pl_maps_parse(const char *text, size_t len, pl_mapping_vec *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_maps_read(pid_t pid, pl_mapping_vec *ret) PLUMB_MUST_CHECK;
void pl_maps_deinit(pl_mapping_vec *v);

#endif
