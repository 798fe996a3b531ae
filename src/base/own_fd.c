/* SPDX-License-Identifier: Apache-2.0 */
/* Layer base; see own_fd.h. Descriptors and memory are not copied at the same moment, so nothing is noted while a fork
 * is under way: what the child finds noted is what it has. What can be opened and closed without a wait is, with the
 * lock held. */
#include "own_fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vec.h"

enum whose { NOT_NOTED, OURS, NOT_OURS };

struct noted {
	enum whose whose;
	bool waits; /* whoever closes it may have to */
	struct pl_file_id file;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PL_VEC(struct noted) noted; /* by descriptor */
static _Thread_local bool is_elsewhere;

/* Nothing is asked of a server for it. */
struct pl_file_id pl_file_id(int fd)
{
	struct statx st;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_BTIME, &st) != 0)
		return (struct pl_file_id){0};
	struct pl_file_id id = {.known = true, .dev = makedev(st.stx_dev_major, st.stx_dev_minor), .ino = st.stx_ino};
	if (st.stx_mask & STATX_BTIME) {
		id.born_s = st.stx_btime.tv_sec;
		id.born_ns = st.stx_btime.tv_nsec;
	}
	return id;
}

bool pl_file_id_is(const struct pl_file_id *id, int fd)
{
	struct pl_file_id now = pl_file_id(fd);

	if (!now.known)
		return fd >= 0 && errno != EBADF;
	return !id->known ||
	       (now.dev == id->dev && now.ino == id->ino && now.born_s == id->born_s && now.born_ns == id->born_ns);
}

static bool is_ours(int fd)
{
	if (fd < 0 || (size_t)fd >= noted.len || noted.data[fd].whose == NOT_NOTED)
		return fd >= 0;
	return noted.data[fd].whose == OURS && pl_file_id_is(&noted.data[fd].file, fd);
}

static void part_with(int fd)
{
	if (fd >= 0 && (size_t)fd < noted.len)
		noted.data[fd].whose = NOT_OURS;
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
	for (int fd = 0; (size_t)fd < noted.len; fd++) {
		if (noted.data[fd].whose == OURS && is_ours(fd))
			close(fd);
		part_with(fd);
	}
	pthread_mutex_unlock(&lock);
}

static void begin(void)
{
	(void)pthread_atfork(before_fork, in_parent, in_child); /* without memory: as if nobody ever forked */
}

static void note(int fd, bool waits)
{
	while (noted.len <= (size_t)fd)
		if (!pl_vec_push(&noted, (struct noted){0}))
			return;
	noted.data[fd] = (struct noted){.whose = OURS, .waits = waits, .file = pl_file_id(fd)};
	if (!noted.data[fd].file.known && errno == EBADF) /* the program has closed it since it was opened */
		noted.data[fd].whose = NOT_OURS;
}

static void take_lock(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
	pthread_mutex_lock(&lock);
}

int pl_own_fd(int fd)
{
	if (fd < 0 || is_elsewhere)
		return fd;
	take_lock();
	note(fd, true);
	pthread_mutex_unlock(&lock);
	return fd;
}

void pl_own_fd_elsewhere(bool elsewhere)
{
	is_elsewhere = elsewhere;
}

void pl_own_fd_begin(void)
{
	if (!is_elsewhere)
		take_lock();
}

int pl_own_fd_end(int fd)
{
	if (is_elsewhere)
		return fd;
	int saved = errno;
	if (fd >= 0)
		note(fd, false);
	pthread_mutex_unlock(&lock);
	errno = saved;
	return fd;
}

bool pl_own_fd_is(int fd)
{
	pthread_mutex_lock(&lock);
	bool is = is_ours(fd);
	pthread_mutex_unlock(&lock);
	return is;
}

static bool may_wait(int fd)
{
	return fd < 0 || (size_t)fd >= noted.len || noted.data[fd].waits;
}

int pl_own_fd_close(int fd)
{
	if (is_elsewhere)
		return close(fd);
	pthread_mutex_lock(&lock);
	bool is = is_ours(fd), later = may_wait(fd);
	int status = is && !later ? close(fd) : 0, saved = errno;
	part_with(fd);
	pthread_mutex_unlock(&lock);
	errno = saved;
	return is && later ? close(fd) : status;
}

void pl_own_fd_close_as(int fd, const struct pl_file_id *file)
{
	if (pl_file_id_is(file, fd))
		pl_own_fd_close(fd);
}

bool pl_own_dir_open(struct pl_own_dir *d, const char *path)
{
	d->at = d->len = 0;
	d->fd = PL_OWN_FD(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return d->fd >= 0;
}

const char *pl_own_dir_next(struct pl_own_dir *d)
{
	if (d->at == d->len) {
		bool is_there = is_elsewhere || pl_own_fd_is(d->fd);
		long len = is_there ? syscall(SYS_getdents64, d->fd, d->entries, sizeof d->entries) : 0;
		if (len <= 0)
			return NULL;
		d->at = 0;
		d->len = (size_t)len;
	}
	const struct dirent64 *entry = (const void *)(d->entries + d->at);
	d->at += entry->d_reclen;
	return entry->d_name;
}

void pl_own_dir_close(struct pl_own_dir *d)
{
	pl_own_fd_close(d->fd);
}
