/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine; see wake_up.h. */
#include "wake_up.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_fd.h"

struct plumb_error *pl_wake_up_open(struct pl_wake_up *b)
{
	b->fd = PL_OWN_FD(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (b->fd < 0)
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot make an event descriptor");
	return NULL;
}

void pl_wake_up_close(struct pl_wake_up *b)
{
	pl_own_fd_close(b->fd);
	b->fd = -1;
}

void pl_wake_up_send(struct pl_wake_up *b)
{
	int before = errno; /* of whoever a signal handler has interrupted */
	uint64_t one = 1;

	if (!atomic_exchange(&b->sent, 1))
		(void)syscall(SYS_futex, &b->sent, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	if (b->fd >= 0)
		(void)!write(b->fd, &one, sizeof one); /* EAGAIN: its counter is full already */
	errno = before;
}

bool pl_wake_up_taken(struct pl_wake_up *b)
{
	uint64_t count;

	if (b->fd >= 0)
		(void)!read(b->fd, &count, sizeof count);
	return atomic_exchange(&b->sent, 0);
}

bool pl_wake_up_wait(struct pl_wake_up *b, const struct timespec *timeout)
{
	bool looks = timeout && !timeout->tv_sec && !timeout->tv_nsec; /* the kernel would sleep all the same */

	if (!looks)
		(void)syscall(SYS_futex, &b->sent, FUTEX_WAIT_PRIVATE, 0, timeout, NULL, 0);
	return pl_wake_up_taken(b);
}
