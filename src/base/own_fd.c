/* SPDX-License-Identifier: Apache-2.0 */
/* Layer base; see own_fd.h. Descriptors and memory are not copied at the same moment, so nothing is noted while a fork
 * is under way: what the child finds noted is what it has. */
#include "own_fd.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vec.h"

enum whose { NOT_NOTED, OURS, NOT_OURS };

struct noted {
	enum whose whose;
	struct pl_file_id file;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PL_VEC(struct noted) noted; /* by descriptor */

struct pl_file_id pl_file_id(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return (struct pl_file_id){0};
	return (struct pl_file_id){.known = true, .dev = st.st_dev, .ino = st.st_ino};
}

bool pl_file_id_is(const struct pl_file_id *id, int fd)
{
	struct stat now;

	if (fstat(fd, &now) != 0)
		return errno != EBADF;
	return !id->known || (now.st_dev == id->dev && now.st_ino == id->ino);
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

static void note(int fd)
{
	while (noted.len <= (size_t)fd)
		if (!pl_vec_push(&noted, (struct noted){0}))
			return;
	noted.data[fd] = (struct noted){.whose = OURS, .file = pl_file_id(fd)};
}

int pl_own_fd(int fd)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (fd < 0)
		return fd;
	pthread_once(&once, begin);
	pthread_mutex_lock(&lock);
	note(fd);
	pthread_mutex_unlock(&lock);
	return fd;
}

bool pl_own_fd_is(int fd)
{
	pthread_mutex_lock(&lock);
	bool is = is_ours(fd);
	pthread_mutex_unlock(&lock);
	return is;
}

int pl_own_fd_close(int fd)
{
	pthread_mutex_lock(&lock);
	bool is = is_ours(fd);
	part_with(fd);
	pthread_mutex_unlock(&lock);
	return is ? close(fd) : 0;
}

void pl_own_fd_close_as(int fd, const struct pl_file_id *file)
{
	if (pl_file_id_is(file, fd))
		pl_own_fd_close(fd);
}
