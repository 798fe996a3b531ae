/* SPDX-License-Identifier: Apache-2.0 */
/* Files without a name (layer base). Any thread. */
#include "temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "own_fd.h"

#define SMALL_BYTES (16u << 20) /* what is no more than that is not asked about */

/* -1 and errno: not in this folder. */
static int open_in(const char *folder)
{
	char path[4096];
	int len = snprintf(path, sizeof path, "%s/plumb.XXXXXX", folder);

	if (len < 0 || (size_t)len >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

struct plumb_error *pl_temp_file(int *ret)
{
	const char *wanted = getenv("TMPDIR");
	const char *folders[] = {wanted && *wanted ? wanted : "/tmp", "/tmp", "/var/tmp"};
	int errnum = 0;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		int fd = open_in(folders[i]);

		if (fd >= 0) {
			*ret = fd;
			return NULL;
		}
		errnum = errnum ? errnum : errno;
	}
	return pl_error_hint(
		pl_error_errno(PLUMB_ERR_WRITE_FAILED, errnum, "cannot make a temporary file in %s", folders[0]),
		"TMPDIR names another place");
}

struct plumb_error *pl_temp_file_of_call(int *ret)
{
	struct plumb_error *err = pl_temp_file(ret);

	if (!err)
		pl_own_fd(*ret);
	return err;
}

/* What is free now was so at the beginning, but for what is in the file already. */
static struct plumb_error *leave_room(int fd, size_t len)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	uint64_t taken = (at > 0 ? (uint64_t)at : 0) + len, free_bytes;
	struct statvfs fs;

	if (taken < SMALL_BYTES || fstatvfs(fd, &fs) || !fs.f_blocks)
		return NULL;
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (free_bytes >= len && (free_bytes - len) >= taken / 3)
		return NULL;
	return pl_error_hint(pl_error(PLUMB_ERR_WRITE_FAILED,
				      "a temporary file would leave too little room: it has %" PRIu64
				      " MiB, and %" PRIu64 " MiB are free where it is",
				      (taken - len) >> 20, free_bytes >> 20),
			     "TMPDIR names another place");
}

struct plumb_error *pl_temp_write(int fd, const void *bytes, size_t len)
{
	struct plumb_error *err = leave_room(fd, len);

	if (err)
		return err;
	for (const char *at = bytes; len;) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return pl_error_errno(PLUMB_ERR_WRITE_FAILED, n ? errno : ENOSPC,
					      "cannot write a temporary file");
		at += n;
		len -= (size_t)n;
	}
	return NULL;
}

struct plumb_error *pl_temp_read(int fd, void *bytes, size_t len, uint64_t at)
{
	for (char *to = bytes; len;) {
		ssize_t n = pread(fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot read a temporary file");
		if (n == 0)
			return pl_error(PLUMB_ERR_SYSTEM, "a temporary file ended early");
		to += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return NULL;
}
