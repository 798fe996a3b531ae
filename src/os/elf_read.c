/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os: bytes of an ELF file, or of its image in memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_load.h"
#include "elf_tables.h"

bool pl_elf_may(const struct pl_elf *e, uint64_t units)
{
	return !e->work || pl_work_spend(e->work, units);
}

void pl_elf_note(const struct pl_elf *e, uint64_t units)
{
	if (e->work)
		pl_work_note(e->work, units);
}

bool pl_elf_read(const struct pl_elf *e, uint64_t offset, void *dst, size_t len)
{
	if (offset > e->size || len > e->size - offset || !pl_elf_may(e, PL_WORK_CALL + len))
		return false;
	if (e->fd < 0) {
		memcpy(dst, e->bytes + offset, len);
		return true;
	}
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(e->fd, (char *)dst + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

void *pl_elf_copy(const struct pl_elf *e, uint64_t offset, uint64_t count, size_t size, size_t max_bytes)
{
	if (count == 0 || count > max_bytes / size)
		return NULL;
	void *copy = malloc(count * size);
	if (copy && !pl_elf_read(e, offset, copy, count * size)) {
		free(copy);
		return NULL;
	}
	return copy;
}
