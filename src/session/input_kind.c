/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: what a name leads to, and whether that is read. Any thread. A link in an archive is a few bytes, and
 * so are holes. */
#include "input_kind.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A terminal is read where it is our own; of another one, as /dev/ptmx makes it, nothing comes. */
static bool is_our_terminal(const struct stat *st)
{
	struct stat ours;

	return isatty(STDIN_FILENO) && fstat(STDIN_FILENO, &ours) == 0 && ours.st_rdev == st->st_rdev;
}

/* /dev/zero has no end, that of others does not come. */
static bool is_device(const struct stat *st)
{
	if (S_ISCHR(st->st_mode))
		return st->st_rdev != makedev(1, 3) /* /dev/null */ && !is_our_terminal(st);
	return S_ISBLK(st->st_mode);
}

/* A file of /proc can be as endless: pagemap has 256 GiB for each process. */
static bool is_made_up(int fd, const struct stat *st)
{
	struct statfs fs;

	return S_ISREG(st->st_mode) && fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == TRACEFS_MAGIC || fs.f_type == DEBUGFS_MAGIC);
}

/* Bytes that are there from the beginning on, as soon as they are @p enough. Moves the file's position. A file system
 * that does not know says that all of it is there. */
static uint64_t bytes_there(int fd, uint64_t enough)
{
	uint64_t there = 0;
	off_t end = 0;

	while (there < enough) {
		off_t begin = lseek(fd, end, SEEK_DATA);
		if (begin < 0)
			return errno == ENXIO ? there : enough;
		end = lseek(fd, begin, SEEK_HOLE);
		if (end <= begin)
			return enough;
		there += (uint64_t)(end - begin);
	}
	return there;
}

static bool is_hollow(int fd, const struct stat *st)
{
	off_t was = lseek(fd, 0, SEEK_CUR);

	if (!S_ISREG(st->st_mode) || (uint64_t)st->st_size <= PL_INPUT_RATIO_BASE || was < 0)
		return false;
	uint64_t enough = ((uint64_t)st->st_size - PL_INPUT_RATIO_BASE) / PL_INPUT_MAX_RATIO + 1;
	bool hollow = bytes_there(fd, enough) < enough;
	return lseek(fd, was, SEEK_SET) == was && hollow;
}

static struct plumb_error *is_full_of_holes(const struct stat *st)
{
	return pl_error_hint(
		pl_error(PLUMB_ERR_LIMIT, "nearly all of its %llu MiB are holes",
			 (unsigned long long)st->st_size >> 20),
		"a file made to fill the disk has them; if it is a profile, 'cp --sparse=never' makes one without");
}

struct plumb_error *pl_input_check(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "it cannot be read");
	if (S_ISDIR(st.st_mode))
		return pl_error_errno(PLUMB_ERR_SYSTEM, EISDIR, "it cannot be read");
	if (is_hollow(fd, &st))
		return is_full_of_holes(&st);
	const char *what = is_device(&st)	 ? "it is a device, and not a file"
			   : is_made_up(fd, &st) ? "the kernel makes it up, and it is not a file"
						 : NULL;
	return !what ? NULL
		     : pl_error_hint(pl_error(PLUMB_ERR_NOT_A_RECORDING, "%s", what), "%s",
				     "give a file, or '-' for what a pipe brings");
}
