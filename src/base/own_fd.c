/* SPDX-License-Identifier: Apache-2.0 */
/* Layer base; see own_fd.h. Descriptors and memory are not copied at the same moment, so nothing is noted while a fork
 * is under way: what the child finds noted is what it has. */
#include "own_fd.h"

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "vec.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PL_VEC(uint8_t) ours; /* by descriptor */

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
	for (size_t fd = 0; fd < ours.len; fd++) {
		if (ours.data[fd])
			close((int)fd);
		ours.data[fd] = 0;
	}
	pthread_mutex_unlock(&lock);
}

static void begin(void)
{
	(void)pthread_atfork(before_fork, in_parent, in_child); /* without memory: as if nobody ever forked */
}

static void note(int fd)
{
	while (ours.len <= (size_t)fd)
		if (!pl_vec_push(&ours, 0))
			return;
	ours.data[fd] = 1;
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

int pl_own_fd_close(int fd)
{
	if (fd < 0)
		return 0;
	pthread_mutex_lock(&lock);
	if ((size_t)fd < ours.len)
		ours.data[fd] = 0;
	pthread_mutex_unlock(&lock);
	return close(fd);
}
