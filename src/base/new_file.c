/* SPDX-License-Identifier: Apache-2.0 */
/* Layer base. One owner at a time. */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* What plumb wrote bears this, with the length and the time of its end: what somebody has changed since is theirs.
 * Without them it was never finished. A recording is known by its first bytes, too, wherever it was copied to. */
#define MARK	    "user.plumb"
#define MARK_MAX    64
#define NAMES_TRIED 100

static struct plumb_error *cannot_write(const char *path)
{
	if (errno == ENOMEM)
		return &pl_err_no_memory;
	return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write %s", path);
}

static struct plumb_error *exists(const char *path)
{
	return pl_error(PLUMB_ERR_EXISTS, "%s is there already, and plumb did not write it", path);
}

/* ---- where it is ------------------------------------------------------------------------------------------------- */

static const char *name_of(const struct pl_new_file *f)
{
	const char *slash = strrchr(f->path, '/');

	return slash ? slash + 1 : f->path;
}

static const char *present_name(const struct pl_new_file *f)
{
	return f->beside ? f->beside : name_of(f);
}

/* The directory of @p path is looked up once. */
static int open_dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd = dir ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, why = errno;

	free(dir);
	errno = why;
	return fd;
}

/* @p path: taken over. */
static struct plumb_error *move_to(struct pl_new_file *f, char *path)
{
	if (f->dir >= 0)
		close(f->dir);
	if (path != f->path)
		free(f->path);
	f->path = path;
	f->dir = open_dir_of(path);
	return f->dir >= 0 ? NULL : cannot_write(path);
}

static bool look(const struct pl_new_file *f, const char *name, struct stat *ret)
{
	return fstatat(f->dir, name, ret, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- what is there ----------------------------------------------------------------------------------------------- */

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

	return n == 0 || (n == len && memcmp(marked, expected, (size_t)n) == 0);
}

/* It may be lost: it is gone, it is empty, or was written by plumb. The file that is open is judged, not its name. */
static bool is_ours(const struct pl_new_file *f)
{
	int fd = openat(f->dir, name_of(f), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT || (look(f, name_of(f), &st) && S_ISREG(st.st_mode) && !st.st_size);
	bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    (!st.st_size || is_marked(fd, &st) || begins_as_recording(fd));
	close(fd);
	return ours;
}

static bool may_replace(const struct pl_new_file *f)
{
	switch (f->replace) {
	case PL_REPLACE_NONE:
		return false;
	case PL_REPLACE_OURS:
	case PL_REPLACE_NAMED:
		return is_ours(f);
	case PL_REPLACE_ALL:
		return true;
	}
	return false;
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

/* A link of that name is none to go through. */
static void make(struct pl_new_file *f, const char *name)
{
	f->fd = openat(f->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	f->made = f->fd >= 0;
	if (f->made)
		(void)fsetxattr(f->fd, MARK, "", 0, 0); /* not all file systems have that */
}

/* Names that are nobody's: what a killed plumb has left must not be in the way, and in containers process ids repeat.
 */
static struct plumb_error *make_beside(struct pl_new_file *f)
{
	uint32_t number = 0;

	for (int i = 0; i < NAMES_TRIED && !f->made; i++) {
		free(f->beside);
		f->beside = NULL;
		if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
			number = (uint32_t)getpid() * NAMES_TRIED + (uint32_t)i;
		if (asprintf(&f->beside, "%s.%08x.new", name_of(f), number) < 0) {
			f->beside = NULL;
			return &pl_err_no_memory;
		}
		make(f, f->beside);
		if (!f->made && errno != EEXIST)
			break;
	}
	return f->made ? NULL : cannot_write(f->path);
}

static struct plumb_error *replace_it(struct pl_new_file *f)
{
	return may_replace(f) ? make_beside(f) : exists(f->path);
}

/* A pipe, a device; or a file without a name, in /proc/PID/fd: only who made that can want it to be written to. If by
 * now a file with a name is there, nothing has happened to it yet. */
static struct plumb_error *open_what_is_there(struct pl_new_file *f)
{
	struct stat st;

	f->fd = open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (f->fd < 0 || fstat(f->fd, &st) != 0)
		return cannot_write(f->path);
	if (!S_ISREG(st.st_mode))
		return NULL;
	if (st.st_nlink)
		return exists(f->path);
	return ftruncate(f->fd, 0) == 0 ? NULL : cannot_write(f->path);
}

/* Whoever owns a link decides where it leads, and can change that at any time. */
static bool is_trusted(const struct stat *link)
{
	return link->st_uid == geteuid() || link->st_uid == 0;
}

static struct plumb_error *open_linked(struct pl_new_file *f, const struct stat *link)
{
	struct stat st;

	if (stat(f->path, &st) != 0)
		return cannot_write(f->path);
	if (!S_ISREG(st.st_mode) || st.st_nlink == 0)
		return open_what_is_there(f);
	if (!is_trusted(link))
		return pl_error_hint(pl_error(PLUMB_ERR_EXISTS, "%s is a link that another user has made", f->path),
				     "'-o' can name the file itself");
	char *real = realpath(f->path, NULL);
	struct plumb_error *err = real ? move_to(f, real) : cannot_write(f->path);
	if (err)
		return err;
	return look(f, name_of(f), &st) && S_ISREG(st.st_mode) ? replace_it(f) : exists(f->path);
}

static struct plumb_error *open_named(struct pl_new_file *f)
{
	bool given = f->replace == PL_REPLACE_NAMED || f->replace == PL_REPLACE_ALL;
	struct plumb_error *err = move_to(f, f->path);
	struct stat st;

	if (err)
		return err;
	if (!*name_of(f)) {
		errno = EISDIR;
		return cannot_write(f->path);
	}
	make(f, name_of(f));
	if (f->made)
		return NULL;
	if (errno != EEXIST || !look(f, name_of(f), &st))
		return cannot_write(f->path);
	if (S_ISREG(st.st_mode))
		return replace_it(f);
	if (!given)
		return exists(f->path);
	return S_ISLNK(st.st_mode) ? open_linked(f, &st) : open_what_is_there(f);
}

struct plumb_error *pl_new_file_open(const char *path, enum pl_replace replace, struct pl_new_file *ret)
{
	*ret = PL_NEW_FILE_NONE;
	ret->replace = replace;
	ret->path = strdup(path);
	struct plumb_error *err = ret->path ? open_named(ret) : &pl_err_no_memory;

	if (err)
		pl_new_file_discard(ret);
	return err;
}

/* ---- the end of it ----------------------------------------------------------------------------------------------- */

/* It is finished, unless it is a recording, which may grow. */
static void complete_mark(const struct pl_new_file *f)
{
	int fd = openat(f->dir, present_name(f), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	char text[MARK_MAX];
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0)
		(void)fsetxattr(fd, MARK, text, (size_t)mark_text(&st, text), 0);
	close(fd);
}

static struct plumb_error *take_name(struct pl_new_file *f)
{
	if (!may_replace(f)) {
		f->made = false; /* nothing of what was written is lost */
		return pl_error(PLUMB_ERR_EXISTS,
				"%s was made by another program meanwhile: what plumb wrote is beside it, %s", f->path,
				f->beside);
	}
	return renameat(f->dir, f->beside, f->dir, name_of(f)) == 0 ? NULL : cannot_write(f->path);
}

struct plumb_error *pl_new_file_publish(struct pl_new_file *f)
{
	struct plumb_error *err;

	if (!f->made)
		return NULL;
	complete_mark(f);
	if (f->beside && (err = take_name(f)))
		return err;
	free(f->beside);
	f->beside = NULL;
	f->made = false; /* it is what it was made for */
	close(f->dir);
	f->dir = -1;
	return NULL;
}

bool pl_new_file_rename(struct pl_new_file *f, const char *path)
{
	struct pl_new_file to = PL_NEW_FILE_NONE;
	char *copy = strdup(path);
	struct plumb_error *err = copy ? move_to(&to, copy) : &pl_err_no_memory;

	if (!err && f->dir < 0)
		err = move_to(f, f->path);
	if (err || renameat2(f->dir, present_name(f), to.dir, name_of(&to), RENAME_NOREPLACE) != 0) {
		plumb_error_destroy(err);
		pl_new_file_discard(&to);
		return false;
	}
	free(f->beside);
	free(f->path);
	close(f->dir);
	f->beside = NULL;
	f->path = to.path;
	f->dir = to.dir;
	return true;
}

/* Only what this run made: by now another file may have the name. */
static bool is_still(const struct pl_new_file *f, const char *name)
{
	struct stat now, made;

	return f->fd < 0 || (look(f, name, &now) && fstat(f->fd, &made) == 0 && now.st_dev == made.st_dev &&
			     now.st_ino == made.st_ino);
}

void pl_new_file_discard(struct pl_new_file *f)
{
	if (f->path && f->made && is_still(f, present_name(f)))
		(void)unlinkat(f->dir, present_name(f), 0);
	if (f->fd >= 0)
		close(f->fd);
	if (f->dir >= 0)
		close(f->dir);
	free(f->path);
	free(f->beside);
	*f = PL_NEW_FILE_NONE;
}
