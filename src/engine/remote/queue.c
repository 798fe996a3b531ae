/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine. See queue.h for the thread rules. */
#include "queue.h"

#include <poll.h>
#include <stdlib.h>
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "own_fd.h"

struct plumb_error *pl_queue_init(struct pl_queue *q)
{
	*q = (struct pl_queue){.event_fd = pl_own_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))};
	if (q->event_fd < 0)
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot make an event descriptor");
	q->slots = calloc(PL_QUEUE_SLOTS, sizeof *q->slots);
	return q->slots ? NULL : &pl_err_no_memory;
}

void pl_queue_deinit(struct pl_queue *q)
{
	pl_own_fd_close(q->event_fd);
	free(q->slots);
}

uint32_t pl_queue_room(const struct pl_queue *q)
{
	uint64_t used = atomic_load_explicit(&q->tail, memory_order_relaxed) -
			atomic_load_explicit(&q->head, memory_order_acquire);

	return PL_QUEUE_SLOTS - (uint32_t)used;
}

void pl_queue_push(struct pl_queue *q, const struct pl_record *r)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	q->slots[tail % PL_QUEUE_SLOTS] = *r;
	atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
	if (pl_queue_room(q) == PL_QUEUE_SLOTS / 2)
		pl_queue_wake(q);
}

void pl_queue_wake(struct pl_queue *q)
{
	uint64_t one = 1;

	/* EAGAIN: the counter is full of wake-ups already. */
	(void)!write(q->event_fd, &one, sizeof one);
}

bool pl_queue_pop(struct pl_queue *q, struct pl_record *ret)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

	if (head == atomic_load_explicit(&q->tail, memory_order_acquire))
		return false;
	*ret = q->slots[head % PL_QUEUE_SLOTS];
	atomic_store_explicit(&q->head, head + 1, memory_order_release);
	return true;
}

void pl_queue_wait(struct pl_queue *q, int timeout_ms)
{
	struct pollfd pfd = {.fd = q->event_fd, .events = POLLIN};
	uint64_t count;

	if (poll(&pfd, 1, timeout_ms) > 0)
		(void)!read(q->event_fd, &count, sizeof count);
}
