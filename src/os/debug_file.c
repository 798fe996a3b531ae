/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; any thread. */
#include "debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filed_functions.h"
#include "own_fd.h"
#include "target_file.h"

#define PACKAGED	"/usr/lib/debug"
#define BUILD_ID_MIN	3
#define BUILD_ID_MAX	64
#define DIRECTORIES_MAX 64

static void hex_of(const uint8_t *id, size_t len, char ret[static 2 * BUILD_ID_MAX + 1])
{
	for (size_t i = 0; i < len; i++)
		snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

static int open_in(const char *directory, int len, const char *hex, const struct pl_rights *as)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%.*s/.build-id/%.2s/%s.debug", len, directory, hex, hex + 2);
	int fd = pl_plain_file_open_as(as, path);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "%.*s/%s/debuginfo", len, directory, hex);
	return pl_plain_file_open_as(as, path);
}

/* The first file there is for a build-id; -1: none. */
static int open_first(const uint8_t *build_id, size_t len, const struct pl_rights *as)
{
	const char *at = secure_getenv("PLUMB_DEBUG_PATH");
	char hex[2 * BUILD_ID_MAX + 1];
	int fd = -1;

	if (len < BUILD_ID_MIN || len > BUILD_ID_MAX)
		return -1;
	hex_of(build_id, len, hex);
	for (int i = 0; at && fd < 0 && i < DIRECTORIES_MAX; i++) {
		size_t n = strcspn(at, ":");

		if (n && n < PATH_MAX)
			fd = open_in(at, (int)n, hex, as);
		at = at[n] ? at + n + 1 : NULL;
	}
	return fd >= 0 ? fd : open_in(PACKAGED, (int)strlen(PACKAGED), hex, as);
}

struct plumb_error *pl_elf_open_of_build(int fd, const uint8_t *build_id, size_t len, struct pl_work *work,
					 struct pl_elf **ret)
{
	*ret = NULL;
	if (fd < 0)
		return NULL;
	struct plumb_error *err = pl_elf_open_fd(fd, work, ret);
	pl_own_fd_close(fd);
	if (err) {
		*ret = NULL;
		if (err == &pl_err_no_memory)
			return err;
		plumb_error_destroy(err);
		return NULL;
	}
	if (!pl_elf_has_build_id(*ret, build_id, len)) {
		pl_elf_close(*ret);
		*ret = NULL;
	}
	return NULL;
}

struct plumb_error *pl_debug_elf_open(const uint8_t *build_id, size_t len, const struct pl_rights *as,
				      struct pl_work *work, struct pl_elf **ret)
{
	return pl_elf_open_of_build(open_first(build_id, len, as), build_id, len, work, ret);
}
