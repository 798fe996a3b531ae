/* SPDX-License-Identifier: Apache-2.0 */
/* See older_file.h. */
#include "older_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "reopen.h"

/* What plumb wrote bears this, with the length and the time of its end: what somebody has changed since is theirs. A
 * recording is known by its first bytes, too, wherever it was copied to. */
#define MARK	 "user.plumb"
#define MARK_MAX 64

static bool begins_as_recording(int fd)
{
	char bytes[PL_FILE_MAGIC_LEN];

	return pread(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes &&
	       memcmp(bytes, PL_FILE_MAGIC, sizeof bytes) == 0;
}

static int mark_text(const struct stat *st, char ret[static MARK_MAX])
{
	return snprintf(ret, MARK_MAX, "%lld %lld.%09ld", (long long)st->st_size, (long long)st->st_mtim.tv_sec,
			st->st_mtim.tv_nsec);
}

static bool is_marked(int fd, const struct stat *st)
{
	char marked[MARK_MAX], expected[MARK_MAX];
	ssize_t n = fgetxattr(fd, MARK, marked, sizeof marked), len = mark_text(st, expected);

	return n == len && memcmp(marked, expected, (size_t)n) == 0;
}

/* Whoever writes a file has it locked, and is the only one who may lose it. */
static bool is_being_written(int fd)
{
	return flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/* A pipe or a device is not touched. */
static int open_to_judge(int dir, const char *name)
{
	int place = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (place < 0)
		return -1;
	bool plain = fstat(place, &st) == 0 && S_ISREG(st.st_mode);
	int fd = plain ? pl_reopen_or_open(place, dir, name, O_RDONLY | O_NONBLOCK) : -1;
	close(place);
	return fd;
}

enum writers { NO_WRITER, A_WRITER, MAYBE_A_WRITER };

/* There a lease is the server's to grant, and is refused as if somebody had the file open. */
static bool is_on_server(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == NFS_SUPER_MAGIC || fs.f_type == CIFS_SUPER_MAGIC || fs.f_type == SMB2_SUPER_MAGIC);
}

/* The kernel grants nobody a lease to read who is not alone with other readers; it grants none at all on some file
 * systems (NFS), and to who has neither the file nor CAP_LEASE. Who opens the file in this moment waits until it is
 * over, and we get a signal: one that nobody notices, where SIGIO would end the program. Errors: as fcntl(). */
static enum writers writers_of(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
		(void)fcntl(fd, F_SETLEASE, F_UNLCK);
		return NO_WRITER;
	}
	int why = errno;
	enum writers writers = why == EAGAIN && !is_on_server(fd) ? A_WRITER : MAYBE_A_WRITER;
	errno = why;
	return writers;
}

/* What somebody goes on to write would be lost; errno says how that is known: EAGAIN, somebody has it open. Who has
 * just opened a file finds it empty, mostly, and an empty one may also be as good as none: mktemp(1) makes one for its
 * name. */
static bool may_be_written_to(int fd, off_t size)
{
	enum writers writers = writers_of(fd);

	return size ? writers == A_WRITER : writers != NO_WRITER;
}

static struct pl_older_file as_it_is(const struct stat *st)
{
	return (struct pl_older_file){
		.there = true, .dev = st->st_dev, .ino = st->st_ino, .size = st->st_size, .written = st->st_mtim};
}

/* NULL: none, nothing is in it nor will be, or plumb wrote it and nobody writes to it any more. */
static const char *why_kept(int fd, const struct stat *st)
{
	bool recording = begins_as_recording(fd);

	if (recording && is_being_written(fd))
		return "is being written by another plumb";
	if (st->st_size && !recording && !is_marked(fd, st))
		return "is there already, and plumb did not write it";
	if (!may_be_written_to(fd, st->st_size))
		return NULL;
	return st->st_size ? "is from plumb, but another program has it open to write to it"
			   : "is empty, and another program may have it open to write to it";
}

const char *pl_older_file_judge(int dir, const char *name, struct pl_older_file *ret)
{
	int fd = open_to_judge(dir, name);
	struct stat st;

	if (fd < 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return NULL;
	const char *why = fd < 0 || fstat(fd, &st) != 0 ? "is there already, and cannot be read" : why_kept(fd, &st);
	if (!why)
		*ret = as_it_is(&st);
	if (fd >= 0)
		close(fd);
	return why;
}

void pl_older_file_insist(int dir, const char *name, struct pl_older_file *ret)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	*ret = as_it_is(&st);
	ret->whatever = true;
}

/* When a file was made is not asked: overlayfs makes one of an image again when it gets another name. */
static bool is_it(const struct pl_older_file *o, int place)
{
	struct stat st;

	if (!o->there || fstat(place, &st) != 0 || st.st_dev != o->dev || st.st_ino != o->ino)
		return false;
	return o->whatever || (st.st_size == o->size && st.st_mtim.tv_sec == o->written.tv_sec &&
			       st.st_mtim.tv_nsec == o->written.tv_nsec);
}

/* An errno, or 0. */
static int why_it_stays(const struct pl_older_file *o, int dir, const char *name, int place)
{
	if (!is_it(o, place))
		return EEXIST;
	if (o->whatever)
		return 0;
	int fd = pl_reopen_or_open(place, dir, name, O_RDONLY | O_NONBLOCK), failed = errno;
	int why = !may_be_written_to(fd, o->size) ? 0 : fd < 0 ? failed : errno;
	if (fd >= 0)
		close(fd);
	return why == EAGAIN ? EEXIST : why;
}

bool pl_older_file_gives_way(const struct pl_older_file *o, int dir, const char *name)
{
	int place = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (place < 0)
		return errno == ENOENT;
	int why = why_it_stays(o, dir, name, place);
	close(place);
	errno = why;
	return !why;
}

void pl_older_file_mark(int fd)
{
	char text[MARK_MAX];
	struct stat st;

	if (fstat(fd, &st) == 0)
		(void)fsetxattr(fd, MARK, text, (size_t)mark_text(&st, text), 0);
}
