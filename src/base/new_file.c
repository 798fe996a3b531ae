/* SPDX-License-Identifier: Apache-2.0 */
/* Layer base. One owner at a time. */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* What plumb wrote bears this; a recording is known by its first bytes, too, wherever it was copied to. */
#define MARK "user.plumb"

static struct plumb_error *cannot_write(const char *path)
{
	return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write %s", path);
}

static struct plumb_error *exists(const char *path)
{
	return pl_error(PLUMB_ERR_EXISTS, "%s is there already, and plumb did not write it", path);
}

/* ---- what is there ----------------------------------------------------------------------------------------------- */

static bool begins_as_recording(int fd)
{
	char bytes[PL_FILE_MAGIC_LEN];

	return pread(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes &&
	       memcmp(bytes, PL_FILE_MAGIC, sizeof bytes) == 0;
}

/* It may be lost: it is empty, or was written by plumb. */
static bool is_ours(const char *path, const struct stat *st)
{
	int fd = st->st_size ? open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
	bool ours = !st->st_size || (fd >= 0 && (fgetxattr(fd, MARK, NULL, 0) >= 0 || begins_as_recording(fd)));

	if (fd >= 0)
		close(fd);
	return ours;
}

static bool may_replace(const char *path, const struct stat *st, enum pl_replace replace)
{
	switch (replace) {
	case PL_REPLACE_NONE:
		return false;
	case PL_REPLACE_OURS:
	case PL_REPLACE_NAMED:
		return is_ours(path, st);
	case PL_REPLACE_ALL:
		return true;
	}
	return false;
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

/* A link of that name is none to go through. */
static int make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)fsetxattr(fd, MARK, "", 0, 0); /* not all file systems have that */
	return fd;
}

static struct plumb_error *make_beside(struct pl_new_file *f)
{
	char *real = realpath(f->path, NULL);

	if (!real)
		return cannot_write(f->path);
	free(f->path);
	f->path = real;
	if (asprintf(&f->beside, "%s.%d.new", real, (int)getpid()) < 0) {
		f->beside = NULL;
		return &pl_err_no_memory;
	}
	f->fd = make(f->beside);
	f->made = f->fd >= 0;
	return f->made ? NULL : cannot_write(f->path);
}

/* A pipe, a device; or a file without a name, in /proc/PID/fd: only who made that can want it to be written to. */
static struct plumb_error *open_what_is_there(struct pl_new_file *f)
{
	f->fd = open(f->path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	return f->fd >= 0 ? NULL : cannot_write(f->path);
}

static struct plumb_error *open_named(struct pl_new_file *f, enum pl_replace replace)
{
	bool through_links = replace == PL_REPLACE_NAMED || replace == PL_REPLACE_ALL;
	struct stat st;

	f->fd = make(f->path);
	f->made = f->fd >= 0;
	if (f->made)
		return NULL;
	if (errno != EEXIST)
		return cannot_write(f->path);
	if ((through_links ? stat(f->path, &st) : lstat(f->path, &st)) != 0)
		return cannot_write(f->path);
	if (!S_ISREG(st.st_mode) || st.st_nlink == 0)
		return through_links ? open_what_is_there(f) : exists(f->path);
	return may_replace(f->path, &st, replace) ? make_beside(f) : exists(f->path);
}

struct plumb_error *pl_new_file_open(const char *path, enum pl_replace replace, struct pl_new_file *ret)
{
	*ret = (struct pl_new_file){.fd = -1, .path = strdup(path)};
	struct plumb_error *err = ret->path ? open_named(ret, replace) : &pl_err_no_memory;

	if (err)
		pl_new_file_discard(ret);
	return err;
}

/* ---- the end of it ----------------------------------------------------------------------------------------------- */

struct plumb_error *pl_new_file_publish(struct pl_new_file *f)
{
	if (f->beside && rename(f->beside, f->path) != 0)
		return cannot_write(f->path);
	free(f->beside);
	f->beside = NULL;
	f->made = false; /* it is what it was made for */
	return NULL;
}

bool pl_new_file_rename(struct pl_new_file *f, const char *path)
{
	char *copy = strdup(path);

	if (!copy || renameat2(AT_FDCWD, f->beside ? f->beside : f->path, AT_FDCWD, copy, RENAME_NOREPLACE) != 0) {
		free(copy);
		return false;
	}
	free(f->beside);
	free(f->path);
	f->beside = NULL;
	f->path = copy;
	return true;
}

/* Only what this run made: by now another file may have the name. */
static bool is_still(const struct pl_new_file *f, const char *name)
{
	struct stat now, made;

	return f->fd < 0 || (lstat(name, &now) == 0 && fstat(f->fd, &made) == 0 && now.st_dev == made.st_dev &&
			     now.st_ino == made.st_ino);
}

void pl_new_file_discard(struct pl_new_file *f)
{
	const char *name = f->beside ? f->beside : f->path;

	if (name && f->made && is_still(f, name))
		(void)unlink(name);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f->beside);
	*f = (struct pl_new_file){.fd = -1};
}
