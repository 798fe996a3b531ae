/* SPDX-License-Identifier: Apache-2.0 */
/* Layer base. One owner at a time. */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "own_fd.h"
#include "reopen.h"

#define NAMES_TRIED 100
#define LINKS_MAX   40 /* as the kernel */

/* So long the reader of a pipe may take to come: who starts both at once does not know which one is first. */
#define READER_LOOKS   500
#define READER_LOOK_NS 10000000

/* And so many looks at it find nothing read, before who is to end gives up. A plumb that was suspended meanwhile has
 * not looked. */
#define SILENT_LOOKS   50
#define SILENT_LOOK_MS 100

static struct plumb_error *cannot_write(const char *path)
{
	int failed = errno;

	if (failed == ENOMEM)
		return &pl_err_no_memory;
	struct plumb_error *err = pl_error_errno(PLUMB_ERR_WRITE_FAILED, failed, "cannot write %s", path);
	if (failed == EFBIG)
		return err; /* its hint is better */
	return pl_error_hint(err, "%s",
			     failed == ENOENT	? "there is no such folder: make it, or name another one"
			     : failed == EROFS	? "that file system is read-only: name another place"
			     : failed == ENOSPC ? "make room there, or name another place"
			     : failed == EACCES || failed == EPERM
				     ? "that place is not yours to write to: name another one"
				     : "name another place");
}

/* ---- where it is ------------------------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *name_of(const struct pl_new_file *f)
{
	return last_part(f->path);
}

static const char *present_name(const struct pl_new_file *f)
{
	return f->beside ? last_part(f->beside) : name_of(f);
}

/* The directory of @p path, which begins in the directory @p from, is looked up once. */
static int open_dir_of(int from, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd = dir ? pl_own_fd(openat(from, dir, O_PATH | O_DIRECTORY | O_CLOEXEC)) : -1, why = errno;

	free(dir);
	errno = why;
	return fd;
}

/* @p path, taken over, as it is told; it leads to where @p said does from the directory @p from. */
static struct plumb_error *move_from(struct pl_new_file *f, int from, const char *said, char *path)
{
	int dir = open_dir_of(from, said), why = errno;

	pl_own_fd_close(f->dir);
	if (path != f->path)
		free(f->path);
	f->path = path;
	f->dir = dir;
	errno = why;
	if (f->dir < 0)
		return cannot_write(path);
	if (*name_of(f))
		return NULL;
	errno = EISDIR;
	return cannot_write(path);
}

static struct plumb_error *move_to(struct pl_new_file *f, char *path)
{
	return move_from(f, AT_FDCWD, path, path);
}

static bool look(const struct pl_new_file *f, const char *name, struct stat *ret)
{
	return fstatat(f->dir, name, ret, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The directory, too: names are looked up in it. */
static bool is_open(const struct pl_new_file *f)
{
	return pl_file_id_is(&f->file, f->fd) && (f->dir < 0 || pl_own_fd_is(f->dir));
}

static void take(struct pl_new_file *f, int fd)
{
	f->fd = pl_own_fd(fd);
	f->file = pl_file_id(fd);
}

struct plumb_error *pl_new_file_check(const struct pl_new_file *f)
{
	if (is_open(f))
		return NULL;
	return pl_error_hint(pl_error(PLUMB_ERR_WRITE_FAILED,
				      "cannot write %s any more: the program has closed its descriptor",
				      pl_new_file_path(f)),
			     "begin to record after the program has closed all descriptors");
}

/* ---- what is there ----------------------------------------------------------------------------------------------- */

static struct plumb_error *exists(const struct pl_new_file *f, const char *why)
{
	return pl_error(PLUMB_ERR_EXISTS, "%s %s", f->path, why);
}

/* Is what has the name to be kept? */
static struct plumb_error *judge(struct pl_new_file *f)
{
	const char *why = NULL;

	if (f->replace == PL_REPLACE_ALL)
		pl_older_file_insist(f->dir, name_of(f), &f->older);
	else
		why = pl_older_file_judge(f->dir, name_of(f), &f->older);
	return why ? exists(f, why) : NULL;
}

static bool gives_way(const struct pl_new_file *f, const char *name)
{
	return pl_older_file_gives_way(&f->older, f->dir, name);
}

/* In a directory as /tmp. Root may, unless its capabilities were taken away. */
static bool is_anothers_to_replace(const struct pl_new_file *f, uid_t owner)
{
	struct stat dir;

	return geteuid() != 0 && owner != geteuid() && fstat(f->dir, &dir) == 0 && dir.st_mode & S_ISVTX &&
	       dir.st_uid != geteuid();
}

/* That nothing can take its place is found out before anything is written, as far as the kernel tells. */
static struct plumb_error *check_gives_way(const struct pl_new_file *f)
{
	struct statx st;
	const char *why;

	if (statx(f->dir, name_of(f), AT_SYMLINK_NOFOLLOW, STATX_UID, &st) != 0)
		return NULL;
	if (st.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		why = "it is a mount point";
	else if (st.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND))
		why = "it is marked as one that cannot be changed (lsattr)";
	else if (is_anothers_to_replace(f, st.stx_uid))
		why = "it belongs to another user";
	else
		return NULL;
	return pl_error_hint(
		pl_error(PLUMB_ERR_WRITE_FAILED, "cannot write %s: %s, and nothing can take its place", f->path, why),
		"give a name that is not there yet");
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

/* A link of that name is none to go through. */
static void make(struct pl_new_file *f, const char *name)
{
	take(f, openat(f->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	f->made = f->fd >= 0;
	if (f->made)
		(void)flock(f->fd, LOCK_EX | LOCK_NB); /* not all file systems can */
}

/* One that is nobody's: what a killed plumb has left must not be in the way, and in containers process ids repeat. */
static char *drawn_path(const char *path, int attempt)
{
	uint32_t number;
	char *drawn;

	if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
		number = (uint32_t)getpid() * NAMES_TRIED + (uint32_t)attempt;
	int dir = (int)(last_part(path) - path), most = NAME_MAX - (int)strlen(".01234567.new");
	if (asprintf(&drawn, "%.*s%.*s.%08x.new", dir, path, most, path + dir, number) < 0)
		return NULL;
	return drawn;
}

static struct plumb_error *make_beside(struct pl_new_file *f)
{
	f->made = false;
	for (int i = 0; i < NAMES_TRIED && !f->made; i++) {
		free(f->beside);
		f->beside = drawn_path(f->path, i);
		if (!f->beside)
			return &pl_err_no_memory;
		make(f, present_name(f));
		if (!f->made && errno != EEXIST)
			break;
	}
	return f->made ? NULL : cannot_write(f->path);
}

static struct plumb_error *replace_it(struct pl_new_file *f)
{
	struct plumb_error *err = check_gives_way(f);

	if (!err)
		err = judge(f);
	return err ? err : make_beside(f);
}

/* ---- what is written to as it is --------------------------------------------------------------------------------- */

/* Who is at the other end of a pipe or a line is not waited for in the kernel. */
static int open_again(int place)
{
	return pl_reopen(place, O_WRONLY | O_NONBLOCK);
}

/* Whoever owns a link decides where it leads, and can change that at any time; whoever owns a pipe, who reads it. */
static bool is_trusted(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/* A pipe without a name is from whoever has started plumb, who may be another user (sudo). Devices are root's to make,
 * whoever has the use of them: what can lead to one in another's place is a link. */
static bool is_strangers_pipe(int place, const struct stat *st)
{
	struct statfs fs;

	return S_ISFIFO(st->st_mode) && !is_trusted(st) && (fstatfs(place, &fs) != 0 || fs.f_type != PIPEFS_MAGIC);
}

static struct plumb_error *of_another_user(const struct pl_new_file *f, const char *what, const char *hint)
{
	return pl_error_hint(pl_error(PLUMB_ERR_EXISTS, "%s is a %s that another user has made", f->path, what), "%s",
			     hint);
}

/* As far as the kernel tells who does not open it. */
static struct plumb_error *may_write_into(const struct pl_new_file *f, int place, const struct stat *st)
{
	char name[PL_FD_NAME_ROOM];

	if (faccessat(AT_FDCWD, pl_fd_name(place, name), W_OK, AT_EACCESS) != 0)
		return cannot_write(f->path);
	if (!S_ISDIR(st->st_mode))
		return NULL;
	errno = EISDIR;
	return cannot_write(f->path);
}

static int open_pipe(int place)
{
	int fd = open_again(place);

	for (int i = 0; i < READER_LOOKS && fd < 0 && errno == ENXIO; i++) {
		if (nanosleep(&(struct timespec){.tv_nsec = READER_LOOK_NS}, NULL) != 0)
			break;
		fd = open_again(place);
	}
	return fd;
}

static struct plumb_error *cannot_open(const struct pl_new_file *f, const struct stat *st)
{
	if (!S_ISFIFO(st->st_mode) || errno != ENXIO)
		return cannot_write(f->path);
	return pl_error_hint(pl_error(PLUMB_ERR_WRITE_FAILED, "cannot write %s: nobody reads this pipe", f->path),
			     "start what reads it first");
}

static bool is_dir(const struct pl_new_file *f, const char *path)
{
	struct stat here, there;

	return fstat(f->dir, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

/* As /dev/stdout and /dev/fd/N lead to one. -1: to none. */
static int own_descriptor(const struct pl_new_file *f)
{
	char *end;
	long fd = strtol(name_of(f), &end, 10);

	return !*end && (is_dir(f, "/proc/self/fd") || is_dir(f, "/proc/thread-self/fd")) ? (int)fd : -1;
}

/* Whoever has opened it writes to it, too, and so may the program: what comes goes where they have come to. */
static struct plumb_error *write_on(struct pl_new_file *f, int open_already)
{
	if ((fcntl(open_already, F_GETFL) & O_ACCMODE) == O_RDONLY)
		errno = EBADF;
	else
		take(f, fcntl(open_already, F_DUPFD_CLOEXEC, 3));
	f->shared = true;
	return f->fd < 0 ? cannot_write(f->path) : NULL;
}

static struct plumb_error *open_elsewhere(const struct pl_new_file *f)
{
	return pl_error_hint(pl_error(PLUMB_ERR_WRITE_FAILED,
				      "cannot write %s: it is a file that another program has open", f->path),
			     "name the file itself");
}

/* A pipe, a device, a file that is open. One without a name that somebody else has open: only who made that can want
 * it to be written to. */
static struct plumb_error *write_into(struct pl_new_file *f, int place, const struct stat *st)
{
	int ours = S_ISREG(st->st_mode) ? own_descriptor(f) : -1;

	if (ours >= 0)
		return write_on(f, ours);
	if (S_ISREG(st->st_mode) && st->st_nlink)
		return open_elsewhere(f);
	if (is_strangers_pipe(place, st))
		return of_another_user(f, "pipe", "name a file, or a pipe of your own");
	if (f->tried)
		return may_write_into(f, place, st);
	take(f, S_ISFIFO(st->st_mode) ? open_pipe(place) : open_again(place));
	if (f->fd < 0)
		return cannot_open(f, st);
	if (fcntl(f->fd, F_SETFL, fcntl(f->fd, F_GETFL) & ~O_NONBLOCK) != 0 ||
	    (S_ISREG(st->st_mode) && ftruncate(f->fd, 0) != 0))
		return cannot_write(f->path);
	return NULL;
}

/* A link in /proc/PID/fd leads to what is open there, *ret_place, whatever it says. */
static bool leads_to_open(const struct pl_new_file *f, int *ret_place, struct stat *ret)
{
	struct statfs fs;

	if (fstatfs(f->dir, &fs) != 0 || fs.f_type != PROC_SUPER_MAGIC)
		return false;
	int place = openat(f->dir, name_of(f), O_PATH | O_CLOEXEC);
	if (place < 0)
		return false;
	if (fstat(place, ret) == 0) {
		*ret_place = place;
		return true;
	}
	close(place);
	return false;
}

/* ---- finding it -------------------------------------------------------------------------------------------------- */

/* One step. */
static struct plumb_error *follow(struct pl_new_file *f, int link)
{
	char target[PATH_MAX], *path;
	ssize_t n = readlinkat(link, "", target, sizeof target - 1);

	if (n < 0)
		return cannot_write(f->path);
	target[n] = '\0';
	int kept = *target == '/' ? 0 : (int)(name_of(f) - f->path);
	if (asprintf(&path, "%.*s%s", kept, f->path, target) < 0)
		return &pl_err_no_memory;
	return move_from(f, f->dir, target, path);
}

static struct plumb_error *take_link(struct pl_new_file *f, int link, const struct stat *st, bool *ret_followed)
{
	struct plumb_error *err;
	struct stat opened;
	int place;

	if (!is_trusted(st))
		return of_another_user(f, "link", "name the file itself");
	*ret_followed = !leads_to_open(f, &place, &opened);
	if (*ret_followed)
		return follow(f, link);
	err = write_into(f, place, &opened);
	close(place);
	return err;
}

/* @p place is what has the name, judged as it is open: by now its name may be something else's. */
static struct plumb_error *take_what_is_there(struct pl_new_file *f, int place, bool *ret_followed)
{
	bool given = f->replace == PL_REPLACE_NAMED || f->replace == PL_REPLACE_ALL;
	struct stat st;

	*ret_followed = false;
	if (fstat(place, &st) != 0)
		return cannot_write(f->path);
	if (S_ISREG(st.st_mode))
		return replace_it(f);
	if (!given)
		return exists(f, "is there already, and is no file");
	return S_ISLNK(st.st_mode) ? take_link(f, place, &st, ret_followed) : write_into(f, place, &st);
}

static struct plumb_error *open_what_is_there(struct pl_new_file *f)
{
	struct plumb_error *err = NULL;
	bool followed = true;

	for (int i = 0; i < LINKS_MAX && followed && !err; i++) {
		int place = openat(f->dir, name_of(f), O_PATH | O_NOFOLLOW | O_CLOEXEC);

		if (place < 0)
			return errno == ENOENT ? make_beside(f) : cannot_write(f->path);
		err = take_what_is_there(f, place, &followed);
		close(place);
	}
	if (err || !followed)
		return err;
	errno = ELOOP;
	return cannot_write(f->path);
}

static struct plumb_error *make_named(struct pl_new_file *f)
{
	make(f, name_of(f));
	if (f->made)
		return NULL;
	return errno == EEXIST ? exists(f, "is there already") : cannot_write(f->path);
}

static struct plumb_error *open_named(struct pl_new_file *f)
{
	struct plumb_error *err = move_to(f, f->path);

	if (err)
		return err;
	return f->replace == PL_REPLACE_NONE ? make_named(f) : open_what_is_there(f);
}

/* After @p f says how. */
static struct plumb_error *open_as(struct pl_new_file *f, const char *path)
{
	f->path = strdup(path);
	if (!f->path)
		return &pl_err_no_memory;
	struct plumb_error *err = open_named(f);
	if (err)
		pl_new_file_discard(f);
	return err;
}

struct plumb_error *pl_new_file_open(const char *path, enum pl_replace replace, struct pl_new_file *ret)
{
	*ret = PL_NEW_FILE_NONE;
	ret->replace = replace;
	return open_as(ret, path);
}

struct plumb_error *pl_new_file_share(int fd, const char *name, struct pl_new_file *ret)
{
	*ret = PL_NEW_FILE_NONE;
	ret->path = strdup(name);
	if (!ret->path)
		return &pl_err_no_memory;
	struct plumb_error *err = write_on(ret, fd);
	if (err)
		pl_new_file_discard(ret);
	return err;
}

/* ---- writing to it ----------------------------------------------------------------------------------------------- */

void pl_new_file_heed(struct pl_new_file *f, const atomic_bool *hurry)
{
	f->hurry = hurry;
	if (!f->made && !f->shared) /* nobody else has it open in this way */
		(void)fcntl(f->fd, F_SETFL, fcntl(f->fd, F_GETFL) | O_NONBLOCK);
}

/* Until there is room. False: there is nobody who makes any. */
static bool wait_for_reader(struct pl_new_file *f)
{
	struct pollfd pfd = {.fd = f->fd, .events = POLLOUT};
	int silent = 0;

	while (silent < SILENT_LOOKS && poll(&pfd, 1, SILENT_LOOK_MS) <= 0)
		silent = f->hurry && atomic_load(f->hurry) ? silent + 1 : 0;
	f->deserted = silent == SILENT_LOOKS;
	return !f->deserted;
}

ssize_t pl_new_file_write(struct pl_new_file *f, const void *bytes, size_t len)
{
	ssize_t n;

	do
		n = write(f->fd, bytes, len);
	while (n < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_reader(f))));
	return n;
}

/* ---- the end of it ----------------------------------------------------------------------------------------------- */

/* By now another file may have the name. */
static bool is_still(const struct pl_new_file *f)
{
	struct stat now;

	return look(f, present_name(f), &now) && now.st_dev == f->file.dev && now.st_ino == f->file.ino;
}

/* Who has dropped rights may not look: then it is where it was, if it is anywhere. */
static bool is_lost(const struct pl_new_file *f)
{
	struct stat st;

	if (is_still(f))
		return false;
	return look(f, present_name(f), &st) || errno != EACCES || (fstat(f->fd, &st) == 0 && !st.st_nlink);
}

static struct plumb_error *copy_from(int from, const struct pl_new_file *to)
{
	off_t done = 0;
	ssize_t n;

	while ((n = sendfile(to->fd, from, &done, INT_MAX)) > 0)
		;
	return n < 0 ? cannot_write(to->path) : NULL;
}

/* Somebody has taken its name away, and perhaps it with that: what is open is all there is. */
static struct plumb_error *make_again(struct pl_new_file *f)
{
	int lost = f->fd;

	f->kept = false;
	struct plumb_error *err = make_beside(f);
	if (!err)
		err = copy_from(lost, f);
	pl_own_fd_close(lost);
	return err;
}

static bool move_in(const struct pl_new_file *f, unsigned flags)
{
	return renameat2(f->dir, present_name(f), f->dir, name_of(f), flags) == 0;
}

/* What came out is judged as well: somebody may have put it there since it was judged by its name. */
static bool exchange(const struct pl_new_file *f)
{
	if (!move_in(f, RENAME_EXCHANGE))
		return false;
	if (gives_way(f, present_name(f))) {
		(void)unlinkat(f->dir, present_name(f), 0);
		return true;
	}
	(void)move_in(f, RENAME_EXCHANGE);
	errno = EEXIST;
	return false;
}

static bool is_beyond_file_system(int why)
{
	return why == EINVAL || why == ENOSYS;
}

/* What it takes the place of is lost, and a power cut is not to leave neither of them. */
static bool is_on_disk(const struct pl_new_file *f)
{
	return fdatasync(f->fd) == 0 || is_beyond_file_system(errno);
}

/* errno EEXIST: another program's file has the name. Not all file systems can exchange. */
static bool take_name(const struct pl_new_file *f)
{
	if (!gives_way(f, name_of(f)))
		return false;
	if (move_in(f, RENAME_NOREPLACE))
		return true;
	bool taken = errno == EEXIST;
	if ((!taken && !is_beyond_file_system(errno)) || !is_on_disk(f))
		return false;
	if (taken && exchange(f))
		return true;
	return (!taken || is_beyond_file_system(errno)) && move_in(f, 0);
}

/* What is there now is no business of ours, and none that anybody should be sent to. What is open is written again at
 * the end. */
static struct plumb_error *taken_away(struct pl_new_file *f)
{
	f->kept = false;
	return pl_error_hint(pl_error(PLUMB_ERR_WRITE_FAILED,
				      "another program has taken away %s, which was to be renamed to %s", f->beside,
				      f->path),
			     "name a place where nobody else may write");
}

static struct plumb_error *stays_beside(struct pl_new_file *f)
{
	struct plumb_error *err;
	int failed = errno;

	if (is_lost(f))
		return taken_away(f);
	if (failed == EEXIST)
		err = pl_error(PLUMB_ERR_EXISTS, "%s was made by another program meanwhile: what plumb wrote is in %s",
			       f->path, f->beside);
	else
		err = pl_error_errno(PLUMB_ERR_WRITE_FAILED, failed,
				     "what plumb wrote is in %s, which cannot be renamed to %s", f->beside, f->path);
	return pl_error_hint(err, "the file is complete: rename it");
}

struct plumb_error *pl_new_file_finish(struct pl_new_file *f)
{
	struct plumb_error *err = pl_new_file_check(f);

	if (err)
		return err;
	/* Some file systems report a full disk only to who closes a descriptor. */
	int again = fcntl(f->fd, F_DUPFD_CLOEXEC, 3);

	if (again >= 0 && close(again) != 0)
		return cannot_write(pl_new_file_path(f));
	return f->made && is_lost(f) ? make_again(f) : NULL;
}

struct plumb_error *pl_new_file_publish(struct pl_new_file *f)
{
	if (!f->made)
		return NULL;
	f->kept = true;
	struct plumb_error *err = pl_new_file_check(f);
	if (err)
		return err;
	pl_older_file_mark(f->fd);
	if (!f->beside)
		return NULL;
	if (is_lost(f) || !take_name(f))
		return stays_beside(f);
	free(f->beside);
	f->beside = NULL;
	f->older = (struct pl_older_file){0};
	return NULL;
}

const char *pl_new_file_path(const struct pl_new_file *f)
{
	return f->kept && f->beside ? f->beside : f->path;
}

bool pl_new_file_rename(struct pl_new_file *f, const char *path)
{
	struct pl_new_file to = PL_NEW_FILE_NONE;
	char *copy = strdup(path);
	struct plumb_error *err = copy ? move_to(&to, copy) : &pl_err_no_memory;

	if (err || !is_open(f) || !is_still(f) ||
	    renameat2(f->dir, present_name(f), to.dir, name_of(&to), RENAME_NOREPLACE) != 0) {
		plumb_error_destroy(err);
		pl_new_file_discard(&to);
		return false;
	}
	free(f->beside);
	free(f->path);
	pl_own_fd_close(f->dir);
	f->beside = NULL;
	f->path = to.path;
	f->dir = to.dir;
	return true;
}

void pl_new_file_discard(struct pl_new_file *f)
{
	bool made = f->made && is_open(f);

	if (made && !f->kept && is_still(f))
		(void)unlinkat(f->dir, present_name(f), 0);
	if (made)
		(void)flock(f->fd, LOCK_UN); /* a child of the program may have the descriptor, too */
	pl_own_fd_close_as(f->fd, &f->file);
	pl_own_fd_close(f->dir);
	free(f->path);
	free(f->beside);
	*f = PL_NEW_FILE_NONE;
}

struct plumb_error *pl_new_file_try(const char *path)
{
	struct pl_new_file f = PL_NEW_FILE_NONE;

	f.path = strdup(path);
	struct plumb_error *err = f.path ? move_to(&f, f.path) : &pl_err_no_memory;
	if (!err)
		err = make_beside(&f);
	pl_new_file_discard(&f);
	return err;
}

struct plumb_error *pl_new_file_try_open(const char *path, enum pl_replace replace)
{
	struct pl_new_file f = PL_NEW_FILE_NONE;

	f.replace = replace;
	f.tried = true;
	struct plumb_error *err = open_as(&f, path);
	if (!err)
		pl_new_file_discard(&f);
	return err;
}
