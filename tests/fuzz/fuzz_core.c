/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a core file: its notes, and reads over the edges of what it holds. */
#include <fcntl.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core.h"

static void read_around(struct pl_core *c, pl_addr addr)
{
	char buf[64];

	for (pl_addr at = addr - 40; at != addr + 40; at += 8)
		plumb_error_destroy(pl_mem_read(pl_core_mem(c), at, buf, sizeof buf));
}

static void look(struct pl_core *c)
{
	const pl_mapping_vec *maps = pl_core_maps(c);

	for (size_t i = 0; i < maps->len && i < 16; i++) {
		if (maps->data[i].start >= maps->data[i].end || !maps->data[i].path)
			abort();
		read_around(c, maps->data[i].start);
		read_around(c, maps->data[i].end);
	}
	read_around(c, 0);
	read_around(c, 0x10000);
	if (strlen(pl_core_command(c)) >= 88 || strlen(pl_core_exe(c)) >= 512)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_core *c;
	char path[40];
	int fd = memfd_create("core", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct plumb_error *err = pl_core_open(path, NULL, false, &c);
	plumb_error_destroy(err);
	if (!err) {
		look(c);
		pl_core_close(c);
	}
	close(fd);
	return 0;
}
